# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""report.py --output writes the report and all its pictures."""

import re
import unittest

import synthetic
from support import ReportTest, skip_without

PICTURES = {"vector_double", "vector_float", "vector_ratio", "copy", "copy_ratio", "alloc", "crossing",
            "transport", "transport_ratio", "several_gpus"}


class Report(ReportTest):
    def test_a_full_report(self):
        few = {"exponents": (10, 28), "kernels": ("triad", "dot")}
        one, two = synthetic.machine(**few), synthetic.machine(2, ranks="2", **few)
        for entry in two.data["benchmarks"]:
            if "bytes" in entry:
                entry["real_time"] *= 1.25
                entry["sum_bytes_per_second"] = 2 * entry["bytes"] / (entry["real_time"] * 1e-6)
        out = self.folder / "out"
        code, text = self.call(self.write(one, "1.json"), self.write(two, "2.json"), "--output", out)
        self.assertEqual(code, 0, text)
        self.assertEqual({path.name for path in out.iterdir()},
                         {"report.md", "report.html", *(f"{p}.{end}" for p in PICTURES for end in ("svg", "png"))})
        markdown = (out / "report.md").read_text(encoding="utf-8")
        html = (out / "report.html").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"\]\((\w+)\.svg\)", markdown)), PICTURES)
        self.assertEqual(set(re.findall(r'src="(\w+)\.svg"', html)), PICTURES)
        for document in (markdown, html):
            self.assertTrue("vector/dot/MappedSpace/float/element_wise/n:268435456" in document)
            self.assertFalse("WRONG" in document)
        row = (r"\| copy/to_host/PinnedSpace/contiguous/bytes:268435456 \| 2 \| 8[78][.\d]* "
               r"\| 4[34][.\d]* \(.*\) \| 0\.80 \|")
        self.assertTrue(re.search(row, markdown), "the sum, the slowest rank and the efficiency of 2 ranks")
        self.assertIn("link to device", (out / "copy.svg").read_text(encoding="utf-8"))

    def test_a_part_of_the_results_makes_a_part_of_the_report(self):
        machine = synthetic.Machine(gpu="", limit_to_device="")
        machine.add("copy/host/HostSpace/contiguous/bytes:4096", 1e-6, 1e-6, bytes=4096.0)
        machine.data["benchmarks"][0] |= {"error_occurred": True, "error_message": "element 7 is <wrong>"}
        out = self.folder / "out"
        self.assertEqual(self.call(self.write(machine), "--output", out)[0], 1)
        self.assertEqual({path.stem for path in out.iterdir()}, {"report", "copy", "copy_ratio"})
        self.assertIn("element 7 is &lt;wrong&gt;", (out / "report.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    skip_without("matplotlib")
    unittest.main()
