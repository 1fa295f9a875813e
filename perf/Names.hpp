// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_NAMES_HPP
#define KOKKOS_HOST_SPACES_PERF_NAMES_HPP

#include "twins/Side.hpp"

#include <string>

namespace KokkosHostSpaces::Perf {

inline std::string name(Operation op) {
  switch (op) {
    case Operation::add: return "add";
    case Operation::scale: return "scale";
    case Operation::triad: return "triad";
    case Operation::to_device: return "to_device";
    case Operation::to_host: break;
  }
  return "to_host";
}

inline std::string name(Transport transport) {
  switch (transport) {
    case Transport::pageable: return "pageable";
    case Transport::pinned: return "pinned";
    case Transport::mapped: return "mapped";
    case Transport::resident: break;
  }
  return "resident";
}

/// As "256 MiB"; in bytes where no larger unit fits.
inline std::string size_name(std::size_t bytes) {
  char const* const units[] = {" B", " KiB", " MiB", " GiB"};
  int unit                  = 0;
  for (; unit < 3 && bytes >= 1024 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + units[unit];
}

}  // namespace KokkosHostSpaces::Perf

#endif
