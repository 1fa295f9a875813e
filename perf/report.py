#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Reads results of kokkos_host_spaces_perf: report.py --help"""

import sys

from report.cli import main

if __name__ == "__main__":
    sys.exit(main())
