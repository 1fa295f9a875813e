// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Ranks.hpp"

#include "../support/Arguments.hpp"

#include <mpi.h>

#include <cstdlib>
#include <iostream>

namespace KokkosHostSpaces::Perf {
namespace {

// Broadcast the text of one rank.
std::string broadcast(std::string text, int from) {
  int length = int(text.size());
  MPI_Bcast(&length, 1, MPI_INT, from, MPI_COMM_WORLD);
  text.resize(std::size_t(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, from, MPI_COMM_WORLD);
  return text;
}

}  // namespace

Ranks::Ranks(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &m_size);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &m_local_rank);
  MPI_Comm_size(node, &m_local_size);
  MPI_Comm_free(&node);
}

Ranks::~Ranks() { MPI_Finalize(); }

void Ranks::barrier() const { MPI_Barrier(MPI_COMM_WORLD); }

double Ranks::sum(double value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

double Ranks::greatest(double value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

std::vector<double> Ranks::of_all(double value) const {
  std::vector<double> values(std::size_t(m_size), value);
  MPI_Allgather(&value, 1, MPI_DOUBLE, values.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
  return values;
}

std::vector<std::string> Ranks::of_all(std::string const& text) const {
  std::vector<std::string> texts;
  for (int rank = 0; rank < m_size; ++rank) texts.push_back(broadcast(text, rank));
  return texts;
}

void Ranks::abort(std::string const& why) const {
  std::cerr << "rank " << m_rank << ": " << why << std::endl;
  MPI_Abort(MPI_COMM_WORLD, failure);
  std::abort();
}

std::string Ranks::first_of(std::string const& text) const {
  int first = text.empty() ? m_size : m_rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return first == m_size ? "" : broadcast(text, first);
}

}  // namespace KokkosHostSpaces::Perf
