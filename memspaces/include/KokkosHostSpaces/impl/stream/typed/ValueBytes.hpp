// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_IMPL_VALUE_BYTES_HPP
#define KOKKOS_HOST_SPACES_IMPL_VALUE_BYTES_HPP

#include <Kokkos_Core.hpp>

#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace KokkosHostSpaces::Impl {

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<Kokkos::complex<T>> = true;

/// sizeof(T) bytes: 1 where values of T have a value, 0 where they have padding. All are 0 if the
/// compiler does not tell.
template <class T>
std::string value_bytes() {
  std::string bytes(sizeof(T), '\1');
  if constexpr (!std::has_unique_object_representations_v<T>) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(KOKKOS_COMPILER_NVCC)
    if constexpr (std::is_trivially_copyable_v<T>) {
      alignas(T) char of_value[sizeof(T)];
      std::memset(of_value, 1, sizeof(T));
      __builtin_clear_padding(reinterpret_cast<T*>(of_value));
      return std::string(of_value, sizeof(T));
    }
#endif
    if (!std::is_same_v<T, float> && !std::is_same_v<T, double> && !is_complex_v<T>)
      bytes.assign(sizeof(T), '\0');
  }
  return bytes;
}

/// The same of the elements of arguments.
template <class... Arguments>
std::vector<std::string> all_value_bytes(std::tuple<Arguments...> const&) {
  return {value_bytes<std::remove_const_t<typename Arguments::View::value_type>>()...};
}

}  // namespace KokkosHostSpaces::Impl

#endif
