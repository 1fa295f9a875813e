// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../../backend/Config.hpp"
#include "../../backend/NodeShare.hpp"
#include "CapturedStderr.hpp"
#include "BackendTest.hpp"

namespace {

using Environment = std::map<std::string, std::string>;

// Of a node with 1000 GiB, with the names of all variables in full.
pool::NodeShare share_of_node(Environment const& environment) {
  auto const lookup = [&](std::string const& name) -> std::optional<std::string> {
    auto const found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
  return Impl::Backend::share_of_node(Config::read(lookup), lookup, 1000 * GiB);
}

// Who told the ranks, when the node has 96 GiB.
std::string ranks_of_node(Environment environment) {
  environment["KOKKOS_HOST_SPACES_NODE_LIMIT"] = "96G";
  pool::NodeShare const share                  = share_of_node(environment);
  CHECK(share.bytes == 96 * GiB / static_cast<std::size_t>(share.ranks));
  return std::to_string(share.ranks) + " by " + share.source;
}

// The prefix of all names is added here.
Config read(Environment const& environment) {
  return Config::read([&](std::string const& name) -> std::optional<std::string> {
    std::string const prefix = "KOKKOS_HOST_SPACES_";
    REQUIRE(name.rfind(prefix, 0) == 0);
    auto const found = environment.find(name.substr(prefix.size()));
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace

TEST_CASE("an empty environment gives the defaults, and every variable is read") {
  Config const none = read({});
  CHECK((none.pool_limit == 0 && none.node_limit.bytes == 0 && none.node_limit.percent == 0));
  CHECK((none.node_ranks == 0 && none.touch_threads == 0 && none.stream_memory == 1 * GiB));
  CHECK((none.huge_pages && none.numa && none.pool && none.thresholds.empty()));
  CHECK_FALSE((none.unbuffered || none.pretend_device || none.scrub || none.guard || none.verbose));
  Config const all = read({{"POOL_LIMIT", "64G"},
                           {"STREAM_MEMORY", "256M"},
                           {"HUGE_PAGES", "off"},
                           {"NUMA", "off"},
                           {"TOUCH_THREADS", "12"},
                           {"POOL", "off"},
                           {"THRESHOLDS", "/tmp/thresholds"},
                           {"UNBUFFERED", "on"},
                           {"PRETEND_DEVICE", "on"},
                           {"SCRUB", "on"},
                           {"GUARD", "on"},
                           {"VERBOSE", "on"}});
  CHECK((all.pool_limit == 64 * GiB && all.stream_memory == 256 * MiB && all.touch_threads == 12));
  CHECK_FALSE((all.huge_pages || all.numa || all.pool));
  CHECK(all.thresholds == "/tmp/thresholds");
  CHECK((all.unbuffered && all.pretend_device && all.scrub && all.guard && all.verbose));
}

TEST_CASE("sizes have suffixes that are powers of 1024, and switches are what people write") {
  auto const [text, bytes] = GENERATE(table<char const*, std::size_t>({{"0", 0},
                                                                       {"4096", 4096},
                                                                       {"3K", 3072},
                                                                       {"2M", 2 * MiB},
                                                                       {"1T", 1024 * GiB},
                                                                       {"8G", 8 * GiB},
                                                                       {"8GB", 8 * GiB},
                                                                       {"8GiB", 8 * GiB},
                                                                       {"8g", 8 * GiB},
                                                                       {"8gb", 8 * GiB},
                                                                       {"8.0G", 8 * GiB},
                                                                       {"8192MB", 8 * GiB},
                                                                       {"7B", 7},
                                                                       {"1.5G", GiB + GiB / 2},
                                                                       {"0.25KB", 256}}));
  CAPTURE(text);
  CHECK(read({{"POOL_LIMIT", text}}).pool_limit == bytes);
  CHECK(read({{"NODE_LIMIT", text}}).node_limit.bytes == bytes);
  for (char const* const yes : {"on", "ON", "1", "true", "True", "yes"})
    CHECK(read({{"VERBOSE", yes}}).verbose);
  for (char const* const no : {"off", "Off", "0", "false", "no"})
    CHECK_FALSE(read({{"NUMA", no}}).numa);
}

TEST_CASE("a misspelt variable is told with the nearest one, and others are not") {
  using Impl::Backend::notices;
  auto const told = notices(
      {},
      {"PATH", "KOKKOS_NUM_THREADS", "KOKKOS_HOST_SPACES_POOL_LIMIT", "KOKKOS_HOST_SPACES_AUDIT",
       "KOKKOS_HOST_SPACES_TEST_STEPS", "KOKKOS_HOST_SPACES_ROOT", "KOKKOS_HOST_SPACES_POL_LIMIT",
       "KOKKOS_HOSTSPACES_GUARD", "KOKKOS_HOST_SPACES_PRETEND"},
      false);
  REQUIRE(told.size() == 3);
  CHECK_THAT(told[2], ContainsSubstring("KOKKOS_HOST_SPACES_PRETEND_DEVICE is the nearest"));
  CHECK_THAT(told[0], ContainsSubstring("KOKKOS_HOST_SPACES_POL_LIMIT is unknown") &&
                          ContainsSubstring("KOKKOS_HOST_SPACES_POOL_LIMIT is the nearest"));
  CHECK_THAT(told[1], ContainsSubstring("KOKKOS_HOSTSPACES_GUARD is unknown") &&
                          ContainsSubstring("KOKKOS_HOST_SPACES_GUARD is the nearest"));
}

TEST_CASE("an entry of the environment without a value stops nothing") {
  std::array<char, 8> broken{"BROKEN"};
  std::array<char*, 2> entries{broken.data(), nullptr};
  char** const whole = std::exchange(environ, entries.data());
  CHECK_NOTHROW(Impl::Backend::config());  // reads it, unless an earlier test made it
  environ = whole;
}

TEST_CASE("a limit of the node that nobody divides is told once") {
  CapturedStderr const captured;
  pool::NodeShare share;
  Impl::Backend::tell_if_assumed(share);
  CHECK(captured.text().empty());
  share.bytes = 1;
  for (int i = 0; i < 2; ++i) Impl::Backend::tell_if_assumed(share);
  std::string const told = captured.text();
  CHECK_THAT(told, ContainsSubstring("set KOKKOS_HOST_SPACES_NODE_RANKS"));
  CHECK(std::count(told.begin(), told.end(), '\n') == 1);
}

TEST_CASE("a variable that is gone has no effect, which is told in one line") {
  auto const told = Impl::Backend::notices(
      {}, {"KOKKOS_HOST_SPACES_CALIBRATION", "KOKKOS_HOST_SPACES_CUPTI"}, false);
  REQUIRE(told.size() == 2);
  for (std::string const& one : told)
    CHECK_THAT(one, ContainsSubstring("has no effect any more") && ContainsSubstring("unset it") &&
                        !ContainsSubstring("unknown"));
}

TEST_CASE("a race guard without a device says that it watches nothing") {
  using Impl::Backend::notices;
  Config config;
  CHECK(notices(config, {}, false).empty());
  config.guard = true;
  CHECK(notices(config, {}, true).empty());
  auto const told = notices(config, {}, false);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0], ContainsSubstring("GUARD") && ContainsSubstring("watches nothing"));
}

TEST_CASE("a value that makes no sense is refused by name, value and what is allowed") {
  auto const refuses = [](std::string const& name, std::string const& value,
                          std::string const& allowed) {
    CAPTURE(name, value);
    CHECK_THROWS_MATCHES(
        read({{name, value}}), ConfigurationError,
        MessageMatches(ContainsSubstring("KOKKOS_HOST_SPACES_" + name) &&
                       ContainsSubstring("'" + value + "'") && ContainsSubstring(allowed)));
  };
  for (auto const* name : {"HUGE_PAGES", "NUMA", "POOL", "VERBOSE"}) {
    for (auto const* value : {"", "2", "enabled", "off "}) refuses(name, value, "on or off");
  }
  refuses("THRESHOLDS", "", "the path of a file");
  for (auto const* value : {"", "0", "-1", "1025", "8 ", "four", "99999999999"}) {
    refuses("TOUCH_THREADS", value, "1 to 1024");
  }
  for (auto const* value :
       {"", "K", "-1", "5X", "5MX", "5Mi", "5MBB", "1.5", "1.G", ".5G", "1.5.5G", "0.00001K", " 7",
        "7 ", "99999999999999999999", "16777216T"}) {
    refuses("POOL_LIMIT", value, "K, M, G, T");
  }
}

TEST_CASE("a node's limit is divided by its ranks, of which the launcher tells") {
  struct Case {
    Environment environment;
    std::string told;
  };
  for (auto const& [environment, told] : std::vector<Case>{
           {{}, "1 by "},
           {{{"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}}, "8 by OMPI_COMM_WORLD_LOCAL_SIZE"},
           {{{"MPI_LOCALNRANKS", "6"}}, "6 by MPI_LOCALNRANKS"},
           {{{"MV2_COMM_WORLD_LOCAL_SIZE", "6"}}, "6 by MV2_COMM_WORLD_LOCAL_SIZE"},
           {{{"PMI_LOCAL_SIZE", "6"}}, "6 by PMI_LOCAL_SIZE"},
           {{{"PALS_LOCAL_SIZE", "6"}, {"PMI_LOCAL_SIZE", "5"}}, "6 by PALS_LOCAL_SIZE"},
           {{{"FLUX_JOB_SIZE", "9"}, {"FLUX_JOB_NNODES", "2"}}, "5 by FLUX_JOB_SIZE"},
           {{{"FLUX_JOB_SIZE", "8"}, {"FLUX_JOB_NNODES", "2"}, {"SLURM_TASKS_PER_NODE", "1(x2)"}},
            "4 by FLUX_JOB_SIZE"},
           {{{"FLUX_JOB_SIZE", "8"}}, "1 by "},
           {{{"FLUX_JOB_SIZE", "8x"}, {"FLUX_JOB_NNODES", "2"}}, "1 by "},
           {{{"SLURM_NTASKS_PER_NODE", "4"}}, "4 by SLURM_NTASKS_PER_NODE"},
           {{{"SLURM_TASKS_PER_NODE", "4"}}, "4 by SLURM_TASKS_PER_NODE"},
           {{{"SLURM_STEP_TASKS_PER_NODE", "2"}, {"SLURM_TASKS_PER_NODE", "4"}},
            "2 by SLURM_STEP_TASKS_PER_NODE"},
           {{{"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}, {"KOKKOS_HOST_SPACES_NODE_RANKS", "3"}},
            "3 by KOKKOS_HOST_SPACES_NODE_RANKS"}})
    CHECK(ranks_of_node(environment) == told);
  char const* const nonsense =
      GENERATE("", "0", "-2", "4(x2", "4(x2),", "x", "4,,2", "99999999999");
  CAPTURE(nonsense);
  CHECK(ranks_of_node({{"SLURM_STEP_TASKS_PER_NODE", nonsense}, {"SLURM_NTASKS_PER_NODE", "5"}}) ==
        "5 by SLURM_NTASKS_PER_NODE");
}

TEST_CASE("of Slurm's list of nodes this node counts, or the fullest if this is not known") {
  auto const ranks = [](std::string const& list, std::string const& node) {
    Environment environment{{"SLURM_STEP_TASKS_PER_NODE", list}};
    if (!node.empty()) environment["SLURM_NODEID"] = node;
    return share_of_node(environment).ranks;
  };
  CHECK(ranks("4(x2),3", "0") == 4);
  CHECK(ranks("4(x2),3", "1") == 4);
  CHECK(ranks("4(x2),3", "2") == 3);
  CHECK(ranks("3,12,4(x2)", "0") == 3);
  CHECK(ranks("3,12,4(x2)", "3") == 4);
  CHECK(ranks("3,12,4(x2)", "") == 12);
  CHECK(ranks("3,12,4(x2)", "4") == 12);
}

TEST_CASE("a node's limit can be a share of its memory, and no limit means no share") {
  Environment environment{{"MPI_LOCALNRANKS", "4"}};
  CHECK(share_of_node(environment).bytes == 0);
  environment["KOKKOS_HOST_SPACES_NODE_LIMIT"] = "0";
  CHECK(share_of_node(environment).bytes == 0);
  environment["KOKKOS_HOST_SPACES_NODE_LIMIT"] = "50%";
  CHECK(share_of_node(environment).bytes == 125 * GiB);
  environment["KOKKOS_HOST_SPACES_NODE_LIMIT"] = "1";  // less than a byte for each
  CHECK(share_of_node(environment).bytes == 1);
  for (char const* const nonsense : {"0%", "101%", "%", "50%%", "half", "-1%"}) {
    CAPTURE(nonsense);
    environment["KOKKOS_HOST_SPACES_NODE_LIMIT"] = nonsense;
    CHECK_THROWS_MATCHES(share_of_node(environment), ConfigurationError,
                         MessageMatches(ContainsSubstring("KOKKOS_HOST_SPACES_NODE_LIMIT") &&
                                        ContainsSubstring("from 1% to 100%")));
  }
}
