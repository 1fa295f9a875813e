// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The copies of the CUDA runtime that this library interposes. Each calls the next one; before that,
// memory that is copied again is page-locked, and in strict mode an asynchronous copy waits for its own
// stream where stock memory, being pageable, would have made it wait. The functions are declared here,
// not taken from CUDA's headers: some have another signature in another version.

#include "../Adoption.hpp"
#include "../Next.hpp"
#include "../Settings.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#include <driver_types.h>

namespace KokkosHostSpaces::Impl::Backend::Adopt {

namespace {

using Stream = void*;

/// A copy, as far as it matters here. `unknown`: its sides cannot be told, any memory may be one.
struct Copy {
  void const* dst      = nullptr;
  void const* src      = nullptr;
  std::size_t bytes    = 0;
  int kind             = cudaMemcpyDefault;
  bool has_gaps        = false;
  bool is_asynchronous = false;
  Stream stream        = nullptr;
  bool unknown         = false;
};

bool captures(Stream stream) noexcept {
  static int (*next)(Stream, int*) = nullptr;
  int status                       = 0;
  return call_next(next, "cudaStreamIsCapturing", stream, &status) != 0 || status != 0;
}

// Other streams may capture: to wait would break that, which stock does not do.
int wait_for(Stream stream) noexcept {
  static int (*next)(Stream)   = nullptr;
  static int (*exchange)(int*) = nullptr;
  int mode                     = cudaStreamCaptureModeRelaxed;
  bool const is_exchanged = call_next(exchange, "cudaThreadExchangeStreamCaptureMode", &mode) == 0;
  int const error         = call_next(next, "cudaStreamSynchronize", stream);
  if (is_exchanged) call_next(exchange, "cudaThreadExchangeStreamCaptureMode", &mode);
  return error;
}

int type_of(void const* pointer) noexcept {
  static int (*next)(cudaPointerAttributes*, void const*) = nullptr;
  cudaPointerAttributes attributes                        = {};
  int const error = call_next(next, "cudaPointerGetAttributes", &attributes, pointer);
  return error == 0 ? attributes.type : -1;
}

bool is_on_device(void const* pointer) noexcept {
  int const type = type_of(pointer);
  return type == cudaMemoryTypeDevice || type == cudaMemoryTypeManaged;
}

/// What is done around the next function.
class Around {
 public:
  explicit Around(Copy const& copy) noexcept : m_copy(copy) {
    bool const from_us = Adoption::contains(copy.src), to_us = Adoption::contains(copy.dst);
    bool const others = !from_us && !to_us && !copy.unknown;
    if (others && settings().report == nullptr) return;
    if (copy.is_asynchronous && captures(copy.stream)) return;
    if (others) {
      look_at_others();
      return;
    }
    Adoption& adoption = Adoption::instance();
    m_watched          = true;
    if (copy.unknown) {
      m_waits = adoption.has_locked();
    } else if (from_us && to_us) {
      m_waits = adoption.side_of(copy.src).waits || adoption.side_of(copy.dst).waits;
    } else {
      look(adoption, to_us ? copy.dst : copy.src, to_us ? copy.src : copy.dst, to_us);
    }
    m_is_checked = m_waits && copy.is_asynchronous && settings().check;
    m_waits      = m_waits && copy.is_asynchronous && settings().strict;
    if (m_waits && m_counts && m_direction == Direction::to_device) stage();
    m_start = std::chrono::steady_clock::now();
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
    if (!m_watched || error != 0) return error;
    // Another thread may have locked the memory meanwhile, and so made this copy asynchronous.
    if (m_host != nullptr && !m_side.locked && m_copy.is_asynchronous && settings().strict)
      m_waits = Adoption::instance().side_of(m_host).waits;
    if (m_waits) error = wait_for(m_copy.stream);
    if (m_is_checked)
      check_copy(m_copy.dst, m_copy.src, m_copy.has_gaps ? 0 : m_copy.bytes, m_copy.stream);
    if (!m_counts || error != 0) return error;
    // The time of a copy that runs on is not known.
    auto const time     = std::chrono::nanoseconds(std::chrono::steady_clock::now() - m_start);
    bool const is_over  = m_waits || !m_copy.is_asynchronous || !m_side.locked;
    HostSide const side = !m_side.adopted ? HostSide::others
                          : m_side.locked ? HostSide::locked
                                          : HostSide::pageable;
    Adoption::instance().recorder.copied(
        m_direction, side, m_copy.bytes,
        is_over ? static_cast<std::uint64_t>(std::max<long>(time.count(), 1)) : 0);
    return error;
  }

 private:
  // For the report: what this library could not adopt.
  void look_at_others() noexcept {
    bool const to_host = m_copy.dst != nullptr && type_of(m_copy.dst) == cudaMemoryTypeUnregistered;
    void const* const host = to_host ? m_copy.dst : m_copy.src;
    m_direction            = to_host ? Direction::to_host : Direction::to_device;
    m_counts               = host != nullptr && m_copy.kind != cudaMemcpyHostToHost &&
               (to_host ? m_copy.src == nullptr || is_on_device(m_copy.src)
                        : type_of(host) == cudaMemoryTypeUnregistered);
    m_watched = m_counts;
    m_start   = std::chrono::steady_clock::now();
  }

  void look(Adoption& adoption, void const* host, void const* other, bool to_host) noexcept {
    bool const names_device =
        m_copy.kind == (to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
    m_host      = host;
    m_side      = adoption.side_of(host);
    m_waits     = m_side.waits;
    m_direction = to_host ? Direction::to_host : Direction::to_device;
    m_counts    = names_device ||
               (m_copy.kind == cudaMemcpyDefault && (other == nullptr || is_on_device(other)));
    if (!m_counts) return;
    m_side  = adoption.copies(host);
    m_waits = m_side.waits;
  }

  // Of pageable memory, the runtime takes a small source before it returns, and waits for nothing: a
  // program may go on, and even must where the stream waits for it.
  void stage() noexcept {
    constexpr std::size_t most = std::size_t(64) << 10;
    if (m_copy.bytes > most || m_copy.has_gaps) return;
    m_staged.reset(std::malloc(m_copy.bytes));
    if (m_staged == nullptr) return;
    std::memcpy(m_staged.get(), m_copy.src, m_copy.bytes);
    m_waits = false;
  }

  Copy m_copy;
  std::unique_ptr<void, void (*)(void*)> m_staged{nullptr, &std::free};
  bool m_watched = false, m_waits = false, m_counts = false, m_is_checked = false;
  Adoption::Side m_side;
  void const* m_host    = nullptr;
  Direction m_direction = Direction::to_host;
  std::chrono::steady_clock::time_point m_start;
};

Stream stream_of(Stream stream) { return stream; }
// Behind the names for a default stream of each thread, 0 means that stream.
Stream stream_of_thread(Stream stream) {
  return stream != nullptr ? stream : reinterpret_cast<Stream>(std::uintptr_t(2));
}

// Where an array is a side, the extent counts elements, not bytes.
Copy copy_of(cudaMemcpy3DParms const& p) {
  return {p.dstArray == nullptr ? static_cast<char*>(p.dstPtr.ptr) + p.dstPos.x : nullptr,
          p.srcArray == nullptr ? static_cast<char*>(p.srcPtr.ptr) + p.srcPos.x : nullptr,
          p.extent.width * p.extent.height * p.extent.depth, p.kind, true};
}

Copy asynchronous(Copy copy, Stream stream) {
  copy.is_asynchronous = true;
  copy.stream          = stream;
  return copy;
}

// Counts the copies of a batch, which takes any sides.
Copy batch(void* const* dsts, void const* const* srcs, std::size_t count, Stream stream) noexcept {
  bool const looks = !captures(stream);
  for (std::size_t i = 0; looks && i < count; ++i) {
    bool const to_us = Adoption::contains(dsts[i]);
    if (to_us == Adoption::contains(srcs[i])) continue;
    if (is_on_device(to_us ? srcs[i] : dsts[i]))
      Adoption::instance().copies(to_us ? dsts[i] : srcs[i]);
  }
  return {nullptr, nullptr, 0, 0, true, true, stream, true};
}

/// The signature of the batches lost a parameter, before the stream, in CUDA 13.
bool batches_tell_failures() noexcept {
  static int (*next)(int*) = nullptr;
  int version              = 0;
  return call_next(next, "cudaRuntimeGetVersion", &version) == 0 && version < 13000;
}

/// Who calls which function; `next` is remembered.
struct Call {
  char const* name;
  void const* caller;
  void*& next;
};

template <class... Arguments>
int around(Copy const& copy, Call const& call, Arguments... arguments) noexcept {
  Around around(copy);
  void* const own =
      Objects::has_several_runtimes() ? Objects::find_for_caller(call.name, call.caller) : nullptr;
  auto function   = reinterpret_cast<int (*)(Arguments...)>(own != nullptr ? own : call.next);
  int const error = call_next(function, call.name, around.argument(arguments)...);
  if (own == nullptr) call.next = reinterpret_cast<void*>(function);
  return around.ends(error);
}

}  // namespace

}  // namespace KokkosHostSpaces::Impl::Backend::Adopt

using namespace KokkosHostSpaces::Impl::Backend::Adopt;  // NOLINT

#define KHS_EXPORT extern "C" __attribute__((visibility("default")))

// Defines a function, and the one of each thread's default stream. `copy` may use its parameters, and
// `of`, which turns its stream into a handle.
#define KHS_INTERPOSE_ONE(name, of_stream, parameters, arguments, copy)                    \
  KHS_EXPORT int name parameters {                                                         \
    [[maybe_unused]] auto* const of = &of_stream;                                          \
    static void* next               = nullptr;                                             \
    return around(copy, {#name, __builtin_return_address(0), next}, KHS_UNPACK arguments); \
  }
#define KHS_UNPACK(...) __VA_ARGS__
#define KHS_INTERPOSE(name, suffix, parameters, arguments, copy)    \
  KHS_INTERPOSE_ONE(name, stream_of, parameters, arguments, (copy)) \
  KHS_INTERPOSE_ONE(name##suffix, stream_of_thread, parameters, arguments, (copy))

using Size = std::size_t;

KHS_INTERPOSE(cudaMemcpy, _ptds, (void* d, void const* s, Size n, int kind), (d, s, n, kind),
              (Copy{d, s, n, kind}))
KHS_INTERPOSE(cudaMemcpyAsync, _ptsz, (void* d, void const* s, Size n, int kind, Stream t),
              (d, s, n, kind, t), asynchronous({d, s, n, kind}, of(t)))
KHS_INTERPOSE(cudaMemcpy2D, _ptds,
              (void* d, Size dp, void const* s, Size sp, Size w, Size h, int kind),
              (d, dp, s, sp, w, h, kind), (Copy{d, s, w* h, kind, true}))
KHS_INTERPOSE(cudaMemcpy2DAsync, _ptsz,
              (void* d, Size dp, void const* s, Size sp, Size w, Size h, int kind, Stream t),
              (d, dp, s, sp, w, h, kind, t),
              asynchronous({d, s, w* h, kind, dp != w || sp != w}, of(t)))
KHS_INTERPOSE(cudaMemcpy3D, _ptds, (cudaMemcpy3DParms const* p), (p), copy_of(*p))
KHS_INTERPOSE(cudaMemcpy3DAsync, _ptsz, (cudaMemcpy3DParms const* p, Stream t), (p, t),
              asynchronous(copy_of(*p), of(t)))
KHS_INTERPOSE_ONE(cudaMemcpyPeer, stream_of, (void* d, int dd, void const* s, int sd, Size n),
                  (d, dd, s, sd, n), (Copy{d, s, n}))
KHS_INTERPOSE_ONE(cudaMemcpyPeerAsync, stream_of,
                  (void* d, int dd, void const* s, int sd, Size n, Stream t), (d, dd, s, sd, n, t),
                  asynchronous({d, s, n}, of(t)))
KHS_INTERPOSE(cudaMemcpy3DPeer, _ptds, (void const* p), (p), (Copy{}))
KHS_INTERPOSE(cudaMemcpy3DPeerAsync, _ptsz, (void const* p, Stream t), (p, t),
              (Copy{nullptr, nullptr, 0, 0, true, true, of(t), true}))
KHS_INTERPOSE(cudaMemcpyToSymbol, _ptds,
              (void const* symbol, void const* s, Size n, Size offset, int kind),
              (symbol, s, n, offset, kind), (Copy{nullptr, s, n, kind}))
KHS_INTERPOSE(cudaMemcpyToSymbolAsync, _ptsz,
              (void const* symbol, void const* s, Size n, Size offset, int kind, Stream t),
              (symbol, s, n, offset, kind, t), asynchronous({nullptr, s, n, kind}, of(t)))
KHS_INTERPOSE(cudaMemcpyFromSymbol, _ptds,
              (void* d, void const* symbol, Size n, Size offset, int kind),
              (d, symbol, n, offset, kind), (Copy{d, nullptr, n, kind}))
KHS_INTERPOSE(cudaMemcpyFromSymbolAsync, _ptsz,
              (void* d, void const* symbol, Size n, Size offset, int kind, Stream t),
              (d, symbol, n, offset, kind, t), asynchronous({d, nullptr, n, kind}, of(t)))
KHS_INTERPOSE(cudaMemcpy2DToArrayAsync, _ptsz,
              (void* a, Size x, Size y, void const* s, Size sp, Size w, Size h, int kind, Stream t),
              (a, x, y, s, sp, w, h, kind, t), asynchronous({nullptr, s, w* h, kind, true}, of(t)))
KHS_INTERPOSE(cudaMemcpy2DFromArrayAsync, _ptsz,
              (void* d, Size dp, void const* a, Size x, Size y, Size w, Size h, int kind, Stream t),
              (d, dp, a, x, y, w, h, kind, t), asynchronous({d, nullptr, w* h, kind, true}, of(t)))

KHS_INTERPOSE(cudaMemcpyToArrayAsync, _ptsz,
              (void* a, Size x, Size y, void const* s, Size n, int kind, Stream t),
              (a, x, y, s, n, kind, t), asynchronous({nullptr, s, n, kind}, of(t)))
KHS_INTERPOSE(cudaMemcpyFromArrayAsync, _ptsz,
              (void* d, void const* a, Size x, Size y, Size n, int kind, Stream t),
              (d, a, x, y, n, kind, t), asynchronous({d, nullptr, n, kind}, of(t)))

// The last two parameters are the index of a failure and the stream, or in CUDA 13 the stream alone.
KHS_INTERPOSE(cudaMemcpyBatchAsync, _ptsz,
              (void* const* ds, void const* const* ss, Size* n, Size count, void* attributes,
               void* indices, Size given, void* last, void* very_last),
              (ds, ss, n, count, attributes, indices, given, last, very_last),
              batch(ds, ss, count, of(batches_tell_failures() ? very_last : last)))
KHS_INTERPOSE(cudaMemcpy3DBatchAsync, _ptsz,
              (Size count, void* operations, void* third, void* fourth, void* fifth),
              (count, operations, third, fourth, fifth),
              (Copy{nullptr, nullptr, 0, 0, true, true,
                    of(batches_tell_failures() ? fifth : fourth), true}))
