# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""The suite as a test of ReFrame, a case for each group: see README.md."""

import os
import pathlib
import re
import shlex
import statistics
import sys

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.exceptions import SanityError
from reframe.core.runtime import runtime

_PERF = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_PERF))
# pylint: disable=wrong-import-position
from report.goals import judge, load_goals  # noqa: E402
from report.groups import GROUPS  # noqa: E402
from report.results import ResultsError, load  # noqa: E402

_QUARTILES = {"lower_quartile": "lower", "upper_quartile": "upper"}


def _gpus_on_a_node(partition) -> int:
    """As the settings say: extras come first; without GPUs it is how many ranks share a node."""
    gpus = sum(device.num_devices or 0 for device in partition.devices if device.device_type == "gpu")
    return partition.extras.get("gpus_per_node", gpus or 1)


def _values_of_settings(of_partition) -> list[int]:
    return sorted({value for partition in runtime().system.partitions for value in of_partition(partition)})


def _numbers_of_ranks(partition) -> list[int]:
    return partition.extras.get("ranks", [1, _gpus_on_a_node(partition)])


def _program() -> str:
    """Of the build directory in BUILD, beside this file where it is installed, of build/cuda, or in PATH."""
    name = "kokkos_host_spaces_perf"
    if build := os.environ.get("BUILD"):
        # While it loads this file ReFrame is in this folder: the shell knows where it was called.
        return shlex.quote(os.path.join(os.environ.get("PWD", os.getcwd()), build, "perf", name))
    for folder in (_PERF.parents[2] / "bin", _PERF.parent / "build/cuda/perf"):
        if (folder / name).exists():
            return shlex.quote(str(folder / name))
    return name


@rfm.simple_test
class KokkosHostSpaces(rfm.RunOnlyRegressionTest):
    """Every result is right, and the ratios to the baselines reach what goals.json calls acceptance."""

    descr = "Kokkos memory spaces for host memory, beside plain programs"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    group = parameter(list(GROUPS), type=str)
    ranks = parameter(_values_of_settings(_numbers_of_ranks), type=int)
    gpus_per_node = parameter(_values_of_settings(lambda partition: [_gpus_on_a_node(partition)]), type=int)

    #: What a centre may set by -S.
    program = variable(str, value=_program())
    arguments = variable(str, value="--quick")
    goals = variable(str, value=str(_PERF / "report" / "goals.json"))

    sourcesdir = None
    exclusive_access = True
    time_limit = "30m"
    results = "results.json"
    keep_files = [results]

    @run_after("setup")
    def take_a_gpu_for_each_rank(self):
        offered = _gpus_on_a_node(self.current_partition)
        self.skip_if(self.gpus_per_node > offered, f"a node has {offered} GPUs, not {self.gpus_per_node}")
        on_a_node = min(self.ranks, self.gpus_per_node)
        self.skip_if(self.ranks % on_a_node, f"{self.ranks} ranks do not fill nodes with {on_a_node} each")
        self.num_tasks = self.ranks
        self.num_tasks_per_node = on_a_node
        if any(device.device_type == "gpu" for device in self.current_partition.devices):
            self.num_gpus_per_node = self.gpus_per_node

    @run_before("run")
    def measure_one_group(self):
        self.executable = self.program
        self.executable_opts = [*self.arguments.split(), "--groups", self.group, "--json", self.results]
        # A rank takes the GPU of its local rank, and cores near it: launchers are told to bind nothing.
        self.env_vars = {"OMP_PROC_BIND": "false", "SLURM_CPU_BIND": "none", "SLURM_GPU_BIND": "none",
                         "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_hwloc_default_binding_policy": "none",
                         "I_MPI_PIN": "off"}
        self.prerun_cmds = [f"cores=$(( ${{SLURM_CPUS_ON_NODE:-$(nproc)}} / {self.gpus_per_node} ))",
                            "export OMP_NUM_THREADS=$(( cores > 0 ? cores : 1 ))"]

    def _run_of_the_suite(self):
        try:
            return load(pathlib.Path(self.stagedir) / self.results)
        except ResultsError as error:
            words = pathlib.Path(self.stagedir, self.stderr.evaluate()).read_text(encoding="utf-8", errors="replace")
            # The suite speaks first, and its launcher last.
            raise SanityError(f"no results (exit code {self.job.exitcode}): {words.strip()[:500] or error}") from error

    def _judgements(self, run):
        """Of what the goals call acceptance in this group."""
        goals = [goal for goal in load_goals(pathlib.Path(self.goals))
                 if goal.kind == "acceptance" and goal.select.get("group") == self.group]
        return [judgement for judgement in (judge(goal, [run]) for goal in goals) if judgement.verdicts]

    @sanity_function
    def every_result_is_right(self):
        run = self._run_of_the_suite()
        if errors := run.errors():
            raise SanityError(f"{len(errors)} errors in the results, such as {errors[0]}")
        # What could not be measured would have no performance either, and ReFrame would pass over it.
        for judgement in self._judgements(run):
            for verdict in judgement.verdicts:
                if verdict.measured is None:
                    raise SanityError(f"{judgement.goal.name}: {verdict.reason}")
        return sn.all([
            sn.assert_eq(int(run.ranks), self.ranks, f"not {self.ranks} ranks measured, but each one alone: build"
                                                     " with MPI, that of the launcher"),
            # Not all schedulers tell it.
            sn.assert_in(self.job.exitcode, [0, None], "the suite ended with exit code {0}")])

    @run_before("performance")
    def hold_ratios_against_goals(self):
        if self.is_dry_run():
            return
        run = self._run_of_the_suite()
        values, references = {}, {}
        for judgement in self._judgements(run):
            goal, worst = judgement.goal, judgement.verdicts[0]
            name = re.sub(r"\W+", "_", goal.name)
            unit = "s" if goal.quantity.endswith("seconds") else goal.quantity
            values[name] = getattr(worst.measured, _QUARTILES.get(goal.statistic, "median")), unit
            references[name] = ((goal.at_least, 0, None, unit) if goal.at_most is None
                                else (goal.at_most, None, 0, unit))
        # To be followed over time, and held against nothing.
        ratios = {}
        for case in run.cases.values():
            if ratio := case.summary("ratio"):
                ratios.setdefault(f"ratio_of_{case.operation}_{case.space}", []).append(ratio.median)
        values |= {name: (statistics.median(medians), "ratio") for name, medians in ratios.items()}
        self.reference = {"*": references}
        self.perf_variables = {name: sn.make_performance_function(sn.defer(value), unit)
                               for name, (value, unit) in values.items()}
