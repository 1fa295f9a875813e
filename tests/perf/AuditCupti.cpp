// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the audit makes of CUPTI's records, which a library in its place makes up.

#include "Audited.hpp"
#include "FakeCupti.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <thread>

#include <dlfcn.h>

namespace KokkosHostSpaces::Audit {
namespace {

using Catch::Matchers::ContainsSubstring;

class ListenedTo {
 public:
  explicit ListenedTo(FakeCuptiFaults const& faults = {}) {
    setenv("KOKKOS_HOST_SPACES_CUPTI", KOKKOS_HOST_SPACES_TEST_CUPTI, 1);
    m_library = dlopen(KOKKOS_HOST_SPACES_TEST_CUPTI, RTLD_NOW);
    REQUIRE(m_library != nullptr);
    function<decltype(fake_cupti_fails)>("fake_cupti_fails")(faults);
  }
  ~ListenedTo() { unsetenv("KOKKOS_HOST_SPACES_CUPTI"); }
  ListenedTo(ListenedTo const&)            = delete;
  ListenedTo& operator=(ListenedTo const&) = delete;

  /// \param rate in GB/s
  void call(std::uint64_t bytes, double rate, int copies = 1) const {
    auto const ns = std::uint64_t(double(bytes) / rate);
    call_from(bytes, 1000, 1000 + ns, copies);
  }
  void call_from(std::uint64_t bytes, std::uint64_t start, std::uint64_t end,
                 int copies = 1) const {
    function<decltype(fake_cupti_call)>("fake_cupti_call")(copies, bytes, start, end);
  }
  bool nobody_listens() const {
    return function<decltype(fake_cupti_subscribers)>("fake_cupti_subscribers")() == 0 &&
           function<decltype(fake_cupti_kinds)>("fake_cupti_kinds")() == 0;
  }
  /// Of another tool.
  void mark(std::uint64_t mark) const {
    constexpr std::uint32_t custom0 = 3;
    function<int(std::uint32_t, std::uint64_t)>("cuptiActivityPushExternalCorrelationId")(custom0,
                                                                                          mark);
  }

 private:
  template <class Function>
  Function* function(char const* name) const {
    return reinterpret_cast<Function*>(dlsym(m_library, name));
  }

  void* m_library;
};

template <class Work>
void copy(char const* to, char const* from, Work const& work, std::uint64_t bytes = 1000000) {
  static char views[2];
  kokkosp_begin_deep_copy(space("Cuda"), to, views, space("Pinned"), from, views + 1, bytes);
  work();
  kokkosp_end_deep_copy();
}

}  // namespace

TEST_CASE("asynchronous copies have the rate of the copy engines", "[audit]") {
  ListenedTo const cupti;
  auto const result = audited([&] {
    copy("a", "b", [&] { cupti.call(1000000, 50); });
    copy("a", "b", [&] { cupti.call(3000000, 50); });
    copy("c", "b", [&] { cupti.call(250000, 25, 4); });  // by one call
  });
  CHECK_THAT(result.text, ContainsSubstring("50.00*") && ContainsSubstring("25.00*"));
  CHECK_THAT(result.text, ContainsSubstring("* of copies that nobody waited for, by CUPTI"));
  CHECK_THAT(result.json, ContainsSubstring("\"engine_copies\": 2,\n\"engine_bytes\": 4000000"));
  CHECK_THAT(result.json, ContainsSubstring("\"engine_copies\": 4,\n\"engine_bytes\": 1000000"));
  CHECK_THAT(result.json, ContainsSubstring("\"cupti\": \"used\""));
  CHECK(cupti.nobody_listens());
}

TEST_CASE("copies by other code, and unfinished ones, are left out", "[audit]") {
  ListenedTo const cupti;
  auto const result = audited([&] {
    cupti.call(1 << 20, 1);
    copy("a", "b", [&] {
      cupti.call(1000000, 40);
      cupti.call_from(1000000, 0, 0);
      cupti.call_from(1000000, 1000, 0);
    });
    cupti.mark(1);
    cupti.call(1 << 20, 1);
    copy("none", "b", [] {});
  });
  CHECK_THAT(result.text, ContainsSubstring("40.00*"));
  CHECK_THAT(result.text, ContainsSubstring("–     –  `none`"));
  CHECK_THAT(result.json, ContainsSubstring("\"engine_copies\": 1,\n\"engine_bytes\": 1000000"));
}

TEST_CASE("copies that the host waited for keep the rate that it saw", "[audit]") {
  ListenedTo const cupti;
  auto const result = audited([&] {
    copy("a", "b", [&] {
      kokkosp_begin_fence("Kokkos::deep_copy: fence", 2u << 24, nullptr);
      cupti.call(1000000, 50);
      kokkosp_end_fence(0);
    });
  });
  CHECK_THAT(result.text, !ContainsSubstring("50.00*") && !ContainsSubstring("CUPTI"));
  CHECK_THAT(result.json, ContainsSubstring("\"engine_bytes\": 1000000"));
}

TEST_CASE("a value for all elements has no rate, though it is handed over by a copy", "[audit]") {
  ListenedTo const cupti;
  auto const result = audited([&] {
    kokkosp_begin_deep_copy(space("Cuda"), "a", nullptr, space("Host"), "Scalar", &cupti, 1000);
    cupti.call(8, 0.01);
    kokkosp_end_deep_copy();
  });
  CHECK_THAT(result.text, ContainsSubstring("`a`") && !ContainsSubstring("*"));
}

TEST_CASE("copies of several threads are told apart, in however many records", "[audit]") {
  constexpr int copies = 20000;  // more than a buffer holds
  ListenedTo const cupti;
  auto const result = audited([&] {
    std::jthread const other([&] {
      for (int i = 0; i != copies; ++i) copy("other", "b", [&] { cupti.call(2000, 20); });
    });
    for (int i = 0; i != copies; ++i) copy("a", "b", [&] { cupti.call(1000, 10); });
  });
  CHECK_THAT(result.text, ContainsSubstring("10.00*") && ContainsSubstring("20.00*"));
  CHECK_THAT(result.json,
             ContainsSubstring("\"engine_copies\": 20000,\n\"engine_bytes\": 20000000"));
  CHECK_THAT(result.json,
             ContainsSubstring("\"engine_copies\": 20000,\n\"engine_bytes\": 40000000"));
}

TEST_CASE("a second program run has rates of its own", "[audit]") {
  ListenedTo const cupti;
  (void)audited([&] { copy("a", "b", [&] { cupti.call(1000000, 50); }); });
  copy("between", "b", [&] { cupti.call(1000000, 30); });
  auto const second = audited([&] {
    copy("a", "b", [&] { cupti.call(1000000, 20); });
    copy("c", "b", [&] { cupti.call(1000000, 10); });
  });
  auto const third  = audited([&] {
    copy("a", "b", [&] { cupti.call(1000000, 25); });
    copy("c", "b", [&] { cupti.call(1000000, 5); });
  });
  CHECK_THAT(second.text, ContainsSubstring("20.00*") && ContainsSubstring("10.00*") &&
                              !ContainsSubstring("30.00*"));
  CHECK_THAT(third.text, ContainsSubstring("25.00*") && ContainsSubstring("5.00*"));
}

TEST_CASE("beside a profiler CUPTI is left to it, and one line says so", "[audit]") {
  auto const result_of = [](ListenedTo const& cupti) {
    return audited([&] { copy("a", "b", [&] { cupti.call(1000000, 50); }); });
  };
  auto const says = [](std::string const& text, char const* why) {
    CHECK_THAT(text, ContainsSubstring(why) && ContainsSubstring("CUPTI is not used: ") &&
                         ContainsSubstring("–     –  `a`") && !ContainsSubstring("*"));
  };
  says(result_of(ListenedTo({.has_subscriber = true})).text, "a profiler uses it");
  says(result_of(ListenedTo({.refuses_kind = 1})).text, "it does not listen");
  says(result_of(ListenedTo({.has_no_calls = true})).text, "whose copies are whose");
  setenv("CUDA_INJECTION64_PATH", "/opt/profiler.so", 1);
  says(result_of(ListenedTo()).text, "CUDA_INJECTION64_PATH");
  unsetenv("CUDA_INJECTION64_PATH");
  CHECK_THAT(result_of(ListenedTo()).text, ContainsSubstring("50.00*"));
}

// In a process of its own, where the audit alone loads the library.
TEST_CASE("at the end of a program that does not finalize Kokkos CUPTI is still there",
          "[.audit_at_exit]") {
  setenv("KOKKOS_HOST_SPACES_CUPTI", KOKKOS_HOST_SPACES_TEST_CUPTI, 1);
  kokkosp_init_library(0, 20240906, 0, nullptr);
  copy("a", "b", [] {});
}

TEST_CASE("without CUPTI there are no rates, and one line says why", "[audit]") {
  auto const run = [] { return audited([] { copy("a", "b", [] {}); }).text; };
  setenv("KOKKOS_HOST_SPACES_CUPTI", "/no/such/libcupti.so", 1);
  CHECK_THAT(run(), ContainsSubstring("CUPTI is not used: it is not found"));
  setenv("KOKKOS_HOST_SPACES_CUPTI", "off", 1);
  CHECK_THAT(run(), ContainsSubstring("KOKKOS_HOST_SPACES_CUPTI is off"));
  unsetenv("KOKKOS_HOST_SPACES_CUPTI");
  CHECK_THAT(run(), !ContainsSubstring("CUPTI"));  // of a program without CUDA
}

}  // namespace KokkosHostSpaces::Audit
