# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""report.py figures finds tables of pages that are not those of the results, and mends them."""

import unittest

import synthetic
from support import ReportTest

PAGE = """# A page

<!-- origin of the tables -->
<!-- end -->

<!-- table machine of results.json -->
<!-- end -->

<!-- table rates copy/to_ sizes 1Mi,64Mi of results.json -->
<!-- end -->

<!-- table ratios alloc/cold/PinnedSpace of results.json -->
<!-- end -->

<!-- table worst ^copy/to_device/ of results.json -->
<!-- end -->

<!-- table gains ^(idioms/|alloc/cold/View_) of results.json -->
<!-- end -->
"""


class Figures(ReportTest):
    def test_a_page_with_tables_tells_their_origin(self):
        text = PAGE.replace("<!-- origin of the tables -->\n<!-- end -->\n", "")
        self.page.write_text(text, encoding="utf-8")
        code, said = self.figures("--write")
        self.assertIn("does not tell the origin of its tables", said)
        self.assertEqual(self.figures()[0], 1)

    def test_shares_of_steps_need_the_part_and_the_step(self):
        self.page.write_text("<!-- table shares of results.json -->\n<!-- end -->\n", encoding="utf-8")
        code, text = self.call("figures", self.page)
        self.assertEqual(code, 2, text)
        self.assertIn("there is not one case each of ExaMiniMD", text)

    def test_rates_of_links_have_the_names_of_nvbandwidth(self):
        self.page.write_text("<!-- table nvbandwidth of results.json -->\n<!-- end -->\n", encoding="utf-8")
        self.figures("--write")
        text = self.page.read_text(encoding="utf-8")
        self.assertRegex(text, r"\| `host_to_device_memcpy_ce` \| 5\d\.?\d* GB/s \| 5\d\.?\d* GB/s \| \d+ \wiB \|")
        self.assertIn("| `host_device_latency_sm` | not measured yet |", text)

    def test_origin_and_machine_are_those_of_the_results(self):
        self.figures("--write")
        text = self.page.read_text(encoding="utf-8")
        self.assertRegex(text, r"Tables of this page are of \[`.*/results.json`\]\(results.json\) \(.*commit 0123456789ab")
        self.assertRegex(text, r"\| CPU \| a CPU \|\n\| virtual machine \| not told \|")
        self.assertIn("| commit | 0123456789ab |", text)

    def setUp(self):
        super().setUp()
        self.page = self.folder / "page.md"
        self.page.write_text(PAGE, encoding="utf-8")
        self.machine = synthetic.machine()
        self.write(self.machine)

    def figures(self, *arguments):
        return self.call("figures", self.page, *arguments)

    def test_wrong_tables_are_found_and_mended(self):
        code, text = self.figures()
        self.assertEqual(code, 1, text)
        self.assertIn("6 tables, 6 are not", text)
        self.assertEqual(self.page.read_text(encoding="utf-8"), PAGE)
        self.assertEqual(self.figures("--write")[0], 0)
        code, text = self.figures()
        self.assertEqual(code, 0, text)
        self.assertIn("6 tables, 0 are not", text)
        mended = self.page.read_text(encoding="utf-8")
        self.assertRegex(mended, r"\| 64 MiB \| [\d.]+ GB/s \([01].\d\d\) \|")
        self.assertRegex(mended, r"\| output blocks \| 1 MiB \|( [\d.]+ [mµ]s \|){3} 20 x \|")
        self.assertRegex(mended, r"\| first View \| \d+ \wiB \|  \|( [\d.]+ [mµ]?s \|){2} 11 x \|")
        self.assertIn("|  | size | pageable | CudaHostPinnedSpace | ours | gain |", mended)
        self.assertRegex(mended, r"\| blocked by output \| 1 MiB \|( [\d.]+ [mµ]s \|){3} 10 x \|")
        self.assertNotIn("compute beside output", mended)
        self.assertRegex(mended, r"\| to device contiguous \| (0.9|1.0)\d \| \w+Space, \d+ \wiB \|")
        self.assertNotIn("| 16 MiB |", mended)

    def test_a_figure_that_was_changed_by_hand_is_found(self):
        self.figures("--write")
        good = self.page.read_text(encoding="utf-8")
        cell = good.partition("| 1 MiB | ")[2].partition(" ")[0]
        self.page.write_text(good.replace(f"| 1 MiB | {cell} ", "| 1 MiB | 99 ", 1), encoding="utf-8")
        code, text = self.figures()
        self.assertEqual(code, 1, text)
        self.assertIn("1 are not", text)

    def test_other_results_are_found(self):
        self.figures("--write")
        self.machine.change("copy/to_device/PinnedSpace/contiguous/bytes:67108864/", real_time=1.2)
        self.write(self.machine)
        code, text = self.figures()
        self.assertEqual(code, 1, text)
        self.assertIn("2 are not", text)

    def test_what_is_adopted_is_told_beside_stock_and_is_no_gain(self):
        self.machine.add("idioms/bounce_buffer/PinnedSpace/baseline:adopted/bytes:1048576", 1e-3, 1.1e-3)
        self.machine.add("adopted/Code:_step/adopted/particles:2160000/baseline:stock", 1.31e-3, 2.35e-3)
        self.write(self.machine)
        self.page.write_text(PAGE + "\n<!-- table gains ^adopted/ of results.json -->\n<!-- end -->\n", encoding="utf-8")
        self.assertEqual(self.figures("--write")[0], 0)
        mended = self.page.read_text(encoding="utf-8")
        self.assertIn("|  | size | pageable | CudaHostPinnedSpace | adopted | ours | gain |", mended)
        self.assertRegex(mended, r"\| bounce buffer \| 1 MiB \|( [\d.]+ ms \|){2} 1.1\d* ms \| [\d.]+ [mµ]s \| 3 x \|")
        self.assertIn("|  | size | stock | adopted | gain |", mended)
        self.assertRegex(mended, r"\| Code: step \| particles 2160000 \| 2.4 ms \| 1.3 ms \| 1.8 x \|")

    def test_an_invalid_mark_is_an_error(self):
        for wrong in ("<!-- table rates copy of none.json -->\n<!-- end -->",
                      "<!-- table pie copy of results.json -->\n<!-- end -->",
                      "<!-- table rates copy of results.json -->\nno end", "<!-- table rates of -->\n<!-- end -->",
                      "<!-- table rates copy sizes 1x of results.json -->\n<!-- end -->",
                      "<!-- table rates ( of results.json -->\n<!-- end -->",
                      "<!-- table sums copy of results.json -->\n<!-- end -->"):
            self.page.write_text(wrong, encoding="utf-8")
            self.assertEqual(self.figures()[0], 2, wrong)

    def test_code_is_left_alone(self):
        code = "```\n<!-- table rates copy of none.json -->\n<!-- end -->\n```\n"
        self.page.write_text(code + PAGE + code, encoding="utf-8")
        self.assertEqual(self.figures("--write")[0], 0)
        text = self.page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith(code) and text.endswith(code))
        self.assertEqual(self.figures()[0], 0)

    def test_a_table_without_data_says_so(self):
        self.page.write_text("<!-- table rates ^multipath/ of results.json -->\n<!-- end -->", encoding="utf-8")
        self.figures("--write")
        self.assertIn("Not measured yet.", self.page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
