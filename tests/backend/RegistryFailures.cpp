// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/cuda/Runtime.hpp"
#include "../support/Addresses.hpp"
#include "../support/AllocationHook.hpp"
#include "../support/DeviceWork.hpp"
#include "../support/FakeCuda.hpp"
#include "BackendTest.hpp"
#include "CapturedStderr.hpp"

#include <sys/resource.h>

TEST_CASE("device memory is refused") {
  FakeCuda::reset();
  void* on_device = nullptr;
  REQUIRE(cudaMalloc(&on_device, 4096) == cudaSuccess);
  CHECK_THAT(refusal_of([&] { register_range(on_device, 8, "device"); }),
             ContainsSubstring("device's"));
  CHECK(cudaFree(on_device) == cudaSuccess);
  CHECK(registered_ranges() == 0);
}

TEST_CASE(
    "where devices see registered memory at other addresses a registration is refused, early or late") {
  TestPages const page(1);
  FakeCuda::reset();
  FakeCuda::registered_memory_moves();
  CHECK_THROWS_MATCHES(
      register_range(page.begin, 8, "my data"), RegistrationError,
      MessageMatches(ContainsSubstring("'my data'") && ContainsSubstring("at other addresses") &&
                     ContainsSubstring("copy it to a View in PinnedSpace")));
  CHECK(registered_ranges() == 0);
  FakeCuda::reset(1, false);
  FakeCuda::registered_memory_moves();
  register_range(page.begin, 8, "early");
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 1) == cudaSuccess);  // makes the context
  CHECK(cudaFree(memory) == cudaSuccess);
  CapturedStderr const captured;
  lock_waiting_ranges();
  CHECK_THAT(captured.text(), ContainsSubstring("'early'") && ContainsSubstring("other addresses"));
  CHECK(unregister_range(page.begin).empty());
  CHECK(FakeCuda::calls("cudaHostRegister") == 0);
}

TEST_CASE("a range which the runtime does not unlock is told and forgotten, as memory allows") {
  TestPages const page(1);
  FakeCuda::reset();
  std::string const label(5000, 'x');  // what is longer than that has to do with it
  for (bool const has_memory : {true, false}) {
    register_range(page.begin, 8, label);
    FakeCuda::fail_nth_call("cudaHostUnregister", 1);
    AllocationHook const hook(has_memory ? 0 : 1, label.size(), [] { throw std::bad_alloc(); });
    std::string const told = unregister_range(page.begin);
    CHECK_FALSE(told.empty());
    if (has_memory) CHECK_THAT(told, ContainsSubstring(label) && ContainsSubstring("refused"));
    CHECK(registered_ranges() == 0);
    CHECK(cudaHostUnregister(page.begin) == cudaSuccess);
  }
}

TEST_CASE("where registration fails children get what they would have had") {
  TestPages const page(1);
  FakeCuda::reset();
  FakeCuda::fail_nth_call("cudaHostRegister", 1);
  CHECK_THROWS_AS(register_range(page.begin, page_bytes(), "my data", true), RegistrationError);
  CHECK(ChildOfFork::status([&] { return is_mapped(page.begin, 1) ? 0 : 1; }) == 0);
}

TEST_CASE(
    "failure 15: memory freed while it was registered blocks its address until the registration ends") {
  TestPages const page(1);
  FakeCuda::reset();
  register_range(page.begin, 8, "first");
  unmap_pages(page.begin, page_bytes());
  REQUIRE(mmap(page.begin, page_bytes(), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page.begin);
  CHECK_THROWS_MATCHES(
      register_range(page.begin, 8, "second"), RegistrationError,
      MessageMatches(
          ContainsSubstring("overlaps with 'first'") &&
          ContainsSubstring("end that registration first, also if its memory was freed")));
  CHECK(unregister_range(page.begin).empty());
  register_range(page.begin, 8, "second");
  CHECK(is_locked(page.begin));
  CHECK(unregister_range(page.begin).empty());
}

TEST_CASE("where somebody else freed memory that is still page-locked, the message says so") {
  TestPages const page(1);
  FakeCuda::reset();
  REQUIRE(cudaHostRegister(page.begin, page_bytes(), 0) == cudaSuccess);
  CHECK_THROWS_MATCHES(
      register_range(page.begin, 8, "again"), RegistrationError,
      MessageMatches(ContainsSubstring("page-locked already") &&
                     ContainsSubstring("freed here before its registration ended")));
  CHECK(cudaHostUnregister(page.begin) == cudaSuccess);
}

TEST_CASE("failure 16: a mapping that the runtime refuses is told by its kind, with what to do") {
  FakeCuda::reset();
  char name[]    = "/tmp/kokkos_host_spaces_XXXXXX";
  int const file = mkstemp(name);
  REQUIRE(file >= 0);
  REQUIRE(ftruncate(file, static_cast<off_t>(page_bytes())) == 0);
  auto const message_for = [&](int sharing) {
    void* const pages = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, sharing, file, 0);
    REQUIRE(pages != MAP_FAILED);
    FakeCuda::fail_nth_call("cudaHostRegister", 1, cudaErrorNotSupported);
    std::string message;
    try {
      register_range(pages, 8, "file");
    } catch (RegistrationError const& error) {
      message = error.what();
    }
    munmap(pages, page_bytes());
    return message;
  };
  CHECK_THAT(message_for(MAP_SHARED), ContainsSubstring("cudaHostRegister failed") &&
                                          ContainsSubstring(name) &&
                                          ContainsSubstring("MAP_PRIVATE"));
  CHECK_THAT(message_for(MAP_PRIVATE),
             ContainsSubstring("cudaHostRegister failed") && !ContainsSubstring("MAP_PRIVATE"));
  close(file);
  unlink(name);
}

TEST_CASE(
    "what the runtime refuses to lock names the limit of locked memory only where there is one") {
  TestPages const page(1);
  FakeCuda::reset();
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_MEMLOCK, &before) == 0);
  auto const message_under = [&](rlim_t limit) {
    rlimit const set{limit, before.rlim_max};
    if (setrlimit(RLIMIT_MEMLOCK, &set) != 0) return std::string("refused");
    FakeCuda::fail_nth_call("cudaHostRegister", 1);
    std::string const message = refusal_of([&] { register_range(page.begin, 8, "my data"); });
    setrlimit(RLIMIT_MEMLOCK, &before);
    return message;
  };
  CHECK_THAT(message_under(0),
             ContainsSubstring("ask for fewer bytes, raise ulimit -l, or free page-locked memory"));
  if (before.rlim_max == RLIM_INFINITY)
    CHECK_THAT(message_under(RLIM_INFINITY),
               ContainsSubstring("ask for fewer bytes, or free page-locked memory"));
}

TEST_CASE("after the runtime has shut down unregistering forgets the range, and children get it") {
  TestPages const page(1);
  FakeCuda::reset();
  register_range(page.begin, page_bytes(), "my data", true);
  FakeCuda::shut_down();
  CHECK(unregister_range(page.begin).empty());
  CHECK(registered_ranges() == 0);
  CHECK(ChildOfFork::status([&] { return is_mapped(page.begin, 1) ? 0 : 1; }) == 0);
}

TEST_CASE("a registration of which a piece stays locked says to keep the memory") {
  FakeCuda::reset();
  Addresses const all(2 * Driver::largest_chunk);
  char* const begin = all.begin() + Driver::to_chunk_end(all.begin()) - page_bytes();
  FakeCuda::fail_nth_call("cudaHostRegister", 2);
  FakeCuda::fail_nth_call("cudaHostUnregister", 1);
  CHECK_THROWS_MATCHES(
      register_range(begin, 2 * page_bytes(), "my data"), RegistrationError,
      MessageMatches(ContainsSubstring("'my data'") && ContainsSubstring("stays page-locked") &&
                     ContainsSubstring("do not free it")));
  CHECK(registered_ranges() == 0);
  CHECK(Driver::unlock_pages(begin, page_bytes()));
}

TEST_CASE("memory that was not locked, for no device could be asked for, is not unlocked") {
  TestPages const page(1);
  FakeCuda::reset();
  FakeCuda::fail_every(1, cudaErrorUnknown);
  register_range(page.begin, page_bytes(), "my data");
  FakeCuda::fail_no_more();
  DeviceWork::Stream const stream;  // the device is in use
  SECTION("nor is it complained of") {
    CHECK(unregister_range(page.begin).empty());
    CHECK(registered_ranges() == 0);
  }
  SECTION("even if other code has locked the range meanwhile") {
    REQUIRE(cudaHostRegister(page.begin, page_bytes(), cudaHostRegisterDefault) == cudaSuccess);
    CHECK(unregister_range(page.begin).empty());
    CHECK(FakeCuda::outstanding().registrations == 1);
    CHECK(cudaHostUnregister(page.begin) == cudaSuccess);
  }
}

TEST_CASE("rows across the end of a piece of locked memory are not copied one by one") {
  FakeCuda::reset();
  Addresses const all(2 * Driver::largest_chunk);
  char* const begin = all.begin() + Driver::to_chunk_end(all.begin()) - 2 * page_bytes();
  register_range(begin, 4 * page_bytes(), "two pieces");
  // One of the rows lies on both sides.
  std::size_t const run = 40, pitch = 64, rows = 4 * page_bytes() / pitch - 1;
  char* const first = begin + pitch / 2;
  for (std::size_t i = 0; i < rows * pitch; ++i) first[i] = static_cast<char>(i % 101);
  std::vector<char> to(rows * run);
  std::size_t const before    = FakeCuda::calls("*");
  Driver::Stream const stream = Driver::private_stream();
  Driver::copy(to.data(), first, {run, rows, 1, run, rows * run, pitch, rows * pitch}, stream);
  Driver::fence(stream);
  CHECK(FakeCuda::calls("*") - before < 50);
  bool same = true;
  for (std::size_t i = 0; i < to.size(); ++i)
    same = same && to[i] == first[i / run * pitch + i % run];
  CHECK(same);
  CHECK(unregister_range(begin).empty());
}

TEST_CASE("others can register while one range waits for kernels to be unlocked") {
  TestPages const waiting(1), other(1);
  FakeCuda::reset();
  register_range(waiting.begin, 8, "waiting");
  DeviceWork::Stream stream;
  DeviceWork::Gate gate;
  stream.run(gate.hold());
  auto unregistered =
      std::async(std::launch::async, [&] { return unregister_range(waiting.begin); });
  while (FakeCuda::calls("cudaHostUnregister") == 0) std::this_thread::yield();
  register_range(other.begin, 8, "other");
  CHECK_THROWS_AS(register_range(waiting.begin, 8, "too early"), RegistrationError);
  CHECK(unregistered.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  gate.open();
  CHECK(unregistered.get().empty());
  CHECK(unregister_range(other.begin).empty());
}
