// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Picture.hpp"

#include <KokkosHostSpaces.hpp>

#include <bit>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace Heat {

void Picture::add(Field const& field) {
  Index3 const global = m_decomposition.global(), cells = m_decomposition.cells(),
               origin = m_decomposition.origin();
  std::vector<double>& slice =
      m_slices.emplace_back(static_cast<std::size_t>(global[0]) * std::size_t(global[1]));

  int const z = global[2] / 2 - origin[2];
  if (z >= 0 && z < cells[2]) {
    auto const part =
        Kokkos::subview(field, std::pair(1, cells[0] + 1), std::pair(1, cells[1] + 1), z + 1);
    Kokkos::View<double**, Kokkos::LayoutLeft, KokkosHostSpaces::PinnedSpace> const host(
        Kokkos::view_alloc("slice", Kokkos::WithoutInitializing), cells[0], cells[1]);
    Kokkos::deep_copy(host, part);
    for (int y = 0; y < cells[1]; ++y)
      for (int x = 0; x < cells[0]; ++x)
        slice[std::size_t(origin[1] + y) * std::size_t(global[0]) + std::size_t(origin[0] + x)] =
            host(x, y);
  }
  m_processes.sum_to_first(slice);  // the others have zeros
}

void Picture::write(std::string const& file) const {
  if (m_processes.rank() != 0) return;
  Index3 const global = m_decomposition.global();
  std::string header  = "{'descr': '";
  header += std::endian::native == std::endian::little ? '<' : '>';
  header += "f8', 'fortran_order': False, 'shape': (" + std::to_string(m_slices.size()) + ", " +
            std::to_string(global[1]) + ", " + std::to_string(global[0]) + ")}";
  header.resize(117, ' ');  // with the ten bytes before it a multiple of 64
  header += '\n';

  std::ofstream out(file, std::ios::binary);
  out << "\x93NUMPY" << '\x01' << '\0' << char(header.size()) << '\0' << header;
  for (auto const& slice : m_slices)
    out.write(reinterpret_cast<char const*>(slice.data()),
              static_cast<std::streamsize>(slice.size() * sizeof(double)));
  out.close();
  if (!out) throw std::runtime_error("writing " + file + " failed: name another file by --picture");
}

}  // namespace Heat
