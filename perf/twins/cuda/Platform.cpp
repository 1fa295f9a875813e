// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include "../Platform.hpp"
#include "Check.hpp"

#include <algorithm>
#include <cctype>

namespace KokkosHostSpaces::Perf {

bool const twins_use_cuda   = true;
char const* const twin_name = "plain CUDA";

std::string why_no_device() {
  int count              = 0;
  cudaError_t const code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) return cudaGetErrorString(code);
  return count > 0 ? "" : cudaGetErrorString(cudaErrorNoDevice);
}

namespace {

std::string bus_id_of(int device) {
  char bus_id[32] = "";
  check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device), "cudaDeviceGetPCIBusId");
  std::string bus = bus_id;
  std::transform(bus.begin(), bus.end(), bus.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return bus;
}

}  // namespace

std::vector<std::string> device_bus_ids() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  std::vector<std::string> ids;
  for (int device = 0; device < count; ++device) ids.push_back(bus_id_of(device));
  return ids;
}

Device current_device() {
  int device = 0, runtime = 0, driver = 0;
  std::size_t available = 0, total = 0;
  cudaDeviceProp properties;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");

  auto const version = [](int v) {
    return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
  };
  return {properties.name, bus_id_of(device), version(driver), version(runtime), available, device};
}

void use_device(int id) { check(cudaSetDevice(id), "cudaSetDevice"); }

bool device_can_be_shared() {
  int device = 0, mode = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device), "cudaDeviceGetAttribute");
  return mode == cudaComputeModeDefault;
}

bool is_page_locked(void const* pointer) {
  cudaPointerAttributes attributes;
  check(cudaPointerGetAttributes(&attributes, pointer), "cudaPointerGetAttributes");
  // Not a comparison with cudaMemoryTypeHost: memory of the driver's host pool may be of another
  // type.
  return attributes.type != cudaMemoryTypeUnregistered;
}

}  // namespace KokkosHostSpaces::Perf
