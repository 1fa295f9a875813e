// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_ADOPT_NEXT_HPP
#define KOKKOS_HOST_SPACES_BACKEND_ADOPT_NEXT_HPP

#include "Objects.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>

#define KHS_EXPORT extern "C" __attribute__((visibility("default")))

namespace KokkosHostSpaces::Impl::Backend::Adopt {

/// The name of a function, as an argument of a template.
template <std::size_t count>
struct Name {
  consteval Name(char const (&name)[count]) { std::copy_n(name, count, text); }
  char text[count];
};

/// Calls a function behind this library, as of the CUDA runtime, as the program would have without it. If
/// there is none: an error that no runtime has (cudaErrorUnknown), or a text.
template <Name name, class Result = int, class... Arguments>
Result call_next(Arguments... arguments) noexcept {
  static std::atomic<void*> next{nullptr};
  if (next == nullptr) next = Objects::find_next(name.text, "libcudart.so");
  if (next != nullptr) return reinterpret_cast<Result (*)(Arguments...)>(next.load())(arguments...);
  if constexpr (std::is_pointer_v<Result>)
    return "unknown";
  else
    return Result(999);
}

/// The same for a question of this library: that it fails, the program does not see by cudaGetLastError.
template <Name name, class... Arguments>
int ask_next(Arguments... arguments) noexcept {
  bool const was_error = call_next<"cudaPeekAtLastError">() != 0;
  int const error      = call_next<name>(arguments...);
  if (error != 0 && !was_error) call_next<"cudaGetLastError">();
  return error;
}

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

#endif
