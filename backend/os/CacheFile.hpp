// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project

// Cache files, and the names of machine and driver that are their keys.

#ifndef KOKKOS_HOST_SPACES_BACKEND_OS_CACHE_FILE_HPP
#define KOKKOS_HOST_SPACES_BACKEND_OS_CACHE_FILE_HPP

#include <functional>
#include <optional>
#include <string>

namespace KokkosHostSpaces::Impl::Backend {

/// The cache folder of the XDG rules: $XDG_CACHE_HOME, else $HOME/.cache; empty if neither is
/// absolute. \param lookup returns environment variables
std::string cache_folder(
    std::function<std::optional<std::string>(std::string const&)> const& lookup);
std::string cache_folder();

/// The contents of a file; nullopt if it is no regular file or cannot be read. Follows links of this
/// user and of root.
std::optional<std::string> read_cache_file(std::string const& path);

/// Writes or replaces a file atomically, and creates its folders: readers see all of the old or all
/// of the new text, and of two writers one wins. Follows links of this user and of root, keeps the
/// permissions of a file; a new file has mode 0600. \return an empty string or an error message
std::string replace_cache_file(std::string const& path, std::string const& text);

/// The name of this machine; "unknown" if the system does not tell.
std::string host_name();

/// The version of the GPUs' kernel module; "unknown" if the system does not tell.
std::string gpu_driver_version(std::string const& root = "");

}  // namespace KokkosHostSpaces::Impl::Backend

#endif
