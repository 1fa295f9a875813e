# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Runs perf/report.py on synthetic results."""

import contextlib
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

import synthetic  # finds the modules of report, too

from report.cli import main


class ReportTest(unittest.TestCase):
    """A folder for files, and a call of report.py."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, machine, name="results.json"):
        return machine.write(self.folder / name)

    def call(self, *arguments):
        """The exit code, and all that was printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = main([str(argument) for argument in arguments])
        return code, out.getvalue()


def machine_that_reaches_all(**changes):
    return synthetic.machine(repetitions=5, exponents=(10, 28), **changes)


class GoalTest(ReportTest):
    """Judges results by the goals."""

    def check(self, machine, *arguments):
        return self.call(self.write(machine), "--check", *arguments)

    def assert_missed(self, machine, *words):
        """Exactly one target is missed, and all words are in what is said of it."""
        code, text = self.check(machine)
        self.assertEqual(code, 1, text)
        self.assertEqual(text.count("MISSED"), 1, text)
        said = text.partition("MISSED")[2].partition("\nacceptance: ")[0]
        for word in words:
            self.assertIn(word, said)


def skip_without(*modules):
    """Ends this test program as skipped if a module is missing."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {sys.executable} has no {module}")
            sys.exit(4)
