// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// One step.

#ifndef KOKKOS_HOST_SPACES_EXAMPLES_HEAT_SIMULATION_HPP
#define KOKKOS_HOST_SPACES_EXAMPLES_HEAT_SIMULATION_HPP

#include "Field.hpp"
#include "Ranks.hpp"
#include "Verification.hpp"

#include <utility>

namespace Heat {

/// The field of this process and how it advances.
class Simulation {
 public:
  Simulation(Decomposition const& decomposition, Instances instances)
      : m_decomposition(decomposition),
        m_interior(decomposition.interior()),
        m_shell(decomposition.shell()),
        m_instances(std::move(instances)),
        m_halo(m_instances.halo, decomposition),
        m_field(make_field("temperature")),
        m_next(make_field("temperature after the step")) {}

  Field const& field() const { return m_field; }

  /// Back to the beginning. Ghost cells on the surface of the box are 0, as Views are when made.
  void reset(Solution const& solution) { initialise(m_field, m_decomposition, solution); }

  /// One step: the interior is computed while the halo is on its way. Waits until all is done.
  void step() {
    auto halo = m_halo.begin(m_field);  // first, so that it does not queue behind the interior
    update(m_instances.bulk, m_next, m_field, m_interior);
    halo.wait();
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
    m_halo.begin(m_field).wait();
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
  Halo m_halo;
  Field m_field, m_next;
};

}  // namespace Heat

#endif
