# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""All lists of groups are that of report/groups.py."""

import pathlib
import re
import unittest

import synthetic
from report.groups import GROUPS

_PERF = pathlib.Path(__file__).resolve().parents[2] / "perf"


def _found(path: str, pattern: str, inside: str = r"[\s\S]*") -> tuple:
    text = re.search(inside, (_PERF / path).read_text(encoding="utf-8"))[0]
    return tuple(re.findall(pattern, text))


class Groups(unittest.TestCase):
    def test_the_suite_has_these(self):
        self.assertEqual(GROUPS, _found("suite/AllGroups.cpp", r'\{"(\w+)", '))

    def test_its_page_describes_these(self):
        self.assertEqual(sorted(GROUPS), sorted(_found("README.md", r"(?m)^\| `(\w+)`", r"\| group [\s\S]*?\n\n")))

    def test_ramble_has_these(self):
        self.assertEqual(GROUPS, _found("cluster/ramble/applications/kokkos-host-spaces/application.py", r'"(\w+)"',
                                        r"groups = \[.*\]"))
        self.assertEqual(GROUPS, _found("cluster/ramble/README.md", r"`(\w+)`", r"group of the suite:[^.]*"))

    def test_reframe_takes_the_list(self):
        self.assertIn("parameter(list(GROUPS)", (_PERF / "cluster/reframe/suite.py").read_text(encoding="utf-8"))

    def test_synthetic_results_take_the_list(self):
        self.assertEqual(",".join(GROUPS), synthetic.GROUPS)


if __name__ == "__main__":
    unittest.main()
