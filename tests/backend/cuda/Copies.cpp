// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/cuda/Runtime.hpp"
#include "../../support/Addresses.hpp"
#include "../../support/DeviceWork.hpp"
#include "../BackendTest.hpp"

namespace {

struct Locked {
  explicit Locked(std::size_t bytes) : region(lock_fresh(bytes)) {}
  ~Locked() { give_back(region); }
  Locked(Locked const&)            = delete;
  Locked& operator=(Locked const&) = delete;
  unsigned char* data() const { return static_cast<unsigned char*>(region.pointer); }
  Region region;
};

struct NamedBox {
  char const* name;
  Driver::Box box;  // run bytes, rows, planes, row and plane pitch of destination and of source
};

// Pages on either side of an address at which locked memory ends a piece.
struct PagesAcrossChunkEnd {
  PagesAcrossChunkEnd() {
    // Sanitizers keep one of the two for themselves.
    for (std::uintptr_t const end : {Driver::largest_chunk, std::uintptr_t(0x2000) << 32}) {
      void* const wanted = reinterpret_cast<void*>(end - bytes / 2);
      begin              = static_cast<unsigned char*>(mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                                                            -1, 0));
      if (begin == wanted) return;
    }
    FAIL("no free address");
  }
  ~PagesAcrossChunkEnd() { unmap_pages(begin, bytes); }
  std::size_t const bytes = 4 * page_bytes();
  unsigned char* begin    = nullptr;
};

}  // namespace

TEST_CASE("a copy goes on where a piece of locked memory ends, in one dimension and in three") {
  start_test(1);
  PagesAcrossChunkEnd const pages;
  std::iota(pages.begin, pages.begin + pages.bytes, static_cast<unsigned char>(0));
  register_range(pages.begin, pages.bytes, "two pieces");
  Locked const back(pages.bytes);
  void* device = nullptr;
  REQUIRE(cudaMalloc(&device, pages.bytes) == cudaSuccess);
  Driver::Stream const stream = Driver::private_stream();
  // The reason for it all.
  CHECK(cudaMemcpyAsync(device, pages.begin, pages.bytes, cudaMemcpyDefault,
                        static_cast<cudaStream_t>(stream)) == cudaErrorInvalidValue);
  cudaGetLastError();

  // All of it, as one run and as planes of rows.
  std::size_t const planes = GENERATE(std::size_t(1), std::size_t(3)),
                    plane  = pages.bytes / planes / 64 * 64;
  std::size_t const rows = planes == 1 ? 1 : 4, row = plane / rows;
  if (planes == 1) {
    Driver::copy(device, pages.begin, pages.bytes, stream);
  } else {
    Driver::copy(device, pages.begin, Driver::Box{row, rows, planes, row, plane, row, plane},
                 stream);
  }
  Driver::copy(back.data(), device, pages.bytes, stream);
  Driver::fence(stream);
  CHECK(std::equal(pages.begin, pages.begin + planes * plane, back.data()));
  CHECK(cudaFree(device) == cudaSuccess);
  CHECK(unregister_range(pages.begin).empty());
}

TEST_CASE("a strided copy moves exactly the box") {
  start_test(1);
  auto const [name, box] = GENERATE(
      NamedBox{"one run", {5, 1, 1, 5, 5, 5, 5}}, NamedBox{"one plane", {5, 4, 1, 8, 0, 7, 0}},
      NamedBox{"one row per plane", {5, 1, 4, 0, 8, 0, 7}},
      NamedBox{"planes that are whole rows apart", {3, 4, 5, 4, 16, 8, 40}},
      NamedBox{"destination planes that are not", {3, 4, 5, 4, 19, 8, 40}},
      NamedBox{"source planes that are not", {3, 4, 5, 4, 16, 8, 41}},
      NamedBox{"planes between the rows", {3, 4, 5, 20, 4, 40, 8}},
      NamedBox{"one source row read several times", {3, 4, 2, 4, 16, 0, 3}},
      NamedBox{"source runs that overlap", {4, 3, 2, 4, 12, 2, 9}});
  CAPTURE(name);
  std::size_t const bytes = 512;
  Locked const src(bytes), dst(bytes);
  std::iota(src.data(), src.data() + bytes, static_cast<unsigned char>(1));
  std::vector<unsigned char> expected(bytes, 0);
  for (std::size_t plane = 0; plane < box.planes; ++plane) {
    for (std::size_t row = 0; row < box.rows; ++row) {
      for (std::size_t i = 0; i < box.run_bytes; ++i) {
        expected[plane * box.plane_pitch_dst + row * box.row_pitch_dst + i] =
            src.data()[plane * box.plane_pitch_src + row * box.row_pitch_src + i];
      }
    }
  }
  Driver::Stream const stream = Driver::private_stream();
  Driver::copy(dst.data(), src.data(), box, stream);
  Driver::fence(stream);
  CHECK(std::equal(expected.begin(), expected.end(), dst.data()));
}

TEST_CASE("rows may be further apart than the longest pitch of the hardware") {
  start_test(1);
  // Addresses cost nothing: only the pages at both ends are ever touched.
  std::size_t const pitch = std::size_t(3) << 30;
  Addresses const src(pitch + page_bytes()), dst(pitch + page_bytes());
  src.begin()[0]              = 'a';
  src.begin()[pitch]          = 'b';
  Driver::Stream const stream = Driver::private_stream();
  Driver::copy(dst.begin(), src.begin(), Driver::Box{1, 2, 1, pitch, 0, pitch, 0}, stream);
  Driver::fence(stream);
  CHECK(dst.begin()[0] == 'a');
  CHECK(dst.begin()[pitch] == 'b');
}

TEST_CASE("the private stream does not wait for the default stream") {
  start_test(1);
  Locked const src(64), dst(64);
  src.data()[0] = 1;
  DeviceWork::Gate gate;
  auto hold = gate.hold();
  REQUIRE(cudaLaunchHostFunc(
              nullptr, [](void* work) { (*static_cast<std::function<void()>*>(work))(); }, &hold) ==
          cudaSuccess);
  Driver::Stream const stream = Driver::private_stream();
  CHECK(stream == Driver::private_stream());
  Driver::copy(dst.data(), src.data(), 64, stream);
  Driver::fence(stream);
  CHECK(dst.data()[0] == 1);
  gate.open();
  CHECK(Driver::fence_device(0));
}

TEST_CASE("the runtime's view of an address is told, and the memory that contains it") {
  start_test(1);
  Locked const pinned(1);
  int on_stack    = 0;
  void* on_device = nullptr;
  void* managed   = nullptr;
  REQUIRE(cudaMalloc(&on_device, 64) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal) == cudaSuccess);
  CHECK(is_locked(pinned.data() + 10));
  CHECK_FALSE(is_locked(&on_stack));
  CHECK(Driver::device_of(on_device) == 0);
  CHECK(Driver::device_of(managed) == 0);
  for (void* const begin : {on_device, managed}) {
    Driver::Extent const extent = Driver::extent_of(static_cast<char*>(begin) + 10);
    CHECK(extent.device == 0);
    CHECK(extent.contains(begin));
    CHECK(extent.contains(static_cast<char*>(begin) + 63));
  }
  Driver::Extent const locked = Driver::extent_of(pinned.data() + 10),
                       none   = Driver::extent_of(&on_stack);
  CHECK(locked.device == -1);
  CHECK(locked.contains(pinned.data()));
  CHECK_FALSE(locked.contains(&on_stack));
  CHECK(none.device == -1);
  CHECK_FALSE(none.contains(&on_stack));
  CHECK(cudaFree(on_device) == cudaSuccess);
  CHECK(cudaFree(managed) == cudaSuccess);
}
