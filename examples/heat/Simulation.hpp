// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// The halo through host memory, and one step.

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_SIMULATION_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_SIMULATION_HPP

#include "Field.hpp"
#include "Processes.hpp"
#include "Verification.hpp"

#include <KokkosHostSpaces.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace Heat {

/// Numbers of the cells of one of `boxes`, whose place in `buffer` is that of the box. Asynchronous.
template <class Buffer>
void gather(Device const& instance, Buffer const& buffer, Field const& field, Boxes const& boxes,
            int box) {
  Kokkos::parallel_for(
      "heat: pack a face", Kokkos::RangePolicy(instance, boxes.offset(box), boxes.offset(box + 1)),
      KOKKOS_LAMBDA(int i) {
        auto const [x, y, z] = boxes.cell(i);
        buffer(i)            = field(x, y, z);
      });
}

/// And back, for all of them. Asynchronous.
template <class Buffer>
void scatter(Device const& instance, Field const& field, Buffer const& buffer, Boxes const& boxes) {
  Kokkos::parallel_for(
      "heat: unpack halo", Kokkos::RangePolicy(instance, 0, boxes.size()), KOKKOS_LAMBDA(int i) {
        auto const [x, y, z] = boxes.cell(i);
        field(x, y, z)       = buffer(i);
      });
}

/// A space near the device of `instance`, where spaces can be placed.
template <class Space>
Space space_near([[maybe_unused]] Device const& instance) {
  if constexpr (std::is_constructible_v<Space, Device const&>)
    return Space(instance);
  else
    return Space();
}

/// `buffer` where kernels can access it, else a mirror of it, in the device's memory.
template <class Buffer>
auto for_kernels(Device const& instance, Buffer const& buffer) {
  if constexpr (Kokkos::SpaceAccessibility<Device, typename Buffer::memory_space>::accessible)
    return buffer;
  else
    return Kokkos::create_mirror_view(Kokkos::WithoutInitializing, instance, buffer);
}

/// Fills the ghost cells of a field from the neighbours, by messages between buffers in
/// `HostSpace`, any memory space that the host can access.
///
/// Kernels work on the buffers themselves where they can access `HostSpace` (MappedSpace, and
/// everything in a Kokkos without a GPU), and deep_copy has nothing to do; else (PinnedSpace) on
/// mirrors in device memory, and deep_copy enqueues a copy. Stock Kokkos, for comparison: its HostSpace
/// (pageable) as PinnedSpace, its CudaHostPinnedSpace as MappedSpace.
///
/// Each face that is sent has an instance of its own: its message goes when it is on the host, while
/// others are still on their way.
template <class HostSpace>
class HaloExchange {
 public:
  HaloExchange(Device const& instance, Decomposition const& decomposition, Processes& processes)
      : m_instance(instance),
        m_processes(processes),
        m_neighbours(decomposition.neighbours()),
        m_of_face(instances_of_faces(instance, m_neighbours.size())),
        m_to_send(decomposition.to_send()),
        m_to_receive(decomposition.to_receive()),
        m_sent(Kokkos::view_alloc("halo to send", space_near<HostSpace>(instance),
                                  Kokkos::WithoutInitializing),
               m_to_send.size()),
        m_received(Kokkos::view_alloc("halo received", space_near<HostSpace>(instance),
                                      Kokkos::WithoutInitializing),
                   m_to_receive.size()),
        m_packed(for_kernels(instance, m_sent)),
        m_unpacked(for_kernels(instance, m_received)) {}

  /// Enqueues what takes the neighbours' cells to the host.
  void pack(Field const& field) const {
    for (std::size_t i = 0; i < m_neighbours.size(); ++i) {
      gather(m_of_face[i], m_packed, field, m_to_send, int(i));
      auto const face = Kokkos::pair(m_to_send.offset(int(i)), m_to_send.offset(int(i) + 1));
      Kokkos::deep_copy(m_of_face[i], Kokkos::subview(m_sent, face),
                        Kokkos::subview(m_packed, face));
    }
  }

  /// Sends each face when it is on the host, waits for the messages, and enqueues what takes them into
  /// the ghost cells.
  void exchange(Field const& field) {
    for (std::size_t i = 0; i < m_neighbours.size(); ++i) {
      auto const [rank, axis, side] = m_neighbours[i];
      m_processes.receive(m_received.data() + m_to_receive.offset(int(i)),
                          m_to_receive.size(int(i)), rank, 2 * axis + (1 - side));
    }
    for (std::size_t i = 0; i < m_neighbours.size(); ++i) {
      auto const [rank, axis, side] = m_neighbours[i];
      m_of_face[i].fence("heat: a face is on the host");
      m_processes.send(m_sent.data() + m_to_send.offset(int(i)), m_to_send.size(int(i)), rank,
                       2 * axis + side);
    }
    m_processes.wait();
    Kokkos::deep_copy(m_instance, m_unpacked, m_received);
    scatter(m_instance, field, m_unpacked, m_to_receive);
  }

 private:
  using Buffer = Kokkos::View<double*, HostSpace>;

  Device m_instance;
  Processes& m_processes;
  std::vector<Neighbour> m_neighbours;
  std::vector<Device> m_of_face;
  Boxes m_to_send, m_to_receive;
  Buffer m_sent, m_received;
  decltype(for_kernels(Device(), Buffer())) m_packed, m_unpacked;
};

/// The field of this process and how it advances; the halo goes through buffers in `HaloSpace`.
template <class HaloSpace>
class Simulation {
 public:
  Simulation(Decomposition const& decomposition, Processes& processes, Instances instances)
      : m_decomposition(decomposition),
        m_interior(decomposition.interior()),
        m_shell(decomposition.shell()),
        m_instances(std::move(instances)),
        m_halo(m_instances.halo, decomposition, processes),
        m_field(make_field("temperature")),
        m_next(make_field("temperature after the step")) {}

  Field const& field() const { return m_field; }

  /// Back to the beginning. Ghost cells on the surface of the box are 0, as Views are when made.
  void reset(Solution const& solution) { initialise(m_field, m_decomposition, solution); }

  /// One step: the interior is computed while the halo is on its way. Waits until all is done.
  void step() {
    m_halo.pack(m_field);  // first, so that it does not queue behind the interior
    update(m_instances.bulk, m_next, m_field, m_interior);
    m_halo.exchange(m_field);
    update(m_instances.halo, m_next, m_field, m_shell);
    finish_step();
  }

  /// A step whose halo is the one of the step before the last: what a broken exchange would do.
  void step_with_stale_halo() {
    update(m_instances.bulk, m_next, m_field, m_decomposition.own());
    finish_step();
  }

  /// What a step would cost without neighbours. Not a step of the simulation: reset() afterwards.
  void compute_only() {
    update(m_instances.bulk, m_next, m_field, m_decomposition.own());
    m_instances.bulk.fence("heat: computed");
  }

  /// What the exchange takes if nothing is computed beside it. Changes nothing but ghost cells.
  void exchange_only() {
    m_halo.pack(m_field);
    m_halo.exchange(m_field);
    m_instances.halo.fence("heat: exchanged");
  }

 private:
  Field make_field(char const* label) const {
    Index3 const cells = m_decomposition.cells();
    return Field(label, cells[0] + 2, cells[1] + 2, cells[2] + 2);
  }

  void finish_step() {
    m_instances.bulk.fence("heat: the interior is computed");
    m_instances.halo.fence("heat: the shell is computed");
    std::swap(m_field, m_next);
  }

  Decomposition m_decomposition;
  Box m_interior;
  Boxes m_shell;
  Instances m_instances;
  HaloExchange<HaloSpace> m_halo;
  Field m_field, m_next;
};

}  // namespace Heat

#endif
