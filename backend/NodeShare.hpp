// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_NODE_SHARE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_NODE_SHARE_HPP

#include "Config.hpp"
#include "pool/Statistics.hpp"

#include <cstddef>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// Divides KOKKOS_HOST_SPACES_NODE_LIMIT by the ranks of the node. Their number is the first that is
/// known of: KOKKOS_HOST_SPACES_NODE_RANKS, a variable of the launcher (Environment.md lists them), 1.
/// \param config with the limit and the number of ranks that the user set
/// \param lookup of the launcher's variables
/// \param node_memory bytes of which the limit may be a share
pool::NodeShare share_of_node(Config const& config, Lookup const& lookup, std::size_t node_memory);

/// The share of this process. The memory of the node is what the machine has, or what the control
/// groups allow. \throw ConfigurationError
pool::NodeShare share_of_node();

/// Tells on stderr, once, that there is a limit, and that no variable gives the number of ranks.
void tell_if_assumed(pool::NodeShare const& share) noexcept;

/// The smaller of a limit and a share, in bytes; 0: none.
std::size_t bounded_by(pool::NodeShare const& share, std::size_t limit) noexcept;

/// Does the share bound the pool, and not a lower limit?
bool decides(pool::NodeShare const& share, std::size_t limit) noexcept;

/// Such as "1 of 4 ranks (OMPI_COMM_WORLD_LOCAL_SIZE)".
std::string ranks_in_words(pool::NodeShare const& share);

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
