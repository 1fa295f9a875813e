// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/views/NodeMemory.hpp>

#include "../../../backend/Config.hpp"
#include "../../../backend/guard/Protection.hpp"
#include "../../../backend/os/Fork.hpp"
#include "../../../backend/os/MemoryFile.hpp"
#include "../../../backend/os/MemoryLimit.hpp"
#include "../../../backend/os/Pages.hpp"
#include "../../../backend/os/Topology.hpp"
#include "../../../backend/pool/Pool.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <utility>

namespace KokkosHostSpaces::Impl {

struct NodeMemory::File {
  Backend::MemoryFile file;
};

NodeMemory::NodeMemory(std::string label, std::size_t bytes)
    : m_label(std::move(label)),
      m_generation(Backend::fork_generation()),
      m_bytes(bytes),
      m_mapped(bytes == 0 ? 0 : Backend::whole_pages(bytes)) {}

// The child of a fork has neither the memory nor its parent's count.
NodeMemory::~NodeMemory() {
  if (m_generation != Backend::fork_generation()) return;
  try {
    if (m_registration) m_registration->release();
    if (m_data != nullptr) Backend::unmap_pages(m_data, m_mapped);
  } catch (std::exception const& error) {
    std::cerr << "KokkosHostSpaces: " << error.what() << std::endl;
  }
  if (m_counted > 0) Backend::Pool::end_apart(m_counted);
}

void NodeMemory::count(std::size_t part) {
  if (Backend::exceeds_memory(m_mapped))
    throw OutOfPinnedMemory("\"" + m_label + "\" cannot have " + std::to_string(m_mapped) +
                            " bytes (" + Backend::more_than_can_be(m_mapped) +
                            "): ask for fewer bytes");
  Backend::Pool::count_apart(part, m_label.c_str());
  m_counted = part;
}

NodeMemory::Place NodeMemory::make(bool interleaved) {
  // The kernel refuses no page of a file to a control group, but ends its processes.
  if (m_bytes == 0) return {};
  std::size_t const left = Backend::memory_of_cgroups().left;
  if (m_mapped > left)
    throw OutOfPinnedMemory("\"" + m_label + "\" cannot have " + std::to_string(m_mapped) +
                            " bytes (the control group has " + std::to_string(left) +
                            " left): raise the memory limit of the job or container");
  m_file = std::make_unique<File>(File{Backend::MemoryFile(m_mapped)});
  m_data = m_file->file.map(m_mapped);
  if (interleaved && Backend::config().numa)
    Backend::Topology::machine().interleave_memory(m_data, m_mapped);
  auto const address = m_file->file.address();
  return {address.process, address.descriptor, address.device, address.inode};
}

void NodeMemory::open(Place const& place) {
  if (m_bytes == 0) return;
  Backend::MemoryFile const file(
      Backend::MemoryFileAddress{place.process, place.descriptor, place.device, place.inode});
  m_data = file.map(m_mapped);
}

void NodeMemory::close() { m_file.reset(); }

void NodeMemory::fault_in(std::size_t index, std::size_t parts) {
  if (m_data == nullptr) return;
  std::size_t const unit  = m_mapped >= parts * Backend::huge_page_bytes ? Backend::huge_page_bytes
                                                                         : Backend::page_bytes();
  std::size_t const units = (m_mapped + unit - 1) / unit;
  std::size_t const begin = units * index / parts * unit;
  std::size_t const end   = std::min(units * (index + 1) / parts * unit, m_mapped);
  if (begin < end) Backend::fault_in(static_cast<char*>(m_data) + begin, end - begin);
}

void NodeMemory::lock() {
  if (m_data == nullptr) return;
  m_registration.emplace(m_data, m_mapped, m_label, AtFork::leave_out);
  Backend::protect_pages(m_data, m_mapped, Backend::PageAccess::read);
}

}  // namespace KokkosHostSpaces::Impl
