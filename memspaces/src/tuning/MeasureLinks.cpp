// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The link rates of this machine: where they are kept, and how they are measured. Copies go through
// Driver.hpp, kernels are Kokkos', and the host's clock times both.

#include <KokkosHostSpaces/Error.hpp>
#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>
#include <KokkosHostSpaces/impl/core/Streams.hpp>
#include <KokkosHostSpaces/impl/tuning/LinkRates.hpp>

#include "../../../backend/Config.hpp"
#include "../../../backend/Driver.hpp"
#include "../../../backend/os/CacheFile.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <thread>

namespace KokkosHostSpaces::Impl {

namespace Driver = Backend::Driver;

namespace {

#ifdef KOKKOS_ENABLE_CUDA

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Waits up to a second until the device has no work, which would be measured, too.
bool becomes_idle(int device) {
  Driver::Event event     = nullptr;
  auto const recorded     = Driver::record_all_work(device, event);
  Driver::EventState done = Driver::EventState::done;
  if (recorded == Driver::Recorded::yes) {
    auto const begin = Clock::now();
    while ((done = Driver::query(event)) == Driver::EventState::pending && seconds_since(begin) < 1)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (event != nullptr) Driver::release_event(event);
  return recorded != Driver::Recorded::capturing && recorded != Driver::Recorded::failed &&
         done == Driver::EventState::done;
}

using Range  = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
using Memory = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
using Array  = Kokkos::View<double*, Kokkos::AnonymousSpace, Memory>;

// The write, which never happens, keeps the compiler from removing the reads.
void launch_read(Kokkos::Cuda const& instance, Array const& a, Array const& b) {
  Kokkos::parallel_for(
      "KokkosHostSpaces::measure_read", Range(instance, 0, std::int64_t(a.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i) {
        if (a(i) + b(i) == -1) a(i) = 0;
      });
}

void launch_write(Kokkos::Cuda const& instance, Array const& c) {
  Kokkos::parallel_for(
      "KokkosHostSpaces::measure_write", Range(instance, 0, std::int64_t(c.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i) { c(i) = 1; });
}

void launch_sum(Kokkos::Cuda const& instance, Array const& a, Array const& b, Array const& c) {
  Kokkos::parallel_for(
      "KokkosHostSpaces::measure_sum", Range(instance, 0, std::int64_t(a.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i) { c(i) = a(i) + b(i); });
}

class Probe {
 public:
  explicit Probe(int device)
      : m_here(private_instance(device)), m_host_memory(device, "link_rates", 3 * block) {
    m_other = Kokkos::Experimental::partition_space(m_here, 1).front();
    using Kokkos::WithoutInitializing;
    m_host   = static_cast<double*>(m_host_memory.data());
    m_device = Device(Kokkos::view_alloc("link_rates", m_here, WithoutInitializing), 3 * elements);
    Kokkos::deep_copy(m_here, m_device, 0.);
    copy(m_host, m_device.data(), 3 * block, m_here);
    m_here.fence();
  }

  LinkRates measure() {
    LinkRates rates;
    to_device(16);  // an idle link sleeps
    m_here.fence();
    rates.to_device  = rate(4, [this] { to_device(4); });
    rates.to_host    = rate(4, [this] { to_host(4); });
    rates.both       = rate(8, [this] { both_ways(4, 1); });
    rates.two_to_one = rate(6, [this] { both_ways(2, 2); });
    measure_kernels(rates);
    rates.operation_seconds = 1 / rate_of_operations();
    return rates;
  }

 private:
  using Device = Kokkos::View<double*, Kokkos::CudaSpace>;

  static constexpr std::size_t block    = std::size_t(64) << 20;  // bytes
  static constexpr std::size_t elements = block / sizeof(double);

  void measure_kernels(LinkRates& rates) {
    auto const host   = [this](int k) { return Array(m_host + k * elements, elements); };
    auto const device = [this](int k) { return Array(m_device.data() + k * elements, elements); };
    rates.zero_copy_read       = rate(2, [&] { launch_read(m_here, host(0), host(1)); });
    rates.zero_copy_write      = rate(1, [&] { launch_write(m_here, host(2)); });
    rates.zero_copy_two_to_one = rate(3, [&] { launch_sum(m_here, host(0), host(1), host(2)); });
    constexpr int often        = 32;  // a single one would take as long as a fence
    rates.device_memory        = rate(3 * often, [&] {
      for (int i = 0; i < often; ++i) launch_sum(m_here, device(0), device(1), device(2));
    });
  }

  static void copy(void* to, void const* from, std::size_t bytes, Kokkos::Cuda const& instance) {
    copy_async(to, from, bytes, instance.cuda_stream());
  }

  void to_device(int blocks) {
    for (int i = 0; i < blocks; ++i) copy(m_device.data(), m_host, block, m_here);
  }
  void to_host(int blocks) {
    for (int i = 0; i < blocks; ++i)
      copy(m_host + elements, m_device.data() + elements, block, m_other);
  }
  void both_ways(int rounds, int to_device_each) {
    for (int i = 0; i < rounds; ++i) {
      to_device(to_device_each);
      to_host(1);
    }
  }

  // Takes the shortest of five runs: disturbances make a run longer.
  template <class Enqueue>
  double rate(int blocks, Enqueue enqueue) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 5; ++i) {
      auto const begin = Clock::now();
      enqueue();
      m_here.fence("KokkosHostSpaces: measuring link rates");
      m_other.fence("KokkosHostSpaces: measuring link rates");
      least = std::min(least, seconds_since(begin));
    }
    return double(blocks) * double(block) / least;
  }

  double rate_of_operations() {
    constexpr int operations = 256;
    Array const one(m_device.data(), 1);
    return rate(1,
                [&] {
                  for (int i = 0; i < operations / 2; ++i) {
                    copy(m_device.data(), m_host, sizeof(double), m_here);
                    launch_write(m_here, one);
                  }
                }) /
           double(block) * operations;
  }

  Kokkos::Cuda m_here, m_other;
  PoolMemory m_host_memory;
  double* m_host = nullptr;
  Device m_device;
};

#endif

// Without the variable, as in many containers, there may be no file to keep rates in: not worth a
// line.
void tell(std::string const& line) {
  if (Backend::config().calibration.empty() && !Backend::config().verbose) return;
  std::cerr << "KokkosHostSpaces: " << line << std::endl;
}

}  // namespace

std::string link_rates_file() {
  if (Backend::config().calibration == "off") return "";
  if (!Backend::config().calibration.empty()) return Backend::config().calibration;
  std::string const folder = Backend::cache_folder();
  return folder.empty() ? "" : folder + "/kokkos-host-spaces/calibration";
}

KnownLink name_link([[maybe_unused]] int device) {
  KnownLink link;
  link.machine = Backend::host_name();
#ifdef KOKKOS_ENABLE_CUDA
  // A private instance takes long to make.
  auto const instance = device == Kokkos::device_id() ? Kokkos::Cuda() : private_instance(device);
  link.gpu    = std::string(instance.cuda_device_prop().name) + " at " + Driver::pci_bus_id(device);
  link.driver = Backend::gpu_driver_version();
#endif
  return link;
}

LinkRates link_rates(int device) {
  if (Backend::config().calibration == "off") return {};
  if (device < 0) device = Kokkos::device_id();
  static LinkRatesCache cache(link_rates_file(), {name_link, measure_link_rates, tell});
  return cache.rates(device);
}

std::optional<LinkRates> measure_link_rates([[maybe_unused]] int device) {
#ifdef KOKKOS_ENABLE_CUDA
  try {
    if (becomes_idle(device)) return Probe(device).measure();
  } catch (std::exception const& error) {  // Kokkos' exceptions do not derive from Error
    if (Backend::config().verbose)
      std::cerr << "KokkosHostSpaces: link rates could not be measured (" << error.what()
                << "): typical ones are taken" << std::endl;
  }
#endif
  return std::nullopt;
}

}  // namespace KokkosHostSpaces::Impl
