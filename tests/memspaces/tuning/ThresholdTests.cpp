// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Thresholds of copies: found from times that are made up, and kept in the file of link rates.

#include <KokkosHostSpaces/impl/tuning/CopyCalibration.hpp>
#include <KokkosHostSpaces/impl/tuning/ThresholdFile.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace KokkosHostSpaces::Impl;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

using Way = CopyTrial::Way;

struct Folder {
  fs::path path =
      fs::temp_directory_path() / ("khs_thresholds." + std::to_string(std::random_device()()));
  std::string file = path / "calibration";

  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }

  std::string text() const {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void holds(std::string const& text) const { std::ofstream(file) << text; }
};

CalibratedLink gpu(std::string name = "H200") { return {"node1", std::move(name), "580", {}, {}}; }

LinkRates measured_rates() {
  LinkRates rates;
  rates.to_device = 11e9;
  rates.measured  = true;
  return rates;
}

bool is_above(Way way) {
  return way == Way::rows_by_engine || way == Way::turned_by_slabs || way == Way::pieces_by_call;
}

// A machine whose ways cross at these sizes; where both take the same, by how much one is worse.
struct Machine {
  double rows = 200, turned = 20 << 20, turned_to_host = 40 << 20, pieces = 3000;  // bytes
  double steepness = 0.5, noise = 0;
  int trials = 0;
  std::mt19937 random{1};

  double operator()(CopyTrial const& trial) {
    ++trials;
    double const crossing = trial.way <= Way::rows_by_engine ? rows
                            : trial.way <= Way::turned_by_slabs
                                ? (trial.to_device ? turned : turned_to_host)
                                : pieces * double(trial.pieces);
    double const ratio    = std::pow(double(trial.bytes) / crossing, steepness);
    double const off      = std::uniform_real_distribution<double>(1, 1 + noise)(random);
    return 1e-6 * (is_above(trial.way) ? 1 : ratio) * off;
  }
  CopyClock clock() {
    return [this](CopyTrial const& trial) { return (*this)(trial); };
  }
};

std::optional<CopyCalibration> calibrate_by(Machine& machine, std::string const& file,
                                            CalibratedLink const& of = gpu()) {
  return calibrate(
      file, of, [] { return std::optional(measured_rates()); }, machine.clock());
}

CopyThresholds kept(std::string const& file, CalibratedLink const& of = gpu()) {
  return thresholds_in_file(file, of, [](std::string const& line) { FAIL(line); });
}

}  // namespace

TEST_CASE("thresholds are where the times of two ways cross", "[calibration]") {
  Machine machine;
  CopyThresholds const found = measure_thresholds(copy_thresholds, machine.clock());
  CHECK(found.equal_run_bytes == 256);
  CHECK(found.slabs_from_bytes == std::size_t(32) << 20);
  CHECK(found.slabs_to_host_from_bytes == std::size_t(64) << 20);
  CHECK(found.by_kernel[0].most_bytes == 16 << 10);
  CHECK(found.by_kernel[1].most_bytes == 32 << 10);
  CHECK(found.by_kernel[0].least_number == copy_thresholds.by_kernel[0].least_number);
  CHECK(machine.trials < 200);
}

TEST_CASE("slabs to the host are told of as they are used", "[calibration]") {
  Machine machine;
  machine.turned_to_host     = 5 << 20;
  CopyThresholds const found = measure_thresholds(copy_thresholds, machine.clock());
  CHECK(found.slabs_to_host_from_bytes == found.slabs_from_bytes);
}

TEST_CASE("a way that is never the faster one is not taken", "[calibration]") {
  Machine machine;
  machine.rows = machine.turned = machine.turned_to_host = machine.pieces = 1e12;  // never above
  CopyThresholds found = measure_thresholds(copy_thresholds, machine.clock());
  CHECK(found.equal_run_bytes > 1024);
  CHECK(found.slabs_from_bytes > std::size_t(64) << 20);
  CHECK(found.slabs_to_host_from_bytes > std::size_t(64) << 20);
  CHECK(found.by_kernel[1].most_bytes >= 512 << 10);
  machine.rows = machine.turned = machine.turned_to_host = machine.pieces = 1;  // never below
  found = measure_thresholds(copy_thresholds, machine.clock());
  CHECK(found.equal_run_bytes == 8);
  CHECK(found.slabs_from_bytes == std::size_t(4) << 20);
  CHECK(found.slabs_to_host_from_bytes == std::size_t(4) << 20);
  for (auto const& pieces : found.by_kernel) CHECK(pieces.most_bytes == 0);
}

TEST_CASE("more pieces are carried by a kernel as long as fewer ones are", "[calibration]") {
  Machine machine;
  CopyThresholds const found = measure_thresholds(copy_thresholds, [&](CopyTrial const& trial) {
    CopyTrial fewer = trial;  // the longer, the fewer they are
    if (trial.pieces > 0) fewer.pieces = 40 - trial.pieces;
    return machine(fewer);
  });
  CHECK(found.by_kernel[0].most_bytes == 64 << 10);
  CHECK(found.by_kernel[1].most_bytes == 64 << 10);
}

TEST_CASE("all that can be found is kept, and read again as it was", "[calibration]") {
  for (double const crossing : {1., 10., 1000., 1e5, 1e7, 1e12}) {
    Machine machine;
    machine.rows = machine.turned = machine.pieces = crossing;
    CopyThresholds const found = measure_thresholds(copy_thresholds, machine.clock());
    std::vector<std::string> broken;
    CopyThresholds const read = thresholds_in(with_thresholds({}, found), broken);
    CHECK(broken.empty());
    for (MeasuredThreshold const& known : measured_thresholds()) {
      CAPTURE(crossing, known.key);
      CHECK(known.in(read) == known.in(found));
    }
  }
}

TEST_CASE("thresholds that lose less than the noise stay", "[calibration]") {
  CopyThresholds before;
  before.equal_run_bytes          = 96;
  before.slabs_from_bytes         = 5 << 20;
  before.slabs_to_host_from_bytes = 7 << 20;
  Machine machine;
  machine.steepness          = 0;  // all the same
  machine.noise              = 0.002;
  CopyThresholds const found = measure_thresholds(before, machine.clock());
  for (MeasuredThreshold const& known : measured_thresholds())
    CHECK(known.in(found) == known.in(before));
}

TEST_CASE("ways that cannot be timed leave the thresholds as they are", "[calibration]") {
  for (double const none : {0., -1., std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    CopyThresholds const found = measure_thresholds(
        copy_thresholds, [&](CopyTrial const& trial) { return is_above(trial.way) ? none : 1.; });
    for (MeasuredThreshold const& known : measured_thresholds())
      CHECK(known.in(found) == known.in(copy_thresholds));
  }
}

TEST_CASE("a calibration says what changed, and the next one that nothing did", "[calibration]") {
  Folder const folder;
  Machine machine;
  auto const first = calibrate_by(machine, folder.file);
  REQUIRE(first);
  CHECK(first->kept);
  CHECK_THAT(first->report, ContainsSubstring("11.0 GB/s to the device"));
  CHECK_THAT(first->report, ContainsSubstring("64 -> 256 bytes: shortest rows"));
  CHECK_THAT(first->report, ContainsSubstring("kept in " + folder.file));
  CHECK(kept(folder.file).equal_run_bytes == 256);
  auto const second = calibrate_by(machine, folder.file);
  REQUIRE(second);
  CHECK_THAT(second->report, ContainsSubstring("256 -> 256 bytes (as before)"));
  CHECK_THAT(second->report, !ContainsSubstring("64 -> 256 bytes"));
}

TEST_CASE("thresholds and rates of other GPUs stay, also if a streamed loop measures its own",
          "[calibration]") {
  Folder const folder;
  Machine one, other;
  other.rows = 900;
  REQUIRE(calibrate_by(one, folder.file));
  REQUIRE(calibrate_by(other, folder.file, gpu("H100")));
  Calibration loops(folder.file,
                    {[](int) { return gpu("A100"); },
                     [](int) { return std::optional(measured_rates()); }, [](auto const&) {}});
  CHECK(loops.rates(0).measured);
  CHECK(kept(folder.file).equal_run_bytes == 256);
  CHECK(kept(folder.file, gpu("H100")).equal_run_bytes == 1024);
  CHECK(kept(folder.file, gpu("A100")).equal_run_bytes == copy_thresholds.equal_run_bytes);
  // A loop finds the rates of a calibration.
  Calibration again(folder.file,
                    {[](int) { return gpu(); }, [](int) { return std::optional<LinkRates>(); },
                     [](auto const&) {}});
  CHECK(again.rates(0).to_device == 11e9);
}

TEST_CASE("a loop that measures rates meanwhile takes no thresholds away", "[calibration]") {
  Folder const folder;
  Machine machine;
  auto const name = [](int) { return gpu(); };
  Calibration loops(folder.file,
                    {name,
                     [&](int) {
                       REQUIRE(calibrate_by(machine, folder.file));  // by another process
                       return std::optional(measured_rates());
                     },
                     [](auto const&) {}});
  CHECK(loops.rates(0).measured);
  CHECK(kept(folder.file).equal_run_bytes == 256);
}

TEST_CASE("a file of an older version keeps its rates, and has the table's thresholds",
          "[calibration]") {
  Folder const folder;
  CalibratedLink old = gpu();
  old.rates          = measured_rates();
  folder.holds(write_calibration({old}));
  CHECK_THAT(folder.text(), !ContainsSubstring("bytes"));
  CHECK(kept(folder.file).equal_run_bytes == copy_thresholds.equal_run_bytes);
  Machine machine;
  REQUIRE(calibrate_by(machine, folder.file));
  CHECK(read_calibration(folder.text()).size() == 1);
}

TEST_CASE("lines of later versions are ignored, and stay", "[calibration]") {
  Folder const folder;
  CalibratedLink later = gpu();
  later.rates          = measured_rates();
  later.more           = {"of_the_future 7 words", "equal_run_bytes 128", "equal_run_bytes_not 3"};
  folder.holds(write_calibration({later}));
  CHECK(kept(folder.file).equal_run_bytes == 128);
  Machine machine;
  REQUIRE(calibrate_by(machine, folder.file));
  CHECK(kept(folder.file).equal_run_bytes == 256);
  CHECK_THAT(folder.text(), ContainsSubstring("\nof_the_future 7 words\nequal_run_bytes_not 3\n"));
}

TEST_CASE("a value that makes no sense leaves the table's, and is told of once", "[calibration]") {
  Folder const folder;
  CalibratedLink bad = gpu();
  bad.rates          = measured_rates();
  for (std::string const value : {"", "0", "-1", "1e2", "64 KiB", "99999999999999999999", "x"}) {
    CAPTURE(value);
    bad.more = {"equal_run_bytes " + value, "slabs_from_bytes 1",
                "longest_of_8_pieces_by_kernel 5"};
    folder.holds(write_calibration({bad}));
    std::vector<std::string> told;
    CopyThresholds const found = thresholds_in_file(
        folder.file, gpu(), [&](std::string const& line) { told.push_back(line); });
    CHECK(found.equal_run_bytes == copy_thresholds.equal_run_bytes);
    CHECK(found.slabs_from_bytes == copy_thresholds.slabs_from_bytes);
    CHECK(found.by_kernel[0].most_bytes == 5);
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0], ContainsSubstring("\"slabs_from_bytes 1\"") &&
                            ContainsSubstring("kokkos_host_spaces_info --calibrate"));
  }
}

TEST_CASE("a threshold that is cut is not taken", "[calibration]") {
  Folder const folder;
  CalibratedLink link    = gpu();
  link.rates             = measured_rates();
  link.more              = {"equal_run_bytes 1024"};
  std::string const text = write_calibration({link});
  for (std::size_t cut = 1; cut <= 4; ++cut) {
    folder.holds(text.substr(0, text.size() - cut));
    CHECK(kept(folder.file).equal_run_bytes == copy_thresholds.equal_run_bytes);
  }
}

TEST_CASE("what cannot be kept is measured and shown all the same", "[calibration]") {
  Folder const folder;
  Machine machine;
  for (std::string const& file : {folder.path.string(), std::string()}) {
    auto const done = calibrate_by(machine, file);
    REQUIRE(done);
    CHECK_FALSE(done->kept);
    CHECK_THAT(done->report, ContainsSubstring("NOT KEPT") && ContainsSubstring("64 -> 256"));
    if (file.empty()) CHECK_THAT(done->report, ContainsSubstring("no folder for caches"));
  }
  CHECK_FALSE(calibrate(
      folder.file, gpu(), [] { return std::optional<LinkRates>(); }, machine.clock()));
}
