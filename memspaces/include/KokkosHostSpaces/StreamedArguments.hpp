// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Ranges and arguments of streamed loops, and the chunks with which their bodies are called.

#ifndef KOKKOS_HOST_SPACES_STREAMED_ARGUMENTS_HPP
#define KOKKOS_HOST_SPACES_STREAMED_ARGUMENTS_HPP

#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedChunk.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace KokkosHostSpaces {

/// The indices lower[d] <= i < upper[d] of each dimension d. (A Kokkos::RangePolicy would count in 32
/// bits on CUDA.)
template <int Rank>
struct Box {
  static_assert(Rank >= 1 && Rank <= 3, "streamed loops have one to three indices");
  static constexpr int rank = Rank;  ///< indices of the body

  /// From lower and upper bounds.
  template <std::integral Lower, std::integral Upper>
  Box(Lower const (&from)[Rank], Upper const (&to)[Rank]) {
    for (int d = 0; d < Rank; ++d) {
      lower[d] = Impl::as_index(from[d]);
      upper[d] = Impl::as_index(to[d]);
    }
  }
  /// From 0 to upper bounds.
  explicit Box(std::array<std::int64_t, Rank> const& to) {
    for (int d = 0; d < Rank; ++d) upper[d] = to[d];
  }

  std::int64_t lower[Rank] = {};  ///< first indices
  std::int64_t upper[Rank] = {};  ///< last indices + 1
};

/// An argument of the body: a non-owning View of a chunk, with the indices of the whole array. For a
/// View of doubles of rank 1, `khs::read` becomes a `khs::Chunk<double const*>`, `khs::write` and
/// `khs::update` become a `khs::Chunk<double*>`.
template <class DataType, class Layout = Kokkos::LayoutRight>
using Chunk = Impl::ChunkOf<DataType, Layout>;

/// The chunk of a View that the body writes or updates.
template <class View>
using chunk_of = Chunk<typename View::non_const_data_type, typename View::array_layout>;

/// The chunk of a View that the body reads.
template <class View>
using const_chunk_of = Chunk<typename View::const_data_type, typename View::array_layout>;

/// The number of rows (indices of the slowest dimension) before and after its own row that an
/// iteration reads.
struct halo {
  /// 0: an iteration reads its own row only.
  explicit halo(std::int64_t distance) : rows(distance) {}
  std::int64_t rows;  ///< in each direction
};

/// An array between the stages of a streamed_chain that never leaves the device. It has the extents of
/// the Views of the chain. Copies are the same array.
template <class DataType, class Layout = Kokkos::LayoutRight>
class Intermediate {
 public:
  /// The same as in a View.
  using non_const_data_type = typename Impl::HostViewOf<DataType>::non_const_data_type;
  /// The same as in a View.
  using const_data_type = typename Impl::HostViewOf<DataType>::const_data_type;
  /// The same as in a View.
  using value_type = typename Impl::HostViewOf<DataType>::value_type;
  /// The same as in a View.
  using array_layout = Layout;
  /// The same as in a View.
  static constexpr int rank() { return int(Impl::HostViewOf<DataType>::rank()); }

  /// \param label for messages
  explicit Intermediate(std::string label = "intermediate")
      : m_label(std::make_shared<std::string>(std::move(label))) {}
  /// The label.
  std::string const& label() const { return *m_label; }
  /// Equal for copies only.
  void const* identity() const { return m_label.get(); }

 private:
  std::shared_ptr<std::string> m_label;
};

/// A View with a copy on each device, from the first loop that reads it until this object and its
/// copies are destroyed: for arrays that many loops read, and for tables, which may have any extents.
/// The copies do not count as memory of streamed loops. The first loop on a device waits until the
/// copy is made.
template <class ViewType>
class Resident {
 public:
  /// The same as in a View.
  using non_const_data_type = typename ViewType::non_const_data_type;
  /// The same as in a View.
  using const_data_type = typename ViewType::const_data_type;
  /// The same as in a View.
  using value_type = typename ViewType::value_type;
  /// The same as in a View.
  using array_layout = typename ViewType::array_layout;
  /// The same as in a View.
  static constexpr int rank() { return int(ViewType::rank()); }

  /// Keeps the View alive; copies nothing.
  explicit Resident(ViewType const& view)
      : m_view(view), m_copies(std::make_shared<Impl::DeviceCopies>()) {}
  /// The View.
  ViewType const& host() const { return m_view; }
  /// Call it when the host has changed the View: the next loop copies it again. No loop that reads it
  /// may be running.
  void refresh() const { m_copies->forget(); }
  /// For the library.
  Impl::DeviceCopies& copies() const { return *m_copies; }

 private:
  ViewType m_view;
  std::shared_ptr<Impl::DeviceCopies> m_copies;
};

/// Makes a Resident of `view`, for `read` in any number of streamed loops.
template <class DataType, class... P>
auto resident(Kokkos::View<DataType, P...> const& view) {
  return Resident<Kokkos::View<DataType, P...>>(view);
}

/// An argument of a streamed loop, made by read, write or update.
template <class ViewType, Impl::Access How>
struct StreamedArgument {
  using View                           = ViewType;  ///< or Intermediate, or Resident
  static constexpr Impl::Access access = How;       ///< of the body
  View view;                                        ///< the array
  std::int64_t halo = 0;                            ///< rows, in each direction
  double touched    = 1;                            ///< see touching

  /// Tells Automatic that the body touches a part of the elements. \param part from 0 to 1
  StreamedArgument touching(double part) const {
    StreamedArgument result = *this;
    result.touched          = part;
    return result;
  }
};

/// The body reads elements of its own row, and of rows as far away as the halo, with the values from
/// before the loop.
template <class DataType, class... P>
auto read(Kokkos::View<DataType, P...> const& view, halo reach = halo(0)) {
  return StreamedArgument<Kokkos::View<DataType, P...>, Impl::Access::read>{view, reach.rows};
}

/// The body assigns every element of the range, and reads none. Elements of the range that it does not
/// assign are undefined afterwards: use update for them.
template <class DataType, class... P>
requires(!std::is_const_v<typename Kokkos::View<DataType, P...>::value_type>)  //
    auto write(Kokkos::View<DataType, P...> const& view) {
  return StreamedArgument<Kokkos::View<DataType, P...>, Impl::Access::write>{view};
}

/// The body reads and writes elements of its own row.
template <class DataType, class... P>
requires(!std::is_const_v<typename Kokkos::View<DataType, P...>::value_type>)  //
    auto update(Kokkos::View<DataType, P...> const& view) {
  return StreamedArgument<Kokkos::View<DataType, P...>, Impl::Access::update>{view};
}

/// A later stage of a chain than the one that writes the array reads it.
template <class DataType, class Layout>
auto read(Intermediate<DataType, Layout> const& array, halo reach = halo(0)) {
  return StreamedArgument<Intermediate<DataType, Layout>, Impl::Access::read>{array, reach.rows};
}

/// One stage of a chain writes the array.
template <class DataType, class Layout>
auto write(Intermediate<DataType, Layout> const& array) {
  return StreamedArgument<Intermediate<DataType, Layout>, Impl::Access::write>{array};
}

/// The body reads any elements.
template <class View>
auto read(Resident<View> const& array) {
  return StreamedArgument<Resident<View>, Impl::Access::read>{array};
}

/// The same as update.
template <class DataType, class... P>
auto read_write(Kokkos::View<DataType, P...> const& view) {
  return update(view);
}

}  // namespace KokkosHostSpaces

#endif
