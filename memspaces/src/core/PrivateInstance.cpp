// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#include <KokkosHostSpaces/impl/core/Allocation.hpp>
#include <KokkosHostSpaces/impl/core/Streams.hpp>
#include <KokkosHostSpaces/impl/core/PrivateInstance.hpp>

#ifdef KOKKOS_HOST_SPACES_IMPL_DRIVES_DEVICE

#include <map>
#include <mutex>

namespace KokkosHostSpaces::Impl {

namespace {

// An instance for each device. Instances own scratch memory of Kokkos, which takes long to make,
// and must end before Kokkos does, or never. Kokkos tells tools of that memory, and they may copy, which
// needs an instance: of the two that are made then one stays.
class Instances {
 public:
  template <class MakeStream>
  DrivenDevice of(int device, MakeStream const& make_stream_on) {
    if (device < 0) device = Kokkos::device_id();
    std::lock_guard const lock(m_mutex);
    if (m_instances.empty()) at_finalize([this] { forget(); });
    auto found = m_instances.find(device);
    if (found == m_instances.end())
      found = m_instances.emplace(device, instance_on(make_stream_on(device))).first;
    return found->second;
  }

 private:
  void forget() {
    std::map<int, DrivenDevice> ended;
    std::lock_guard const lock(m_mutex);
    ended.swap(m_instances);
  }

  std::recursive_mutex m_mutex;
  std::map<int, DrivenDevice> m_instances;
};

// Streams are never destroyed: there is one for each device.
DrivenDevice capture_instance(int device) {
  static Instances& instances = *new Instances;
  static std::map<int, StreamHandle> streams;
  return instances.of(device, [](int known_device) {
    StreamHandle& stream = streams[known_device];
    if (stream == nullptr) stream = make_stream(known_device);
    return stream;
  });
}

std::mutex& captures_of_graphs() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

DrivenDevice private_instance(int device) {
  static Instances& instances = *new Instances;
  return instances.of(device, [](int known_device) { return private_stream(known_device); });
}

CaptureInstance::CaptureInstance(int device)
    : m_lock(captures_of_graphs()), m_instance(capture_instance(device)) {}

}  // namespace KokkosHostSpaces::Impl

#endif
