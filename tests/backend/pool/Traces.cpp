// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Traces.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace Traces {

namespace {

using Block = Memory::Block;
using Sizes = std::function<std::size_t(Random&, std::size_t step)>;

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;
constexpr std::size_t alive_at_most = 192 * MiB;

std::size_t uniform(Random& random, std::size_t low, std::size_t high) {
  return low + random() % (high - low + 1);
}

std::size_t log_uniform(Random& random, double low, double high) {
  std::uniform_real_distribution<double> exponent(std::log2(low), std::log2(high));
  return static_cast<std::size_t>(std::exp2(exponent(random)));
}

// The same 37 sizes, 12 KiB to 5.6 MiB, again and again.
std::size_t of_a_step(Random&, std::size_t i) {
  return (i % 37 + 1) * (i % 37 + 3) * 4 * KiB + 128;
}

enum class Order { random, oldest, newest, all_at_once };

// Which blocks go when too much is alive.
void make_room(Memory& memory, Random& random, std::deque<Block>& blocks, std::size_t most,
               Order order) {
  while (!blocks.empty() && memory.alive() > most) {
    if (order == Order::random) std::swap(blocks[random() % blocks.size()], blocks.back());
    if (order == Order::oldest) {
      memory.deallocate(blocks.front());
      blocks.pop_front();
      continue;
    }
    do {
      memory.deallocate(blocks.back());
      blocks.pop_back();
    } while (order == Order::all_at_once && !blocks.empty());
  }
}

// Blocks of these sizes, 192 MiB of them alive.
std::function<void(Memory&, Random&, std::size_t)> mixed(Order order, Sizes sizes) {
  return [order, sizes](Memory& memory, Random& random, std::size_t allocations) {
    std::deque<Block> blocks;
    for (std::size_t i = 0; i < allocations; ++i) {
      std::size_t const bytes = sizes(random, i);
      make_room(memory, random, blocks, alive_at_most - bytes, order);
      blocks.push_back(memory.allocate(bytes));
    }
    make_room(memory, random, blocks, 0, Order::newest);
  };
}

// 64 MiB of blocks of 1 to 8 MiB, and each 50th allocation a large block, which goes at once.
void large_beside_mid_size(Memory& memory, Random& random, std::size_t allocations,
                           std::size_t large) {
  std::deque<Block> blocks;
  for (std::size_t i = 0; i < allocations; ++i) {
    if (i % 50 == 49) {
      memory.deallocate(memory.allocate(large));
      continue;
    }
    std::size_t const bytes = uniform(random, MiB, 8 * MiB);
    make_room(memory, random, blocks, 64 * MiB - bytes, Order::random);
    blocks.push_back(memory.allocate(bytes));
  }
  make_room(memory, random, blocks, 0, Order::newest);
}

// A solver: rebuilds the six levels of its multigrid hierarchy every five steps, with a temporary product for
// each; allocates Krylov vectors in each step, and small work arrays.
class Solver {
 public:
  Solver(Memory& memory, Random& random) : m_memory(memory), m_random(random) {}
  ~Solver() { m_memory.deallocate_all(m_hierarchy); }
  Solver(Solver const&)            = delete;
  Solver& operator=(Solver const&) = delete;

  void step() {
    if (m_step++ % 5 == 0) build_hierarchy();
    std::vector<Block> vectors;
    for (std::size_t n = uniform(m_random, 5, 20); n > 0; --n)
      vectors.push_back(m_memory.allocate(unknowns * 8 + 128));
    for (int i = 0; i < 60; ++i)
      m_memory.deallocate(m_memory.allocate(uniform(m_random, 100, 30000)));
    m_memory.deallocate_all(vectors);
  }

 private:
  static constexpr std::size_t unknowns = 600000;

  void build_hierarchy() {
    m_memory.deallocate_all(m_hierarchy);
    std::size_t rows = uniform(m_random, unknowns * 19 / 20, unknowns * 21 / 20);
    for (int level = 0; level < 6; ++level, rows /= 7) {
      Block const product = m_memory.allocate(rows * 8 * uniform(m_random, 5, 20) + 128);
      for (std::size_t const bytes_a_row : {84, 4, 8, 8, 8})  // matrix, row offsets, three vectors
        m_hierarchy.push_back(m_memory.allocate(rows * bytes_a_row + 128));
      m_memory.deallocate(product);
    }
  }

  Memory& m_memory;
  Random& m_random;
  std::vector<Block> m_hierarchy;
  std::size_t m_step = 0;
};

// Every 20 steps a checkpoint is gathered.
void solver_with_checkpoints(Memory& memory, Random& random, std::size_t allocations,
                             std::size_t least, std::size_t most) {
  Solver solver(memory, random);
  for (std::size_t step = 0; memory.allocations() < allocations; ++step) {
    solver.step();
    if (step % 20 == 0) memory.deallocate(memory.allocate(uniform(random, least, most)));
  }
}

// Three levels of patches. The finer ones are made anew every four steps, before the old ones go; each step
// has temporaries for a third of the patches.
void refined_mesh(Memory& memory, Random& random, std::size_t allocations) {
  constexpr std::size_t levels = 3;
  std::vector<Block> patches[levels];
  auto const bytes_of_patch = [&](std::size_t level) {
    std::size_t bytes = random() % 3 == 0 ? 8 : 40;  // one field, or five
    for (int side = 0; side < 3; ++side) bytes *= 8 * uniform(random, 1, 8 - 2 * level) + 4;
    return bytes + 128;
  };
  for (std::size_t step = 0; memory.allocations() < allocations; ++step) {
    for (std::size_t level = step % 16 == 0 ? 0 : 1; step % 4 == 0 && level < levels; ++level) {
      std::vector<Block> finer;
      for (std::size_t n = uniform(random, 30, 60) * (level + 1) / 2; n > 0; --n)
        finer.push_back(memory.allocate(bytes_of_patch(level)));
      patches[level].swap(finer);
      memory.deallocate_all(finer);
    }
    std::vector<Block> temporaries;
    for (std::size_t level = 0; level < levels; ++level)
      for (std::size_t i = 0; i < patches[level].size(); i += 3)
        temporaries.push_back(memory.allocate(bytes_of_patch(level) / 4 + 128));
    std::shuffle(temporaries.begin(), temporaries.end(), random);
    memory.deallocate_all(temporaries);
  }
  for (auto& level : patches) memory.deallocate_all(level);
}

// Buffers for 26 neighbours, out and in, which grow by 1.3 when the particles that leave are more than fit;
// particles are sorted every ten steps by temporaries.
void particle_exchange(Memory& memory, Random& random, std::size_t allocations) {
  constexpr double growth = 1.3, scale = 4;
  std::vector<Block> buffers(52, Block{nullptr, 0});
  double drift = 1;
  for (std::size_t step = 0; memory.allocations() < allocations; ++step) {
    double const change = static_cast<double>(uniform(random, 0, 1000)) / 1000;
    drift *= 1 + 0.01 * (change - (drift > 6 ? 0.9 : drift < 1 ? 0.1 : 0.45));
    if (step % 100 == 99) {  // the domain is cut anew
      memory.deallocate_all(buffers);
      buffers.assign(52, Block{nullptr, 0});
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      double const share = i % 26 < 6 ? 1.5e6 : i % 26 < 18 ? 1e5 : 6e3;  // faces, edges, corners
      double const noise = static_cast<double>(uniform(random, 900, 1100)) / 1000;
      auto const needed  = static_cast<std::size_t>(share * scale * drift * noise);
      if (needed <= buffers[i].bytes) continue;
      Block const larger =
          memory.allocate(static_cast<std::size_t>(static_cast<double>(needed) * growth) + 128);
      if (buffers[i].bytes > 0) memory.deallocate(buffers[i]);
      buffers[i] = larger;
    }
    if (step % 10 != 0) continue;
    std::vector<Block> sorted;
    for (std::size_t const bytes : {4, 4, 8, 8, 8, 8, 8, 8, 8})
      sorted.push_back(
          memory.allocate(static_cast<std::size_t>(4e5 * scale * drift) * bytes / 4 + 128));
    memory.deallocate_all(sorted);
  }
  memory.deallocate_all(buffers);
}

// Phases of 2000 allocations with sizes of their own; of each, `survivors` of 1000 blocks stay for three phases.
void phases(Memory& memory, Random& random, std::size_t allocations, std::size_t survivors) {
  constexpr std::size_t length = 2000;
  Sizes const sizes[]          = {
               [](Random& r, std::size_t) { return uniform(r, 64 * KiB, 900 * KiB); },
               [](Random& r, std::size_t) { return uniform(r, MiB, 8 * MiB); },
               [](Random& r, std::size_t) { return uniform(r, 16 * MiB, 64 * MiB); },
               [](Random& r, std::size_t) { return log_uniform(r, 4e3, 64e6); },
  };
  std::deque<Block> blocks;
  std::deque<std::vector<Block>> stay(3);
  for (std::size_t i = 0; i < allocations; ++i) {
    if (i % length == 0) {
      memory.deallocate_all(stay.front());
      stay.pop_front();
      stay.emplace_back();
      for (Block const& block : blocks) {
        bool const stays = random() % 1000 < survivors;
        stays ? stay.back().push_back(block) : memory.deallocate(block);
      }
      blocks.clear();
    }
    std::size_t const bytes = sizes[i / length % 4](random, i);
    make_room(memory, random, blocks, alive_at_most - bytes, Order::random);
    blocks.push_back(memory.allocate(bytes));
  }
  make_room(memory, random, blocks, 0, Order::newest);
  for (auto& some : stay) memory.deallocate_all(some);
}

}  // namespace

std::vector<Trace> all() {
  auto const random_order = [](Sizes const& sizes) { return mixed(Order::random, sizes); };
  using Steps             = std::size_t;
  return {
      {"95 % of 0.1 to 0.9 MiB, 5 % of 16 to 64 MiB", 2.25, random_order([](Random& r, Steps) {
         return r() % 20 != 0 ? uniform(r, MiB / 10, 9 * MiB / 10) : uniform(r, 16 * MiB, 64 * MiB);
       })},
      {"uniform, 1 B to 8 MiB", 2.25,
       random_order([](Random& r, Steps) { return uniform(r, 1, 8 * MiB); })},
      {"log-uniform, 64 B to 64 MiB", 2.25,
       random_order([](Random& r, Steps) { return log_uniform(r, 64, 64e6); })},
      {"uniform, 64 KiB to 1 MiB", 2.25,
       random_order([](Random& r, Steps) { return uniform(r, 64 * KiB, MiB); })},
      {"log-uniform, 256 B to 256 KiB", 2.25,
       random_order([](Random& r, Steps) { return log_uniform(r, 256, 256e3); })},
      {"half of 0.5 MiB, half of 24 MiB, each +- 10 %", 2.25, random_order([](Random& r, Steps) {
         std::size_t const mean = r() % 2 == 0 ? MiB / 2 : 24 * MiB;
         return uniform(r, mean - mean / 10, mean + mean / 10);
       })},
      {"powers of two, 4 KiB to 32 MiB", 2.25,
       random_order([](Random& r, Steps) { return (4 * KiB << r() % 14) + 128; })},
      {"uniform, 1 to 16 MiB, the oldest goes first", 2.25,
       mixed(Order::oldest, [](Random& r, Steps) { return uniform(r, MiB, 16 * MiB); })},
      {"sizes that drift from 64 KiB to 16 MiB and back", 2.25,
       random_order([](Random& r, Steps i) {
         double const phase = static_cast<double>(i % 4000) / 2000;
         double const size  = 64e3 * std::exp2(8 * (phase < 1 ? phase : 2 - phase));
         return uniform(r, static_cast<std::size_t>(size / 2), static_cast<std::size_t>(size));
       })},
      {"1 to 8 MiB, each 50th of 16 MiB", 2.25,
       [](Memory& m, Random& r, Steps n) { large_beside_mid_size(m, r, n, 16 * MiB); }},
      {"1 to 8 MiB, each 50th of 48 MiB", 2.25,
       [](Memory& m, Random& r, Steps n) { large_beside_mid_size(m, r, n, 48 * MiB); }},
      {"1 to 8 MiB, each 50th of 256 MiB", 2.25,
       [](Memory& m, Random& r, Steps n) { large_beside_mid_size(m, r, n, 256 * MiB); }},
      {"solver, checkpoints of 100 MiB", 2.25,
       [](Memory& m, Random& r, Steps n) {
         solver_with_checkpoints(m, r, n, 100 * MiB, 100 * MiB);
       }},
      {"solver, checkpoints of 80 to 110 MiB", 2.25,
       [](Memory& m, Random& r, Steps n) {
         solver_with_checkpoints(m, r, n, 80 * MiB, 110 * MiB);
       }},
      {"adaptive mesh, regridded every 4 steps", 2.25, refined_mesh},
      {"particles, buffers grow by 1.3", 2.25, particle_exchange},
      {"phases of other sizes", 2.5, [](Memory& m, Random& r, Steps n) { phases(m, r, n, 0); }},
      {"phases of other sizes, 1 % of the blocks stay for 3 phases", 3.0,
       [](Memory& m, Random& r, Steps n) { phases(m, r, n, 10); }},
      {"the same sizes each step, the oldest goes first", 2.25, mixed(Order::oldest, of_a_step)},
      {"the same sizes each step, the newest goes first", 1.25, mixed(Order::newest, of_a_step)},
      {"steps that free all that they allocated", 1.25, mixed(Order::all_at_once, of_a_step)},
  };
}

}  // namespace Traces
