# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""What report.py makes of files, terminals and installations that are out of order."""

import contextlib
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest
from unittest import mock

import synthetic
from support import ReportTest

from report import sections
from report.cli import main
from report.compare import Question, changes
from report.results import Case, Run, load_all
from report.significance import mann_whitney

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "perf" / "report.py"
FENCE = "latency/fence/CudaSpace/idle"
COPY = "copy/to_host/PinnedSpace/contiguous/bytes:268435456"


def small(**context):
    machine = synthetic.Machine(1, 3, **context)
    machine.add(FENCE, 2.5e-6, 2.6e-6)
    machine.add(COPY, 5e-3, 5e-3, bytes=268435456.0)
    return machine


class Misuse(ReportTest):
    def test_a_truncated_file_is_reported(self):
        text = json.dumps(small().data)
        for end in (0, 1, len(text) // 2, len(text) - 1):
            path = self.folder / "cut.json"
            path.write_text(text[:end], encoding="utf-8")
            code, said = self.call(path, "--check")
            self.assertEqual(code, 2)
            self.assertIn("was the run cut off?", said)

    def test_a_context_that_makes_no_sense_is_refused(self):
        for key, value in (("groups", 7), ("gpu", []), ("ranks", "0"), ("ranks", "-1"), ("ranks", "10000000000"), ("host_cpu", None)):
            code, said = self.call(self.write(small(**{"gpu": "", key: value})), "--check")
            self.assertEqual(code, 2, (key, said))
            self.assertNotIn("Traceback", said, key)

    def test_no_json_is_too_deep(self):
        path = self.folder / "deep.json"
        path.write_text("[" * 100000, encoding="utf-8")
        self.assertEqual(self.call(path, "--check")[0], 2)

    def test_times_of_the_baseline_and_ratios_are_above_zero(self):
        for key in ("baseline_seconds", "ratio", "rank_0_seconds"):
            for value in (0, -1, float("nan"), float("inf")):
                machine = small()
                for one in machine.data["benchmarks"]:
                    one[key] = value
                path = self.write(machine)
                for command in (path, "--output", self.folder / "o.html"), ("compare", path, path, "--quantity", "ratio"):
                    code, said = self.call(*command)
                    self.assertNotIn("Traceback", said)
                    self.assertIn(code, (1, 2), (key, value))

    def test_a_limit_of_zero_or_none_at_all_is_no_limit(self):
        for value in ("0", "nan", "inf", "-1"):
            (run,) = load_all([self.write(small(limit_to_host=value))])
            self.assertIsNone(run.limit("to_host"))
            self.assertIsNone(run.limit("limit_to_host"))

    def test_a_benchmark_that_fails_in_each_repetition_is_one_error(self):
        machine = small()
        for one in machine.data["benchmarks"]:
            one |= {"error_occurred": True, "error_message": "wrong"}
        code, said = self.call(self.write(machine), "--check")
        self.assertEqual(code, 1)
        self.assertIn("results: 2 errors in 2 benchmarks", said)
        self.assertEqual(said.count("WRONG"), 2)

    def test_other_failures_have_another_exit_code(self):
        out = io.StringIO()
        with mock.patch("report.cli.load_all", side_effect=ZeroDivisionError), contextlib.redirect_stderr(out):
            self.assertEqual(main([str(self.write(small())), "--check"]), 2)
        self.assertIn("ZeroDivisionError", out.getvalue())

    def test_hosts_and_commits_stay_apart_and_have_titles_of_their_own(self):
        files = [self.write(small(host_name=name, commit=commit), f"{name}{commit}.json")
                 for name, commit in (("n1", "a"), ("n2", "a"), ("n1", "b"))]
        self.assertEqual({run.title for run in load_all(files)}, {f"NVIDIA H200 ({each})" for each in ("n1, a", "n2, a", "n1, b")})
        self.assertEqual([run.title for run in load_all(files[:1] * 2)], ["NVIDIA H200"])

    def test_files_that_are_joined_have_the_groups_of_both(self):
        copies = small(groups="copy", filter="contiguous")
        goals = self.folder / "goals.json"
        goals.write_text(json.dumps({"goals": [{"name": "g", "kind": "acceptance", "why": "w", "quantity": "ratio", "at_least": 1,
                                                "select": {"group": "alloc"}}]}), encoding="utf-8")
        files = self.write(copies, "1.json"), self.write(small(groups="alloc"), "2.json")
        for order in files, files[::-1]:
            code, said = self.call(*order, "--check=acceptance", "--goals", goals)
            self.assertEqual(code, 1, said)
            self.assertIn("no data", said)

    def test_invalid_fractions_are_refused(self):
        path = self.write(small())
        for option in "--minimum", "--judge", "--significance":
            for value in "-1", "nan", "inf", "x":
                with self.assertRaises(SystemExit) as ended:
                    self.call("compare", path, path, option, value)
                self.assertEqual(ended.exception.code, 2)

    def test_a_wrong_old_result_is_reported(self):
        old = small()
        for one in old.data["benchmarks"][:3]:
            one |= {"error_occurred": True, "error_message": "wrong"}
        said = self.call("compare", self.write(old, "old.json"), self.write(small(), "new.json"))[1]
        self.assertIn(f"note: 1 results were wrong in {self.folder / 'old.json'} already, such as {FENCE}: wrong", said)

    def test_times_of_ranks_outside_of_the_run_are_ignored(self):
        machine = small(ranks="2", rank_0="host:a", rank_1="garbage")
        for one in machine.data["benchmarks"]:
            one |= {"rank_0_seconds": 1.0, "rank_3_seconds": 2.0}
        page = self.folder / "o.html"
        self.assertEqual(self.call(self.write(machine), "--output", page)[0], 0)
        self.assertNotIn("the slowest is", page.read_text(encoding="utf-8"))

    def test_long_texts_are_shortened_to_their_difference(self):
        old, new = (small(kokkos_configuration="Kokkos " * 100 + end, **more) for end, more in (("CUDA", {"ecc": ""}), ("HIP", {})))
        said = self.call("compare", self.write(old, "old.json"), self.write(new, "new.json"))[1]
        self.assertRegex(said, r"kokkos_configuration: [.]{3}.* CUDA -> [.]{3}.* HIP\n")
        self.assertNotIn("unknown -> unknown", said)

    def test_unicode_and_html_are_shown_unchanged(self):
        machine = small(gpu="<b>\"GPU\" & 'Ü' 中", host_name="a<script>")
        machine.add("copy/to_host/<i>$x$_^/contiguous/bytes:64", 1e-6, 1e-6, bytes=64.0, label="<u>" + "long " * 1000)
        page = self.folder / "a page" / "of mine.HTML"
        self.assertEqual(self.call(self.write(machine, "with spaces.json"), "--output", page)[0], 0)
        text = page.read_text(encoding="utf-8")
        for tag in "<b>", "<i>", "<u>", "<script>":
            self.assertNotIn(tag, text)
        self.assertTrue("中" in text)


class Terminals(ReportTest):
    def run_script(self, *arguments, stdout=subprocess.PIPE, **environment):
        return subprocess.run([sys.executable, "-B", SCRIPT, *arguments], stdout=stdout, stderr=subprocess.PIPE, check=False,
                              env={**os.environ, **environment})

    def test_a_terminal_without_greek_letters_changes_no_exit_code(self):
        path = self.write(small())
        ended = self.run_script("compare", path, path, "--verbose", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertRegex(ended.stdout, rb"\(2[.]\d+ to 2[.]\d+\) \?s")

    def test_a_full_standard_output_is_an_error(self):
        path = self.write(small())
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.run_script("compare", path, path, stdout=full).returncode, 2)


class Matplotlib(ReportTest):
    def test_one_that_is_broken_or_too_old_leaves_pictures_out(self):
        module = self.folder / "matplotlib"
        module.mkdir()
        (module / "pyplot.py").write_text("", encoding="utf-8")
        for text, why in (("raise ImportError('numpy was built otherwise')", "built otherwise"), ("__version__ = '3.4.3'", "3.6 is needed")):
            (module / "__init__.py").write_text(text, encoding="utf-8")
            said = subprocess.run(
                [sys.executable, "-B", SCRIPT, self.write(small()), "--output", self.folder / "o.html"], check=False,
                env={**os.environ, "PYTHONPATH": str(self.folder)}, capture_output=True, text=True)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(why, said.stderr)
            self.assertIn(why, (self.folder / "o.html").read_text(encoding="utf-8"))

    @unittest.skipIf(sections.why_no_pictures(), "no matplotlib")
    def test_names_are_no_formulas(self):
        machine = small()
        machine.add("copy/to_host/a$b_^$/contiguous/bytes:64", 1e-6, 1e-6, bytes=64.0)
        machine.add("copy/to_host/PinnedSpace/contiguous", 1e-6, 1e-6, bytes=64.0)
        self.assertEqual(self.call(self.write(machine), "--output", self.folder / "o.html")[0], 0)


class Statistics(unittest.TestCase):
    def test_many_repetitions_take_no_time(self):
        begin = time.monotonic()
        self.assertLess(mann_whitney(range(3000), range(200, 3200)), 1e-10)
        self.assertLess(time.monotonic() - begin, 5)

    def test_exact_and_normal_probabilities_agree(self):
        for shift in range(5, 30, 5):
            before, after = [3.0 * place for place in range(50)], [3.0 * place + shift + 0.5 for place in range(50)]
            exact = mann_whitney(before, after)
            with mock.patch("report.significance._MOST_PAIRS", 0):
                self.assertAlmostEqual(mann_whitney(before, after), exact, delta=0.2 * exact)

    def test_three_equal_values_are_no_more_significant_than_three(self):
        self.assertAlmostEqual(mann_whitney([1.0] * 3, [2.0] * 3), 0.1)

    def test_at_most_one_in_twenty_changes_of_10_percent_is_overlooked(self):
        noise = random.Random(1)

        def draw(factor):
            return Run({}, {f"copy/a/b/{place}": Case(f"copy/a/b/{place}", seconds=[
                factor * noise.choice([1, 1.3]) * noise.gauss(1, 0.005) for _ in range(21)]) for place in range(300)})

        found = changes(draw(1), draw(1.1), Question())
        self.assertLess(sum(change.would_be_seen for change in found) / len(found), 0.05)


if __name__ == "__main__":
    unittest.main()
