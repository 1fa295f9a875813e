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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))

from report.cli import main  # noqa: E402


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


def skip_without(*modules):
    """Ends this test program as skipped if a module is missing."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {sys.executable} has no {module}")
            sys.exit(4)
