// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Ranges and arguments of streamed loops, and the chunks with which their bodies are called.

#ifndef KOKKOS_HOST_SPACES_STREAMED_ARGUMENTS_HPP
#define KOKKOS_HOST_SPACES_STREAMED_ARGUMENTS_HPP

#include <KokkosHostSpaces/impl/core/SpaceTraits.hpp>
#include <KokkosHostSpaces/impl/stream/run/DeviceCopies.hpp>
#include <KokkosHostSpaces/impl/stream/typed/StreamedChunk.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <concepts>
#include <cstddef>
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

 private:
  static constexpr std::size_t size = Rank;

 public:
  /// A bound of any integral type.
  struct Bound {
    /// Converts the index.
    template <std::integral Index>
    Bound(Index index) : value(Impl::as_index(index)) {}
    std::int64_t value;  ///< the index
  };

  /// From lower and upper bounds, also of mixed types: `Box<2>({1, 1}, {n, view.extent(1)})`.
  Box(Bound const (&from)[size], Bound const (&to)[size]) {
    for (std::size_t d = 0; d < size; ++d) {
      lower[d] = from[d].value;
      upper[d] = to[d].value;
    }
  }
  /// From arrays of lower and upper bounds.
  template <std::integral Lower, std::integral Upper>
  Box(Lower const (&from)[size], Upper const (&to)[size]) {
    for (std::size_t d = 0; d < size; ++d) {
      lower[d] = Impl::as_index(from[d]);
      upper[d] = Impl::as_index(to[d]);
    }
  }
  /// From 0 to upper bounds.
  explicit Box(std::array<std::int64_t, size> const& to) {
    for (std::size_t d = 0; d < size; ++d) upper[d] = to[d];
  }

  std::int64_t lower[size] = {};  ///< first indices
  std::int64_t upper[size] = {};  ///< last indices + 1
};

/// An argument of the body: a non-owning View of a chunk, with the indices of the whole array. For a
/// View of doubles of rank 1, `khs::read` becomes a `khs::Chunk<double const*>`, `khs::write` and
/// `khs::update` become a `khs::Chunk<double*>`.
template <class DataType, class Layout = Kokkos::LayoutRight>
using Chunk = Impl::ChunkOf<DataType, Layout>;

/// The chunk of a View that the body writes or updates.
template <class View>
using chunk_of = Chunk<typename View::non_const_data_type, Impl::LayoutOfChunks<View>>;

/// The chunk of a View that the body reads.
template <class View>
using const_chunk_of = Chunk<typename View::const_data_type, Impl::LayoutOfChunks<View>>;

/// The number of rows (indices of the slowest dimension) before and after its own row that an iteration
/// reads. KOKKOS_HOST_SPACES_PRETEND_DEVICE=on finds iterations that read other rows.
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

/// A View and its copy on each device, for arrays that many loops read, and for tables, which may have any
/// extents. The first loop on a device that reads it makes the copy there, and waits for it. The copies
/// are destroyed with the last copy of this object. They do not count as memory of streamed loops.
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

namespace Impl {

/// \cond the objects are documented below

/// The array of an argument; the View, of a class that derives from one.
template <class DataType, class... P>
Kokkos::View<DataType, P...> array_of(Kokkos::View<DataType, P...> const& view) {
  return view;
}
template <class DataType, class Layout>
Intermediate<DataType, Layout> array_of(Intermediate<DataType, Layout> const& array) {
  return array;
}
template <class View>
Resident<View> array_of(Resident<View> const& array) {
  return array;
}

template <class T>
concept Readable = requires(T const& what) {
  array_of(what);
};

template <class T, Access How>
concept Writable = (Kokkos::is_view_v<T> || (How == Access::write &&
                                             requires(T const& what) {
                                               what.identity();  // Intermediate
                                             })) &&
                   !std::is_const_v<typename T::value_type>;

struct MakeRead {
  template <class T>
  auto operator()(T const& what, halo reach = halo(0)) const {
    static_assert(Readable<T>,
                  "khs::read takes a View (of a DualView, one of its sides), a khs::Intermediate "
                  "or a khs::resident");
    if constexpr (Readable<T>)
      return StreamedArgument<decltype(array_of(what)), Access::read>{array_of(what), reach.rows};
  }
};

template <Access How>
struct MakeWrite {
  template <class T>
  auto operator()(T const& what) const {
    static_assert(
        Writable<T, How>,
        "khs::write and khs::update take a View whose elements are not const (of a DualView, one "
        "of its sides)");
    if constexpr (Writable<T, How>) return StreamedArgument<T, How>{what};
  }
};

struct MakeResident {
  template <class DataType, class... P>
  auto operator()(Kokkos::View<DataType, P...> const& view) const {
    return Resident<Kokkos::View<DataType, P...>>(view);
  }
};
/// \endcond

}  // namespace Impl

// Function objects: argument-dependent lookup finds functions only, so a function of an application
// with the same name, such as write(View), keeps its calls.

/// `read(view, halo(n))`: the body reads elements of its own row, and of rows as far away as the halo,
/// with the values from before the loop. `read(intermediate, halo(n))`: the same of an array that an
/// earlier stage of the chain has written. `read(resident)`: the body reads any elements.
inline constexpr Impl::MakeRead read{};

/// `write(view)`: the body assigns every element of the range, and reads none. Elements of the range that
/// it does not assign are undefined afterwards: use update if there are any. `write(intermediate)`: the
/// same; only one stage of a chain may write it.
inline constexpr Impl::MakeWrite<Impl::Access::write> write{};

/// `update(view)`: the body reads and writes elements of its own row.
inline constexpr Impl::MakeWrite<Impl::Access::update> update{};

/// `resident(view)`: makes a Resident, for `read` in any number of streamed loops.
inline constexpr Impl::MakeResident resident{};

}  // namespace KokkosHostSpaces

#endif
