// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/os/MemoryLimit.hpp"
#include "../../support/MadeUpMachine.hpp"
#include "../BackendTest.hpp"

namespace {

constexpr char const* version_2 =
    "31 23 0:28 / / rw - ext4 /dev/vda rw\n"
    "35 23 0:32 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";

constexpr char const* version_1 =
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /cgroups/memory rw - cgroup cgroup rw,memory";

using Files = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("of the limits of the process's control groups the lowest counts") {
  struct Case {
    char const *what, *mounts, *groups;
    Files files;
    std::size_t limit;
  };
  auto const [what, mounts, groups, files, limit] = GENERATE(
      Case{"its own",
           version_2,
           "0::/system.slice/job_7/step_0",
           {{"/sys/fs/cgroup/system.slice/job_7/step_0/memory.max", "1048576"},
            {"/sys/fs/cgroup/system.slice/job_7/memory.max", "max"},
            {"/sys/fs/cgroup/other/memory.max", "4096"}},
           1048576},
      Case{"of a group around it",
           version_2,
           "0::/slurm/job_7/step_0",
           {{"/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max"},
            {"/sys/fs/cgroup/slurm/job_7/memory.max", "65536"},
            {"/sys/fs/cgroup/slurm/memory.max", "1048576"}},
           65536},
      Case{"of a container that sees its group as root",
           version_2,
           "0::/slurm/job_7",
           {{"/sys/fs/cgroup/slurm/job_7/memory.max", "65536"},
            {"/sys/fs/cgroup/memory.max", "8192"}},
           8192},
      Case{"of the controller of memory in version 1",
           version_1,
           "4:cpuset:/elsewhere\n3:hugetlb,memory:/jobs/7\n0::/",
           {{"/cgroups/memory/jobs/7/memory.limit_in_bytes", "131072"},
            {"/cgroups/memory/elsewhere/memory.limit_in_bytes", "4096"},
            {"/cgroups/memory/memory.limit_in_bytes", "9223372036854771712"}},
           131072},
      Case{"where a container's own group is mounted",
           "35 31 0:32 /docker/4711 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory",
           "3:memory:/docker/4711",
           {{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "262144"}},
           262144},
      Case{"within a container's group",
           "35 31 0:32 /docker/4711 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory",
           "3:memory:/docker/4711/inner",
           {{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "262144"},
            {"/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "16384"}},
           16384},
      Case{"a blank in a mount point, written as an octal number",
           R"(35 23 0:32 /a\134b /my\040own\011groups rw - cgroup2 cgroup2 rw)",
           "0::/a\\b/job 7",
           {{"/my own\tgroups/job 7/memory.max", "32768"}},
           32768},
      Case{"no limit", version_2, "0::/", {{"/sys/fs/cgroup/memory.max", "max"}}, SIZE_MAX},
      Case{"no file", version_2, "0::/", {}, SIZE_MAX});
  CAPTURE(what);
  MadeUpMachine const machine;
  CHECK(memory_of_cgroups(machine.root).limit == SIZE_MAX);  // without control groups
  machine.write("/proc/self/mountinfo", mounts);
  machine.write("/proc/self/cgroup", groups);
  for (auto const& [file, text] : files) machine.write(file, text);
  CHECK(memory_of_cgroups(machine.root).limit == limit);
}

TEST_CASE("a limit that is raised or lowered while the process runs is seen") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", version_2);
  machine.write("/proc/self/cgroup", "0::/job");
  for (std::size_t const limit : {65536, 131072, 32768}) {
    machine.write("/sys/fs/cgroup/job/memory.max", std::to_string(limit));
    CHECK(most_memory(machine.root) == limit);
  }
}

TEST_CASE("what a group leaves is its limit without what its processes hold") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", version_2);
  machine.write("/proc/self/cgroup", "0::/job/step");
  machine.write("/sys/fs/cgroup/job/memory.max", "1000000");
  machine.write("/sys/fs/cgroup/job/memory.stat",
                "anon 300000\nfile 500000\nshmem 100000\nkernel_stack 2000\nslab_reclaimable 7");
  CHECK(memory_of_cgroups(machine.root).limit == 1000000);
  CHECK(memory_of_cgroups(machine.root).left == 598000);
  machine.write("/sys/fs/cgroup/job/step/memory.max", "200000");
  machine.write("/sys/fs/cgroup/job/step/memory.stat", "anon 50000");
  CHECK(memory_of_cgroups(machine.root).limit == 200000);
  CHECK(memory_of_cgroups(machine.root).left == 150000);
  machine.write("/proc/meminfo", "MemTotal: 1 kB\nSwapFree:       100 kB");
  CHECK(memory_of_cgroups(machine.root).left == 150000 + 102400);
}

TEST_CASE("swap space counts as far as a group may use it, in version 2") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", version_2);
  machine.write("/proc/self/cgroup", "0::/job/step");
  machine.write("/proc/meminfo", "SwapFree: 1000 kB");
  machine.write("/sys/fs/cgroup/job/memory.max", "200000");
  machine.write("/sys/fs/cgroup/job/memory.stat", "anon 50000");
  machine.write("/sys/fs/cgroup/job/memory.swap.max", "max");
  machine.write("/sys/fs/cgroup/job/memory.swap.current", "10000");
  CHECK(memory_of_cgroups(machine.root).left == 150000 + 1024000);
  machine.write("/sys/fs/cgroup/job/memory.swap.max", "30000");
  CHECK(memory_of_cgroups(machine.root).left == 150000 + 20000);
  machine.write("/sys/fs/cgroup/job/step/memory.swap.max", "0");
  CHECK(memory_of_cgroups(machine.root).left == 150000);
}

TEST_CASE("what a group leaves is told in version 1, too") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", version_1);
  machine.write("/proc/self/cgroup", "3:memory:/jobs/7");
  machine.write("/cgroups/memory/jobs/7/memory.limit_in_bytes", "1000000");
  machine.write("/cgroups/memory/jobs/7/memory.stat",
                "cache 500000\nrss 1\nshmem 1\ntotal_rss 300000\ntotal_shmem 100000");
  CHECK(memory_of_cgroups(machine.root).left == 600000);
  machine.write("/proc/meminfo", "SwapFree: 1000 kB");
  CHECK(memory_of_cgroups(machine.root).left == 600000 + 1024000);
  machine.write("/cgroups/memory/jobs/7/memory.memsw.limit_in_bytes", "1000000");
  CHECK(memory_of_cgroups(machine.root).left == 600000);
  machine.write("/cgroups/memory/jobs/7/memory.memsw.limit_in_bytes", "1200000");
  machine.write("/cgroups/memory/jobs/7/memory.stat",
                "total_rss 300000\ntotal_shmem 100000\ntotal_swap 50000");
  CHECK(memory_of_cgroups(machine.root).left == 600000 + 150000);
}

TEST_CASE("figures of a group that exceed its limit are not of this group") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", version_2);
  machine.write("/proc/self/cgroup", "0::/job");
  machine.write("/sys/fs/cgroup/job/memory.max", "1000000");
  machine.write("/sys/fs/cgroup/job/memory.stat", "anon 1000001");
  CHECK(memory_of_cgroups(machine.root).left == 1000000);
}
