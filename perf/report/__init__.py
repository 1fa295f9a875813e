# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Judges, compares and shows results of kokkos_host_spaces_perf; start reading in cli.py."""
