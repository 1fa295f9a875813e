// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The used part of Kokkos Tools' C interface. Includes nothing of Kokkos, so that any version can call it.

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_INTERFACE_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_INTERFACE_HPP

#include <cstdint>

namespace KokkosHostSpaces::Audit {

struct SpaceHandle {
  char name[64];  ///< Kokkos sets 63 of them
};

struct ToolSettings {
  bool requires_global_fencing;
  bool reserved[255];
};

}  // namespace KokkosHostSpaces::Audit

extern "C" {
void kokkosp_init_library(int sequence, std::uint64_t version, std::uint32_t devices, void*);
void kokkosp_finalize_library();
void kokkosp_request_tool_settings(std::uint32_t, KokkosHostSpaces::Audit::ToolSettings*);
void kokkosp_print_help(char* program);
void kokkosp_begin_deep_copy(KokkosHostSpaces::Audit::SpaceHandle to_space, char const* to_label,
                             void const* to, KokkosHostSpaces::Audit::SpaceHandle from_space,
                             char const* from_label, void const* from, std::uint64_t bytes);
void kokkosp_end_deep_copy();
void kokkosp_begin_fence(char const* name, std::uint32_t device, std::uint64_t* id);
void kokkosp_end_fence(std::uint64_t id);
void kokkosp_begin_parallel_for(char const* name, std::uint32_t device, std::uint64_t* id);
void kokkosp_begin_parallel_reduce(char const* name, std::uint32_t device, std::uint64_t* id);
void kokkosp_begin_parallel_scan(char const* name, std::uint32_t device, std::uint64_t* id);
void kokkosp_allocate_data(KokkosHostSpaces::Audit::SpaceHandle space, char const* label,
                           void const* memory, std::uint64_t bytes);
void kokkosp_deallocate_data(KokkosHostSpaces::Audit::SpaceHandle space, char const* label,
                             void const* memory, std::uint64_t bytes);
void kokkosp_dual_view_sync(char const* label, void const* memory, bool to_device);
}

#endif
