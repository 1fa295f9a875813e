// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Ranks.hpp"

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/mpi/NodeShared.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <vector>

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace khs = KokkosHostSpaces;
using namespace Ranks;

using Table = khs::NodeShared<double**, Kokkos::LayoutLeft>;
Kokkos::LayoutLeft const shape(1000, 7);

void fill_all(Table::fill_view_type const& view) {
  for (std::size_t j = 0; j < view.extent(1); ++j)
    for (std::size_t i = 0; i < view.extent(0); ++i) view(i, j) = double(i) + 1e4 * double(j);
}

template <class View>
double sum_in_kernels(View const& view) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "sum", Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace>(0, int(view.extent(0))),
      KOKKOS_LAMBDA(int i, double& of) {
        for (int j = 0; j < int(view.extent(1)); ++j) of += view(i, j);
      },
      sum);
  return sum;
}

double right_sum() {
  double sum = 0;
  for (int j = 0; j < 7; ++j)
    for (int i = 0; i < 1000; ++i) sum += i + 1e4 * j;
  return sum;
}

struct SumOfRow {
  template <class Sums, class Rows>
  KOKKOS_FUNCTION void operator()(std::int64_t i, Sums const& sums, Rows const& rows) const {
    double sum = 0;
    for (int j = 0; j < 7; ++j) sum += rows(i, j);
    sums(i) = sum;
  }
};

double sum_of(Kokkos::View<double*, khs::PinnedSpace> const& view) {
  double sum = 0;
  for (std::size_t i = 0; i < view.extent(0); ++i) sum += view(i);
  return sum;
}

AddCase const one_copy("all ranks read one copy that the first one fills", [] {
  int fills = 0;
  Table const table(MPI_COMM_WORLD, "table", shape, [&](auto const& view) {
    ++fills;
    fill_all(view);
  });
  RANKS_CHECK(fills == (rank() == 0 ? 1 : 0));
  auto const view = table.view();
  static_assert(std::is_same_v<decltype(view)::memory_space, khs::MappedSpace>);
  static_assert(std::is_const_v<decltype(view)::value_type>);
  RANKS_CHECK(sum_in_kernels(view) == right_sum());
});

AddCase const by_parts("all ranks of the node fill their parts", [] {
  Table const table(
      MPI_COMM_WORLD, "table", shape,
      [&](auto const& view, int part, int parts) {
        RANKS_CHECK(part == rank() && parts == size());
        for (std::size_t j = std::size_t(part); j < 7; j += std::size_t(parts))
          for (std::size_t i = 0; i < 1000; ++i) view(i, j) = double(i) + 1e4 * double(j);
      },
      khs::NodePages::by_parts);
  RANKS_CHECK(sum_in_kernels(table.view()) == right_sum());
});

AddCase const takers("deep_copy, device_view and streamed loops take it", [] {
  Table const table(MPI_COMM_WORLD, "table", shape, fill_all);
  Kokkos::DefaultExecutionSpace const instance;
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::DefaultExecutionSpace::memory_space> const
      copy("copy", 1000, 7);
  Kokkos::deep_copy(instance, copy, table.view());
  instance.fence();
  RANKS_CHECK(sum_in_kernels(copy) == right_sum());
  RANKS_CHECK(sum_in_kernels(khs::device_view(instance, table.view())) == right_sum());
  Kokkos::View<double*, khs::PinnedSpace> const sums("sums", 1000);
  khs::streamed_for("sums of rows", instance, 1000, SumOfRow(), khs::write(sums),
                    khs::read(khs::resident(table.view())));
  Kokkos::fence();
  RANKS_CHECK(sum_of(sums) == right_sum());
});

AddCase const counted("the node counts its bytes once", [] {
  std::size_t const bytes = 1000 * 7 * sizeof(double);
  auto const node_sum     = [] {
    std::uint64_t sum = khs::pool::statistics().bytes_node_shared;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return std::size_t(sum);
  };
  RANKS_CHECK(node_sum() == 0);
  {
    Table const table(MPI_COMM_WORLD, "table", shape, fill_all);
    RANKS_CHECK(node_sum() == bytes);
  }
  RANKS_CHECK(node_sum() == 0);
});

// All ranks throw what rank 1 is the cause of, and none keeps memory.
template <class Call>
void check_told(Call const& call, auto const&... words) {
  RANKS_CHECK(has(thrown_by(call), "rank 1", words...));
  RANKS_CHECK(khs::pool::statistics().bytes_node_shared == 0);
}

AddCase const told_on_all("what one rank lacks, throws or does differently is told of on all", [] {
  if (rank() == 1) khs::pool::set_limit(1000);
  check_told([] { Table(MPI_COMM_WORLD, "cross sections", shape, fill_all); }, "cross sections",
             "1000 bytes");
  khs::pool::set_limit(0);
  check_told(
      [] {
        Table(MPI_COMM_WORLD, "table", shape, [](auto const&, int part, int) {
          if (part == 1) throw std::runtime_error("no such file");
        });
      },
      "no such file");
  // By none of these differences may a rank read what it does not mean.
  auto const nothing = [](auto const&) {};
  auto const differs = [&](auto const& of_rank_1, auto const&... words) {
    check_told(
        [&] {
          if (rank() == 1) return of_rank_1();
          Table(MPI_COMM_WORLD, "table", shape, nothing);
        },
        words...);
  };
  differs([&] { Table(MPI_COMM_WORLD, "table", Kokkos::LayoutLeft(999, 7), nothing); }, "(999,7)",
          "(1000,7)");
  differs(
      [&] {
        khs::NodeShared<double**>(MPI_COMM_WORLD, "table", Kokkos::LayoutRight(1000, 7), nothing);
      },
      "LayoutLeft", "LayoutRight");
  differs(
      [&] { khs::NodeShared<long**, Kokkos::LayoutLeft>(MPI_COMM_WORLD, "table", shape, nothing); },
      "of type");
  differs([&] { Table(MPI_COMM_WORLD, "another table", shape, nothing); }, "\"another table\"",
          "in equal order");
  std::string const name(2000, 'n');
  check_told([&] { Table(MPI_COMM_WORLD, rank() == 1 ? name + "1" : name, shape, nothing); });
});

AddCase const overflow("extents that overflow are refused, as are those that are not given", [] {
  for (auto const& of : {Kokkos::LayoutLeft(std::size_t(1) << 31, std::size_t(1) << 30),
                         Kokkos::LayoutLeft(1000), Kokkos::LayoutLeft(std::size_t(-1), 7)})
    RANKS_CHECK(has(thrown_by([&] { Table(MPI_COMM_WORLD, "table", of, fill_all); }), "overflows"));
});

AddCase const registration("a registration that one rank is refused is told of on all", [] {
  std::optional<khs::Registration> mine;
  check_told(
      [&] {
        Table(MPI_COMM_WORLD, "table", shape, [&](auto const& view, int part, int) {
          if (part == 1) mine.emplace(view.data(), 4096, "mine");
        });
      },
      "'mine'");
  if (mine) RANKS_CHECK(!thrown_by([&] { mine->release(); }).empty());  // its memory is gone
  Table const next(MPI_COMM_WORLD, "table", shape, fill_all);
  RANKS_CHECK(sum_in_kernels(next.view()) == right_sum());
});

AddCase const mapping("memory that one rank cannot map is told of on all", [] {
  std::size_t const bytes = std::size_t(1) << 30;  // never touched
  rlimit before           = {};
  getrlimit(RLIMIT_AS, &before);
  std::size_t pages_mapped = 0;
  std::ifstream("/proc/self/statm") >> pages_mapped;
  rlimit const little = {pages_mapped * std::size_t(sysconf(_SC_PAGESIZE)) + bytes / 2,
                         before.rlim_max};
  if (rank() == 1) setrlimit(RLIMIT_AS, &little);
  std::string const told = thrown_by([&] {
    khs::NodeShared<char*>(MPI_COMM_WORLD, "large", Kokkos::LayoutRight(bytes), [](auto const&) {});
  });
  if (rank() == 1) setrlimit(RLIMIT_AS, &before);
  RANKS_CHECK(has(told, "rank 1", "does not map"));
});

AddCase const several("sub-communicators have a table each, as made-up nodes", [] {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, 0, &half);
  int const colour = rank() % 2;
  {
    khs::NodeShared<int*> const table(half, "half", Kokkos::LayoutRight(5), [&](auto const& view) {
      for (int i = 0; i < 5; ++i) view(i) = 10 * colour + i;
    });
    RANKS_CHECK(table.view()(4) == 10 * colour + 4);
    // A rank that is refused leaves the other communicator alone.
    std::string const told = thrown_by([&] {
      khs::NodeShared<int*>(half, "half", Kokkos::LayoutRight(5), [&](auto const&) {
        if (colour == 1) throw std::runtime_error("of one half");
      });
    });
    RANKS_CHECK(told.empty() == (colour == 0));
  }
  MPI_Comm_free(&half);
});

AddCase const moved("a table that is moved has its memory, and one without elements none", [] {
  Table first(MPI_COMM_WORLD, "table", shape, fill_all);
  Table const second = std::move(first);
  RANKS_CHECK(sum_in_kernels(second.view()) == right_sum());
  khs::NodeShared<int*> const empty(MPI_COMM_WORLD, "empty", Kokkos::LayoutRight(0),
                                    [](auto const&) {});
  RANKS_CHECK(empty.view().extent(0) == 0);
});

AddCase const made_again("tables that are made and dropped keep no file and no memory", [] {
  auto const files = [] {
    std::filesystem::directory_iterator const all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  auto const make = [](MPI_Comm comm) { return Table(comm, "table", shape, fill_all); };
  make(MPI_COMM_WORLD);
  auto const before = files();
  for (int i = 0; i < 5; ++i) make(MPI_COMM_WORLD);
  make(MPI_COMM_SELF);
  RANKS_CHECK(files() == before);
  RANKS_CHECK(khs::pool::statistics().bytes_node_shared == 0);
});

AddCase const no_files("a rank that may open no more files is told of on all", [] {
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit const few = {3, before.rlim_max};
  for (int const of : {0, 1}) {
    if (rank() == of) setrlimit(RLIMIT_NOFILE, &few);
    std::string const told = thrown_by([] { Table(MPI_COMM_WORLD, "table", shape, fill_all); });
    if (rank() == of) setrlimit(RLIMIT_NOFILE, &before);
    RANKS_CHECK(has(told, "rank " + std::to_string(of), "ulimit -n"));
  }
});

#ifndef KOKKOS_ENABLE_CUDA
AddCase const read_only("a store to it on the host ends the process", [] {
  Table const table(MPI_COMM_WORLD, "table", shape, fill_all);
  pid_t const child = fork();
  if (child == 0) {
    rlimit const no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGSEGV, SIG_DFL);
    *const_cast<double volatile*>(table.view().data()) = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  RANKS_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
});
#endif

// It ends behind MPI_Finalize and Kokkos::finalize.
std::optional<Table> of_process;
AddCase const outlives("a table may outlive MPI and Kokkos",
                       [] { of_process.emplace(MPI_COMM_WORLD, "table", shape, fill_all); });

// Makes tables until the last rank is killed, at a time that the environment tells: how that leaves the node
// is judged from outside.
AddCase const killed(".killed", [] {
  char const* const after = std::getenv("KOKKOS_HOST_SPACES_TEST_KILL_AFTER");  // microseconds
  if (after != nullptr && rank() == size() - 1) {
    std::signal(SIGALRM, [](int) { kill(getpid(), SIGKILL); });
    itimerval const timer = {{0, 0}, {0, std::atoi(after) + 1}};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  Kokkos::LayoutLeft const large(std::size_t(1) << 18, 7);
  for (;;) {
    Table const table(MPI_COMM_WORLD, "table", large, fill_all);
    if (table.view()(9, 3) != 9 + 3e4) MPI_Abort(MPI_COMM_WORLD, 3);
  }
});

}  // namespace
