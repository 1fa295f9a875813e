// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// What the calibration file has of this machine.

#include <KokkosHostSpaces/impl/tuning/Calibration.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>
#include <KokkosHostSpaces/impl/tuning/ThresholdFile.hpp>

#include "../../../backend/Config.hpp"
#include "../../../backend/Driver.hpp"
#include "../../../backend/os/CacheFile.hpp"

#include <iostream>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

void tell(std::string const& line) {
  // Who has not asked for a file need not hear that there is none, as in many containers.
  if (Backend::config().calibration.empty() && !Backend::config().verbose) return;
  std::cerr << "KokkosHostSpaces: " << line << std::endl;
}

}  // namespace

std::string calibration_file() {
  if (Backend::config().calibration == "off") return "";
  if (!Backend::config().calibration.empty()) return Backend::config().calibration;
  std::string const folder = Backend::cache_folder();
  return folder.empty() ? "" : folder + "/kokkos-host-spaces/calibration";
}

CalibratedLink name_link([[maybe_unused]] int device) {
  CalibratedLink link;
  link.machine = Backend::host_name();
#ifdef KOKKOS_ENABLE_CUDA
  // An instance of our own takes long to make.
  auto const instance = device == Kokkos::device_id() ? Kokkos::Cuda() : private_instance(device);
  link.gpu    = std::string(instance.cuda_device_prop().name) + " at " + Driver::pci_bus_id(device);
  link.driver = Backend::gpu_driver_version();
#endif
  return link;
}

LinkRates link_rates(int device) {
  if (Backend::config().calibration == "off") return {};
  if (device < 0) device = Kokkos::device_id();
  static Calibration calibration(calibration_file(), {name_link, measure_link_rates, tell});
  return calibration.rates(device);
}

CopyThresholds thresholds_of_this_machine() noexcept {
#ifdef KOKKOS_ENABLE_CUDA
  try {
    std::string const file = calibration_file();
    if (!Kokkos::is_initialized() || file.empty()) return {};
    return thresholds_in_file(file, name_link(Kokkos::device_id()), [](std::string const& line) {
      std::cerr << "KokkosHostSpaces: " << line << std::endl;
    });
  } catch (std::exception const&) {  // of a variable that is wrong each allocation tells
  }
#endif
  return {};
}

}  // namespace KokkosHostSpaces::Impl
