// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "Platform.hpp"

#include "CheckCuda.hpp"

#include <algorithm>
#include <cctype>

namespace KokkosHostSpaces::Perf {
namespace {

std::string bus_id_of(int device) {
  char bus_id[32] = "";
  check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device), "cudaDeviceGetPCIBusId");
  std::string bus = bus_id;
  std::transform(bus.begin(), bus.end(), bus.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return bus;
}

std::string version_name(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

bool const baselines_use_cuda = true;

std::string why_no_device() {
  int count              = 0;
  cudaError_t const code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) return cudaGetErrorString(code);
  return count > 0 ? "" : cudaGetErrorString(cudaErrorNoDevice);
}

std::vector<Device> list_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return {};
  }
  std::vector<Device> devices;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    devices.push_back({properties.name, bus_id_of(device),
                       std::to_string(properties.major) + "." + std::to_string(properties.minor),
                       properties.totalGlobalMem});
  }
  return devices;
}

void use_device(int device) {
  check(cudaSetDevice(device), "cudaSetDevice");
  check(cudaFree(nullptr), "cudaFree");
}

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

std::size_t free_device_memory() {
  std::size_t available = 0, total = 0;
  check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  return available;
}

std::string cuda_driver_version() {
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  return version_name(version);
}

std::string cuda_runtime_version() {
  int version = 0;
  check(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
  return version_name(version);
}

bool is_page_locked(void const* pointer) {
  cudaPointerAttributes attributes;
  check(cudaPointerGetAttributes(&attributes, pointer), "cudaPointerGetAttributes");
  // Do not compare with cudaMemoryTypeHost: memory of the driver's host pool may have another type.
  return attributes.type != cudaMemoryTypeUnregistered;
}

}  // namespace KokkosHostSpaces::Perf
