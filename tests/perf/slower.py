# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""python3 slower.py FACTOR PROGRAM ... --json FILE: the suite, as if our side took FACTOR times as long in each sample."""

import json
import os
import pathlib
import subprocess
import sys

factor, command = float(sys.argv[1]), sys.argv[2:]
status = subprocess.run(command, check=False).returncode
# The first rank writes the file; it is told by the launcher.
ranks = {os.environ.get(name, "0") for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")}
if status == 0 and ranks == {"0"}:
    path = pathlib.Path(command[command.index("--json") + 1])
    results = json.loads(path.read_text(encoding="utf-8"))
    for entry in results["benchmarks"]:
        if "real_time" in entry:
            entry["real_time"] *= factor
        if "ratio" in entry:
            entry["ratio"] /= factor
    path.write_text(json.dumps(results), encoding="utf-8")
sys.exit(status)
