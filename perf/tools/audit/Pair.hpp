// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_PERF_AUDIT_PAIR_HPP
#define KOKKOS_HOST_SPACES_PERF_AUDIT_PAIR_HPP

#include "../../../backend/adopt/Recorder.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace KokkosHostSpaces::Audit {

/// Kinds of memory that a memory space of Kokkos names.
enum class Memory { pageable, page_locked, device, unknown };

/// A memory space, by the name that Kokkos Tools are told.
struct SpaceFacts {
  std::string_view name;
  Memory memory;          ///< managed memory counts as device memory
  bool has_pool = false;  ///< keeps freed memory for the next View
};

inline SpaceFacts facts_of(std::string_view space) {
  constexpr auto pageable = Memory::pageable, page_locked = Memory::page_locked,
                 device      = Memory::device;
  constexpr SpaceFacts all[] = {{"Host", pageable},
                                {"HBW", pageable},
                                {"Pinned", page_locked, true},
                                {"Mapped", page_locked, true},
                                {"WriteCombined", page_locked, true},
                                {"CudaHostPinned", page_locked},
                                {"HIPHostPinned", page_locked},
                                {"SYCLHostUSM", page_locked},
                                {"Cuda", device},
                                {"CudaUVM", device},
                                {"HIP", device},
                                {"HIPManaged", device},
                                {"SYCLDeviceUSM", device},
                                {"SYCLSharedUSM", device},
                                {"OpenACCSpace", device},
                                {"OpenMPTargetSpace", device}};
  for (SpaceFacts const& facts : all)
    if (facts.name == space) return facts;
  return {space, Memory::unknown};
}

inline Memory memory_of(std::string_view space) { return facts_of(space).memory; }

inline bool is_host(Memory memory) {
  return memory == Memory::pageable || memory == Memory::page_locked;
}

/// Limits for programs that generate labels: bytes of one, and number of them.
constexpr std::size_t most_label_bytes = 256, most_labels = 10000;

/// The part of a label that counts; it may be null.
inline std::string_view cut(char const* label) {
  if (label == nullptr) return {};
  return {label, strnlen(label, most_label_bytes)};
}

/// Direction over the link between host and device, if any.
enum Direction { to_device, to_host, directions };

/// Why a copy was not asynchronous, or costs more than necessary.
enum Reason {
  tiny_copies,     ///< many copies of few bytes
  pageable,        ///< memory that is not page-locked, at the other end of the link
  host_to_host,    ///< between two buffers of the host
  host_instance,   ///< on an instance of the host, which waits for it
  instance_fence,  ///< on an instance of the device, which Kokkos fences for this layout
  device_fence,    ///< a fence of the whole device in, directly before or behind it
  reasons
};

using Copies = Impl::Backend::Adopt::Recorder;
using Impl::Backend::Adopt::now;

/// All copies from one label and space to another.
struct Pair {
  struct Side {
    std::string label, space;
    Memory memory = Memory::unknown;

    /// Whether an argument of deep_copy is no View: its label is Kokkos' own.
    bool is_value() const {
      return memory == Memory::pageable && (label == "Scalar" || label == "(none)");
    }
  };
  Side to, from;
  bool of_dual_view = false;

  enum Size { larger, tiny, sizes };
  static constexpr std::uint64_t tiny_bytes = 512;

  std::array<Copies, sizes> calls;  ///< timed from begin to end of the call

  /// Waits of the host, by reason.
  struct Waiting {
    Copies copies;       ///< timed without fences before and behind them
    double seconds = 0;  ///< with these
  };
  std::array<std::array<Waiting, reasons>, sizes> waiting;

  /// Copies for which the host waited, and their time without earlier work.
  Copies blocked;

  /// Whether a value is copied to all elements, so that nothing crosses a link.
  bool is_fill() const { return from.is_value(); }
  /// Whether both are parts of one View, or Views with one label.
  bool is_within_label() const {
    return !to.label.empty() && to.label == from.label && to.space == from.space;
  }
  bool is_between_hosts() const { return is_host(to.memory) && is_host(from.memory); }
  bool is_pageable() const {
    return !is_fill() && (to.memory == Memory::pageable || from.memory == Memory::pageable);
  }

  /// `directions` if the link between host and device is not used.
  Direction direction() const {
    if (is_fill()) return directions;
    if (to.memory == Memory::device && is_host(from.memory)) return to_device;
    return from.memory == Memory::device && is_host(to.memory) ? to_host : directions;
  }

  std::uint64_t copies() const { return calls[larger].count + calls[tiny].count; }
  std::uint64_t bytes() const { return calls[larger].bytes + calls[tiny].bytes; }
  double seconds() const { return calls[larger].seconds + calls[tiny].seconds; }
};

}  // namespace KokkosHostSpaces::Audit

#endif
