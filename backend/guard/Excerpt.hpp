// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_EXCERPT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_EXCERPT_HPP

#include <cstddef>
#include <optional>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// Writable memory for a range of an array, in place in an image of the whole array. No other part of
/// the image may be touched: the handler of SIGSEGV records the first access there, opens its page with
/// the contents that the array has, and the program goes on. Takes memory for the range alone.
class Excerpt {
 public:
  /// The end of the range at which each byte outside is found; at the other one, up to a page is not.
  enum class Edge { begin, end };
  /// An access outside of the range. Every access counts as a write on processors that do not tell.
  struct Stray {
    std::ptrdiff_t offset;  ///< in the array, in bytes; may lie outside of it
    bool is_write;
  };
  struct Array {
    std::string label;            ///< who touches it, for the message of an access that is nobody's
    char const* begin = nullptr;  ///< nullptr: its contents are taken as zero
    std::size_t bytes = 0;
  };

  /// Begins with zeros. \param begin, end the range, in bytes of the array
  /// \throw Error if the system refuses addresses, or takes no handler of SIGSEGV
  Excerpt(Array array, std::size_t begin, std::size_t end, Edge edge);
  ~Excerpt();
  Excerpt(Excerpt const&)            = delete;
  Excerpt& operator=(Excerpt const&) = delete;

  char* data() const { return m_data; }  ///< the begin of the range
  std::size_t bytes() const { return m_end - m_begin; }
  std::optional<Stray> stray() const;

 private:
  friend struct Excerpts;  // the handler's list of them

  bool map(std::size_t before, std::size_t behind, Edge edge);
  bool holds(char const* address) const;
  bool answer(char const* address, bool is_write) noexcept;
  void fill(char* page) const noexcept;

  Array m_array;
  std::size_t m_begin, m_end;
  char* m_image             = nullptr;
  std::size_t m_image_bytes = 0;
  char* m_data              = nullptr;
  bool m_has_stray          = false;  // this and m_stray: under the lock of the list
  Stray m_stray             = {};
  Excerpt *m_before = nullptr, *m_next = nullptr;
};

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
