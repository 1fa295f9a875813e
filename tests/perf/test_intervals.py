# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Goals for kernels of few microseconds are judged by the 95 % interval over runs of the suite."""

import unittest

from support import GoalTest, machine_that_reaches_all

from report.significance import interval

TRIAD = "vector/triad/CudaSpace/double/element_wise/n:1024/"  # wanted: 0.98
COPY = "copy/to_host/PinnedSpace/contiguous/bytes:268435456/"  # wanted: 0.995, of no interval


class Intervals(GoalTest):
    def check_runs(self, *factors, part=TRIAD):
        """As of runs that differ by these factors in the time of one benchmark."""
        paths = []
        for number, factor in enumerate(factors):
            machine = machine_that_reaches_all(seed=number)
            machine.change(part, real_time=factor)
            paths.append(self.write(machine, f"run{number}.json"))
        return self.call(*paths, "--check")

    def test_three_runs_whose_interval_reaches_a_goal_reach_it(self):
        self.assertEqual(self.check_runs(1.024)[0], 1)
        code, text = self.check_runs(1.018, 1.024, 1.03)
        self.assertEqual(code, 0, text)

    def test_three_runs_that_agree_on_less_miss_it_and_tell_their_interval(self):
        code, text = self.check_runs(1.04, 1.041, 1.042)
        self.assertEqual(code, 1, text)
        self.assertEqual(text.count("MISSED"), 1, text)
        self.assertRegex(text, r"wanted 95 % interval of ratio >= 0.98, measured 0\.96.*; 0\.9[56]\d* to 0\.96\d* over runs")

    def test_runs_that_do_not_agree_are_judged_by_their_median(self):
        code, text = self.check_runs(1.0, 1.1, 1.25)
        self.assertEqual(code, 1, text)
        self.assertIn("no three runs that agree: judged by the median", text)
        self.assertEqual(self.check_runs(1.0, 1.0, 1.25)[0], 0)

    def test_two_runs_have_no_interval(self):
        code, text = self.check_runs(1.022, 1.026)
        self.assertEqual(code, 1, text)
        self.assertIn("judged by the median", text)

    def test_a_run_that_is_given_three_times_is_one_run(self):
        paths = []
        for number, factor in enumerate((1.0, 1.05)):
            machine = machine_that_reaches_all(seed=number)
            machine.change(TRIAD, real_time=factor)
            paths.append(self.write(machine, f"run{number}.json"))
        paths += [paths[1], self.write(machine, "copy.json")]
        code, text = self.call(*paths, "--check")
        self.assertIn("no three runs that agree: judged by the median", text)
        self.assertEqual(self.call(*paths[:2], "--check"), (code, text))

    def test_a_run_that_lacks_a_benchmark_is_none_of_its_three(self):
        paths = []
        for number, factor in enumerate((1.018, 1.024, 1.03)):
            machine = machine_that_reaches_all(seed=number)
            machine.change(TRIAD, real_time=factor)
            if number == 0:
                machine.remove(TRIAD)
            paths.append(self.write(machine, f"run{number}.json"))
        self.assertEqual(self.call(*paths, "--check")[0], 1)

    def test_other_goals_are_judged_by_all_repetitions(self):
        code, text = self.check_runs(1.004, 1.01, 1.016, part=COPY)
        self.assertEqual(code, 1, text)
        self.assertNotIn("over runs", text)

    def test_the_interval_is_that_of_student(self):
        lower, upper = interval([[1.0, 5.0, 1.01], [1.013], [1.02, 1.014]])
        middle, deviation = (1.01 + 1.013 + 1.017) / 3, 0.003511885
        self.assertAlmostEqual(lower, middle - 4.303 * deviation / 3**0.5, 6)
        self.assertAlmostEqual(upper, middle + 4.303 * deviation / 3**0.5, 6)
        self.assertIsNone(interval([[1.0], [1.0]]))
        self.assertIsNone(interval([[1.0], [1.1], [1.2]]))


if __name__ == "__main__":
    unittest.main()
