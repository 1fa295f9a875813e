// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_MEMSPACES_BATCH_PIECES_HPP
#define KOKKOS_HOST_SPACES_TESTS_MEMSPACES_BATCH_PIECES_HPP

#include <KokkosHostSpaces.hpp>

#include <cstddef>
#include <utility>
#include <vector>

/// Pieces of `bytes` bytes (and some), `count` of them, at distances that nothing can be made of.
struct Pieces {
  using Host   = Kokkos::View<char*, KokkosHostSpaces::PinnedSpace>;
  using Device = Kokkos::View<char*, Kokkos::CudaSpace>;

  Pieces(std::size_t count, std::size_t bytes) : slot(2 * bytes + 16) {
    host   = Host("host", slot * count);
    back   = Host("back", slot * count);
    device = Device("device", slot * count);
    for (std::size_t i = 0; i < host.size(); ++i) host(i) = char(i * 2654435761u >> 20);
    for (std::size_t i = 0; i < count; ++i) {
      lengths.push_back(bytes - i % 3);
      std::pair const here(slot * i, slot * i + lengths[i]),
          there(slot * i + i % 5, slot * i + i % 5 + lengths[i]);
      sources.push_back(Kokkos::subview(host, here));
      devices.push_back(Kokkos::subview(device, there));
      backs.push_back(Kokkos::subview(back, here));
    }
  }
  bool came_back() const {
    for (std::size_t k = 0; k < lengths.size(); ++k)
      for (std::size_t i = slot * k; i < slot * (k + 1); ++i)
        if (back(i) != (i < slot * k + lengths[k] ? host(i) : 0)) return false;
    return true;
  }

  std::size_t slot;
  Host host, back;
  Device device;
  std::vector<std::size_t> lengths;
  std::vector<Host> sources, backs;
  std::vector<Device> devices;
};

#endif
