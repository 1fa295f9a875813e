// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Random streamed loops, reductions and chains over Views and parts of Views equal the same bodies
// called one by one on whole arrays. Whole numbers: sums are exact in every order.

#include "../Rounds.hpp"
#include "../KokkosTest.hpp"

namespace {

// The sum over the neighbouring rows that exist, plus one.
template <int Cut>
struct Blur {
  std::int64_t rows;
  int reach;

  template <class U, class V, class... I>
  KOKKOS_FUNCTION void sum(U const& u, V const& v, I... at) const {
    using Value = std::decay_t<decltype(v(at...))>;
    Value value = Value(1);
    for (int d = -reach; d <= reach; ++d) {
      std::int64_t index[] = {at...};
      index[Cut] += d;
      if (index[Cut] >= 0 && index[Cut] < rows) value = Value(value + element(u, index));
    }
    v(at...) = value;
  }
  template <class U>
  KOKKOS_FUNCTION static auto element(U const& u, std::int64_t const (&i)[1]) {
    return u(i[0]);
  }
  template <class U>
  KOKKOS_FUNCTION static auto element(U const& u, std::int64_t const (&i)[2]) {
    return u(i[0], i[1]);
  }
  template <class U>
  KOKKOS_FUNCTION static auto element(U const& u, std::int64_t const (&i)[3]) {
    return u(i[0], i[1], i[2]);
  }

  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, U const& u, V const& v) const {
    sum(u, v, i);
  }
  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, U const& u, V const& v) const {
    sum(u, v, i, j);
  }
  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k, U const& u,
                                  V const& v) const {
    sum(u, v, i, j, k);
  }
};

struct Add {
  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, U const& u, V const& v) const {
    v(i) += u(i);
  }
  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, U const& u, V const& v) const {
    v(i, j) += u(i, j);
  }
  template <class U, class V>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k, U const& u,
                                  V const& v) const {
    v(i, j, k) += u(i, j, k);
  }
};

struct Largest {
  template <class U, class T>
  KOKKOS_FUNCTION void operator()(std::int64_t i, U const& u, T& most) const {
    if (u(i) > most) most = u(i);
  }
  template <class U, class T>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, U const& u, T& most) const {
    if (u(i, j) > most) most = u(i, j);
  }
  template <class U, class T>
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k, U const& u,
                                  T& most) const {
    if (u(i, j, k) > most) most = u(i, j, k);
  }
};

template <class DataType, class LayoutType>
struct Kind {
  using View                = Kokkos::View<DataType, LayoutType, khs::PinnedSpace>;
  using Value               = typename View::value_type;
  static constexpr int rank = int(View::rank());
  static constexpr int cut =
      rank == 1 || std::is_same_v<LayoutType, Kokkos::LayoutRight> ? 0 : rank - 1;
  using Between = khs::Intermediate<DataType, LayoutType>;
};

template <class Type>
class RandomLoop {
  using View                = typename Type::View;
  using Value               = typename Type::Value;
  static constexpr int rank = Type::rank, cut = Type::cut;

 public:
  explicit RandomLoop(unsigned seed) : m_random(seed) {
    std::int64_t const most[] = {3000, 60, 20};
    for (int d = 0; d < rank; ++d) m_extents[d] = pick(1, pick(1, most[rank - 1]));
    for (View* const view : {&m_a, &m_b, &m_c}) {
      *view = make_part();
      for (std::size_t e = 0; e < view->size(); ++e) view->data()[e] = Value(pick(-9, 9));
    }
    m_options.chunk_rows = pick(0, 4) == 0 ? 0 : pick(1, m_extents[cut] + 2);
    m_options.slots      = int(pick(0, 5));
    m_options.transport  = pick(0, 3) == 0 ? khs::Transport::zero_copy : khs::Transport::staged;
    m_blur = {m_extents[cut], int(pick(0, std::min<std::int64_t>(4, m_extents[cut])))};
    std::int64_t lower[rank], upper[rank];
    bool const whole = pick(0, 2) == 0;
    for (int d = 0; d < rank; ++d) {
      lower[d] = whole ? 0 : pick(0, m_extents[d]);
      upper[d] = whole ? m_extents[d] : pick(lower[d], m_extents[d]);
    }
    m_box.emplace(lower, upper);
  }

  bool run() { return run_one() && margins_are_untouched(); }

 private:
  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(m_random);
  }

  bool run_one() {
    switch (pick(0, 5)) {
      case 0: return stencil(m_a, m_b);
      case 1: m_options.transport = khs::Transport::staged; return stencil(m_a, m_a);
      case 2: return updates();
      case 3: return reduces();
      case 4: return steps();
      default: return two_stages();
    }
  }

  // \param more rows than the range has
  View make(std::int64_t more = 0) const {
    typename View::array_layout layout;
    for (int d = 0; d < rank; ++d)
      layout.dimension[d] = std::size_t(m_extents[d] + (d == cut ? more : 0));
    return View(Kokkos::view_alloc(Kokkos::WithoutInitializing, "array"), layout);
  }

  // Rows of a View with margins before and behind them.
  View make_part() {
    std::int64_t const before = pick(0, 3), behind = pick(0, 3);
    View const whole = make(before + behind);
    std::fill(whole.data(), whole.data() + whole.size(), margin);
    m_wholes.push_back(whole);
    std::pair const rows(before, before + m_extents[cut]);
    if constexpr (rank == 1)
      return Kokkos::subview(whole, rows);
    else if constexpr (rank == 2 && cut == 0)
      return Kokkos::subview(whole, rows, Kokkos::ALL);
    else if constexpr (rank == 2)
      return Kokkos::subview(whole, Kokkos::ALL, rows);
    else if constexpr (cut == 0)
      return Kokkos::subview(whole, rows, Kokkos::ALL, Kokkos::ALL);
    else
      return Kokkos::subview(whole, Kokkos::ALL, Kokkos::ALL, rows);
  }

  bool margins_are_untouched() const {
    View const parts[] = {m_a, m_b, m_c};
    for (std::size_t v = 0; v < 3; ++v) {
      Value const *const begin = m_wholes[v].data(), *const end = begin + m_wholes[v].size();
      Value const* const last = parts[v].data() + parts[v].size();
      auto const is_margin    = [](Value value) { return value == margin; };
      if (!std::all_of(begin, static_cast<Value const*>(parts[v].data()), is_margin) ||
          !std::all_of(last, end, is_margin))
        return false;
    }
    return true;
  }

  View copy_of(View const& view) const {
    View const copy = make();
    std::copy(view.data(), view.data() + view.size(), copy.data());
    return copy;
  }

  static bool equal(View const& a, View const& b) {
    return std::equal(a.data(), a.data() + a.size(), b.data());
  }

  template <class Chunk>
  static Chunk chunk(View const& view) {
    std::int64_t strides[3] = {1, 1, 1};
    for (int d = 0; d < rank; ++d) strides[d] = std::int64_t(view.stride(d));
    return Chunk(view.data(), strides);
  }

  // Calls the body for each index of a box, with chunks of whole arrays.
  template <class Body, class V>
  static void serially(khs::Box<rank> const& box, Body const& body, View const& from, V& to) {
    auto const u = chunk<khs::const_chunk_of<View>>(from);
    for (std::int64_t i = box.lower[0]; i < box.upper[0]; ++i) {
      if constexpr (rank == 1) {
        body(i, u, to);
      } else {
        for (std::int64_t j = box.lower[1]; j < box.upper[1]; ++j) {
          if constexpr (rank == 2) {
            body(i, j, u, to);
          } else {
            for (std::int64_t k = box.lower[2]; k < box.upper[2]; ++k) body(i, j, k, u, to);
          }
        }
      }
    }
  }
  template <class Body>
  static void serially(khs::Box<rank> const& box, Body const& body, View const& from,
                       View const& to) {
    auto v = chunk<khs::chunk_of<View>>(to);
    serially(box, body, from, v);
  }

  khs::halo reach() const { return khs::halo(m_blur.reach); }

  bool stencil(View const& from, View const& to) {
    View const before = copy_of(from), expected = copy_of(to);
    serially(*m_box, m_blur, before, expected);
    khs::streamed_for("stencil", m_options, *m_box, m_blur, khs::read(from, reach()),
                      khs::write(to))
        .fence();
    return equal(to, expected);
  }

  bool updates() {
    View const expected = copy_of(m_b);
    serially(*m_box, Add(), m_a, expected);
    khs::streamed_for("updates", m_options, *m_box, Add(), khs::read(m_a), khs::update(m_b))
        .fence();
    return equal(m_b, expected);
  }

  bool reduces() {
    Value expected, largest = Value(7);
    Kokkos::Max<Value> const reducer(largest);
    reducer.init(expected);
    serially(*m_box, Largest(), m_a, expected);
    khs::streamed_reduce("largest", m_options, *m_box, Largest(), reducer, khs::read(m_a));
    return largest == expected;
  }

  bool steps() {
    int const count     = int(pick(1, 5));
    bool const in_place = pick(0, 1) == 0;
    if (in_place) m_options.transport = khs::Transport::staged;
    View from = copy_of(m_a), to = copy_of(m_a);
    for (int q = 0; q < count; ++q) {
      serially(*m_box, m_blur, from, to);
      std::swap(from, to);
      if (q == 0) std::copy(from.data(), from.data() + from.size(), to.data());
    }
    View const result = in_place ? m_a : m_b;
    khs::streamed_chain("steps", m_options, *m_box,
                        khs::steps(count, m_blur, khs::read(m_a, reach()), khs::write(result)))
        .fence();
    return equal(result, from);
  }

  bool two_stages() {
    std::int64_t none[rank] = {}, all[rank];
    for (int d = 0; d < rank; ++d) all[d] = m_extents[d];
    khs::Box<rank> const whole(none, all);
    View const middle = make(), expected = copy_of(m_c);
    serially(whole, m_blur, m_a, middle);
    serially(*m_box, m_blur, middle, expected);
    typename Type::Between const between;
    khs::streamed_chain("two stages", m_options, *m_box,
                        khs::stage(whole, m_blur, khs::read(m_a, reach()), khs::write(between)),
                        khs::stage(m_blur, khs::read(between, reach()), khs::write(m_c)))
        .fence();
    return equal(m_c, expected);
  }

  static constexpr Value margin = Value(77);
  std::mt19937 m_random;
  std::vector<View> m_wholes;
  std::int64_t m_extents[3] = {1, 1, 1};
  View m_a, m_b, m_c;
  khs::StreamOptions<> m_options;
  Blur<cut> m_blur{};
  std::optional<khs::Box<rank>> m_box;
};

using Right = Kokkos::LayoutRight;
using Left  = Kokkos::LayoutLeft;

}  // namespace

TEMPLATE_TEST_CASE("random streamed loops, reductions and chains are right", "[streamed_random]",
                   (Kind<double*, Left>), (Kind<short**, Right>), (Kind<float***, Left>)) {
  int wrong = 0;
#ifdef KOKKOS_ENABLE_CUDA
  int const usual = 1000;
#else
  int const usual = 200;
#endif
  for (int seed = 0; seed < rounds(5 * usual) / 5; ++seed) {
    bool const right = RandomLoop<TestType>(static_cast<unsigned>(seed)).run();
    if (!right) UNSCOPED_INFO("seed " << seed);
    wrong += !right;
  }
  CHECK(wrong == 0);
}
