// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_TESTS_BACKEND_TEST_ARENA_HPP
#define KOKKOS_HOST_SPACES_TESTS_BACKEND_TEST_ARENA_HPP

#include "../../../backend/pool/Arena.hpp"
#include "../BackendTest.hpp"

#include <list>

inline constexpr std::size_t page     = Arena::page_bytes;
inline constexpr std::size_t any_size = ~std::size_t(0);

// An arena over addresses which nobody touches.
struct TestArena {
  PageMap pages;  // which is never destroyed
  Arena arena{pages};
  std::list<Segment> segments;

  Segment& add(std::size_t bytes, bool reserved = false) {
    static char* next = nullptr;
    next += 1 << 30;
    Segment segment;
    segment.region.pointer = next;
    segment.region.bytes   = bytes;
    segment.reserved       = reserved;
    segments.push_back(segment);
    add(segments.back());
    return segments.back();
  }
  void add(Segment& segment) {
    pages.cover(segment.region.pointer, segment.region.bytes);
    arena.add(segment);
  }
};

#endif
