// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../../backend/os/MemoryLimit.hpp"
#include "../BackendTest.hpp"

#include <filesystem>
#include <fstream>

namespace {

// The files of a machine, below a folder of their own.
class MadeUpMachine {
 public:
  MadeUpMachine() {
    char name[] = "/tmp/kokkos_host_spaces_XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    root = name;
  }
  ~MadeUpMachine() { std::filesystem::remove_all(root); }
  MadeUpMachine(MadeUpMachine const&)            = delete;
  MadeUpMachine& operator=(MadeUpMachine const&) = delete;

  void write(std::string const& file, std::string const& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + file).parent_path());
    std::ofstream(root + file) << text << '\n';
  }
  std::size_t limit() const { return memory_of_cgroups(root).limit; }

  std::string root;
};

constexpr char const* mount_of_version_2 =
    "31 23 0:28 / / rw - ext4 /dev/vda rw\n"
    "35 23 0:32 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";

}  // namespace

TEST_CASE("the limit of the process's own group counts, in version 2") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", mount_of_version_2);
  machine.write("/proc/self/cgroup", "0::/system.slice/job_7/step_0");
  machine.write("/sys/fs/cgroup/system.slice/job_7/step_0/memory.max", "1048576");
  machine.write("/sys/fs/cgroup/system.slice/job_7/memory.max", "max");
  machine.write("/sys/fs/cgroup/other/memory.max", "4096");
  CHECK(machine.limit() == 1048576);
}

TEST_CASE("a lower limit of a group around it counts") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", mount_of_version_2);
  machine.write("/proc/self/cgroup", "0::/slurm/job_7/step_0");
  machine.write("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max");
  machine.write("/sys/fs/cgroup/slurm/job_7/memory.max", "65536");
  machine.write("/sys/fs/cgroup/slurm/memory.max", "1048576");
  CHECK(machine.limit() == 65536);
  machine.write("/sys/fs/cgroup/memory.max", "8192");  // of a container that sees its group as root
  CHECK(machine.limit() == 8192);
}

TEST_CASE("the limit of the controller of memory counts, in version 1") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo",
                "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                "35 31 0:32 / /cgroups/memory rw - cgroup cgroup rw,memory");
  machine.write("/proc/self/cgroup", "4:cpuset:/elsewhere\n3:hugetlb,memory:/jobs/7\n0::/");
  machine.write("/cgroups/memory/jobs/7/memory.limit_in_bytes", "131072");
  machine.write("/cgroups/memory/elsewhere/memory.limit_in_bytes", "4096");
  machine.write("/cgroups/memory/memory.limit_in_bytes", "9223372036854771712");
  CHECK(machine.limit() == 131072);
}

TEST_CASE("a container finds its limit where its own group is mounted") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo",
                "35 31 0:32 /docker/4711 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory");
  machine.write("/proc/self/cgroup", "3:memory:/docker/4711");
  machine.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "262144");
  CHECK(machine.limit() == 262144);
  machine.write("/proc/self/cgroup", "3:memory:/docker/4711/inner");
  machine.write("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "16384");
  CHECK(machine.limit() == 16384);
}

TEST_CASE("a mount point with a blank, which the system writes as an octal number, is found") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo",
                R"(35 23 0:32 /a\134b /my\040own\011groups rw - cgroup2 cgroup2 rw)");
  machine.write("/proc/self/cgroup", "0::/a\\b/job 7");
  machine.write("/my own\tgroups/job 7/memory.max", "32768");
  CHECK(machine.limit() == 32768);
}

TEST_CASE("a limit that is raised or lowered while the process runs is seen") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", mount_of_version_2);
  machine.write("/proc/self/cgroup", "0::/job");
  for (std::size_t const limit : {65536, 131072, 32768}) {
    machine.write("/sys/fs/cgroup/job/memory.max", std::to_string(limit));
    CHECK(most_memory(machine.root) == limit);
  }
}

TEST_CASE("without a limit, and without control groups, there is none") {
  MadeUpMachine const machine;
  CHECK(machine.limit() == SIZE_MAX);
  machine.write("/proc/self/mountinfo", mount_of_version_2);
  machine.write("/proc/self/cgroup", "0::/");
  CHECK(machine.limit() == SIZE_MAX);
  machine.write("/sys/fs/cgroup/memory.max", "max");
  CHECK(machine.limit() == SIZE_MAX);
}

TEST_CASE("what a group leaves is its limit without what its processes hold") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", mount_of_version_2);
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

TEST_CASE("what a group leaves is told in version 1, too") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo",
                "35 31 0:32 / /cgroups/memory rw - cgroup cgroup rw,memory");
  machine.write("/proc/self/cgroup", "3:memory:/jobs/7");
  machine.write("/cgroups/memory/jobs/7/memory.limit_in_bytes", "1000000");
  machine.write("/cgroups/memory/jobs/7/memory.stat",
                "cache 500000\nrss 1\nshmem 1\ntotal_rss 300000\ntotal_shmem 100000");
  CHECK(memory_of_cgroups(machine.root).left == 600000);
}

TEST_CASE("figures of a group that exceed its limit are not of this group") {
  MadeUpMachine const machine;
  machine.write("/proc/self/mountinfo", mount_of_version_2);
  machine.write("/proc/self/cgroup", "0::/job");
  machine.write("/sys/fs/cgroup/job/memory.max", "1000000");
  machine.write("/sys/fs/cgroup/job/memory.stat", "anon 1000001");
  CHECK(memory_of_cgroups(machine.root).left == 1000000);
}

TEST_CASE("limits are asked for again when what was allowed is used, and when time is over") {
  GroupWatch watch;
  GroupWatch::Clock::time_point const start{}, end = start + std::chrono::seconds(1);
  CHECK_FALSE(watch.covers(0, start));
  watch.allow(100, end);
  CHECK(watch.covers(60, start));
  CHECK_FALSE(watch.covers(41, start));
  CHECK(watch.covers(40, start));
  CHECK_FALSE(watch.covers(1, start));
  watch.allow(100, end);
  CHECK_FALSE(watch.covers(1, end));
}

TEST_CASE("the limit of this process can be asked for") { CHECK(memory_of_cgroups().limit > 0); }
