// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_MEMORY_FILE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_MEMORY_FILE_HPP

#include <cstddef>
#include <cstdint>

namespace KokkosHostSpaces::Impl::Backend {

/// Tells other processes of the node where a memory file is. Sent as bytes.
struct MemoryFileAddress {
  std::int64_t process    = 0;  ///< that has it open
  std::int64_t descriptor = -1;
  std::uint64_t device = 0, inode = 0;  ///< which file it must be
};

/// A file of memory without a name (memfd_create), which lives as long as a process maps it or has it
/// open, however these processes end: nothing has to be removed. Needs no room in /dev/shm. The
/// processes belong to one user and see each other in /proc.
class MemoryFile {
 public:
  /// No file.
  MemoryFile() = default;

  /// Makes a file of `bytes` zeros, which uses no memory before its pages are touched.
  /// \throw Error if the system refuses
  explicit MemoryFile(std::size_t bytes);

  /// Opens the file that another process has open.
  /// \throw Error if it cannot be reached, or is another one than the address tells
  explicit MemoryFile(MemoryFileAddress const& address);

  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  /// Valid as long as this process has it open.
  MemoryFileAddress address() const;

  /// Maps all pages, shared, readable and writable; asks for huge pages. Free them by unmap_pages.
  /// \throw Error if the system refuses
  void* map(std::size_t bytes) const;

 private:
  int m_descriptor = -1;
};

/// Faults in shared pages of the process by several threads.
/// \throw Error if there is no memory for them
void fault_in(void* pointer, std::size_t bytes);

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
