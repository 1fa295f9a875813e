// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The memory of a NodeShared in one process. Knows nothing of MPI.

#ifndef KOKKOS_HOST_SPACES_IMPL_NODE_MEMORY_HPP
#define KOKKOS_HOST_SPACES_IMPL_NODE_MEMORY_HPP

#include <KokkosHostSpaces/Registration.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace KokkosHostSpaces::Impl {

/// A mapping of memory that processes of a node share: of a file without a name, which ends with the last
/// process that has it. The steps of its owner are: open(), fault_in(), writing, lock().
class NodeMemory {
 public:
  /// Tells the other processes where the memory is. Sent as bytes.
  struct Place {
    std::int64_t process = 0, descriptor = -1;
    std::uint64_t device = 0, inode = 0;
  };

  /// \param bytes of the memory; 0: there is none, and no step does anything
  NodeMemory(std::string label, std::size_t bytes);
  /// Unlocks, which waits for running kernels, and unmaps. Memory that cannot be unlocked stays mapped.
  ~NodeMemory();
  NodeMemory(NodeMemory const&)            = delete;
  NodeMemory& operator=(NodeMemory const&) = delete;

  /// Counts `part` bytes toward the limit of the pool of this process, and checks that the process may
  /// have such memory.
  /// \throw Error
  void count(std::size_t part);

  /// Makes the memory, its pages spread over the NUMA nodes or lying where they are touched.
  /// \return its place, valid until close()
  /// \throw Error
  Place make(bool interleaved);

  /// Maps the memory that another process has made.
  /// \throw Error
  void open(Place const& place);

  /// Gives the file up, when all processes have mapped it.
  void close();

  /// Faults in part `index` of `parts`.
  /// \throw Error
  void fault_in(std::size_t index, std::size_t parts);

  /// Page-locks the memory, which is read-only for the host from then on.
  /// \throw RegistrationError
  void lock();

  void* data() const noexcept { return m_data; }

 private:
  struct File;

  std::string m_label;
  unsigned m_generation;          // of forks
  std::size_t m_bytes, m_mapped;  // m_mapped: whole pages
  std::size_t m_counted = 0;
  std::unique_ptr<File> m_file;
  void* m_data = nullptr;
  std::optional<Registration> m_registration;
};

}  // namespace KokkosHostSpaces::Impl

#endif
