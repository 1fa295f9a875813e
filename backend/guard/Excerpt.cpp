// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Excerpt.hpp"

#include "../Error.hpp"
#include "../os/Fork.hpp"
#include "../os/Pages.hpp"
#include "Protection.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

namespace KokkosHostSpaces::Impl::Backend {

namespace {

// A mutex is not for signal handlers. This one is, since no thread that holds it touches an image.
class SpinLock {
 public:
  void lock() noexcept {
    while (m_taken.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { m_taken.clear(std::memory_order_release); }

 private:
  std::atomic_flag m_taken;
};

struct List {
  SpinLock lock{};
  Excerpt* first = nullptr;  // under the lock
};

// Threads that the child of a fork lacks may hold the lock of their process.
constinit OfThisProcess<List> the_list;

std::size_t multiple_below(std::size_t number, std::size_t of) { return number / of * of; }

}  // namespace

struct Excerpts {
  static bool on_forbidden_access(char const* address, bool is_write) noexcept {
    List* const list = the_list.existing();
    if (list == nullptr) return false;
    std::lock_guard const lock(list->lock);
    for (Excerpt* one = list->first; one != nullptr; one = one->m_next)
      if (one->holds(address)) return one->answer(address, is_write);
    if (list->first != nullptr) {
      write_in_handler("KokkosHostSpaces: ");
      write_in_handler(list->first->m_array.label);
      write_in_handler(
          ", on a pretended device: the body touches memory that it does not have (perhaps by an "
          "index that it read where khs::write copies nothing): look where the program ends now\n");
    }
    return false;
  }

  static void add(Excerpt& one) {
    List& list = the_list.get();
    std::lock_guard const lock(list.lock);
    one.m_next = list.first;
    if (list.first != nullptr) list.first->m_before = &one;
    list.first = &one;
  }

  static void remove(Excerpt& one) {
    List& list = the_list.get();
    std::lock_guard const lock(list.lock);
    (one.m_before != nullptr ? one.m_before->m_next : list.first) = one.m_next;
    if (one.m_next != nullptr) one.m_next->m_before = one.m_before;
  }
};

Excerpt::Excerpt(Array array, std::size_t begin, std::size_t end, Edge edge)
    : m_array(std::move(array)), m_begin(begin), m_end(end) {
  if (!handle_forbidden_accesses(&Excerpts::on_forbidden_access))
    throw Error(
        m_array.label +
        ": what a pretended device does not have cannot be watched (the program has set too "
        "many handlers of SIGSEGV): run without KOKKOS_HOST_SPACES_PRETEND_DEVICE");
  // Addresses cost nothing, but may be limited.
  constexpr std::size_t least = std::size_t(1) << 16;
  std::size_t const far       = least + 2 * bytes();
  if (!map(m_begin + far, m_array.bytes - m_end + far, edge) && !map(least, least, edge))
    throw Error(m_array.label + ": a pretended device cannot have " + std::to_string(bytes()) +
                " bytes of an array (the system refuses memory, addresses or mappings): look at "
                "ulimit -v and vm.max_map_count, or take fewer chunk_rows");
  Excerpts::add(*this);
}

Excerpt::~Excerpt() {
  Excerpts::remove(*this);
  unmap_pages(m_image, m_image_bytes);
}

// Reserves addresses, and makes the pages of the range accessible.
bool Excerpt::map(std::size_t before, std::size_t behind, Edge edge) {
  std::size_t const page = page_bytes(), inside = whole_pages(bytes());
  std::size_t const front = whole_pages(before);
  std::size_t const all   = front + inside + whole_pages(behind);
  auto* const image       = static_cast<char*>(reserve_for_pages(all));
  if (image == nullptr) return false;
  if (bytes() > 0 && !protect_pages(image + front, inside, PageAccess::all)) {
    unmap_pages(image, all);
    return false;
  }
  m_image       = image;
  m_image_bytes = all;
  m_data        = image + front + (edge == Edge::end ? inside - bytes() : 0);
  for (char* at = image + front; bytes() > 0 && at < image + front + inside; at += page)
    if (at < m_data || at + page > m_data + bytes()) fill(at);
  return true;
}

bool Excerpt::holds(char const* address) const {
  return address >= m_image && address < m_image + m_image_bytes;
}

// Another thread may have opened the page meanwhile: then this does it again, which does no harm, as
// what comes of a stray access is not used.
bool Excerpt::answer(char const* address, bool is_write) noexcept {
  if (!m_has_stray) m_stray = {address - m_data + static_cast<std::ptrdiff_t>(m_begin), is_write};
  m_has_stray = true;
  std::size_t const offset =
      multiple_below(static_cast<std::size_t>(address - m_image), page_bytes());
  if (!protect_pages(m_image + offset, page_bytes(), PageAccess::all)) return false;
  fill(m_image + offset);
  return true;
}

// Copies what the array has where a page lies, without the range.
void Excerpt::fill(char* page) const noexcept {
  if (m_array.begin == nullptr) return;
  auto const copy = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    std::ptrdiff_t const at = page - m_data + static_cast<std::ptrdiff_t>(m_begin);
    from                    = std::max(from, at);
    to                      = std::min(to, at + static_cast<std::ptrdiff_t>(page_bytes()));
    if (from < to) std::memcpy(page + (from - at), m_array.begin + from, std::size_t(to - from));
  };
  copy(0, static_cast<std::ptrdiff_t>(m_begin));
  copy(static_cast<std::ptrdiff_t>(m_end), static_cast<std::ptrdiff_t>(m_array.bytes));
}

std::optional<Excerpt::Stray> Excerpt::stray() const {
  std::lock_guard const lock(the_list.get().lock);
  return m_has_stray ? std::optional(m_stray) : std::nullopt;
}

}  // namespace KokkosHostSpaces::Impl::Backend
