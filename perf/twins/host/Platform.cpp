// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Platform.hpp"

namespace KokkosHostSpaces::Perf {

bool const twins_use_cuda = false;
#ifdef _OPENMP
char const* const twin_name = "a plain C++ loop with OpenMP";
#else
char const* const twin_name = "a plain C++ loop";
#endif

std::string why_no_device() { return ""; }

Device current_device() { return {}; }
void use_device(int) {}
bool device_can_be_shared() { return true; }

std::vector<std::string> device_bus_ids() { return {}; }

bool is_page_locked(void const*) { return true; }

}  // namespace KokkosHostSpaces::Perf
