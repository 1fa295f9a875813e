// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// A fuzzer of sequences of operations: Views of several spaces are made, copied, streamed, registered and destroyed,
// and compared with a plain copy of the bytes that each must have. Streamed loops run as on a GPU
// (KOKKOS_HOST_SPACES_PRETEND_DEVICE).

#include "../support/LimitModel.hpp"
#include "Fuzz.hpp"
#include "Held.hpp"
#include "Input.hpp"

#include <KokkosHostSpaces.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace {

namespace khs = KokkosHostSpaces;
using Host    = Kokkos::DefaultHostExecutionSpace;
using Fuzz::Array, Fuzz::Byte, Fuzz::Bytes, Fuzz::Held, Fuzz::Input, Fuzz::Registered,
    Fuzz::data_of;

// What the Views, registrations and the pool of a run are expected to be.
class World {
 public:
  explicit World(Input& input) : m_in(input) {}

  void run() {
    while (!m_in.is_over()) {
      ++fuzz_operations;
      try {
        step(m_in.byte());
      } catch (khs::OutOfPinnedMemory const&) {
        expect(khs::pool::statistics().limit > 0, "without a limit nothing is refused");
      }
    }
    finish();
  }

 private:
  // The more of one, the more often it is done. Stored inputs name operations by their place here.
  void step(std::size_t what) {
    static constexpr void (World::*operations[])() = {
        &World::make,         &World::make,        &World::make,          &World::destroy,
        &World::destroy,      &World::fill,        &World::copy,          &World::copy,
        &World::copy_strided, &World::copy_slices, &World::resize,        &World::trim,
        &World::set_limit,    &World::reserve,     &World::register_view, &World::end_registration,
        &World::stream,       &World::snapshot,    &World::refuse,        &World::check_statistics};
    (this->*operations[what % std::size(operations)])();
  }

  Held* any() { return m_held.empty() ? nullptr : &m_held[m_in.below(m_held.size())]; }

  struct Part {
    std::size_t begin, count;
  };
  Part part_of(std::size_t size) {
    std::size_t const begin = m_in.below(size + 1);
    return {begin, m_in.below(size - begin + 1)};
  }

  template <class Space>
  void make_in(std::size_t n) {
    bool const zeros = m_in.byte() % 2 == 0;
    Array<Space> const view =
        zeros ? Array<Space>("fuzz", n)
              : Array<Space>(Kokkos::view_alloc("fuzz", Kokkos::WithoutInitializing), n);
    if constexpr (!std::is_same_v<Space, Kokkos::HostSpace>) m_model.allocated(n + header);
    Bytes bytes(n);
    if (zeros) expect(std::equal(bytes.begin(), bytes.end(), view.data()), "a new View is zero");
    Fuzz::fill_with_pattern(bytes, m_in.byte());
    std::copy(bytes.begin(), bytes.end(), view.data());
    m_held.push_back({view, std::move(bytes)});
  }

  void make() {
    if (m_held.size() == 24) return;
    std::size_t const n = m_in.size();
    switch (m_in.byte() % 4) {
      case 0:
      case 1: make_pooled<khs::PinnedSpace>(n); break;
      case 2: make_pooled<khs::WriteCombinedSpace>(n); break;
      default: make_in<Kokkos::HostSpace>(n); break;
    }
  }

  // What is refused is not what must be served, nor fits once all is given back that is not in use.
  template <class Space>
  void make_pooled(std::size_t n) {
    try {
      make_in<Space>(n);
    } catch (khs::OutOfPinnedMemory const&) {
      expect(!m_model.must_serve(n + header) || !m_snapshots.empty(),
             "what fits under the limit is served");
      fence_snapshots();
      khs::pool::trim(0);
      m_model.trimmed();
      khs::pool::Statistics const now = khs::pool::statistics();
      expect(now.total.bytes_locked + LimitModel::rounded(n + header) > now.limit,
             "what can be had is not refused");
      throw;
    }
  }

  void destroy() {
    Held* const held = any();
    if (held == nullptr) return;
    held->check();
    if (Fuzz::is_in_pool(*held)) m_model.deallocated(held->size() + header);
    std::swap(*held, m_held.back());
    m_held.pop_back();
  }

  void fill() {
    Held* const held = any();
    if (held == nullptr) return;
    Part const part  = part_of(held->size());
    Byte const value = m_in.byte();
    std::visit(
        [&](auto const& v) {
          Kokkos::deep_copy(Kokkos::subview(v, std::pair(part.begin, part.begin + part.count)),
                            value);
        },
        held->view);
    std::fill_n(held->expected.begin() + long(part.begin), part.count, value);
  }

  // On an instance, or blocking. Different lengths are refused.
  void copy() {
    Held *const to = any(), *const from = any();
    if (to == nullptr || to == from) return;
    Part target = part_of(to->size()), source = part_of(from->size());
    bool const by_instance = m_in.byte() % 2 == 0;
    bool const fits        = m_in.byte() % 8 != 0 || target.count == source.count;
    if (fits) target.count = source.count = std::min(target.count, source.count);
    try {
      std::visit(
          [&](auto const& dst, auto const& src) {
            auto const d =
                Kokkos::subview(dst, std::pair(target.begin, target.begin + target.count));
            auto const s =
                Kokkos::subview(src, std::pair(source.begin, source.begin + source.count));
            if (by_instance)
              Kokkos::deep_copy(Host(), d, s);
            else
              Kokkos::deep_copy(d, s);
          },
          to->view, from->view);
    } catch (std::runtime_error const&) {
      expect(!fits, "a copy of equal lengths is made");
      return;
    }
    expect(fits, "a copy of different lengths is refused");
    std::copy_n(from->expected.begin() + long(source.begin), source.count,
                to->expected.begin() + long(target.begin));
  }

  // Columns of two matrices that lie in the Views.
  void copy_strided() {
    Held *const to = any(), *const from = any();
    if (to == nullptr || to == from) return;
    std::size_t const columns = 1 + m_in.below(12);
    std::size_t const rows    = std::min(to->size(), from->size()) / columns;
    std::size_t const first = m_in.below(columns), last = first + 1 + m_in.below(columns - first);
    std::visit(
        [&]<class Dst, class Src>(Dst const& dst, Src const& src) {
          using Matrix = Kokkos::View<Byte**, Kokkos::LayoutRight, typename Dst::memory_space>;
          using Other  = Kokkos::View<Byte**, Kokkos::LayoutRight, typename Src::memory_space>;
          std::pair const part(first, last);
          Kokkos::deep_copy(Host(),
                            Kokkos::subview(Matrix(dst.data(), rows, columns), Kokkos::ALL, part),
                            Kokkos::subview(Other(src.data(), rows, columns), Kokkos::ALL, part));
        },
        to->view, from->view);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = first; j < last; ++j)
        to->expected[i * columns + j] = from->expected[i * columns + j];
  }

  // If a slice is beyond its View, or two overlap in the destination, all of them are refused.
  void copy_slices() {
    Held *const to = any(), *const from = any();
    if (to == nullptr || to == from) return;
    std::vector<khs::Slice> slices(m_in.byte() % 9);
    Bytes expected = to->expected;
    std::vector<bool> written(to->size());
    bool fits = true;
    for (khs::Slice& slice : slices) {
      auto const [dst, count]  = part_of(to->size());
      auto const [src, count2] = part_of(from->size());
      slice                    = {dst, src, std::min(count, count2) % 16};
      switch (m_in.byte()) {
        case 1: slice.count = SIZE_MAX - m_in.byte(); break;
        case 2: slice.dst = SIZE_MAX - m_in.byte(); break;
        case 3: slice.src = SIZE_MAX - m_in.byte(); break;
        case 4: slice.count += m_in.below(1000); break;
        default: break;
      }
      fits = fits && slice.dst <= to->size() && slice.count <= to->size() - slice.dst &&
             slice.src <= from->size() && slice.count <= from->size() - slice.src;
      for (std::size_t i = 0; fits && i < slice.count; ++i) {
        fits                    = !written[slice.dst + i];
        written[slice.dst + i]  = true;
        expected[slice.dst + i] = from->expected[slice.src + i];
      }
    }
    try {
      std::visit(
          [&](auto const& dst, auto const& src) { khs::deep_copy_all(Host(), dst, src, slices); },
          to->view, from->view);
    } catch (khs::Error const&) {
      expect(!fits, "slices that fit are copied");
      to->check();
      return;
    }
    expect(fits, "slices that do not fit are refused");
    to->expected = std::move(expected);
  }

  // A View that is refused its new memory is unchanged after resize, and empty after realloc.
  void resize() {
    Held* const held = any();
    if (held == nullptr) return;
    std::size_t const n  = m_in.size();
    bool const keeps     = m_in.byte() % 2 == 0;
    bool const is_pooled = Fuzz::is_in_pool(*held);
    if (is_pooled) m_model.used_otherwise();
    try {
      std::visit([&](auto& v) { keeps ? Kokkos::resize(v, n) : Kokkos::realloc(v, n); },
                 held->view);
    } catch (khs::OutOfPinnedMemory const&) {
      if (!keeps) {
        m_model.deallocated(held->size() + header);
        std::swap(*held, m_held.back());
        m_held.pop_back();
      }
      throw;
    }
    if (is_pooled) {
      m_model.allocated(n + header);
      m_model.deallocated(held->size() + header);
    }
    if (!keeps) held->expected.clear();
    held->expected.resize(n);
    held->check();
  }

  // Up to 16 MiB are left.
  void trim() {
    std::size_t const left = m_in.below(1 << 16) * 256;
    khs::pool::trim(left);
    if (left == 0 && m_snapshots.empty()) m_model.trimmed();
    expect(khs::pool::statistics().total.bytes_cached <= left + (std::size_t(64) << 20),
           "what is cached is trimmed");
  }

  // A limit near what is locked, so that some requests are refused; mostly none.
  void set_limit() {
    std::size_t const locked = khs::pool::statistics().total.bytes_locked;
    Byte const which         = m_in.byte();
    std::size_t const more   = m_in.below(1 << 16) * 256;
    std::size_t const limit  = which % 2 == 0 ? 0
                               : which == 1   ? SIZE_MAX
                                              : locked / (which % 4 + 1) + more + 1;
    khs::pool::set_limit(limit);
    m_model.set_limit(limit);
  }

  void reserve() {
    if (m_in.byte() % 32 != 0) return;  // rarely: it starts a thread
    m_model.used_otherwise();
    khs::pool::reserve(m_in.below(1 << 16) * 32, khs::PinnedSpace(), 1 + m_in.below(1 << 16) * 32)
        .wait();
  }

  bool overlaps(Byte const* begin, std::size_t bytes) const {
    return std::any_of(m_registered.begin(), m_registered.end(), [&](Registered const& other) {
      return begin < other.begin + other.bytes && other.begin < begin + bytes;
    });
  }

  // A part of a View: refused if it is empty, page-locked, or registered already.
  void register_view() {
    Held* const held = any();
    if (held == nullptr || m_registered.size() == 8) return;
    Part const part         = part_of(held->size());
    std::size_t const count = part.count;
    Byte* const begin       = data_of(held->view) + part.begin;
    auto const* const array = std::get_if<Array<Kokkos::HostSpace>>(&held->view);
    bool const may          = array != nullptr && count > 0 && !overlaps(begin, count);
    bool const is_whole     = part.begin == 0 && count == held->size() && may;
    try {
      Registered entry{
          is_whole ? khs::Registration(*array) : khs::Registration(begin, count, "fuzz"), begin,
          count};
      expect(may, "what is registered already is refused");
      auto const view = entry.registration.view<Byte*, khs::MappedSpace>(count);
      expect(
          std::equal(view.data(), view.data() + count, held->expected.begin() + long(part.begin)),
          "a registration changes nothing");
      Kokkos::deep_copy(view, Byte(7));
      std::fill_n(held->expected.begin() + long(part.begin), count, Byte(7));
      expect_refusal([&] { (void)entry.registration.view<Byte*>(count + 1); });
      expect_refusal([&] {
        (void)entry.registration.view<double**>(SIZE_MAX / 2, std::size_t(1) << m_in.byte() % 64);
      });
      // A registration of a whole View owns the View. Others must end before their View, so they end here.
      if (is_whole) m_registered.push_back(std::move(entry));
    } catch (khs::RegistrationError const&) {
      expect(!may, "what can be registered is");
    }
  }

  void end_registration() {
    if (m_registered.empty()) return;
    auto& entry = m_registered[m_in.below(m_registered.size())];
    if (m_in.byte() % 2 == 0) entry.registration.release();
    std::swap(entry, m_registered.back());
    m_registered.pop_back();
  }

  // A loop in place, or a sum, over the inner rows.
  void stream() {
    Held* const held = any();
    if (held == nullptr || held->size() > 256 || held->size() == 0) return;
    auto const* const found = std::get_if<Array<khs::PinnedSpace>>(&held->view);
    if (found == nullptr) return;
    auto const x   = *found;
    auto const n   = std::int64_t(x.extent(0));
    auto const rim = std::int64_t(m_in.byte() % 4);
    if (n <= 2 * rim) return;
    m_model.used_otherwise();
    khs::StreamOptions<Host> options;
    options.chunk_rows = n / 8 + 1 + std::int64_t(m_in.below(std::size_t(n)));
    options.slots      = m_in.byte() % 4;
    Byte const add     = m_in.byte();
    khs::Box<1> const rows({rim}, {n - rim});
    Bytes& bytes       = held->expected;
    Bytes const before = bytes;
    switch (m_in.byte() % 4) {
      case 0:
        khs::streamed_for(
            "in place", options, rows,
            [=](std::int64_t i, khs::Chunk<Byte*> a) { a(i) = Byte(a(i) * 3 + add + i); },
            khs::update(x))
            .fence();
        for (auto i = rim; i < n - rim; ++i)
          bytes[std::size_t(i)] = Byte(before[std::size_t(i)] * 3 + add + i);
        break;
      case 1:
        khs::streamed_for<khs::ZeroCopy>(
            "zero copy", options, rows,
            [=](std::int64_t i, khs::Chunk<Byte*> a) { a(i) = Byte(add + i); }, khs::write(x))
            .fence();
        for (auto i = rim; i < n - rim; ++i) bytes[std::size_t(i)] = Byte(add + i);
        break;
      case 2:
        khs::streamed_for(
            "stencil", options, rows,
            [=](std::int64_t i, khs::Chunk<Byte const*> a, khs::Chunk<Byte*> b) {
              b(i) = Byte(a(i - rim) + a(i + rim) * 2 + add);
            },
            khs::read(x, khs::halo(rim)), khs::write(x))
            .fence();
        for (auto i = rim; i < n - rim; ++i)
          bytes[std::size_t(i)] =
              Byte(before[std::size_t(i - rim)] + before[std::size_t(i + rim)] * 2 + add);
        break;
      default: {
        std::uint64_t sum = 0;
        khs::streamed_reduce(
            "sum", options, rows,
            [](std::int64_t i, khs::Chunk<Byte const*> a, std::uint64_t& part) { part += a(i); },
            Kokkos::Sum<std::uint64_t>(sum), khs::read(x));
        expect(sum == std::accumulate(before.begin() + rim, before.end() - rim, std::uint64_t(0)),
               "a sum is right");
      }
    }
    held->check();
  }

  void snapshot() {
    Held* const held = any();
    if (held == nullptr) return;
    m_model.used_otherwise();
    std::visit(
        [&](auto const& v) {
          m_snapshots.push_back(
              khs::snapshot("fuzz", Host(), v, [bytes = held->expected](auto const& host) {
                expect(std::equal(bytes.begin(), bytes.end(), host.data()),
                       "a snapshot has the bytes of its time");
              }));
        },
        held->view);
    if (m_in.byte() % 4 == 0 || m_snapshots.size() > 8) fence_snapshots();
  }

  void fence_snapshots() {
    for (khs::Snapshot const& snapshot : m_snapshots) snapshot.fence();
    m_snapshots.clear();
  }

  template <class Call>
  static void expect_refusal(Call const& call) {
    try {
      call();
    } catch (khs::Error const&) {
      return;
    } catch (khs::BadAlloc const&) {  // of the allocators of containers
      return;
    }
    expect(false, "what cannot be is refused");
  }

  // Sizes beyond all memory.
  void refuse() {
    if (m_in.byte() % 8 != 0) return;  // rarely: it asks the system for its limits
    std::size_t const bytes = SIZE_MAX >> m_in.byte() % 8;
    std::size_t const less  = bytes - m_in.below(1 << 16) - 8;  // Kokkos rounds up to 8
    switch (m_in.byte() % 4) {
      case 0: expect_refusal([&] { (void)khs::PinnedSpace().allocate(less); }); break;
      case 1: expect_refusal([&] { (void)khs::Allocator<double>().allocate(less); }); break;
      case 2: expect_refusal([&] { Array<khs::PinnedSpace>("too large", less); }); break;
      default:
        expect_refusal(
            [&] { khs::pool::reserve(less, khs::PinnedSpace(), 1 + m_in.below(1 << 16)).wait(); });
    }
  }

  void check_statistics() {
    fence_snapshots();
    khs::pool::Statistics const now = khs::pool::statistics();
    khs::pool::Usage const& t       = now.total;
    expect(t.bytes_locked >= t.bytes_in_use + t.bytes_retired + t.bytes_cached,
           "locked memory is in use, retired or cached");
    expect(t.bytes_high_water >= t.bytes_in_use, "the high water is the most");
    expect(t.bytes_asked <= t.bytes_in_use, "what is in use is at least what was asked for");
    Fuzz::check_spaces(now, m_held);
  }

  // Nothing is left.
  void finish() {
    check_statistics();
    for (Held const& held : m_held) held.check();
    m_held.clear();
    m_registered.clear();
    khs::pool::set_limit(0);
    static unsigned runs = 0;
    bool const empties   = runs++ % 32 == 0;  // locking memory takes most of the time
    if (empties) khs::pool::trim(0);
    khs::pool::Statistics const now = khs::pool::statistics();
    expect(now.total.bytes_in_use == 0 && now.total.bytes_asked == 0,
           "nothing is in use at the end");
    expect(now.registered_segments == now.total.segments, "nothing is registered at the end");
    expect(!empties || now.total.bytes_locked == 0, "nothing is locked at the end");
  }

  static constexpr std::size_t header = 256;  // of a View, at most
  Input& m_in;
  LimitModel m_model{2};
  std::vector<Held> m_held;
  std::vector<Registered> m_registered;
  std::vector<khs::Snapshot> m_snapshots;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  setenv("KOKKOS_HOST_SPACES_PRETEND_DEVICE", "on", 1);
  setenv("KOKKOS_HOST_SPACES_SHORTAGE_TIMEOUT", "1", 1);
  Kokkos::initialize();
  tell_operations_at_exit();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  Input input(data, size);
  World(input).run();
  return 0;
}
