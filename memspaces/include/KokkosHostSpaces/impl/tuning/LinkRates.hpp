// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Rates of the link and of the memory of GPUs: measured once, and kept in a file that all processes
// of a user share.

#ifndef KOKKOS_HOST_SPACES_IMPL_LINK_RATES_HPP
#define KOKKOS_HOST_SPACES_IMPL_LINK_RATES_HPP

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace KokkosHostSpaces::Impl {

/// Rates of a GPU's link and memory in bytes per second. A rate of several directions is their sum.
/// The defaults are typical values, of an H200 on PCIe 5.
struct LinkRates {
  double to_device = 55e9, to_host = 55e9;  ///< one direction alone
  double both                 = 97e9;       ///< both directions at once, equal bytes each way
  double two_to_one           = 78e9;    ///< at once, two parts to the device and one to the host
  double zero_copy_read       = 51e9;    ///< by a kernel, in host memory
  double zero_copy_write      = 52e9;    ///< by a kernel, in host memory
  double zero_copy_two_to_one = 74e9;    ///< by a kernel, two parts read and one written
  double device_memory        = 4.2e12;  ///< by a kernel, read and written
  double operation_seconds    = 4e-6;    ///< seconds of a tiny copy or kernel behind another

  bool measured = false;

  /// Returns true if all rates are positive, finite and in the range of real machines.
  bool make_sense() const;
  friend bool operator==(LinkRates const&, LinkRates const&) = default;
};

/// The rates of one GPU in one machine.
struct KnownLink {
  std::string machine, gpu, driver;
  LinkRates rates;

  bool same_gpu(KnownLink const& other) const {
    return machine == other.machine && gpu == other.gpu;
  }
};

/// Returns the text of the file.
std::string write_link_rates(std::vector<KnownLink> const& links);

/// Returns the links in the text of a file. Skips entries that are incomplete or make no sense; a
/// text of another format or version has none.
std::vector<KnownLink> read_link_rates(std::string const& text);

/// Finds the rates of a GPU with this driver in a file.
std::optional<KnownLink> find_link_rates(std::string const& file, KnownLink const& wanted);

/// Adds an entry to a file, or replaces the one of the same GPU. Entries of other processes stay.
///
/// \return the reason why the file cannot be written; empty: it was
std::string keep_link_rates(std::string const& file, KnownLink const& fresh);

/// A cache of link rates that measures a device when it is asked for it the first time. Threads may
/// share it.
class LinkRatesCache {
 public:
  struct Machine {
    /// Names a device; the rates in the result are not used.
    std::function<KnownLink(int device)> name;
    /// Returns nothing if it cannot measure now, as when the device is busy.
    std::function<std::optional<LinkRates>(int device)> measure;
    /// Called at most once, with a line for the user.
    std::function<void(std::string const&)> tell;
  };

  /// \param file empty: rates are kept in the process alone
  LinkRatesCache(std::string file, Machine machine)
      : m_file(std::move(file)), m_machine(std::move(machine)) {}

  /// Returns rates from the file, or measures them; typical rates while they cannot be measured.
  LinkRates rates(int device);

 private:
  void keep(KnownLink const& fresh);

  // An attempt can take a second, and the reason for its failure may last.
  static constexpr int most_attempts = 3;

  std::string m_file;
  Machine m_machine;
  std::mutex m_mutex;
  std::map<int, LinkRates> m_rates;
  std::map<int, int> m_attempts;
  bool m_told = false;
};

/// Returns the rates of a device (-1: Kokkos' default one), by the file that the environment
/// variable KOKKOS_HOST_SPACES_CALIBRATION names. Measuring takes up to half a second. Returns
/// typical rates if they cannot be measured.
LinkRates link_rates(int device);

/// Returns the path of that file; empty: none.
std::string link_rates_file();

/// Names a device of this machine, without rates.
KnownLink name_link(int device);

/// Measures an idle device. Returns nothing if the device does not become idle in a second, a
/// stream captures, memory is short, or the library was built without CUDA.
std::optional<LinkRates> measure_link_rates(int device);

}  // namespace KokkosHostSpaces::Impl

#endif
