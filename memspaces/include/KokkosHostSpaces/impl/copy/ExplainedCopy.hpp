// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What there is to tell of a copy, without the types of its Views.

#ifndef KOKKOS_HOST_SPACES_IMPL_EXPLAINED_COPY_HPP
#define KOKKOS_HOST_SPACES_IMPL_EXPLAINED_COPY_HPP

#include <KokkosHostSpaces/impl/copy/CopyPlan.hpp>
#include <KokkosHostSpaces/impl/copy/CopyViews.hpp>

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl {

struct ExplainedCopy {
  std::string pair;               ///< both Views: labels, shapes, spaces
  std::string dst, src;           ///< labels
  std::string refusal;            ///< why there is no copy; empty: there is one
  std::size_t bytes     = 0;      ///< written
  bool is_needed        = true;   ///< not empty, nor the same memory
  bool is_ours          = false;  ///< not Kokkos' own copy
  bool has_device       = false;  ///< memory of a device takes part
  bool by_cuda_instance = false;
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

}  // namespace KokkosHostSpaces::Impl

#endif
