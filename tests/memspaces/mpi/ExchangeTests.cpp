// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Ranks.hpp"

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/mpi/Exchange.hpp>

#include <csignal>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

namespace khs = KokkosHostSpaces;
using namespace Ranks;

using Instance = Kokkos::DefaultExecutionSpace;
using Memory   = Instance::memory_space;

template <class View>
struct Number {
  View view;
  double first;
  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    view(i, j, k) = first + i + 100 * j + 1e4 * k;
  }
};

// Numbers the elements by their indices, the leftmost fastest.
template <class View>
void number(Instance const& instance, View const& view, double first) {
  Kokkos::parallel_for(
      "number",
      Kokkos::MDRangePolicy<Instance, Kokkos::Rank<3>>(
          instance, {0, 0, 0}, {int(view.extent(0)), int(view.extent(1)), int(view.extent(2))}),
      Number<View>{view, first});
}

template <class View>
int wrong(Instance const& instance, View const& view, double first) {
  Kokkos::View<double***, Kokkos::LayoutLeft, khs::PinnedSpace> const copy(
      "copy", view.extent(0), view.extent(1), view.extent(2));
  Kokkos::deep_copy(instance, copy, view);
  instance.fence();
  int count = 0;
  for (int i = 0; i < view.extent_int(0); ++i)
    for (int j = 0; j < view.extent_int(1); ++j)
      for (int k = 0; k < view.extent_int(2); ++k)
        count += copy(i, j, k) != first + i + 100 * j + 1e4 * k;
  return count;
}

// Around the ring of ranks, from one kind of View to another.
template <class From, class To>
void send_around(From const& from, To const& to) {
  Instance const instance;
  number(instance, from, rank());
  auto exchange = khs::exchange(instance, MPI_COMM_WORLD, khs::outgoing(from, next(), 3),
                                khs::incoming(to, previous(), 3));
  number(instance, from, -1);  // behind the copies
  exchange.wait();
  RANKS_CHECK(wrong(instance, to, previous()) == 0);
}

template <class Layout, class Space = Memory>
auto view_of(int x, int y, int z) {
  return Kokkos::View<double***, Layout, Kokkos::Device<Instance, Space>>("message", x, y, z);
}

AddCase const views("elements go by their indices, whatever the layouts and spaces", [] {
  using Kokkos::LayoutLeft, Kokkos::LayoutRight, khs::MappedSpace;
  for (int const n : {1, 3, 40})
    send_around(view_of<LayoutLeft>(n, 5, 7), view_of<LayoutLeft>(n, 5, 7));
  send_around(view_of<LayoutLeft>(9, 5, 7), view_of<LayoutRight>(9, 5, 7));
  send_around(view_of<LayoutRight>(9, 5, 7), view_of<LayoutRight>(9, 5, 7));
  send_around(view_of<LayoutLeft, MappedSpace>(9, 5, 7), view_of<LayoutRight>(9, 5, 7));
  send_around(view_of<LayoutLeft>(9, 5, 7), view_of<LayoutLeft, MappedSpace>(9, 5, 7));
});

AddCase const faces("strided faces of all directions arrive, with a shared tag", [] {
  Instance const instance;
  auto const field = view_of<Kokkos::LayoutLeft>(34, 20, 18),
             ghost = view_of<Kokkos::LayoutLeft>(34, 20, 18);
  number(instance, field, rank());
  using Range      = Kokkos::pair<int, int>;
  auto const range = [](int axis, int along, int end) {
    return axis == along ? Range(1, 2) : Range(0, end);
  };
  auto const face = [&](auto const& of, int axis) {
    return Kokkos::subview(of, range(axis, 0, 34), range(axis, 1, 20), range(axis, 2, 18));
  };
  using Face = decltype(face(field, 0));
  std::vector<khs::Outgoing<Face>> out;
  std::vector<khs::Incoming<Face>> in;
  for (int axis = 0; axis < 3; ++axis) {
    out.push_back(khs::outgoing(face(field, axis), next()));
    in.push_back(khs::incoming(face(ghost, axis), previous()));
  }
  khs::exchange(instance, MPI_COMM_WORLD, out, in).wait();
  RANKS_CHECK(wrong(instance, face(ghost, 0), previous() + 1) == 0);
  RANKS_CHECK(wrong(instance, face(ghost, 1), previous() + 100) == 0);
  RANKS_CHECK(wrong(instance, face(ghost, 2), previous() + 1e4) == 0);
});

AddCase const random("many messages of random sizes between all ranks arrive", [] {
  Instance const instance;
  std::mt19937 extent(1);  // the same on all ranks
  for (int round = 0; round < 5; ++round) {
    using View = decltype(view_of<Kokkos::LayoutLeft>(1, 1, 1));
    std::vector<khs::Outgoing<View>> out;
    std::vector<khs::Incoming<View>> in;
    std::vector<double> first;
    for (int from = 0; from < size(); ++from)
      for (int to = 0; to < size(); ++to)
        for (int i = 0; i < 3; ++i) {
          int const x = int(extent() % 60), y = int(extent() % 9), z = int(extent() % 9);
          if (from == rank()) {
            out.push_back(khs::outgoing(view_of<Kokkos::LayoutLeft>(x, y, z), to, i));
            number(instance, out.back().view, 7 * from + i);
          }
          if (to == rank()) {
            in.push_back(khs::incoming(view_of<Kokkos::LayoutLeft>(x, y, z), from, i));
            first.push_back(7 * from + i);
          }
        }
    auto exchange = khs::exchange(instance, MPI_COMM_WORLD, out, in);
    while (!exchange.test()) {
    }
    for (std::size_t i = 0; i < in.size(); ++i)
      RANKS_CHECK(wrong(instance, in[i].view, first[i]) == 0);
  }
});

AddCase const dropped("a handle that is dropped waits", [] {
  Instance const instance;
  auto const from = view_of<Kokkos::LayoutLeft>(9, 5, 7), to = view_of<Kokkos::LayoutLeft>(9, 5, 7);
  number(instance, from, rank());
  {
    auto const exchange = khs::exchange(instance, MPI_COMM_WORLD, khs::outgoing(from, next()),
                                        khs::incoming(to, previous()));
  }
  RANKS_CHECK(wrong(instance, to, previous()) == 0);
  auto first = khs::exchange(instance, MPI_COMM_WORLD, khs::outgoing(from, next()));
  first      = khs::exchange(instance, MPI_COMM_WORLD, khs::incoming(to, previous()));
  first.wait();
  first.wait();  // there is nothing left
});

AddCase const instance_ends(
    "an instance, and Views of buffered messages, may end before their messages", [] {
      auto exchange = [] {
        auto const mine = Kokkos::Experimental::partition_space(Instance(), std::vector<int>{1, 1});
        auto const from = view_of<Kokkos::LayoutLeft>(90, 50, 7);
        number(mine[1], from, rank());
        return khs::exchange(mine[1], MPI_COMM_WORLD, khs::outgoing(from, next()));
      }();
      auto const to = view_of<Kokkos::LayoutLeft>(90, 50, 7);
      auto arrives  = khs::exchange(Instance(), MPI_COMM_WORLD, khs::incoming(to, previous()));
      exchange.wait();
      arrives.wait();
      RANKS_CHECK(wrong(Instance(), to, previous()) == 0);
    });

// To itself, without elements, in exchanges without messages.
AddCase const trivial("trivial messages arrive", [] {
  Instance const instance;
  auto const from = view_of<Kokkos::LayoutLeft>(90, 50, 7),
             to   = view_of<Kokkos::LayoutLeft>(90, 50, 7);
  auto const none = view_of<Kokkos::LayoutRight>(9, 0, 7);
  number(instance, from, rank());
  khs::exchange(instance, MPI_COMM_WORLD, khs::outgoing(none, next(), 1),
                khs::outgoing(from, rank(), 1), khs::incoming(none, previous(), 1),
                khs::incoming(to, rank(), 1))
      .wait();
  RANKS_CHECK(wrong(instance, to, rank()) == 0);
  khs::exchange(instance, MPI_COMM_WORLD, khs::unbuffered, khs::outgoing(none, next(), 1),
                khs::incoming(none, previous(), 1))
      .wait();
  RANKS_CHECK(khs::exchange(instance, MPI_COMM_WORLD).test());
});

// As MPI_Isend and MPI_Irecv, whichever request is waited for first; on a device each waits for earlier work.
AddCase const apart("exchanges that are under way at once do not wait for each other's call", [] {
  Instance const instance;
  auto const from = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(90, 50, 7),
             to   = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(90, 50, 7);
  for (bool const out_first : {false, true}) {
    for (int i = 0; i < 50; ++i) number(instance, from, rank());
    auto out =
        khs::exchange(instance, MPI_COMM_WORLD, khs::unbuffered, khs::outgoing(from, next()));
    auto in =
        khs::exchange(instance, MPI_COMM_WORLD, khs::unbuffered, khs::incoming(to, previous()));
    (out_first ? out : in).wait();
    (out_first ? in : out).wait();
    RANKS_CHECK(wrong(instance, to, previous()) == 0);
  }
});

AddCase const special(
    "a View of one element and const elements are sent, nothing to or from MPI_PROC_NULL", [] {
      Kokkos::View<int, khs::PinnedSpace> const one("one"), there("there");
      auto const from = view_of<Kokkos::LayoutLeft>(9, 5, 7),
                 to   = view_of<Kokkos::LayoutLeft>(9, 5, 7);
      Instance const instance;
      one() = rank();
      number(instance, from, rank());
      khs::exchange(instance, MPI_COMM_WORLD, khs::outgoing(one, next()),
                    khs::outgoing(typename decltype(from)::const_type(from), next()),
                    khs::incoming(there, previous()), khs::incoming(to, previous()))
          .wait();
      RANKS_CHECK(wrong(instance, to, previous()) == 0);
      RANKS_CHECK(there() == previous());
      auto nothing = khs::exchange(instance, MPI_COMM_WORLD, khs::outgoing(from, MPI_PROC_NULL),
                                   khs::incoming(to, MPI_PROC_NULL));
      RANKS_CHECK(nothing.test());
    });

// In device memory this needs a CUDA-aware MPI: tested are Views that any MPI takes.
AddCase const unbuffered("dense Views are sent as they are, strided ones through buffers", [] {
  Instance const instance;
  auto const from    = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(9, 5, 7),
             to      = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(9, 5, 7);
  auto const strided = view_of<Kokkos::LayoutRight, khs::MappedSpace>(9, 5, 7);
  number(instance, from, rank());
  khs::exchange(instance, MPI_COMM_WORLD, khs::unbuffered, khs::outgoing(from, next(), 1),
                khs::outgoing(from, next(), 2), khs::incoming(to, previous(), 1),
                khs::incoming(strided, previous(), 2))
      .wait();
  RANKS_CHECK(wrong(instance, to, previous()) == 0);
  RANKS_CHECK(wrong(instance, strided, previous()) == 0);
});

AddCase const differ("ranks that differ in extents are told which message it was", [] {
  auto const few         = view_of<Kokkos::LayoutLeft>(2, 2, 2),
             many        = view_of<Kokkos::LayoutLeft>(3, 2, 2);
  std::string const told = thrown_by([&] {
    khs::exchange(Instance(), MPI_COMM_WORLD, khs::outgoing(few, next(), 5),
                  khs::incoming(many, previous(), 5))
        .wait();
  });
  RANKS_CHECK(has(told, "\"message\" from rank " + std::to_string(previous()), "tag 5, 96 bytes",
                  "has 64 bytes"));
  MPI_Barrier(MPI_COMM_WORLD);
  send_around(few, view_of<Kokkos::LayoutLeft>(2, 2, 2));  // the next exchange works
});

AddCase const refused("a message that fails is named, loses no memory, and lets the others go", [] {
  ErrorsReturn const of_mpi;
  MPI_Comm const comm = of_mpi.comm;
  Instance const instance;
  auto const from = view_of<Kokkos::LayoutLeft>(9, 5, 7), to = view_of<Kokkos::LayoutLeft>(9, 5, 7),
             few = view_of<Kokkos::LayoutLeft>(1, 5, 7);
  number(instance, from, rank());
  auto arrives           = khs::exchange(instance, comm, khs::incoming(to, previous()));
  std::string const told = thrown_by([&] {
    khs::exchange(instance, comm, khs::outgoing(few, 1000, 5), khs::outgoing(from, next())).wait();
  });
  RANKS_CHECK(has(told, "\"message\" to rank 1000 (tag 5, 280 bytes)"));
  arrives.wait();
  RANKS_CHECK(wrong(instance, to, previous()) == 0);
  auto const before = khs::pool::statistics().total.bytes_in_use;
  auto sent         = khs::exchange(instance, comm, khs::outgoing(from, next()));
  instance.fence();
  sent.test();  // it is on its way: nobody waits for it below
  std::string const truncated =
      thrown_by([&] { khs::exchange(instance, comm, khs::incoming(few, previous())).wait(); });
  RANKS_CHECK(has(truncated, "\"message\" from rank " + std::to_string(previous())));
  sent.wait();
  RANKS_CHECK(khs::pool::statistics().total.bytes_in_use == before);
});

// The sender waits for it, and the next message of the tag is not taken for the first.
AddCase const unposted("an error drops no message that waits for earlier work", [] {
  ErrorsReturn const of_mpi;
  Instance const instance;
  auto const from = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(90, 50, 7),
             lost = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(90, 50, 7),
             to   = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(90, 50, 7);
  number(instance, from, rank());
  auto sent = khs::exchange(instance, of_mpi.comm, khs::outgoing(from, next(), 4));
  for (int i = 0; i < 50; ++i) number(instance, lost, i);
  std::string const told = thrown_by([&] {
    khs::exchange(instance, of_mpi.comm, khs::unbuffered, khs::outgoing(from, 1000, 5),
                  khs::incoming(lost, previous(), 4))
        .wait();
  });
  RANKS_CHECK(has(told, "to rank 1000"));
  sent.wait();
  number(instance, from, 70);
  khs::exchange(instance, of_mpi.comm, khs::outgoing(from, next(), 4),
                khs::incoming(to, previous(), 4))
      .wait();
  RANKS_CHECK(wrong(instance, to, 70) == 0);
});

// The program asks for MPI_THREAD_MULTIPLE.
AddCase const threads(".threads have exchanges of their own", [] {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided != MPI_THREAD_MULTIPLE)
    return void(std::puts("This MPI takes calls of one thread."));
  auto const work = [](int tag) {
    Instance const instance;
    Kokkos::View<int*, khs::MappedSpace> const from("from", 2000), to("to", 2000);
    for (int step = 0; step < 100; ++step) {
      instance.fence();
      for (std::size_t i = 0; i < 2000; ++i) from(i) = tag * 1000 + step;
      khs::exchange(instance, MPI_COMM_WORLD, khs::outgoing(from, next(), tag),
                    khs::incoming(to, previous(), tag))
          .wait();
      instance.fence();
      for (std::size_t i = 0; i < 2000; ++i)
        if (to(i) != tag * 1000 + step) return MPI_Abort(MPI_COMM_WORLD, 3), void();
    }
  };
  std::thread other(work, 1);
  work(2);
  other.join();
});

// With KOKKOS_HOST_SPACES_UNBUFFERED=on. A receive that waits tells whether it has a buffer.
AddCase const by_environment(".unbuffered by the environment", [] {
  Instance const instance;
  auto const from   = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(90, 50, 7),
             to     = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(90, 50, 7);
  auto const used   = [] { return khs::pool::statistics().total.bytes_in_use; };
  auto const before = used();
  number(instance, from, rank());
  auto exchange        = khs::exchange(instance, MPI_COMM_WORLD, khs::incoming(to, previous()));
  bool const is_direct = used() == before;
  MPI_Barrier(MPI_COMM_WORLD);
  khs::exchange(instance, MPI_COMM_WORLD, khs::outgoing(from, next())).wait();
  exchange.wait();
  RANKS_CHECK(is_direct);
  RANKS_CHECK(wrong(instance, to, previous()) == 0);
});

AddCase const held("a View that MPI receives into lives until it has arrived", [] {
  Instance const instance;
  auto const from   = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(90, 50, 7);
  auto const used   = [] { return khs::pool::statistics().total.bytes_in_use; };
  auto const before = used();
  auto exchange     = [&] {
    auto const to = view_of<Kokkos::LayoutLeft, khs::MappedSpace>(90, 50, 7);
    return khs::exchange(instance, MPI_COMM_WORLD, khs::unbuffered, khs::incoming(to, previous()));
  }();
  RANKS_CHECK(used() > before);
  MPI_Barrier(MPI_COMM_WORLD);
  khs::exchange(instance, MPI_COMM_WORLD, khs::unbuffered, khs::outgoing(from, next())).wait();
  exchange.wait();
  RANKS_CHECK(used() == before);
});

// The others wait for it: how that ends is judged from outside.
AddCase const killed_in_exchange(".killed between exchange and wait", [] {
  auto const from = view_of<Kokkos::LayoutLeft>(90, 50, 7),
             to   = view_of<Kokkos::LayoutLeft>(90, 50, 7);
  auto exchange   = khs::exchange(Instance(), MPI_COMM_WORLD, khs::outgoing(from, next()),
                                  khs::incoming(to, previous()));
  if (rank() == size() - 1) std::raise(SIGKILL);
  for (;;) {
    exchange.wait();
    exchange = khs::exchange(Instance(), MPI_COMM_WORLD, khs::incoming(to, previous()));
  }
});

AddCase const kept("the buffers of one step serve the next ones", [] {
  auto const from = view_of<Kokkos::LayoutLeft>(90, 50, 7),
             to   = view_of<Kokkos::LayoutLeft>(90, 50, 7);
  auto const step = [&] { send_around(from, to); };
  for (int i = 0; i < 5; ++i) step();
  auto const before = khs::pool::statistics().total;
  for (int i = 0; i < 20; ++i) step();
  RANKS_CHECK(khs::pool::statistics().total.misses == before.misses);
  RANKS_CHECK(khs::pool::statistics().total.bytes_in_use <= before.bytes_in_use);
});

}  // namespace
