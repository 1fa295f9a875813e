// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The copies of the CUDA runtime that this library interposes. Each calls the next one; before that,
// memory that is copied again is page-locked, and in strict mode an asynchronous copy waits for its own
// stream where stock memory, being pageable, would have made it wait. The functions are declared here,
// not taken from CUDA's headers: some have another signature in another version.

#include "../Adoption.hpp"
#include "../Next.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>

#include <driver_types.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

using Size   = std::size_t;
using Stream = void*;

/// A copy, as far as it matters here. nullptr as a side: memory of a device. `unknown`: the sides cannot be
/// told, any memory may be one.
struct Copy {
  void const* dst              = nullptr;
  void const* src              = nullptr;
  Size bytes                   = 0;
  int kind                     = cudaMemcpyDefault;
  bool has_gaps                = false;
  bool unknown                 = false;
  std::optional<Stream> stream = {};  ///< of one that is asynchronous
};

// The runtime does not tell of the legacy default stream while a stream captures that waits for it.
bool captures(Stream stream) noexcept {
  int status      = 0;
  int const error = ask_next<"cudaStreamIsCapturing">(stream, &status);
  return error == cudaErrorStreamCaptureImplicit || status != 0;
}

// Other streams may capture: to wait would break that, which stock does not do.
int wait_for(Stream stream) noexcept {
  int mode                = cudaStreamCaptureModeRelaxed;
  bool const is_exchanged = ask_next<"cudaThreadExchangeStreamCaptureMode">(&mode) == 0;
  int const error         = call_next<"cudaStreamSynchronize">(stream);
  if (is_exchanged) ask_next<"cudaThreadExchangeStreamCaptureMode">(&mode);
  return error;
}

int type_of(void const* pointer) noexcept {
  if (pointer == nullptr) return cudaMemoryTypeDevice;
  cudaPointerAttributes attributes = {};
  return ask_next<"cudaPointerGetAttributes">(&attributes, pointer) == 0 ? attributes.type : -1;
}
bool is_pageable(void const* host) noexcept { return type_of(host) == cudaMemoryTypeUnregistered; }
bool is_on_device(void const* side) noexcept { return type_of(side) >= cudaMemoryTypeDevice; }

/// What is done around the next function.
class Around {
 public:
  explicit Around(Copy const& copy) noexcept : m_copy(copy) {
    bool const from_us = Adoption::contains(copy.src), to_us = Adoption::contains(copy.dst);
    m_is_ours          = from_us || to_us || copy.unknown;
    bool const matters = m_is_ours || !settings().report.empty();
    if (!matters || (copy.stream && captures(*copy.stream))) return;
    m_is_watched = true;
    if (!copy.unknown && !(from_us && to_us)) look(to_us || (!from_us && is_pageable(copy.dst)));
    m_is_secret = is_secret();
    if (m_counts && m_to_device && waits()) stage();
    m_start = now();
  }

  /// What the next function gets.
  template <class Argument>
  Argument argument(Argument given) const noexcept {
    if constexpr (std::is_same_v<Argument, void const*>)
      if (m_staged != nullptr && given == m_copy.src) return m_staged.get();
    return given;
  }

  /// After the copy.
  int ends(int error) noexcept {
    if (!m_is_watched) return error;
    // Another thread may have locked the memory meanwhile, and so made this copy asynchronous.
    m_is_secret = m_is_secret || is_secret();
    if (error == 0 && waits()) error = wait_for(*m_copy.stream);
    if (error != 0) {
      // Pageable memory would not be touched any more; what is page-locked here may be.
      for (void const* side : {m_copy.dst, m_copy.src}) Adoption::instance().runs_on(side);
      return error;
    }
    if (m_is_secret && m_copy.stream && settings().check)
      check_copy(m_copy.dst, m_copy.src, m_copy.has_gaps ? 0 : m_copy.bytes, *m_copy.stream);
    if (!m_counts) return error;
    // The time of a copy that runs on is not known.
    bool const is_over = waits() || !m_copy.stream || !m_is_locked;
    auto const kind    = !m_is_ours    ? Adoption::others
                         : m_is_locked ? Adoption::page_locked
                                       : Adoption::pageable;
    Adoption::instance().copied(m_to_device, kind, m_copy.bytes, is_over ? now() - m_start : 0);
    return error;
  }

 private:
  // Whether this library alone has a side page-locked, now.
  bool is_secret() const noexcept {
    Adoption& adoption = Adoption::instance();
    if (m_copy.unknown) return adoption.has_locked();
    return adoption.side_of(m_copy.src).secret || adoption.side_of(m_copy.dst).secret;
  }

  bool waits() const noexcept {
    return m_is_secret && m_copy.stream && settings().strict && m_staged == nullptr;
  }

  // What this library could not adopt is looked at for the report.
  void look(bool to_host) noexcept {
    m_to_device       = !to_host;
    void const* host  = to_host ? m_copy.dst : m_copy.src;
    void const* other = to_host ? m_copy.src : m_copy.dst;
    int const named   = to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    m_counts =
        (m_copy.kind == named || (m_copy.kind == cudaMemcpyDefault && is_on_device(other))) &&
        (m_is_ours || is_pageable(host));
    // That locking fails would hide an error of the program's.
    if (m_counts && call_next<"cudaPeekAtLastError">() == 0) Adoption::instance().copies(host);
    m_is_locked = Adoption::instance().side_of(host).locked;
  }

  // Of pageable memory, the runtime takes a small source before it returns, and waits for nothing: a
  // program may go on, and even must where the stream waits for it.
  void stage() noexcept {
    constexpr Size most = Size(64) << 10;
    if (m_copy.bytes > most || m_copy.has_gaps) return;
    m_staged.reset(std::malloc(m_copy.bytes));
    if (m_staged != nullptr) std::memcpy(m_staged.get(), m_copy.src, m_copy.bytes);
  }

  Copy m_copy;
  std::unique_ptr<void, void (*)(void*)> m_staged{nullptr, &std::free};
  bool m_is_ours = false, m_is_watched = false, m_counts = false;
  bool m_is_locked = false, m_is_secret = false, m_to_device = false;
  double m_start = 0;
};

// Behind the names for a default stream of each thread, 0 means that stream.
Stream of_thread(Stream stream) {
  return stream != nullptr ? stream : reinterpret_cast<Stream>(std::uintptr_t(2));
}

Copy asynchronous(Copy copy, Stream stream) {
  copy.stream = stream;
  return copy;
}

// Where an array is a side, the extent counts elements, not bytes.
Copy copy_of(cudaMemcpy3DParms const& p) {
  return {p.dstArray == nullptr ? static_cast<char*>(p.dstPtr.ptr) + p.dstPos.x : nullptr,
          p.srcArray == nullptr ? static_cast<char*>(p.srcPtr.ptr) + p.srcPos.x : nullptr,
          p.extent.width * p.extent.height * p.extent.depth, p.kind, true};
}

/// The signature of the batches lost a parameter, before the stream, in CUDA 13.
bool batches_tell_failures() noexcept {
  int version = 0;
  return ask_next<"cudaRuntimeGetVersion">(&version) == 0 && version < 13000;
}

template <Name name, class... Arguments>
int around(Copy const& copy, void const* caller, Arguments... arguments) noexcept {
  NotCancelled const meanwhile;
  Around around(copy);
  void* const own = Objects::find_for_caller(name.text, caller);
  int const error =
      own != nullptr ? reinterpret_cast<int (*)(Arguments...)>(own)(around.argument(arguments)...)
                     : call_next<name>(around.argument(arguments)...);
  return around.ends(error);
}

}  // namespace

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

using namespace KokkosHostSpaces::Impl::Backend::Adopt;  // NOLINT

// Defines a function. The last argument is its copy.
#define KHS_UNPACK(...) __VA_ARGS__
#define KHS_ONE(name, parameters, arguments, ...)                                         \
  KHS_EXPORT int name parameters {                                                        \
    return around<#name>(__VA_ARGS__, __builtin_return_address(0), KHS_UNPACK arguments); \
  }

// Defines a function, the asynchronous one, and both for the default stream of each thread.
#define KHS_COPY(name, parameters, arguments, ...)                                        \
  KHS_ONE(name, (KHS_UNPACK parameters), arguments, Copy __VA_ARGS__)                     \
  KHS_ONE(name##_ptds, (KHS_UNPACK parameters), arguments, Copy __VA_ARGS__)              \
  KHS_ONE(name##Async, (KHS_UNPACK parameters, Stream t), (KHS_UNPACK arguments, t),      \
          asynchronous(__VA_ARGS__, t))                                                   \
  KHS_ONE(name##Async_ptsz, (KHS_UNPACK parameters, Stream t), (KHS_UNPACK arguments, t), \
          asynchronous(__VA_ARGS__, of_thread(t)))

using Dst = void*;
using Src = void const*;

KHS_COPY(cudaMemcpy, (Dst d, Src s, Size n, int kind), (d, s, n, kind), {d, s, n, kind})
KHS_COPY(cudaMemcpy2D, (Dst d, Size dp, Src s, Size sp, Size w, Size h, int kind),
         (d, dp, s, sp, w, h, kind), {d, s, w* h, kind, dp != w || sp != w})
KHS_COPY(cudaMemcpy3D, (cudaMemcpy3DParms const* p), (p), {p != nullptr ? copy_of(*p) : Copy()})
KHS_COPY(cudaMemcpyPeer, (Dst d, int dd, Src s, int sd, Size n), (d, dd, s, sd, n), {d, s, n})
KHS_COPY(cudaMemcpy3DPeer, (void const* p), (p), {.unknown = true})
KHS_COPY(cudaMemcpyToSymbol, (Src symbol, Src s, Size n, Size offset, int kind),
         (symbol, s, n, offset, kind), {nullptr, s, n, kind})
KHS_COPY(cudaMemcpyFromSymbol, (Dst d, Src symbol, Size n, Size offset, int kind),
         (d, symbol, n, offset, kind), {d, nullptr, n, kind})
KHS_COPY(cudaMemcpyToArray, (Dst a, Size x, Size y, Src s, Size n, int kind), (a, x, y, s, n, kind),
         {nullptr, s, n, kind})
KHS_COPY(cudaMemcpyFromArray, (Dst d, Src a, Size x, Size y, Size n, int kind),
         (d, a, x, y, n, kind), {d, nullptr, n, kind})
KHS_COPY(cudaMemcpy2DToArray, (Dst a, Size x, Size y, Src s, Size sp, Size w, Size h, int kind),
         (a, x, y, s, sp, w, h, kind), {nullptr, s, w* h, kind, true})
KHS_COPY(cudaMemcpy2DFromArray, (Dst d, Size dp, Src a, Size x, Size y, Size w, Size h, int kind),
         (d, dp, a, x, y, w, h, kind), {d, nullptr, w* h, kind, true})

// CUDA 13.2 and later.
#define KHS_WITH_ATTRIBUTES(name, of)                                                              \
  KHS_ONE(cudaMemcpyWithAttributesAsync##name, (Dst d, Src s, Size n, void* attributes, Stream t), \
          (d, s, n, attributes, t), asynchronous({d, s, n}, of(t)))                                \
  KHS_ONE(cudaMemcpy3DWithAttributesAsync##name,                                                   \
          (void* operation, unsigned long long flags, Stream t), (operation, flags, t),            \
          asynchronous({.unknown = true}, of(t)))
KHS_WITH_ATTRIBUTES(, )
KHS_WITH_ATTRIBUTES(_ptsz, of_thread)

// The last two parameters of batches are the index of a failure and the stream, or in CUDA 13 the stream
// alone.
#define KHS_BATCH(name, of)                                                                    \
  KHS_ONE(cudaMemcpyBatchAsync##name,                                                          \
          (Dst const* ds, Src const* ss, Size* n, Size count, void* attributes, void* indices, \
           Size given, void* last, void* very_last),                                           \
          (ds, ss, n, count, attributes, indices, given, last, very_last),                     \
          asynchronous({.unknown = true}, of(batches_tell_failures() ? very_last : last)))     \
  KHS_ONE(cudaMemcpy3DBatchAsync##name,                                                        \
          (Size count, void* operations, void* third, void* fourth, void* fifth),              \
          (count, operations, third, fourth, fifth),                                           \
          asynchronous({.unknown = true}, of(batches_tell_failures() ? fifth : fourth)))
KHS_BATCH(, )
KHS_BATCH(_ptsz, of_thread)
