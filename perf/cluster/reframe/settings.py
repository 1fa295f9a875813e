# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Settings of ReFrame for one machine without a batch system, to be replaced by those of a centre: see README.md."""

site_configuration = {
    "systems": [{
        "name": "this",
        "descr": "The machine that ReFrame runs on",
        "hostnames": [".*"],
        "partitions": [{
            "name": "machine",
            "scheduler": "local",
            "launcher": "mpirun",
            "environs": ["default"],
            # One after the other: what is measured must not share the machine.
            "max_jobs": 1,
            # Without "devices" of type gpu: 2 ranks share the machine.
            "extras": {"gpus_per_node": 2, "ranks": [2]},
        }],
    }],
    "environments": [{"name": "default"}],
}
