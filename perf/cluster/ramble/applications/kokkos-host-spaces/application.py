# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""The suite as an application of Ramble: see ../../README.md."""

from ramble.appkit import *


class KokkosHostSpaces(ExecutableApplication):
    """Kokkos memory spaces for page-locked and mapped host memory: each figure beside that of a plain program"""

    name = "kokkos-host-spaces"
    tags("benchmark", "gpu", "kokkos", "memory")

    groups = ["idioms", "transport", "vector", "copy", "alloc", "latency", "stream"]

    # What an earlier run left is not to be judged.
    executable("tidy", "rm -f {experiment_run_dir}/results.json", use_mpi=False)
    executable(
        "measure",
        "{program} {arguments} --groups {workload_name} --json {experiment_run_dir}/results.json",
        use_mpi=True,
    )
    # With 0 what the goals call acceptance holds, with 4 none is meant for this machine.
    executable(
        "judge",
        [
            "python3 {report} {experiment_run_dir}/results.json --check=acceptance",
            "echo acceptance ended with $?",
        ],
        use_mpi=False,
    )
    for group in groups:
        workload(group, executables=["tidy", "measure", "judge"])

    workload_variable(
        "program",
        default="kokkos_host_spaces_perf",
        description="The suite: in PATH, or with its folder",
        workloads=groups,
    )
    workload_variable("arguments", default="--quick", description="Of the suite", workloads=groups)
    workload_variable(
        "report",
        default='"$(dirname "$(command -v {program})")"/../share/kokkos_host_spaces/perf/report.py',
        description="The script that judges results: as it is installed with the suite",
        workloads=groups,
    )

    # As the suite prints them: a line for each benchmark, with both times, and their ratio with its quartiles.
    case = r"^\[[^\]]*\] (?P<case>\w+/\S+) "
    time = r"[0-9.]+ [a-z]+"
    figure_of_merit_context("benchmark", regex=case, output_format="{case}")
    figure_of_merit(
        "ratio",
        fom_regex=case + r".* (?P<ratio>[0-9.]+) \([0-9.]+ to [0-9.]+\)",
        group_name="ratio",
        units="baseline / ours",
        contexts=["benchmark"],
    )
    figure_of_merit(
        "time",
        fom_regex=case + rf" +(?P<time>{time})",
        group_name="time",
        units="",
        contexts=["benchmark"],
    )

    success_criteria("accepted", mode="string", match=r"^acceptance ended with [04]$")
    success_criteria("verified", mode="string", match=r"^results: 0 errors in [0-9]+ benchmarks$")
