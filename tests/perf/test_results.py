# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""How results are read, made small and taken together."""

import itertools
import json
import math
import unittest

import synthetic
from support import ReportTest

from report.results import Case, load, load_all
from report.series import crossings, ways


class Results(ReportTest):
    def test_names_are_read(self):
        case = Case("alloc/cold/PinnedSpace/View/baseline:cudaHostAlloc/bytes:4096")
        self.assertEqual((case.group, case.operation, case.space), ("alloc", "cold", "PinnedSpace"))
        self.assertEqual(case.words, ["View"])
        self.assertEqual(case.fields, {"baseline": "cudaHostAlloc", "bytes": "4096"})

    def test_suffixes_units_and_aggregates_of_google_benchmark_go(self):
        machine = synthetic.Machine()
        name = "copy/to_host/PinnedSpace/bytes:64"
        for unit, time in (("ns", 2e9), ("ms", 2e3), ("s", 2.0)):
            run_name = f"{name}/min_time:0.500/min_warmup_time:0.100/iterations:7/repeats:3/manual_time"
            machine.data["benchmarks"].append(
                synthetic.entry(name, 0, 1.0) | {"run_name": run_name, "real_time": time, "time_unit": unit})
        machine.data["benchmarks"].append(
            synthetic.entry(name, 0, 9.0) | {"name": name + "_mean", "run_type": "aggregate"})
        run = load(self.write(machine))
        self.assertEqual(list(run.cases), [name])
        self.assertEqual(run.cases[name].seconds, [2.0, 2.0, 2.0])

    def test_left_out_benchmarks_are_kept_apart(self):
        machine = synthetic.machine()
        machine.data["benchmarks"].append(
            synthetic.entry("latency/x/CudaSpace", 0, 0.0, skipped=True, skip_message="no memory"))
        run = load(self.write(machine))
        self.assertEqual(run.left_out, {"latency/x/CudaSpace": "no memory"})
        self.assertEqual(run.errors(), [])

    def test_the_small_form_keeps_medians_counters_labels_and_errors(self):
        machine = synthetic.machine()
        machine.data["benchmarks"].append(
            synthetic.entry("latency/fence/CudaSpace", 0, 1.0, error_occurred=True, error_message="wrong"))
        before, small = self.write(machine), self.folder / "small.json"
        self.assertEqual(self.call("condense", before, small), (0, ""))
        old, new = load(before), load(small)
        self.assertEqual(old.cases.keys(), new.cases.keys())
        self.assertEqual(old.errors(), new.errors())
        for name, case in old.cases.items():
            self.assertEqual(case.label, new.cases[name].label)
            self.assertEqual(case.bytes, new.cases[name].bytes)
            self.assertEqual(case.counters.keys(), new.cases[name].counters.keys())
            for quantity in ("seconds", "baseline_seconds", "ratio", "bytes_per_second", "p99_seconds"):
                self.assertEqual(len(case.values(quantity)), len(new.cases[name].values(quantity)))
                if summary := case.summary(quantity):
                    for exact, rounded in zip(summary, new.cases[name].summary(quantity)):
                        self.assertTrue(math.isclose(exact, rounded, rel_tol=5.1e-4), (name, quantity))
        self.assertLess(small.stat().st_size * 5, before.stat().st_size)
        self.assertEqual(self.call(before, "--check"), self.call(small, "--check"))

    def test_the_small_form_tells_nothing_of_the_owner_and_is_not_made_smaller(self):
        first, second = self.folder / "1.json", self.folder / "2.json"
        machine = synthetic.machine(ranks="2", rank_0="host:secret cores:0", rank_1="host:other cores:1")
        self.call("condense", self.write(machine), second)
        self.assertIn("host:secret", second.read_text(encoding="utf-8"))
        self.call("condense", "--anonymous", self.write(machine), first)
        self.call("condense", first, second)
        self.assertNotIn("secret", first.read_text(encoding="utf-8"))
        self.assertIn("host:host-2 cores:1", first.read_text(encoding="utf-8"))
        self.assertEqual(first.read_text(encoding="utf-8"), second.read_text(encoding="utf-8"))
        context = json.loads(first.read_text(encoding="utf-8"))["context"]
        self.assertFalse({"host_name", "executable", "load_avg"} & context.keys())
        self.assertEqual(context["gpu"], "NVIDIA H200")

    def test_other_json_is_refused(self):
        full, small = self.write(synthetic.machine(1, 3, (10,), ("triad",)), "full.json"), self.folder / "small.json"
        self.call("condense", full, small)
        bad = self.folder / "bad.json"
        for good, where, wrong in itertools.chain(
                itertools.product([full, small], ["context", "left_out"], ["x", 7]),
                itertools.product([small], ["seconds", "baseline_seconds", "bytes"], ["x", None, ["x"], [float("nan")]]),
                [(small, "seconds", [0, 1, 2]), (small, "name", "copy/to_host/x/bytes:many"), (small, "errors", 7)],
                [(full, "name", "copy/to_host/x/n:inf"), (full, "ranks", "several")]):
            data = json.loads(good.read_text(encoding="utf-8"))
            entry = (data["cases"] if "cases" in data else data["benchmarks"])[0]
            entry.pop("run_name", None)
            {"context": data, "left_out": data, "ranks": data["context"]}.get(where, entry)[where] = wrong
            bad.write_text(json.dumps(data), encoding="utf-8")
            for arguments in (bad, "--check"), ("compare", full, bad), ("condense", bad, self.folder / "out.json"):
                self.assertEqual(self.call(*arguments)[0], 2, (good, where, wrong, arguments))

    def test_a_file_that_cannot_be_written_is_reported(self):
        results = self.write(synthetic.machine())
        for out in ("no/such/folder.json", "/dev/full"):
            code, text = self.call("condense", results, self.folder / out)
            self.assertEqual(code, 2, text)
            self.assertIn("report.py: ", text)

    def test_files_of_one_configuration_are_joined_and_others_kept_apart(self):
        paths = [self.write(machine, f"{place}.json") for place, machine in enumerate(
            (synthetic.machine(ranks="2"), synthetic.machine(1), synthetic.machine(2)))]
        one, two = load_all(paths)
        self.assertEqual((one.ranks, two.ranks), (1, 2))
        self.assertEqual({len(case.seconds) for case in one.cases.values()}, {30})
        self.assertEqual({len(case.seconds) for case in two.cases.values()}, {15})

    def test_files_of_groups_of_one_run_name_the_groups_of_all(self):
        paths = [self.write(synthetic.machine(groups=groups), f"{place}.json") for place, groups in enumerate(("copy,vector", "vector,alloc"))]
        (run,) = load_all(paths)
        self.assertEqual(run.context["groups"], "copy,vector,alloc")

    def test_baselines_of_one_label_are_kept_apart_and_those_of_one_name_are_one(self):
        machine = synthetic.Machine(1, 3)
        for name, baseline in (("idle", 2.6e-6), ("launch_and_fence", 12e-6)):
            machine.add(f"latency/fence/CudaSpace/{name}", 1e-6, baseline, label="cudaStreamSynchronize")
        times = ways(load(self.write(machine)).cases.values())
        self.assertAlmostEqual(times["cudaStreamSynchronize for fence, CudaSpace, idle"][0].median, 2.6e-6, delta=1e-7)
        self.assertEqual(len(times), 4)
        machine = synthetic.Machine(1, 3)
        for space in ("PinnedSpace", "View_PinnedSpace"):
            machine.add(f"alloc/warm/{space}/baseline:driver_host_pool/bytes:64", 1e-6, 4e-6)
        self.assertEqual(set(ways(load(self.write(machine)).cases.values())),
                         {"PinnedSpace", "View_PinnedSpace", "driver_host_pool"})

    def test_the_crossing_is_where_both_take_the_same_time(self):
        machine = synthetic.Machine()
        for fraction in (0.01, 0.1, 1):
            machine.add(f"transport/read/MappedSpace/fraction:{fraction}/passes:1", fraction)
            machine.add(f"transport/read/MappedSpace/fraction:{fraction}/passes:2", fraction * 1000)
            for passes in (1, 2):
                machine.add(f"transport/read/PinnedSpace/fraction:{fraction}/passes:{passes}", 0.3)
        (crossing,) = crossings(load(self.write(machine)))
        self.assertEqual(crossing.passes(), [1, 2])
        self.assertAlmostEqual(crossing.fraction(1), 0.3, delta=0.003)
        self.assertIsNone(crossing.fraction(2))

    def test_the_crossing_of_sides_measured_in_turn_is_the_same(self):
        machine = synthetic.Machine()
        for fraction in (0.01, 0.1, 1):
            machine.add(f"transport/read/MappedSpace/baseline:staged/fraction:{fraction}/passes:1", fraction, 0.3)
        (crossing,) = crossings(load(self.write(machine)))
        self.assertAlmostEqual(crossing.fraction(1), 0.3, delta=0.003)


if __name__ == "__main__":
    unittest.main()
