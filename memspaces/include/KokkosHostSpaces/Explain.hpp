// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_EXPLAIN_HPP
#define KOKKOS_HOST_SPACES_EXPLAIN_HPP

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/copy/DeepCopy.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// \cond
namespace Impl {

/// The facts of a copy that explain() puts into words, without the types of its Views.
struct ExplainedCopy {
  std::string pair;                 ///< both Views: labels, shapes, spaces
  std::string dst, src;             ///< labels
  std::string refusal;              ///< why there is no copy; empty: there is one
  std::size_t bytes       = 0;      ///< written
  bool is_needed          = true;   ///< false: empty, or both sides are the same memory
  bool is_ours            = false;  ///< false: Kokkos' own copy
  bool has_device         = false;  ///< one side is memory of a device
  bool by_device_instance = false;
  CopyPlan plan;
  CopySides sides{};
};

template <class Dst, class Src>
ExplainedCopy facts_of(Dst const& dst, Src const& src) {
  ExplainedCopy copy;
  copy.pair  = shape_of(dst) + " <- " + shape_of(src);
  copy.dst   = dst.label();
  copy.src   = src.label();
  copy.bytes = dst.size() * sizeof(typename Dst::value_type);
  try {
    copy.is_needed = check_views(dst, src);
  } catch (Error const& error) {
    copy.refusal = error.what();
    return copy;
  }
  copy.plan  = plan_for(dst, src);
  copy.sides = sides_of(dst, src);
  return copy;
}

std::string explain(ExplainedCopy const& copy);

struct ExplainFunction {
  template <class ExecutionSpace, class DT, class... DP, class ST, class... SP>
  requires Kokkos::is_execution_space_v<ExecutionSpace> std::string operator()(
      ExecutionSpace const&, Kokkos::View<DT, DP...> const& dst,
      Kokkos::View<ST, SP...> const& src) const {
    using Dst = Kokkos::View<DT, DP...>;
    using Src = Kokkos::View<ST, SP...>;
    check_types<Dst, Src>();
    ExplainedCopy copy      = facts_of(dst, src);
    copy.by_device_instance = is_device_v<ExecutionSpace>;
    copy.is_ours            = drives_device && OurCopy<ExecutionSpace, Dst, Src>;
    copy.has_device         = is_device_only_v<typename Dst::memory_space> ||
                      is_device_only_v<typename Src::memory_space>;
    return explain(copy);
  }
  template <class DT, class... DP, class ST, class... SP>
  std::string operator()(Kokkos::View<DT, DP...> const& dst,
                         Kokkos::View<ST, SP...> const& src) const {
    return (*this)(Kokkos::DefaultExecutionSpace(), dst, src);
  }
};

}  // namespace Impl
/// \endcond

/// `explain([instance,] dst, src)`: a text that tells how `Kokkos::deep_copy(instance, dst, src)` would
/// copy, without copying. It says by what (one memcpy, 2-D or 3-D ones, or a kernel over the link) and
/// why; the number of bytes; whether the copy is asynchronous, and if not, how to change that. If the
/// copy would be refused, the text says why. It is for people and may change. The instance is by default
/// that of Kokkos' default execution space.
inline constexpr Impl::ExplainFunction explain{};

}  // namespace KokkosHostSpaces

#endif
