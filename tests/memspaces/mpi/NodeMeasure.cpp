// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Measures what ranks of a node share and send, beside what programs do without it:
//
//   node_measure table <MiB> <rounds> <file>      one table for all ranks, beside a private one of one rank
//   node_measure exchange <MiB> <rounds> <file>   halos with faces from 64 KiB to so many MiB, around a ring of ranks
//   node_measure message <MiB> <rounds> <file>    a message there and back (as OSU's latency), by kind of memory
//
// The first rank writes JSON. Exits with 1 if a result is wrong; judges no time.

#include <KokkosHostSpaces.hpp>
#include <KokkosHostSpaces/mpi/Exchange.hpp>
#include <KokkosHostSpaces/mpi/NodeShared.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace khs = KokkosHostSpaces;

namespace {

using Instance = Kokkos::DefaultExecutionSpace;
using Memory   = Instance::memory_space;

int rank = 0, size = 1;

double largest(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

double sum_of_ranks(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

// Seconds until all ranks have done it.
template <class Work>
double time_of_all(Work const& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  double const begin = MPI_Wtime();
  work();
  return largest(MPI_Wtime() - begin);
}

template <class Work>
double time_of_first(Work const& work) {
  return time_of_all([&] {
    if (rank == 0) work();
  });
}

struct Json {
  std::string text = "{";
  void add(char const* key, double value) {
    char field[80];
    std::snprintf(field, sizeof field, "%s\"%s\": %.9g", text.size() > 1 ? ", " : "", key, value);
    text += field;
  }
  void add(char const* key, std::string const& value) {
    text += (text.size() > 1 ? ", \"" : "\"") + std::string(key) + "\": \"" + value + "\"";
  }
};

// --- a table ---

double value_of(std::size_t i) { return double(i % 1021); }

template <class View>
void fill(View const& view, std::size_t part, std::size_t parts) {
  std::size_t const n = view.extent(0);
  for (std::size_t i = n * part / parts; i < n * (part + 1) / parts; ++i) view(i) = value_of(i);
}

template <class View>
struct Sum {
  View view;
  KOKKOS_FUNCTION void operator()(std::size_t i, double& sum) const { sum += view(i); }
};

template <class View>
double sum_in_kernel(Instance const& instance, View const& view) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "sum",
      Kokkos::RangePolicy<Instance, Kokkos::IndexType<std::size_t>>(instance, 0, view.extent(0)),
      Sum<View>{view}, sum);
  return sum;
}

// Bytes of shared memory of all ranks, each page once.
double resident_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  double kilobytes = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Pss_Shmem:")) kilobytes = std::stod(line.substr(10));
  return sum_of_ranks(1024 * kilobytes);
}

struct Rates {
  double to_device = 0, in_place = 0;  // bytes a second
};

// Of the first rank alone, in turn for the private and the shared table.
template <class View>
void measure_rates(Instance const& instance, View const& view,
                   Kokkos::View<double*, Memory> const& device, Rates& best) {
  std::size_t const n = device.extent(0);
  auto const part     = Kokkos::subview(view, std::pair(std::size_t(0), n));
  auto const rate     = [&](auto const& work) {
    double const begin = MPI_Wtime();
    work();
    instance.fence();
    return double(n * sizeof(double)) / (MPI_Wtime() - begin);
  };
  best.to_device =
      std::max(best.to_device, rate([&] { Kokkos::deep_copy(instance, device, part); }));
  best.in_place = std::max(best.in_place, rate([&] { sum_in_kernel(instance, part); }));
}

bool measure_table(std::size_t bytes, int rounds, Json& json) {
  std::size_t const n = bytes / sizeof(double);
  Instance const instance;
  using Private = Kokkos::View<double*, khs::MappedSpace>;
  using Shared  = khs::NodeShared<double*>;
  Kokkos::LayoutRight const shape(n);

  Private table;
  double const private_locked = time_of_first(
      [&] { table = Private(Kokkos::view_alloc("table", Kokkos::WithoutInitializing), n); });
  table = Private();
  khs::pool::trim(0);
  double const private_ready = time_of_first([&] {
    table = Private(Kokkos::view_alloc("table", Kokkos::WithoutInitializing), n);
    fill(table, 0, 1);
  });

  double const before = resident_bytes();
  double const shared_locked =
      time_of_all([&] { Shared const unused(MPI_COMM_WORLD, "table", shape, [](auto const&) {}); });
  double const filled_by_one = time_of_all([&] {
    Shared const unused(MPI_COMM_WORLD, "table", shape, [](auto const& view) { fill(view, 0, 1); });
  });
  MPI_Barrier(MPI_COMM_WORLD);
  double const begin = MPI_Wtime();
  Shared const shared(MPI_COMM_WORLD, "table", shape, [](auto const& view, int part, int parts) {
    fill(view, std::size_t(part), std::size_t(parts));
  });
  double const shared_ready = largest(MPI_Wtime() - begin);
  double const resident     = resident_bytes() - before;
  double const locked       = sum_of_ranks(double(khs::pool::statistics().bytes_node_shared));

  double const sum = sum_in_kernel(instance, shared.view());
  double right     = 0;
  for (std::size_t i = 0; i < n; ++i) right += value_of(i);
  Rates of_private, of_shared;
  time_of_first([&] {
    Kokkos::View<double*, Memory> const device("device", std::min(n, std::size_t(1) << 27));
    for (int i = 0; i < rounds; ++i) {
      measure_rates(instance, table, device, of_private);
      measure_rates(instance, shared.view(), device, of_shared);
    }
  });
  for (auto const& [key, value] : std::vector<std::pair<char const*, double>>{
           {"ranks", size},
           {"bytes", double(bytes)},
           {"resident_over_bytes", resident / double(bytes)},
           {"locked_over_bytes", locked / double(bytes)},
           {"private_locked_seconds", private_locked},
           {"private_ready_seconds", private_ready},
           {"shared_locked_seconds", shared_locked},
           {"shared_filled_by_one_seconds", filled_by_one},
           {"shared_ready_seconds", shared_ready},
           {"ready_ratio", shared_ready / private_ready},
           {"to_device_private", of_private.to_device},
           {"to_device_shared", of_shared.to_device},
           {"to_device_ratio", of_shared.to_device / of_private.to_device},
           {"in_place_private", of_private.in_place},
           {"in_place_shared", of_shared.in_place},
           {"in_place_ratio", of_shared.in_place / of_private.in_place}})
    json.add(key, value);
  return sum == right;
}

// --- a halo ---

using Field  = Kokkos::View<double***, Kokkos::LayoutLeft, Memory>;
using Range  = Kokkos::pair<int, int>;
using Face   = decltype(Kokkos::subview(Field(), Range(), Range(), Range()));
using Buffer = Kokkos::View<double*, Memory>;

struct Gather {
  Buffer buffer;
  Face face;
  KOKKOS_FUNCTION void operator()(int n) const {
    int const x = int(face.extent(0)), y = int(face.extent(1));
    buffer(n) = face(n % x, n / x % y, n / x / y);
  }
};

struct Scatter {
  Face face;
  Buffer buffer;
  KOKKOS_FUNCTION void operator()(int n) const {
    int const x = int(face.extent(0)), y = int(face.extent(1));
    face(n % x, n / x % y, n / x / y) = buffer(n);
  }
};

struct Halo {
  std::string kind;
  Field field;
  Face out[2], in[2];  // to and from the next and the previous rank
  bool is_dense;

  int elements() const { return int(out[0].size()); }
};

// Faces of so many doubles, whose elements are all neighbours, or in runs of 128 or of 1.
Halo make_halo(std::string const& kind, int n) {
  Halo halo;
  halo.kind      = kind;
  halo.is_dense  = kind == "dense";
  int const axis = kind == "elements" ? 0 : kind == "rows" ? 1 : 2;
  int extents[3] = {axis == 0 ? 1 : 128,
                    axis == 1   ? 1
                    : axis == 0 ? n / 64
                                : n / 128,
                    axis == 2   ? 1
                    : axis == 0 ? 64
                                : n / 128};
  extents[axis]      = 10;
  halo.field         = Field("field", extents[0], extents[1], extents[2]);
  auto const face_at = [&](int layer) {
    auto const range = [&](int along) {
      return along == axis ? Range(layer, layer + 1) : Range(0, extents[along]);
    };
    return Kokkos::subview(halo.field, range(0), range(1), range(2));
  };
  for (int side = 0; side < 2; ++side) {
    halo.out[side] = face_at(3 + side);
    halo.in[side]  = face_at(6 + side);
  }
  return halo;
}

int neighbour(int side) { return (rank + (side == 0 ? 1 : size - 1)) % size; }

// Fills what is sent, so that what comes tells from which rank and side.
void prepare(Instance const& instance, Halo const& halo) {
  for (int side = 0; side < 2; ++side) {
    Kokkos::deep_copy(instance, halo.out[side], 2 * rank + side);
    Kokkos::deep_copy(instance, halo.in[side], -1.0);
  }
  instance.fence();
}

bool is_right(Halo const& halo) {
  bool right = true;
  for (int side = 0; side < 2; ++side) {
    Buffer const copy("copy", halo.in[side].size());
    Kokkos::parallel_for("gather", Kokkos::RangePolicy<Instance>(0, halo.elements()),
                         Gather{copy, halo.in[side]});
    double const sum = sum_in_kernel(Instance(), copy);
    right            = right && sum == double(halo.elements()) * (2 * neighbour(side) + 1 - side);
  }
  return right;
}

struct Requests {
  std::vector<MPI_Request> all;
  void receive(double* to, int count, int from, int tag) {
    MPI_Irecv(to, count, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &all.emplace_back());
  }
  void send(double const* from, int count, int to, int tag) {
    MPI_Isend(from, count, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &all.emplace_back());
  }
  void wait() {
    MPI_Waitall(int(all.size()), all.data(), MPI_STATUSES_IGNORE);
    all.clear();
  }
};

// Packs on the device, copies to buffers in `Host`, sends, and back. Pinned: asynchronously, an instance for each
// face, whose message goes when it is there. Pageable: by stock Kokkos' blocking copies and fences.
template <class Host>
class ByHand {
 public:
  explicit ByHand(Halo const& halo)
      : m_halo(halo),
        m_of_face(Kokkos::Experimental::partition_space(Instance(), std::vector<int>{1, 1})) {
    for (int side = 0; side < 2; ++side) {
      m_packed[side]   = Buffer("packed", halo.out[side].size());
      m_unpacked[side] = Buffer("unpacked", halo.in[side].size());
      m_sent[side]     = Kokkos::View<double*, Host>("sent", halo.out[side].size());
      m_received[side] = Kokkos::View<double*, Host>("received", halo.in[side].size());
    }
  }

  void step(Instance const& instance) {
    constexpr bool pageable = std::is_same_v<Host, Kokkos::HostSpace>;
    int const n             = m_halo.elements();
    for (int side = 0; side < 2; ++side)
      m_requests.receive(m_received[side].data(), n, neighbour(side), 1 - side);
    for (int side = 0; side < 2; ++side) {
      Instance const& on = pageable ? instance : m_of_face[std::size_t(side)];
      Buffer const packed =
          m_halo.is_dense ? Buffer(m_halo.out[side].data(), std::size_t(n)) : m_packed[side];
      if (!m_halo.is_dense)
        Kokkos::parallel_for("gather", Kokkos::RangePolicy<Instance>(on, 0, n),
                             Gather{packed, m_halo.out[side]});
      if constexpr (pageable) {
        Kokkos::fence();
        Kokkos::deep_copy(m_sent[side], packed);
      } else {
        Kokkos::deep_copy(on, m_sent[side], packed);
      }
    }
    for (int side = 0; side < 2; ++side) {
      if constexpr (!pageable) m_of_face[std::size_t(side)].fence();
      m_requests.send(m_sent[side].data(), n, neighbour(side), side);
    }
    m_requests.wait();
    for (int side = 0; side < 2; ++side) {
      Buffer const unpacked =
          m_halo.is_dense ? Buffer(m_halo.in[side].data(), std::size_t(n)) : m_unpacked[side];
      if constexpr (pageable)
        Kokkos::deep_copy(unpacked, m_received[side]);
      else
        Kokkos::deep_copy(instance, unpacked, m_received[side]);
      if (!m_halo.is_dense)
        Kokkos::parallel_for("scatter", Kokkos::RangePolicy<Instance>(instance, 0, n),
                             Scatter{m_halo.in[side], unpacked});
    }
    instance.fence();
  }

 private:
  Halo const& m_halo;
  std::vector<Instance> m_of_face;
  Buffer m_packed[2], m_unpacked[2];
  Kokkos::View<double*, Host> m_sent[2], m_received[2];
  Requests m_requests;
};

void step_by_exchange(Instance const& instance, Halo const& halo) {
  khs::exchange(instance, MPI_COMM_WORLD, khs::outgoing(halo.out[0], neighbour(0), 0),
                khs::outgoing(halo.out[1], neighbour(1), 1),
                khs::incoming(halo.in[0], neighbour(0), 1),
                khs::incoming(halo.in[1], neighbour(1), 0))
      .wait();
  instance.fence();
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

bool measure_halo(std::string const& kind, std::size_t bytes, int rounds, Json& json) {
  Halo const halo = make_halo(kind, int(bytes / sizeof(double)));
  Instance const instance;
  ByHand<Kokkos::HostSpace> pageable(halo);
  ByHand<khs::PinnedSpace> pinned(halo);
  std::map<std::string, std::vector<double>> seconds;
  bool right = true;
  for (int round = 0; round < rounds; ++round) {
    auto const measure = [&](char const* name, auto const& step) {
      prepare(instance, halo);
      double const time = time_of_all(step);
      if (round >= rounds / 6)
        seconds[name].push_back(time);
      else
        right = right && is_right(halo);
    };
    measure("pageable", [&] { pageable.step(instance); });
    measure("by_hand", [&] { pinned.step(instance); });
    measure("exchange", [&] { step_by_exchange(instance, halo); });
  }
  double const of_pageable = median(seconds["pageable"]), of_hand = median(seconds["by_hand"]),
               of_exchange = median(seconds["exchange"]);
  json.add("kind", kind);
  json.add("ranks", size);
  json.add("face_bytes", double(bytes));
  json.add("pageable_seconds", of_pageable);
  json.add("by_hand_seconds", of_hand);
  json.add("exchange_seconds", of_exchange);
  json.add("over_pageable", of_pageable / of_exchange);
  json.add("over_by_hand", of_hand / of_exchange);
  return right;
}

// Between the first two ranks; the time is that of one way.
template <class Space>
bool measure_message(char const* key, std::size_t bytes, int rounds, Json& json) {
  Kokkos::View<char*, Space> const buffer("buffer", bytes);
  Kokkos::deep_copy(buffer, char(1 + rank));
  int const times = 20;
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round)
    seconds.push_back(time_of_all([&] {
                        for (int i = 0; rank < 2 && i < 2 * times; ++i)
                          if (rank == i % 2)
                            MPI_Send(buffer.data(), int(bytes), MPI_CHAR, 1 - rank, 0,
                                     MPI_COMM_WORLD);
                          else
                            MPI_Recv(buffer.data(), int(bytes), MPI_CHAR, 1 - rank, 0,
                                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                      }) /
                      (2 * times));
  json.add(key, median(seconds));
  auto const result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), buffer);
  return rank > 1 || (result(0) == 1 && result(bytes - 1) == 1);
}

bool measure_messages(std::size_t bytes, int rounds, Json& json) {
  json.add("bytes", double(bytes));
  bool right = measure_message<Kokkos::HostSpace>("pageable_seconds", bytes, rounds, json);
  right      = measure_message<khs::PinnedSpace>("pinned_seconds", bytes, rounds, json) && right;
  right      = measure_message<khs::MappedSpace>("mapped_seconds", bytes, rounds, json) && right;
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  if (MPIX_Query_cuda_support() == 1)
    right = measure_message<Memory>("device_seconds", bytes, rounds, json) && right;
#endif
  return right;
}

bool measure(std::string const& what, std::size_t MiB, int rounds, std::string const& file) {
  std::vector<std::string> results;
  bool right      = true;
  auto const take = [&](auto const& call) {
    Json json;
    right = call(json) && right;
    results.push_back(json.text + "}");
    if (rank == 0) std::printf("%s\n", results.back().c_str());
  };
  if (what == "table") {
    take([&](Json& json) {
      return measure_table(std::max(MiB << 20, std::size_t(1) << 16), rounds, json);
    });
  } else if (what == "message") {
    for (std::size_t bytes = 8; bytes <= std::max(MiB << 20, std::size_t(8)); bytes *= 8)
      take([&](Json& json) { return measure_messages(bytes, rounds, json); });
  } else {
    for (char const* const kind : {"dense", "rows", "elements"})
      for (std::size_t bytes = std::size_t(1) << 16;
           bytes <= std::max(MiB << 20, std::size_t(1) << 16); bytes *= 4)
        take([&](Json& json) { return measure_halo(kind, bytes, rounds, json); });
  }
  if (rank == 0) {
    std::ofstream out(file);
    for (std::size_t i = 0; i < results.size(); ++i)
      out << (i == 0 ? "[\n" : ",\n") << results[i] << (i + 1 == results.size() ? "\n]\n" : "");
  }
  return right;
}

}  // namespace

int main(int argc, char* argv[]) {
  int provided = 0, wrong = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    if (argc == 5)
      wrong =
          measure(argv[1], std::size_t(std::atoll(argv[2])), std::atoi(argv[3]), argv[4]) ? 0 : 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  if (wrong != 0) std::fprintf(stderr, "rank %d: wrong results, or wrong arguments\n", rank);
  return wrong;
}
