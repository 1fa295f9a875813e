# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""report.py --check finds what falls short of perf/report/goals.json, and nothing else."""

import json
import pathlib
import random
import unittest

import synthetic
from support import GoalTest, machine_that_reaches_all

from report.check import Check as Checked
from report.cli import GOALS
from report.goals import load_goals
from report.results import Case, Run, load

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "perf" / "results"
TRIAD = "vector/triad/CudaSpace/double/element_wise/n:1024/"


class Check(GoalTest):
    def test_all_goals_are_reached_by_a_machine_that_reaches_them(self):
        code, text = self.check(machine_that_reaches_all())
        self.assertEqual(code, 0, text)
        self.assertIn("acceptance: of 14 goals that were judged 14 hold in every case", text)
        self.assertIn("target: of 44 goals that were judged 44 are reached in every case; 8 others could not be judged", text)
        self.assertIn("results: 0 errors in ", text)

    def test_a_slower_kernel_misses_its_goal(self):
        machine = machine_that_reaches_all()
        self.assertEqual(machine.change(TRIAD, real_time=1.05), 5)
        self.assert_missed(machine, "1024: wanted 95 % interval of ratio >= 0.98, measured 0.95")

    def test_a_missed_target_fails_no_job_and_a_missed_acceptance_does(self):
        large = "copy/to_host/PinnedSpace/contiguous/bytes:268435456/"
        for factor, codes, words in ((1.03, (1, 0), "MISSED target"), (1.1, (1, 1), "FAILED acceptance")):
            machine = machine_that_reaches_all()
            machine.change(large, real_time=factor)
            both, acceptance = self.check(machine), self.call(self.write(machine), "--check=acceptance")
            self.assertEqual((both[0], acceptance[0]), codes)
            for _, text in (both, acceptance):
                self.assertIn(words, text)
                self.assertEqual(text.startswith("FAILED"), factor == 1.1)

    def test_a_copy_that_loses_a_little_misses_its_goal(self):
        for part, factor, words in (("copy/to_host/PinnedSpace/contiguous/bytes:16777216/", 1.008, "ratio >= 0.995"),
                                    ("copy/both/PinnedSpace/contiguous/bytes:16777216/", 1.015, "ratio >= 0.99"),
                                    ("copy/to_device/PinnedSpace/contiguous/bytes:4096/", 1.08, "ratio >= 1 or 300 ns later"),
                                    ("copy/to_device/PinnedSpace/strided/bytes:268435456/", 1.03, "ratio >= 0.98 or 300 ns later")):
            machine = machine_that_reaches_all()
            machine.change(part, real_time=factor)
            self.assert_missed(machine, f"{part[part.rfind(':') + 1:-1]}: wanted {words}")

    def test_acceptance_fails_if_all_is_10_percent_slower(self):
        for part in ("copy/to_device/MappedSpace/contiguous/bytes:268435456/", "stream/dot/MappedSpace/zero_copy",
                     "vector/copy/CudaSpace/double/element_wise/n:268435456/", "stream/triad/PinnedSpace/staged"):
            machine = machine_that_reaches_all()
            machine.change(part, real_time=1.1)
            self.assertEqual(self.call(self.write(machine), "--check=acceptance")[0], 1, part)

    def test_an_h100_is_sound_in_each_of_20_runs_and_in_none_if_it_is_10_percent_slower(self):
        """Runs are drawn from the repetitions that were measured there, at sizes of --quick where it has them."""
        goals = [goal for goal in load_goals(GOALS) if goal.kind == "acceptance"]
        # Neither 2^20 elements in mapped memory nor stencils on less than 2 GiB were measured.
        sizes = {"vector": {"MappedSpace": 2**22, "": 2**20}, "copy": {"": 2**24}, "stream": {"stencil": 2**31, "": 2**26}}

        def is_quick(case):
            of_group = sizes.get(case.group, {})
            size = of_group.get(case.space) or of_group.get(case.operation) or of_group.get("")
            return size is None or str(size) in (case.fields.get("n"), case.fields.get("bytes"))

        suite, cold = (load(RESULTS / "h100" / name) for name in ("suite.json", "cold.json"))
        measured = [case for case in (suite.cases | cold.cases).values() if case.values("ratio") and is_quick(case)]
        context, noise = suite.context, random.Random(1)

        def draw(slower):
            return Run(context, {case.name: Case(case.name, seconds=case.seconds, counters={
                "ratio": [noise.choice(case.values("ratio")) / slower for _ in range(21)]}) for case in measured})

        for _ in range(20):
            sound = Checked([draw(1)], goals)
            self.assertEqual((len(sound.of("acceptance")), sound.short("acceptance")), (14, []))
            short = {judgement.goal.select["group"] for judgement in Checked([draw(1.1)], goals).short("acceptance")}
            self.assertLessEqual({"vector", "copy", "transport", "stream"}, short)

    def test_the_five_worst_come_first_and_the_rest_on_demand(self):
        machine = machine_that_reaches_all()
        for kernel, factor in zip(("copy", "scale", "add", "nstream", "axpy", "triad"), range(105, 200, 10)):
            machine.change(f"vector/{kernel}/CudaSpace/double/element_wise/n:1024/", real_time=factor / 100)
        code, text = self.check(machine)
        self.assertIn("6 of 12 cases reach 95 % interval of ratio >= 0.98", text)
        kernels = [line.split("/")[1] for line in text.splitlines() if line.startswith("         vector/")]
        self.assertEqual(kernels, ["triad", "axpy", "nstream", "add", "scale"])
        self.assertIn("and 1 cases more: --verbose", text)
        self.assertNotIn("\nok ", text)
        code, text = self.check(machine, "--verbose")
        self.assertIn("vector/copy/CudaSpace/double/element_wise/n:1024: wanted", text)
        self.assertLess(text.index("MISSED"), text.index("\nok "))

    def test_an_old_file_without_the_requested_groups_misses_no_goal_for_lack_of_data(self):
        machine = machine_that_reaches_all()
        del machine.data["context"]["groups"], machine.data["context"]["filter"]
        machine.remove("stream/")
        machine.remove("copy/to_host/PinnedSpace/")
        self.assertEqual(self.check(machine)[0], 0)

    def test_a_goal_of_an_unrequested_group_is_not_missed(self):
        machine = machine_that_reaches_all(groups="copy")
        machine.data["benchmarks"] = [one for one in machine.data["benchmarks"] if "copy/" in one["name"][:5]]
        code, text = self.check(machine)
        self.assertEqual(code, 0, text)
        self.assertIn("acceptance: of 1 goals that were judged 1 hold", text)
        machine.remove("copy/to_host/PinnedSpace/")
        self.assertEqual(self.check(machine)[0], 1)
        machine.data["context"]["filter"] = "to_device"
        self.assertEqual(self.check(machine)[0], 0)

    def test_a_slower_baseline_hides_a_slower_kernel_and_a_faster_baseline_shows_it(self):
        machine = machine_that_reaches_all()
        machine.change(TRIAD, real_time=1.05, baseline_seconds=1.1)
        self.assertEqual(self.check(machine)[0], 0)
        machine.change(TRIAD, baseline_seconds=0.9)
        self.assert_missed(machine, TRIAD.rstrip("/"))

    def test_a_slower_copy_misses_its_goal_from_64_mib_on(self):
        machine = machine_that_reaches_all()
        machine.change("copy/to_host/PinnedSpace/contiguous/bytes:1048576/", real_time=1.05)
        self.assertEqual(self.check(machine)[0], 0)
        machine.change("copy/to_host/PinnedSpace/contiguous/bytes:67108864/", real_time=1.007)
        self.assert_missed(machine, "copy/to_host/PinnedSpace/contiguous/bytes:67108864", ">= 0.995")

    def test_times_are_compared_with_absolute_goals(self):
        for part, wanted in (("alloc/warm/View_PinnedSpace/baseline:View_CudaHostPinnedSpace/bytes:268435456/", "<= 2 µs"),
                             ("alloc/warm/PinnedSpace/baseline:cudaHostAlloc/bytes:16384/", "<= 500 ns"),
                             ("alloc/free_busy/", "<= 2 µs")):
            with self.subTest(part):
                machine = machine_that_reaches_all()
                machine.change(part, real_time=3)
                self.assert_missed(machine, wanted)

    def test_pages_registered_by_hand_are_a_baseline_at_every_size(self):
        for moved in ("67108864", "1073741824"):
            machine = machine_that_reaches_all()
            machine.change(f"alloc/cold/PinnedSpace/baseline:mmap_cudaHostRegister/bytes:{moved}/", baseline_seconds=0.95)
            self.assert_missed(machine, f"bytes:{moved}: wanted ratio >= 0.97, measured 0.9")
        machine = machine_that_reaches_all()
        machine.remove("baseline:mmap_cudaHostRegister/bytes:1073741824/")
        self.assert_missed(machine, "no data for bytes 1Gi")

    def test_whole_views_are_compared_with_their_baseline(self):
        for case, wanted in synthetic.VIEWS:
            machine = machine_that_reaches_all()
            machine.change(f"{case}/", baseline_seconds=0.7)
            self.assert_missed(machine, f"{case}: wanted ratio >= {wanted},")

    def test_absolute_goals_are_not_for_other_gpus(self):
        machine = machine_that_reaches_all(gpu="NVIDIA A100")
        machine.change("alloc/warm/PinnedSpace/", real_time=3)
        code, text = self.check(machine)
        self.assertEqual(code, 0, text)
        self.assertIn("not judged, meant for gpu ~ H200", self.check(machine, "--verbose")[1])

    def test_an_error_fails_even_if_no_goal_means_the_case(self):
        machine = machine_that_reaches_all()
        machine.data["benchmarks"].append(
            synthetic.entry("latency/fence/CudaSpace", 0, 1e-6, error_occurred=True, error_message="element 7 is 3"))
        code, text = self.check(machine)
        self.assertEqual(code, 1)
        self.assertIn("latency/fence/CudaSpace: element 7 is 3", text)
        self.assertNotIn("MISSED", text)

    def test_one_failed_repetition_among_good_ones_misses_the_goal(self):
        machine = machine_that_reaches_all()
        entry = next(one for one in machine.data["benchmarks"] if TRIAD in one["name"])
        entry |= {"error_occurred": True, "error_message": "wrong sum"}
        self.assert_missed(machine, "wrong sum")

    def test_a_value_that_is_no_number_is_an_error(self):
        for key, value in (("real_time", 0.0), ("baseline_seconds", float("nan")), ("real_time", float("inf"))):
            machine = machine_that_reaches_all()
            next(one for one in machine.data["benchmarks"] if TRIAD in one["name"])[key] = value
            code, text = self.check(machine)
            self.assertEqual(code, 1)
            self.assertIn("WRONG", text)

    def test_missing_data_misses_the_goal(self):
        for part, said in (("copy/both/", "no data"), ("copy/to_host/PinnedSpace/", "no data for operation to_host"),
                           ("vector/norm/CudaSpace/", "operation norm, words float/element_wise, n 2^10"),
                           ("vector/dot/CudaSpace/float/element_wise/n:268435456/", "words float/element_wise, n 2^28")):
            with self.subTest(part):
                machine = machine_that_reaches_all()
                machine.remove(part)
                self.assert_missed(machine, said)

    def test_a_missing_baseline_misses_the_goal(self):
        machine = machine_that_reaches_all()
        for entry in machine.data["benchmarks"]:
            if TRIAD in entry["name"]:
                del entry["baseline_seconds"], entry["ratio"]
        self.assert_missed(machine, "ratio was not measured")

    def test_a_quick_run_misses_no_target_for_lack_of_data_but_needs_all_of_acceptance(self):
        machine = machine_that_reaches_all()
        goals = self.folder / "goals.json"
        select = {"group": "copy", "space": "PinnedSpace", "words": "contiguous"}
        for kind in ("target", "acceptance"):
            goals.write_text(json.dumps({"goals": [{
                "name": "g", "kind": kind, "why": "w", "select": select, "covers": {"bytes": [5]}, "quantity": "ratio",
                "at_least": 0.1}]}))
            machine.data["context"]["mode"] = "full"
            self.assertIn("no data for bytes 5", self.check(machine, "--goals", goals)[1])
            machine.data["context"]["mode"] = "quick"
            found, text = self.check(machine, "--goals", goals)
            self.assertEqual("no data" in text, kind == "acceptance", text)
            self.assertEqual(found, 0 if kind == "target" else 1, text)

    def test_results_to_which_no_goal_applies_are_skipped(self):
        machine = synthetic.Machine(gpu="", gpus="0", groups="latency")
        machine.add("latency/fence/HostSpace/idle", 1e-6, 1e-6)
        code, text = self.check(machine)
        self.assertEqual(code, 4, text)
        self.assertIn("target: of 0 goals that were judged 0 are reached", text)

    def test_goals_that_follow_count_once_there_is_data(self):
        goals = self.folder / "goals.json"
        goals.write_text(json.dumps({"goals": [
            {"name": "g", "kind": "target", "why": "w", "select": {"group": "copy", "space": "PinnedSpace", "words": "contiguous"},
             "quantity": "ratio", "at_least": 0.9},
            {"name": "later", "kind": "target", "why": "w", "select": {"group": "later", "words": "~ automatic"}, "following": "a group",
             "against": [{"words": "staged"}, {"words": "zero_copy"}], "quantity": "times_as_fast", "at_least": 0.95}]}))
        machine = machine_that_reaches_all()
        code, text = self.check(machine, "--goals", goals, "--verbose")
        self.assertIn("of 1 goals that were judged 1 are reached", text)
        self.assertIn("follows: a group", text)
        for words, seconds in (("automatic", 0.0105), ("staged", 0.0103), ("zero_copy", 0.02)):
            machine.add(f"later/triad/PinnedSpace/{words}/bytes:1073741824", seconds, bytes=1.04e9)
        self.assertIn("of 2 goals that were judged 2 are reached", self.check(machine, "--goals", goals)[1])
        machine.change("/automatic/", real_time=1.1)
        code, text = self.check(machine, "--goals", goals)
        self.assertTrue(code == 1 and "times as fast >= 0.95, measured 0.8" in text, text)

    def test_unusable_files_are_errors(self):
        path = self.folder / "bad.json"
        for text in ("", '{"context": {}, "benchmarks": []}', '{"benchmarks": 3}', "[1]", '{"context": {}, "benchm'):
            path.write_text(text, encoding="utf-8")
            code, said = self.call(path, "--check")
            self.assertEqual(code, 2, said)
            self.assertIn("bad.json", said)
        self.assertEqual(self.call(self.folder / "none.json", "--check")[0], 2)

    def test_unusable_goals_are_errors(self):
        good = {"name": "g", "kind": "target", "why": "w", "select": {"group": "copy"}, "quantity": "ratio", "at_least": 1}
        for changes in ({"at_most": 2}, {"select": {}}, {"statistic": "mode"}, {"typo": 1}, {"kind": "wish"}, {"needs": ["cuda"]},
                        {"against": {"space": "HostSpace"}}):
            path = self.folder / "goals.json"
            path.write_text(json.dumps({"goals": [good | changes]}), encoding="utf-8")
            self.assertEqual(self.check(machine_that_reaches_all(), "--goals", path)[0], 2, changes)


if __name__ == "__main__":
    unittest.main()
