# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""report.py compare finds a planted change, takes noise for noise, and says what it cannot judge."""

import pathlib
import random
import unittest

import synthetic
from support import ReportTest

from report.compare import Question, changes
from report.results import Case, Run, load
from report.significance import correct, holm, mann_whitney

H100 = pathlib.Path(__file__).resolve().parents[2] / "perf" / "results" / "h100" / "suite.json"

PART = "vector/axpy/CudaSpace/float/element_wise/n:65536"


class Compare(ReportTest):
    def compare(self, old, new, *arguments):
        return self.call("compare", self.write(old, "old.json"), self.write(new, "new.json"), *arguments)

    def test_noise_is_no_regression(self):
        for seed in range(2, 7):
            code, text = self.compare(synthetic.machine(1), synthetic.machine(seed), "--minimum", "0")
            self.assertEqual(code, 0, text)
            self.assertIn("0 of 496 cases are slower, 0 faster, 496 unchanged", text)

    def test_a_busy_machine_is_not_taken_for_a_change(self):
        """Other programs slow some cases down, the plain side of them as well."""
        new, scatter = synthetic.machine(2), random.Random(1)
        factors = {}
        for one in new.data["benchmarks"]:
            for key in ("real_time", "baseline_seconds"):
                if key in one:
                    one[key] *= factors.setdefault((one["name"], key), scatter.uniform(1, 1.5))
        new.data["context"] |= {"load_avg": [6.0, 1.0, 1.0], "num_cpus": 2}
        code, text = self.compare(synthetic.machine(1), new)
        self.assertEqual(code, 3, text)
        self.assertIn("0 of 496 cases are slower", text)
        self.assertIn("nothing can be judged", text)
        self.assertIn("3.0 processes waited for each core when", text)

    def test_one_case_that_is_6_percent_slower_is_found(self):
        new = synthetic.machine(2)
        self.assertEqual(new.change(PART + "/", real_time=1.06), 15)
        for quantity in ("seconds", "ratio"):
            code, text = self.compare(synthetic.machine(1), new, "--quantity", quantity)
            self.assertEqual(code, 1, text)
            self.assertIn(f"SLOWER {PART}", text)
            self.assertIn("1 of ", text)

    def test_one_case_that_is_faster_is_no_regression(self):
        new = synthetic.machine(2)
        new.change(PART + "/", real_time=0.9)
        code, text = self.compare(synthetic.machine(1), new)
        self.assertEqual(code, 0, text)
        self.assertIn(f"faster {PART}: -1", text)

    def test_a_sure_change_below_the_minimum_does_not_count(self):
        new = synthetic.machine(2)
        new.change(PART + "/", real_time=1.03)
        self.assertEqual(self.compare(synthetic.machine(1), new)[0], 0)
        self.assertEqual(self.compare(synthetic.machine(1), new, "--minimum", "0.02")[0], 1)

    def test_too_few_repetitions_are_reported(self):
        new = synthetic.machine(2, repetitions=3)
        new.change(PART + "/", real_time=1.5)
        code, text = self.compare(synthetic.machine(1, repetitions=3), new)
        self.assertEqual(code, 3)
        self.assertIn("496 cannot be judged", text)
        self.assertTrue(text.startswith(f"?      {PART}: +5"), text)

    def test_a_case_that_scatters_too_much_cannot_be_judged(self):
        old, new = synthetic.machine(1), synthetic.machine(2)
        for place, machine in enumerate((old, new)):
            scatter = random.Random(place)
            for one in machine.data["benchmarks"]:
                if PART + "/" in one["name"]:
                    one["real_time"] *= scatter.uniform(0.7, 1.3)
        code, text = self.compare(old, new)
        self.assertEqual(code, 3, text)
        self.assertIn("0 faster, 495 unchanged, 1 cannot be judged", text)
        self.assertIn(f"?      {PART}: ", text)
        self.assertEqual(self.compare(old, new, "--judge", "1")[0], 0)
        new.change(PART + "/", real_time=3)
        self.assertEqual(self.compare(old, new)[0], 1)

    def test_a_quick_run_sees_10_percent_through_the_noise_of_an_h100(self):
        """Runs of as many cases as --quick has are drawn from the repetitions that were measured there."""
        noise = random.Random(1)
        measured = noise.sample([case for case in load(H100).cases.values() if len(case.seconds) >= 8], 170)

        def draw(factor):
            return Run({}, {case.name: Case(case.name, seconds=[
                factor * noise.choice(case.seconds) * noise.gauss(1, 0.0005) for _ in range(21)]) for case in measured})

        old = draw(1)
        same, slower = changes(old, draw(1), Question()), changes(old, draw(1.1), Question())
        self.assertLessEqual(sum(change.is_sure for change in same), 1)
        found = sum(change.is_sure and change.effect > 0 for change in slower) / len(measured)
        overlooked = sum(change.would_be_seen for change in slower) / len(measured)
        self.assertGreater(found, 0.85)
        self.assertLess(overlooked, 0.05)
        self.assertGreater(sum(change.is_judged for change in same) / len(measured), 0.8)

    def test_fewer_cases_need_fewer_repetitions(self):
        old, new = synthetic.machine(1, repetitions=6), synthetic.machine(2, repetitions=6)
        new.change(PART + "/", real_time=1.07)
        self.assertEqual(self.compare(old, new)[0], 3)
        code, text = self.compare(old, new, "--filter", "axpy/CudaSpace/.*/element_wise/")
        self.assertEqual(code, 1)
        self.assertIn("1 of 8 cases are slower", text)

    def test_other_machines_and_missing_cases_are_reported(self):
        new = synthetic.machine(2, gpu="NVIDIA H100", commit="fedcba987654", kokkos_version="5.1.0")
        new.remove(PART + "/")
        _, text = self.compare(synthetic.machine(1), new)
        for words in ("gpu: NVIDIA H200 -> NVIDIA H100", "commit: ", "kokkos_version: 5.0.2 -> 5.1.0",
                      f"1 cases are in {self.folder / 'old.json'} alone, such as {PART}"):
            self.assertIn("note: ", text)
            self.assertIn(words, text)

    def test_a_wrong_new_result_fails(self):
        new = synthetic.machine(2)
        new.data["benchmarks"][0] |= {"error_occurred": True, "error_message": "wrong"}
        self.assertEqual(self.compare(synthetic.machine(1), new)[0], 1)

    def test_nothing_in_common_is_an_error(self):
        old, new = synthetic.Machine(), synthetic.Machine()
        old.add("copy/a/b", 1.0)
        new.add("copy/c/d", 1.0)
        self.assertEqual(self.compare(old, new)[0], 2)

    def test_holm_corrects_as_by_hand(self):
        for corrected, expected in zip(holm([0.04, 0.01, 0.03]), [0.06, 0.03, 0.06]):
            self.assertAlmostEqual(corrected, expected)

    def test_few_cases_with_few_values_need_less_significance_than_many(self):
        sizes = [(15, 15)] * 200 + [(5, 5)] * 2 + [(3, 3)] * 9
        corrected = correct([1e-5] * 200 + [0.008] * 2 + [0.1] * 9, sizes, 0.05)
        self.assertEqual([round(p, 6) for p in (corrected[0], corrected[200], corrected[-1])], [0.004, 0.032, 1])

    def test_the_u_test_agrees_with_scipy(self):
        for before, after, expected in (
                ([1, 2, 3], [4, 5, 6], 0.1),
                ([1.1, 2.2, 3.3, 4.4, 9.9], [2.5, 5.5, 6.6, 7.7], 0.4126984126984127),
                (range(15), range(15, 30), 1.28934500757877e-08),
                ([1, 2, 2, 3, 5], [2, 3, 4, 4, 6, 7], 0.13862587987892763),
                ([1, 1, 1], [1, 1], 1.0)):
            self.assertAlmostEqual(mann_whitney(before, after) / expected, 1, places=12)


if __name__ == "__main__":
    unittest.main()
