// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Messages whose calls of MPI return errors: this program has these calls, which pass on to MPI.

#include "Ranks.hpp"

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/mpi/Exchange.hpp>

#include <cstddef>

namespace {

namespace khs = KokkosHostSpaces;
using namespace Ranks;

enum class Failing {
  none,
  send,
  receive,
  test,         // and the message has come
  test_at_once  // before it has come
};
Failing failing = Failing::none;

bool fails_now(Failing call) {
  bool const fails = failing == call;
  if (fails) failing = Failing::none;
  return fails;
}

}  // namespace

extern "C" {

int MPI_Isend(void const* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (fails_now(Failing::send)) return MPI_ERR_OTHER;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (fails_now(Failing::receive)) return MPI_ERR_OTHER;
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Test(MPI_Request* request, int* is_done, MPI_Status* status) {
  if (fails_now(Failing::test_at_once)) return MPI_ERR_OTHER;
  int const code = PMPI_Test(request, is_done, status);
  return code == MPI_SUCCESS && *is_done != 0 && fails_now(Failing::test) ? MPI_ERR_OTHER : code;
}

}  // extern "C"

namespace {

using Instance = Kokkos::DefaultExecutionSpace;
using Face     = Kokkos::View<int*, khs::MappedSpace>;

std::size_t bytes_used() { return khs::pool::statistics().total.bytes_in_use; }

Face filled(int value) {
  Face const view("face", 1000);
  for (std::size_t i = 0; i < view.size(); ++i) view(i) = value;
  return view;
}

void send(Face const& view) {
  khs::exchange(Instance(), MPI_COMM_WORLD, khs::outgoing(view, next(), 7)).wait();
}

khs::Exchange receive(Face const& view) {
  return khs::exchange(Instance(), MPI_COMM_WORLD, khs::incoming(view, previous(), 7));
}

bool told(std::string const& text) {
  return has(text, "\"face\"", "rank", "tag 7, 4000 bytes", "MPI: ");
}

// The buffers are back, and a next exchange works.
void check_next(std::size_t before, Face const& from, Face const& to) {
  RANKS_CHECK(bytes_used() == before);
  MPI_Barrier(MPI_COMM_WORLD);
  auto arrives = receive(to);
  send(from);
  arrives.wait();
  Kokkos::fence();  // what arrives is copied on the instance
  RANKS_CHECK(to(0) == previous() && to(999) == previous());
  RANKS_CHECK(bytes_used() == before);
}

AddCase const begun("a message that cannot be begun is named and keeps no buffer", [] {
  Face const from = filled(rank()), to = filled(-1);
  auto const before = bytes_used();
  failing           = Failing::send;
  RANKS_CHECK(told(thrown_by([&] { send(from); })));
  failing = Failing::receive;
  RANKS_CHECK(told(thrown_by([&] { receive(to); })));
  RANKS_CHECK(to(0) == -1);
  check_next(before, from, to);
});

AddCase const ended("a message that ends with an error is named and keeps no buffer", [] {
  Face const from = filled(rank()), to = filled(-1);
  auto const before = bytes_used();
  auto arrives      = receive(to);
  RANKS_CHECK(bytes_used() > before);
  MPI_Barrier(MPI_COMM_WORLD);  // it has not come yet
  send(from);
  failing = Failing::test;
  RANKS_CHECK(told(thrown_by([&] { arrives.wait(); })));
  RANKS_CHECK(to(0) == -1);
  check_next(before, from, to);
});

AddCase const late("a message that comes after its error finds its buffer, not memory of others",
                   [] {
                     Face const from = filled(rank()), to = filled(-1);
                     auto const before = bytes_used();
                     auto arrives      = receive(to);
                     failing           = Failing::test_at_once;
                     RANKS_CHECK(told(thrown_by([&] { arrives.wait(); })));
                     auto const with_buffer = bytes_used();
                     RANKS_CHECK(with_buffer > before);
                     MPI_Barrier(MPI_COMM_WORLD);
                     send(from);
                     RANKS_CHECK(to(0) == -1);
                     check_next(with_buffer, from, to);
                   });

}  // namespace
