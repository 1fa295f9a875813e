// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/tuning/LinkRates.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <random>
#include <sstream>
#include <thread>

#include <catch2/catch_test_macros.hpp>

using namespace KokkosHostSpaces::Impl;
namespace fs = std::filesystem;

namespace {

LinkRates rates(double to_device) {
  LinkRates result;
  result.to_device = to_device;
  result.measured  = true;
  return result;
}

KnownLink link(std::string machine, std::string gpu, std::string driver, double to_device) {
  return {std::move(machine), std::move(gpu), std::move(driver), rates(to_device)};
}

struct File {
  fs::path folder =
      fs::temp_directory_path() / ("khs_link_rates." + std::to_string(std::random_device()()));
  std::string path = folder / "rates";

  File() { fs::create_directory(folder); }
  ~File() { fs::remove_all(folder); }

  void holds(std::string const& text) const { std::ofstream(path) << text; }
  std::vector<KnownLink> links() const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return read_link_rates(text.str());
  }
};

// A machine of our own: a process has one of them.
struct Fake {
  std::string machine = "node1", driver = "580";
  double to_device = 5e10;
  bool busy        = false;
  int measured = 0, told = 0;

  LinkRatesCache::Machine functions() {
    return {[this](int device) {
              return link(machine, "H200 at " + std::to_string(device), driver, 1e9);
            },
            [this](int device) -> std::optional<LinkRates> {
              ++measured;
              if (busy) return std::nullopt;
              return rates(to_device + device);
            },
            [this](std::string const&) { ++told; }};
  }
};

}  // namespace

TEST_CASE("rates survive the file", "[link_rates]") {
  std::vector<KnownLink> const links = {link("node 1", "H200 at 0000:17:00.0", "580.1", 1e10),
                                        link("", "x", "unknown", 12e9)};
  auto const read                    = read_link_rates(write_link_rates(links));
  REQUIRE(read.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(read[i].machine == links[i].machine);
    CHECK(read[i].gpu == links[i].gpu);
    CHECK(read[i].driver == links[i].driver);
    CHECK(read[i].rates == links[i].rates);
  }
}

TEST_CASE("of a text cut anywhere only whole entries are taken", "[link_rates]") {
  std::string const text = write_link_rates({link("a", "x", "1", 1e10), link("b", "x", "1", 2e10)});
  std::size_t const second = text.find("\nmachine b");
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    auto const read = read_link_rates(text.substr(0, length));
    CAPTURE(length);
    CHECK(read.size() <= (length < second ? 1 : 2));
    for (KnownLink const& one : read) {
      CHECK(one.rates.make_sense());
      CHECK((one.machine == "a" || one.machine == "b"));
    }
  }
}

TEST_CASE("entries of another format or version, or that make no sense, are skipped",
          "[link_rates]") {
  std::string const good = write_link_rates({link("a", "x", "1", 1e10)});
  CHECK(read_link_rates("").empty());
  CHECK(read_link_rates("{\"to_device\": 1e10}").empty());
  std::string other_version          = good;
  other_version[good.find('\n') - 1] = '0';
  CHECK(read_link_rates(other_version).empty());
  for (std::string const value : {"0", "-1e10", "nan", "inf", "1e300", "fast", "1e10 GB/s", ""}) {
    CAPTURE(value);
    std::string bad = good;
    bad.replace(bad.find("1e+10"), 5, value);
    CHECK(read_link_rates(bad).empty());
    auto const behind = read_link_rates(bad + "\n" + good.substr(good.find('\n') + 2));
    CHECK(behind.size() == 1);
  }
}

TEST_CASE("a device is measured once", "[link_rates]") {
  File const file;
  Fake fake;
  LinkRatesCache first(file.path, fake.functions());
  CHECK(first.rates(0) == rates(5e10));
  CHECK(first.rates(0) == rates(5e10));
  CHECK(first.rates(1).to_device == 5e10 + 1);
  CHECK(fake.measured == 2);
  LinkRatesCache second(file.path, fake.functions());
  CHECK(second.rates(0) == rates(5e10));
  CHECK(fake.measured == 2);
  CHECK(file.links().size() == 2);
}

TEST_CASE("another driver is measured anew and replaces the old, other machines stay",
          "[link_rates]") {
  File const file;
  Fake fake;
  (void)LinkRatesCache(file.path, fake.functions()).rates(0);
  fake.machine = "node2";
  (void)LinkRatesCache(file.path, fake.functions()).rates(0);
  fake.driver    = "590";
  fake.to_device = 6e10;
  CHECK(LinkRatesCache(file.path, fake.functions()).rates(0).to_device == 6e10);
  CHECK(fake.measured == 3);
  auto const links = file.links();
  REQUIRE(links.size() == 2);
  CHECK(links[0].machine == "node1");
  CHECK(links[1].driver == "590");
}

TEST_CASE("a file that is broken is ignored and written anew", "[link_rates]") {
  File const file;
  Fake fake;
  file.holds("not ours\n\nmachine node1\n");
  CHECK(LinkRatesCache(file.path, fake.functions()).rates(0) == rates(5e10));
  CHECK(fake.measured == 1);
  CHECK(file.links().size() == 1);
  CHECK(fake.told == 0);
}

TEST_CASE("where nothing can be written that is told once", "[link_rates]") {
  File const file;
  Fake fake;
  LinkRatesCache cache(file.folder.string(), fake.functions());
  CHECK(cache.rates(0) == rates(5e10));
  CHECK(cache.rates(1).measured);
  CHECK(fake.told == 1);
  LinkRatesCache nowhere("", fake.functions());
  CHECK(nowhere.rates(0).measured);
  CHECK(fake.told == 1);
}

TEST_CASE("a busy device has typical rates, is tried again, and not for ever", "[link_rates]") {
  File const file;
  Fake fake;
  fake.busy = true;
  LinkRatesCache cache(file.path, fake.functions());
  CHECK(cache.rates(0) == LinkRates());
  CHECK_FALSE(fs::exists(file.path));
  fake.busy = false;
  CHECK(cache.rates(0).measured);
  CHECK(fake.measured == 2);
  fake.busy = true;
  for (int i = 0; i < 10; ++i) CHECK_FALSE(cache.rates(1).measured);
  CHECK(fake.measured == 2 + 3);
}

TEST_CASE("rates that make no sense are neither used nor kept", "[link_rates]") {
  File const file;
  Fake fake;
  fake.to_device = 0;
  CHECK(LinkRatesCache(file.path, fake.functions()).rates(0) == LinkRates());
  CHECK_FALSE(fs::exists(file.path));
}

TEST_CASE("many at once agree on one file", "[link_rates]") {
  File const file;
  std::atomic<int> wrong{0};
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 8; ++rank)
    ranks.emplace_back([&, rank] {
      Fake fake;
      LinkRatesCache cache(file.path, fake.functions());
      for (int device = 0; device < 4; ++device)
        wrong += !(cache.rates((device + rank) % 4).to_device >= 5e10);
    });
  for (std::thread& rank : ranks) rank.join();
  CHECK(wrong == 0);
  auto const links = file.links();
  CHECK_FALSE(links.empty());
  for (KnownLink const& one : links) CHECK(one.rates.make_sense());
}

TEST_CASE("threads that ask at once measure each device once", "[link_rates]") {
  File const file;
  Fake fake;
  LinkRatesCache cache(file.path, fake.functions());
  std::latch start(4);
  {
    std::vector<std::jthread> team;
    for (int thread = 0; thread < 4; ++thread)
      team.emplace_back([&] {
        start.arrive_and_wait();
        for (int ask = 0; ask < 100; ++ask) cache.rates(ask % 3);
      });
  }
  CHECK(fake.measured == 3);
}
