// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ERROR_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ERROR_HPP

#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace KokkosHostSpaces {

/// Base of all that this library throws, except BadAlloc of containers. The message reads "problem (why):
/// what to do". Derives from std::runtime_error, as other exceptions for failed allocations do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The system or a limit refused page-locked memory. Not a std::bad_alloc: beside Error that would be
/// a second base std::exception, and `catch (std::exception const&)` would no longer catch it.
class OutOfPinnedMemory : public Error {
 public:
  using Error::Error;
};
static_assert(std::is_convertible_v<OutOfPinnedMemory*, std::exception*>, "caught as that");

/// A range of memory cannot be registered, or is not registered as the caller assumes.
class RegistrationError : public Error {
 public:
  using Error::Error;
};

/// A KOKKOS_HOST_SPACES_* environment variable has an invalid value.
class ConfigurationError : public Error {
 public:
  using Error::Error;
};

/// A call of the device's runtime failed. `code()` is its error code, on CUDA a cudaError_t.
class DeviceError : public Error {
 public:
  /// A message, and the error code.
  DeviceError(std::string const& what, int code) : Error(what), m_code(code) {}
  /// The error code; 100, cudaErrorNoDevice, where the library was built without a device.
  int code() const noexcept { return m_code; }

 private:
  int m_code;
};

}  // namespace KokkosHostSpaces

#endif
