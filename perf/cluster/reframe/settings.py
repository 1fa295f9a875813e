# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Settings of ReFrame for the machine it runs on, without a batch system. A centre has its own: see README.md."""

import pathlib
import shutil

_gpus = len(list(pathlib.Path("/proc/driver/nvidia/gpus").glob("*")))

site_configuration = {
    "systems": [{
        "name": "this",
        "descr": "The machine that ReFrame runs on",
        "hostnames": [".*"],
        "partitions": [{
            "name": "machine",
            "scheduler": "local",
            "launcher": "mpirun" if shutil.which("mpirun") else "local",
            "environs": ["default"],
            # One after the other: what is measured must not share the machine.
            "max_jobs": 1,
            # Without GPUs 2 ranks share the machine.
            "extras": {"gpus_per_node": _gpus, "ranks": sorted({1, _gpus})} if _gpus
                      else {"gpus_per_node": 2, "ranks": [2]},
        }],
    }],
    "environments": [{"name": "default"}],
    # ReFrame would ask the more rarely the longer a case takes: seconds after its end.
    "general": [{"poll_rate_decay": 0}],
}
