# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Copies and streamed loops are held against what the links carry, of one GPU and of several."""

import unittest

import synthetic
from support import GoalTest, machine_that_reaches_all


class Limits(GoalTest):
    def test_batches_and_transposed_copies_are_compared_with_baselines_and_link(self):
        for part, factors, wanted in (
                ("copy/batch/PinnedSpace/to_host/scattered/baseline:single", {"baseline_seconds": 0.6}, "wanted ratio >= 5, measured 4"),
                ("copy/batch/PinnedSpace/to_device/scattered/baseline:best/piece:4096", {"real_time": 1.7}, "ratio >= 0.95"),
                ("copy/prepared_batch/PinnedSpace/to_host/scattered/baseline:best/piece:64/bytes:262144", {"real_time": 1.2},
                 "ratio >= 0.9 or 1.2 µs later"),
                ("copy/batch/PinnedSpace/to_host/neighbours", {"real_time": 1.05, "baseline_seconds": 1.05},
                 "rate / limit to host >= 0.95, measured 0.93"),
                ("copy/to_host/PinnedSpace/transposed/bytes:1048576/", {"real_time": 1.1}, "ratio >= 0.93")):
            with self.subTest(part):
                machine = machine_that_reaches_all()
                self.assertGreater(machine.change(part, **factors), 0)
                self.assert_missed(machine, wanted)

    def test_a_copy_of_microseconds_may_take_1200_ns_more(self):
        for later, reached in ((1.28, True), (1.32, False)):  # of 4 µs
            with self.subTest(later):
                machine = machine_that_reaches_all()
                machine.change("copy/prepared_batch/PinnedSpace/to_host/scattered/baseline:best/piece:64/bytes:1024",
                               real_time=later)
                self.assertEqual(self.check(machine)[0] == 0, reached)

    def test_two_gpus_are_compared_with_both_links(self):
        code, text = self.check(machine_that_reaches_all(), "--verbose")
        self.assertIn("meant for backend = cuda, ranks = 1, limit_all_two_to_one >= 1", text)
        machine = machine_that_reaches_all()
        synthetic.add_two_gpus(machine)
        code, text = self.check(machine)
        self.assertEqual(code, 0, text)
        self.assertIn("target: of 49 goals that were judged 49 are reached", text)
        for part, factor, wanted in (("dot/PinnedSpace/all_devices/baseline:one_device", 0.95, "ratio >= 1.9"),
                                     ("triad/PinnedSpace/all_devices/baseline:all_links", 0.95, "ratio >= 0.97, measured 0.9"),
                                     ("dot/PinnedSpace/all_devices/baseline:all_links", 0.95, "ratio >= 0.97, measured 0.9")):
            with self.subTest(part):
                machine = machine_that_reaches_all()
                synthetic.add_two_gpus(machine)
                self.assertEqual(machine.change(part, baseline_seconds=factor), machine.repetitions)
                self.assert_missed(machine, wanted)

    def test_whole_results_have_copies_alone(self):
        machine = machine_that_reaches_all()
        synthetic.add_two_gpus(machine)
        machine.remove("baseline:link/")
        machine.remove("baseline:all_links/")
        code, text = self.check(machine, "--verbose")
        self.assertEqual(code, 1)
        self.assertEqual(text.count("MISSED target: streamed triad, beside the link"), 2)
        self.assertEqual(text.count("MISSED target: all GPUs of a process, "), 4)

    def test_memory_that_slows_loops_and_copies_alike_is_reported(self):
        for part, wanted in (("stream/triad/PinnedSpace/staged/baseline:link", "rate / limit two to one >= 0.9"),
                             ("stream/dot/PinnedSpace/staged/baseline:link", "rate / limit to device >= 0.97"),
                             ("triad/PinnedSpace/all_devices/baseline:all_links", "rate / limit all two to one >= 0.9"),
                             ("dot/PinnedSpace/all_devices/baseline:all_links", "rate / limit all to device >= 0.95")):
            with self.subTest(part):
                machine = machine_that_reaches_all()
                synthetic.add_two_gpus(machine)
                self.assertGreater(machine.change(part, real_time=1.2, baseline_seconds=1.2), 0)
                self.assert_missed(machine, wanted)

    def test_ranks_that_slow_each_other_down_miss_the_rate_of_all_links(self):
        machine = machine_that_reaches_all()
        synthetic.add_ranks(machine, rate=0.9 * synthetic.BOTH)
        self.assert_missed(machine, "rate / limit both >= 0.97, measured 0.")
        machine.change("copy/to_host/PinnedSpace/contiguous/bytes:67108864", baseline_seconds=0.9)
        self.assertEqual(self.check(machine, "--check=acceptance")[0], 0)  # with ranks, which disturb each other
        machine.change("copy/to_host/PinnedSpace/contiguous/bytes:67108864", baseline_seconds=0.9)
        self.assertEqual(self.check(machine, "--check=acceptance")[0], 1)

    def test_streamed_loops_are_compared_with_link_and_baselines(self):
        for part, factors, wanted in (
                ("stream/triad/PinnedSpace/staged/baseline:link", {"real_time": 1.02}, "ratio >= 0.98, measured 0.9"),
                ("stream/dot/PinnedSpace/staged/baseline:link", {"baseline_seconds": 0.975}, "ratio >= 0.98, measured 0.9"),
                ("stream/update/PinnedSpace/staged/baseline:pipeline", {"baseline_seconds": 0.98}, "ratio >= 0.99"),
                ("stream/update/PinnedSpace/staged/baseline:serial", {"baseline_seconds": 0.96},
                 "ratio / (limit both / limit to device) >= 0.97, measured 0.9"),
                ("chain/baseline:passes/steps:7/", {"real_time": 1.1}, "steps:7/bytes:1073741824: wanted ratio / steps >= 0.85"),
                ("stream/dot/MappedSpace/zero_copy", {"real_time": 1.02}, "ratio >= 0.99"),
                ("transport/dot/MappedSpace/automatic", {"real_time": 1.05}, "ratio >= 0.95")):
            with self.subTest(part):
                machine = machine_that_reaches_all()
                self.assertGreater(machine.change(part, **factors), 0)
                self.assert_missed(machine, wanted)
        machine = machine_that_reaches_all()
        machine.remove("/steps:5/")
        self.assert_missed(machine, "no data for steps 5")

    def test_several_files_are_judged_together(self):
        one, two = machine_that_reaches_all(), machine_that_reaches_all()
        synthetic.add_ranks(two)
        two.remove("vector/")
        files = self.write(one, "1.json"), self.write(two, "2.json")
        code, text = self.call(*files, "--check")
        self.assertEqual(code, 0, text)
        two.change("copy/to_host/PinnedSpace/contiguous/bytes:268435456/", real_time=1.05)
        self.write(two, "2.json")
        self.assertEqual(self.call(*files, "--check")[0], 1)


if __name__ == "__main__":
    unittest.main()
