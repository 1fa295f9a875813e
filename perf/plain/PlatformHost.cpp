// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Platform.hpp"

namespace KokkosHostSpaces::Perf {

bool const baselines_use_cuda = false;

std::string why_no_device() { return ""; }
std::vector<Device> list_devices() { return {}; }
void use_device(int) {}
int current_device() { return -1; }
std::size_t free_device_memory() { return 0; }
std::string cuda_driver_version() { return ""; }
std::string cuda_runtime_version() { return ""; }
bool device_can_be_shared() { return true; }
bool is_page_locked(void const*) { return true; }

}  // namespace KokkosHostSpaces::Perf
