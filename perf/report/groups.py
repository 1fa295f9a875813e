# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""The groups of the suite, in its order; a test compares them with AllGroups.cpp, Ramble and the pages."""

GROUPS = ("idioms", "transport", "vector", "copy", "alloc", "latency", "stream")
