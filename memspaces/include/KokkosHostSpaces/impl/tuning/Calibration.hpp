// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What a machine can do, measured once and kept in a file that all processes of a user share.

#ifndef KOKKOS_HOST_SPACES_IMPL_CALIBRATION_HPP
#define KOKKOS_HOST_SPACES_IMPL_CALIBRATION_HPP

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// What the link and the memory of a GPU carry, in bytes per second. Where several directions are
/// named it is their sum. What stands here are typical values, of a H200 on PCIe 5.
struct LinkRates {
  double to_device = 55e9, to_host = 55e9;  ///< one direction alone
  double both                 = 97e9;       ///< both directions at once, as much each way
  double two_to_one           = 78e9;  ///< at once, two parts to the device and one to the host
  double zero_copy_read       = 51e9;  ///< by a kernel, in host memory
  double zero_copy_write      = 52e9;
  double zero_copy_two_to_one = 74e9;    ///< two parts read and one written
  double device_memory        = 4.2e12;  ///< by a kernel, read and written
  double operation_seconds    = 4e-6;    ///< of a tiny copy or kernel behind another

  bool measured = false;

  /// All of them positive, finite, and nothing that no machine has.
  bool make_sense() const;
  friend bool operator==(LinkRates const&, LinkRates const&) = default;
};

/// The rates of a GPU in a machine, with the words that tell them from others.
struct CalibratedLink {
  std::string machine, gpu, driver;
  LinkRates rates;
  /// Lines of others, and of later versions: ThresholdFile.hpp.
  std::vector<std::string> more = {};

  bool same_gpu(CalibratedLink const& other) const {
    return machine == other.machine && gpu == other.gpu;
  }
};

/// The text of the file and back. What is incomplete or makes no sense is left out; a text that is
/// not ours, or of another version, has nothing.
std::string write_calibration(std::vector<CalibratedLink> const& links);
std::vector<CalibratedLink> read_calibration(std::string const& text);

/// What a file has of a GPU with this driver.
std::optional<CalibratedLink> find_calibration(std::string const& file,
                                               CalibratedLink const& wanted);

/// Adds it to a file, in place of what that has of the same GPU. What others have written stays.
/// Returns what is wrong, if anything is.
std::string keep_calibration(std::string const& file, CalibratedLink const& fresh);

/// Measures what is asked for the first time. May be used by several threads at once.
class Calibration {
 public:
  struct Machine {
    /// Names a device; its rates do not matter.
    std::function<CalibratedLink(int device)> name;
    /// Nothing if that cannot be done now, as when the device is busy.
    std::function<std::optional<LinkRates>(int device)> measure;
    /// Called once at most, with a line for the user.
    std::function<void(std::string const&)> tell;
  };

  /// \param file empty: rates are kept in the process alone
  Calibration(std::string file, Machine machine)
      : m_file(std::move(file)), m_machine(std::move(machine)) {}

  /// From the file, or measured; typical ones while they cannot be measured.
  LinkRates rates(int device);

 private:
  void keep(CalibratedLink const& fresh);

  // Measuring can take a second, and what prevents it may last.
  static constexpr int most_attempts = 3;

  std::string m_file;
  Machine m_machine;
  std::mutex m_mutex;
  std::map<int, LinkRates> m_rates;
  std::map<int, int> m_attempts;
  bool m_told = false;
};

/// Of a device (-1: Kokkos' default one), as the environment variable
/// KOKKOS_HOST_SPACES_CALIBRATION says. Takes up to half a second when it has to measure; never
/// throws for what it cannot measure or keep.
LinkRates link_rates(int device);

/// The file, as that variable says; empty: none.
std::string calibration_file();

/// Names a device of this machine; there are no rates.
CalibratedLink name_link(int device);

/// Measures a device, which must have no work; nothing if it does not become idle for a second,
/// a capture is under way, or memory is short. Nothing without CUDA.
std::optional<LinkRates> measure_link_rates(int device);

}  // namespace KokkosHostSpaces::Impl

#endif
