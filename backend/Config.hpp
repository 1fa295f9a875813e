// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

#ifndef KOKKOS_HOST_SPACES_BACKEND_CONFIG_HPP
#define KOKKOS_HOST_SPACES_BACKEND_CONFIG_HPP

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace KokkosHostSpaces::Impl::Backend {

/// Looks an environment variable up: name -> value or nothing.
using Lookup = std::function<std::optional<std::string>(std::string const&)>;

/// A variable of this process' environment.
std::optional<std::string> environment_variable(std::string const& name);

/// The KOKKOS_HOST_SPACES_* environment variables.
struct Config {
  /// Bytes, or a share of the node's memory; both 0: no limit.
  struct NodeLimit {
    std::size_t bytes = 0;
    int percent       = 0;  ///< 1 to 100, or 0
  };

  std::size_t pool_limit = 0;     ///< _POOL_LIMIT: bytes, suffixes K M G T (1024); 0: no limit
  NodeLimit node_limit   = {};    ///< _NODE_LIMIT: of all ranks of the node: bytes, or 1% to 100%
  int node_ranks         = 0;     ///< _NODE_RANKS: 1 to 1024; 0 (unset): as the launcher tells
  bool huge_pages        = true;  ///< _HUGE_PAGES: on | off
  bool numa              = true;  ///< _NUMA: on | off: bind to the node nearest to the device
  int touch_threads      = 0;   ///< _TOUCH_THREADS: 1 to 1024; 0 (unset): chosen by size and cores
  int shortage_timeout   = 60;  ///< _SHORTAGE_TIMEOUT: seconds from 1 to 1024
  std::size_t stream_memory = std::size_t(1)
                              << 30;  ///< _STREAM_MEMORY: bytes of a device, as above
  bool pool       = true;             ///< _POOL: on | off: cache freed memory
  bool multi_path = true;   ///< _MULTI_PATH: on | off: copies may go over links of other devices
  bool unbuffered = false;  ///< _UNBUFFERED: on | off: MPI gets dense Views of messages themselves
  /// _THRESHOLDS: a file with thresholds of copies, or off; empty (unset): those built in
  std::string thresholds = {};
  bool pretend_device =
      false;             ///< _PRETEND_DEVICE: on | off: streamed loops of the host as on a GPU
  bool scrub   = false;  ///< _SCRUB: on | off: memory is zero for each new owner
  bool guard   = false;  ///< _GUARD: on | off: tell of host code that races with copies
  bool verbose = false;  ///< _VERBOSE: on | off: also say on stderr what was fallen back to

  /// Reads the variables.
  /// \throw ConfigurationError with the name, the value and what is allowed.
  static Config read(Lookup const& lookup);
};

/// Sentences for the user: a variable that begins as ours do and is none of them, with the nearest
/// name that is known; a race guard that watches nothing.
/// \param environment names of all variables
/// \param has_devices false only if there certainly is none
std::vector<std::string> notices(Config config, std::vector<std::string> const& environment,
                                 bool has_devices);

/// The configuration of this process: read once, on first use. \throw as Config::read, at each use.
Config const& config();

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
