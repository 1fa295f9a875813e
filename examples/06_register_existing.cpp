// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Memory that somebody else allocated, page-locked where it lies: a std::vector, copied to the
// device and back at full rate, and a file mapped into memory, which a kernel works on in place.
// Both released again.

#include "support/Example.hpp"
#include "support/Timing.hpp"

#include <KokkosHostSpaces.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace khs = KokkosHostSpaces;

using Device     = Kokkos::DefaultExecutionSpace;
using DeviceView = Kokkos::View<double*, Device::memory_space>;

// A temporary file of the numbers 0, 1, 2, …, mapped privately.
//
// Private, because Linux may refuse to page-lock a writable *shared* mapping of a file (seen with
// Linux 6.18 on ext4; on tmpfs it works). Page-locking gives a private mapping pages of its own:
// what is written to them does not reach the file.
class MappedFile {
 public:
  explicit MappedFile(std::size_t count) : m_file(std::tmpfile(), &std::fclose), m_count(count) {
    if (!m_file) fail("no temporary file", "check that TMPDIR is writable");
    for (std::size_t i = 0; i < count; ++i) {
      double const number = double(i);
      std::fwrite(&number, sizeof(number), 1, m_file.get());
    }
    if (std::fflush(m_file.get()) != 0)
      fail("the temporary file was not written", "free some space");
    m_data =
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE, ::fileno(m_file.get()), 0);
    if (m_data == MAP_FAILED) fail("the file was not mapped", "use a smaller --bytes");
  }
  ~MappedFile() { ::munmap(m_data, bytes()); }
  MappedFile(MappedFile const&)            = delete;
  MappedFile& operator=(MappedFile const&) = delete;

  void* data() const { return m_data; }
  std::size_t bytes() const { return m_count * sizeof(double); }

  // Does the file itself, past its mapping, still hold 0, 1, 2, …?
  bool file_is_unchanged() const {
    std::rewind(m_file.get());
    double number = 0;
    for (std::size_t i = 0; i < m_count; ++i)
      if (std::fread(&number, sizeof(number), 1, m_file.get()) != 1 || number != double(i))
        return false;
    return true;
  }

 private:
  [[noreturn]] static void fail(char const* problem, char const* advice) {
    throw std::runtime_error(std::string(problem) + " (" + std::strerror(errno) + "): " + advice);
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> m_file;
  std::size_t m_count;
  void* m_data = nullptr;
};

template <class View>
void square(Device const& instance, View numbers) {
  Kokkos::parallel_for(
      "square", Kokkos::RangePolicy<Device>(instance, 0, numbers.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) { numbers(i) *= numbers(i); });
}

double squared(std::size_t i) { return double(i) * double(i); }

bool square_vector(std::size_t n) {
  std::vector<double> numbers(n);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = double(i);
  Device const instance;
  DeviceView const on_device("on_device", n);
  auto const copy_in = [&](auto const& view) {
    return Example::best_seconds(instance, 3,
                                 [&] { Kokkos::deep_copy(instance, on_device, view); });
  };
  Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const pageable(numbers.data(),
                                                                                   n);
  double const slow = copy_in(pageable);

  khs::Registration registration(numbers, "numbers");
  auto const pinned = registration.view<double*>(n);
  double const fast = copy_in(pinned);
  square(instance, on_device);
  Kokkos::deep_copy(instance, pinned, on_device);
  instance.fence("the squares are back");

  bool refused = false;
  try {
    khs::Registration const again(numbers, "numbers_again");
  } catch (khs::RegistrationError const& error) {
    refused = true;
    std::printf("A second registration of the vector is refused:\n  %s\n", error.what());
  }
  registration.release();  // the destructor would do it too

  std::printf("std::vector of %s, copy to the device: %.3f ms as it is, %.3f ms registered\n",
              Example::bytes_text(n * sizeof(double)).c_str(), 1e3 * slow, 1e3 * fast);
  return refused && Example::count_wrong(pageable, squared) == 0;
}

bool square_file(std::size_t n) {
  MappedFile const file(n);
  bool right = false;
  {
    khs::Registration const registration(file.data(), file.bytes(), "mapped_file");
    auto const in_place = registration.view<double*, khs::MappedSpace>(n);
    Device const instance;
    square(instance, in_place);
    instance.fence("the file's numbers are squared");
    right = Example::count_wrong(in_place, squared) == 0;
  }  // released here, before the file is unmapped
  bool const unchanged = file.file_is_unchanged();
  std::printf(
      "file of %s, mapped with MAP_PRIVATE: squared in place by a kernel, the file on disk is %s\n",
      Example::bytes_text(file.bytes()).c_str(), unchanged ? "unchanged" : "CHANGED");
  return right && unchanged;
}

bool run(Example::Options const& options) {
  std::size_t const n     = options.elements<double>("bytes");
  bool const vector_right = square_vector(n);
  bool const file_right   = square_file(n);
  return vector_right && file_right;
}

int main(int argc, char** argv) {
  return Example::run(argc, argv, {{"bytes", "64M", "size of the vector and of the file"}}, run);
}
