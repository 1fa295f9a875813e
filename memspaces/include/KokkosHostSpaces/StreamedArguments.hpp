// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a streamed loop goes over, what it reads and writes, and what its body gets of that.

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

/// The indices from `lower` up to, but without, `upper` in each dimension; none if `upper` is not
/// above `lower`. (A Kokkos::RangePolicy
/// would count in 32 bits on CUDA.)
template <int Rank>
struct Box {
  static_assert(Rank >= 1 && Rank <= 3, "streamed loops have one to three indices");
  static constexpr int rank = Rank;  ///< indices of the body

  /// Of two lists of whole numbers.
  template <std::integral Lower, std::integral Upper>
  Box(Lower const (&from)[Rank], Upper const (&to)[Rank]) {
    for (int d = 0; d < Rank; ++d) {
      lower[d] = Impl::as_index(from[d]);
      upper[d] = Impl::as_index(to[d]);
    }
  }
  /// All up to `to`.
  explicit Box(std::array<std::int64_t, Rank> const& to) {
    for (int d = 0; d < Rank; ++d) upper[d] = to[d];
  }

  std::int64_t lower[Rank] = {};  ///< the first index, of each dimension
  std::int64_t upper[Rank] = {};  ///< behind the last index
};

/// What the body gets of a View whose data type and layout are these: elements at global indices.
/// `khs::Chunk<double const*>` is what a `khs::read` of a View of doubles of rank 1 becomes,
/// `khs::Chunk<double*>` what a `khs::write` or `khs::update` becomes. Cheap to copy, owns nothing.
template <class DataType, class Layout = Kokkos::LayoutRight>
using Chunk = Impl::ChunkOf<DataType, Layout>;

/// What the body gets of a View that it writes or updates.
template <class View>
using chunk_of = Chunk<typename View::non_const_data_type, typename View::array_layout>;

/// What the body gets of a View that it reads.
template <class View>
using const_chunk_of = Chunk<typename View::const_data_type, typename View::array_layout>;

/// How many rows (indices of the slowest dimension) before and behind its own an iteration reads.
struct halo {
  /// 0: only its own.
  explicit halo(std::int64_t distance) : rows(distance) {}
  std::int64_t rows;  ///< in each direction
};

/// An array between the stages of a streamed_chain, which never leaves the device. It has the
/// extents of the Views of the chain; copies of it are the same array.
template <class DataType, class Layout = Kokkos::LayoutRight>
class Intermediate {
 public:
  /// As of a View.
  using non_const_data_type = typename Impl::PlainViewOf<DataType>::non_const_data_type;
  /// As of a View.
  using const_data_type = typename Impl::PlainViewOf<DataType>::const_data_type;
  /// As of a View.
  using value_type = typename Impl::PlainViewOf<DataType>::value_type;
  /// As of a View.
  using array_layout = Layout;
  /// As of a View.
  static constexpr int rank() { return int(Impl::PlainViewOf<DataType>::rank()); }

  /// \param label names it in messages
  explicit Intermediate(std::string label = "intermediate")
      : m_label(std::make_shared<std::string>(std::move(label))) {}
  /// What names it in messages.
  std::string const& label() const { return *m_label; }
  /// What tells it from others.
  void const* identity() const { return m_label.get(); }

 private:
  std::shared_ptr<std::string> m_label;
};

/// A View of which devices keep a copy, from the first loop on that reads it until this object and
/// its copies are gone: for what many loops read, and for tables, whose extents need not be those of
/// the range. Its device memory is not that of streamed loops. The first loop on a device waits
/// until the copy is made.
template <class ViewType>
class Resident {
 public:
  /// As of a View.
  using non_const_data_type = typename ViewType::non_const_data_type;
  /// As of a View.
  using const_data_type = typename ViewType::const_data_type;
  /// As of a View.
  using value_type = typename ViewType::value_type;
  /// As of a View.
  using array_layout = typename ViewType::array_layout;
  /// As of a View.
  static constexpr int rank() { return int(ViewType::rank()); }

  /// Copies nothing yet; keeps the View alive.
  explicit Resident(ViewType const& view)
      : m_view(view), m_copies(std::make_shared<Impl::DeviceCopies>()) {}
  /// The View itself.
  ViewType const& host() const { return m_view; }
  /// The host has changed the View: the next loop copies it again. No loop may be running that
  /// reads it.
  void refresh() const { m_copies->forget(); }
  /// For the library.
  Impl::DeviceCopies& copies() const { return *m_copies; }

 private:
  ViewType m_view;
  std::shared_ptr<Impl::DeviceCopies> m_copies;
};

/// Keeps copies of `view` on devices, for `read` in any number of streamed loops.
template <class DataType, class... P>
auto resident(Kokkos::View<DataType, P...> const& view) {
  return Resident<Kokkos::View<DataType, P...>>(view);
}

/// A View, or an Intermediate, as an argument of a streamed loop: made by read, write, update.
template <class ViewType, Impl::Access How>
struct StreamedArgument {
  using View                           = ViewType;  ///< or Intermediate, or Resident
  static constexpr Impl::Access access = How;       ///< what the body does to it
  View view;                                        ///< the elements
  std::int64_t halo = 0;                            ///< rows, in each direction
  double touched    = 1;                            ///< part of the elements, as of touching

  /// Tells Automatic that the body touches this part of the elements, from 0 to 1, such as 0.01.
  StreamedArgument touching(double part) const {
    StreamedArgument result = *this;
    result.touched          = part;
    return result;
  }
};

/// The body reads elements of `view`: those of its own index, and of rows as far away as the halo.
/// It finds the values from before the loop.
template <class DataType, class... P>
auto read(Kokkos::View<DataType, P...> const& view, halo reach = halo(0)) {
  return StreamedArgument<Kokkos::View<DataType, P...>, Impl::Access::read>{view, reach.rows};
}

/// The body assigns every element of `view` that the loop goes over, and reads none. Elements that
/// it goes over without assigning them are undefined afterwards: that would be an update.
template <class DataType, class... P>
requires(!std::is_const_v<typename Kokkos::View<DataType, P...>::value_type>)  //
    auto write(Kokkos::View<DataType, P...> const& view) {
  return StreamedArgument<Kokkos::View<DataType, P...>, Impl::Access::write>{view};
}

/// The body reads and writes elements of `view`, those of its own index.
template <class DataType, class... P>
requires(!std::is_const_v<typename Kokkos::View<DataType, P...>::value_type>)  //
    auto update(Kokkos::View<DataType, P...> const& view) {
  return StreamedArgument<Kokkos::View<DataType, P...>, Impl::Access::update>{view};
}

/// In a stage of a chain that follows the one which writes the array.
template <class DataType, class Layout>
auto read(Intermediate<DataType, Layout> const& array, halo reach = halo(0)) {
  return StreamedArgument<Intermediate<DataType, Layout>, Impl::Access::read>{array, reach.rows};
}

/// In the one stage of a chain that writes the array.
template <class DataType, class Layout>
auto write(Intermediate<DataType, Layout> const& array) {
  return StreamedArgument<Intermediate<DataType, Layout>, Impl::Access::write>{array};
}

/// Any element may be read, in every iteration.
template <class View>
auto read(Resident<View> const& array) {
  return StreamedArgument<Resident<View>, Impl::Access::read>{array};
}

/// As update.
template <class DataType, class... P>
auto read_write(Kokkos::View<DataType, P...> const& view) {
  return update(view);
}

}  // namespace KokkosHostSpaces

#endif
