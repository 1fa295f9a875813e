# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""report.py --output writes one page that tells the verdict, the machine, its ranks and every case."""

import base64
import contextlib
import importlib.util
import pathlib
import re
import sys
import unittest
from unittest import mock

import synthetic
from support import ReportTest

HAS_PLOTS = importlib.util.find_spec("matplotlib") is not None
PICTURES = {"vector_double", "vector_float", "vector_ratio", "copy", "copy_ratio", "alloc", "crossing",
            "gains", "transport", "transport_ratio", "several_gpus"}


def of_two_ranks(slow=1.25):
    """The second rank is slow."""
    made = synthetic.machine(2, 3, (10, 28), ("triad", "dot"), ranks="2",
                             rank_0="host:node1 cores:0-7 gpu_bus_id:0000:17:00.0 gpu_numa_node:0 clock_sm:1980",
                             rank_1="host:node2 cores:0-7 gpu_bus_id:0000:bd:00.0 gpu_numa_node:1 clock_sm:1200")
    for entry in made.data["benchmarks"]:
        if "bytes" in entry:
            entry["rank_0_seconds"] = entry["real_time"] * 1e-6
            entry["real_time"] *= slow
            entry["rank_1_seconds"] = entry["real_time"] * 1e-6
            entry["sum_bytes_per_second"] = 2 * entry["bytes"] / (entry["real_time"] * 1e-6)
    return made


def tables(page):
    """The rows of all tables as lists of cells."""
    return [re.findall(r"<t[dh]>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]


class Report(ReportTest):
    def report(self, *machines, pictures=False):
        page = self.folder / "report.html"
        files = [self.write(machine, f"{place}.json") for place, machine in enumerate(machines)]
        # Pictures take their time.
        without = mock.patch("importlib.util.find_spec", return_value=None)
        with contextlib.nullcontext() if pictures else without:
            code, text = self.call(*files, "--output", page)
        self.assertIn(str(page), text)
        return code, page.read_text(encoding="utf-8")

    def assert_says(self, page, words):
        """Without the whole page in the message."""
        self.assertTrue(words in page, words)

    @unittest.skipUnless(HAS_PLOTS, f"{sys.executable} has no matplotlib")
    def test_one_file_holds_all_pictures(self):
        out = self.folder / "out"
        one = synthetic.machine(1, 3, (10, 28), ("triad", "dot"))
        code, text = self.call(self.write(one, "1.json"), self.write(of_two_ranks(), "2.json"),
                               "--output", out, "--pictures", out / "pictures")
        self.assertEqual(code, 0, text)
        self.assertEqual({path.name for path in out.iterdir()}, {"report.html", "pictures"})
        self.assertEqual({path.name for path in (out / "pictures").iterdir()}, {f"{name}.svg" for name in PICTURES})
        page = (out / "report.html").read_text(encoding="utf-8")
        inside = re.findall(r'src="([^"]*)"', page)
        self.assertEqual(len(inside), len(PICTURES))
        pictures = {base64.b64decode(one.removeprefix("data:image/svg+xml;base64,")).decode() for one in inside}
        self.assertEqual(pictures, {path.read_text(encoding="utf-8") for path in (out / "pictures").iterdir()})
        copy = (out / "pictures" / "copy.svg").read_text(encoding="utf-8")
        for words in ("link to device", "256 MiB", "ring: fastest plain program"):
            self.assert_says(copy, words)
        for words in ("PinnedSpace, copied", "MappedSpace, in place", "CudaSpace, resident"):
            self.assert_says((out / "pictures" / "transport.svg").read_text(encoding="utf-8"), words)
        # Ratios have one axis.
        self.assertRegex((out / "pictures" / "copy_ratio.svg").read_text(encoding="utf-8"), ">0[.]5<")

    @unittest.skipUnless(HAS_PLOTS, f"{sys.executable} has no matplotlib")
    def test_pictures_of_the_repository_are_those_of_its_results(self):
        from report import plots
        from report.looks import matplotlib
        from report.results import load

        folder = pathlib.Path(__file__).resolve().parents[2] / "perf" / "results"
        drawn = {"h100/suite.json": {
                     "crossing": plots.crossing_maps, "gains": plots.first_gains,
                     "transport": lambda run: plots.rates(run, "transport"),
                     "vector_ratio": lambda run: plots.ratios(run, "vector")},
                 "host/locked.json": {"locked": plots.locked_memory}}
        known = {(folder / file).parent / "pictures" / f"{name}.svg" for file, names in drawn.items() for name in names}
        self.assertEqual(known, set(folder.glob("*/pictures/*")))
        for file, pictures in drawn.items():
            run = load(folder / file)
            for name, draw in pictures.items():
                stored = ((folder / file).parent / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
                if f"Matplotlib v{matplotlib.__version__}," not in stored:
                    self.skipTest("the pictures were drawn by another matplotlib")
                self.assertTrue(plots.svg(draw(run)) == stored, f"{name} is not that of {file}: draw it anew")

    @unittest.skipUnless(HAS_PLOTS, f"{sys.executable} has no matplotlib")
    def test_points_stand_at_their_sizes_and_are_joined(self):
        from report.looks import draw, plt
        from report.numbers import Summary

        axes = plt.figure().subplots()
        series = {name: {one: Summary(one, one, one) for one in (1.0, 2.0, 4.0)} for name in ("a", "b")}
        draw(axes, series, {name: {"color": "black", "marker": "o"} for name in series})
        for line in axes.get_lines():
            self.assertEqual((line.get_linestyle(), list(line.get_xdata())), ("-", [1, 2, 4]))

    def test_no_baseline_hides_another_one(self):
        from report.results import load
        from report.series import gains, rate_lines, worst_lines

        machine = synthetic.Machine(1, 3)
        for baseline, ours, theirs in (("best", 1e-3, 0.9e-3), ("single", 2e-3, 40e-3)):
            machine.add(f"copy/batch/PinnedSpace/baseline:{baseline}/bytes:1048576", ours, theirs, bytes=1048576.0)
        cases = load(self.write(machine)).cases.values()
        self.assertEqual(list(worst_lines(cases)), ["PinnedSpace: batch (against best)", "PinnedSpace: batch (against single)"])
        ((rates, fastest),) = rate_lines(cases).values()
        self.assertAlmostEqual(fastest[1048576] / 1e6, 1048576 / 0.9e3, delta=20)
        self.assertTrue(rates[1048576].lower < 0.7e9 < rates[1048576].upper)

        stock = synthetic.Machine(1, 3)
        for baseline, ours, theirs in (("pageable", 1e-3, 4e-3), ("CudaHostPinnedSpace", 2e-3, 6e-3)):
            stock.add(f"idioms/regridding/PinnedSpace/baseline:{baseline}/bytes:1048576", ours, theirs)
        (gain,) = gains(load(self.write(stock)).cases.values())[1]
        self.assertAlmostEqual(gain.gain, 3, delta=0.1)
        self.assertAlmostEqual(gain.ours.median, 2e-3, delta=1e-4)  # of the pair whose gain it is

    def test_two_cases_on_one_point_are_an_error(self):
        from report.results import Case, ResultsError
        from report.series import worst_lines

        with self.assertRaisesRegex(ResultsError, "bytes:8 and .*fall on one point"):
            worst_lines([Case(f"copy/batch/PinnedSpace/bytes:{size}", "", [1.0], {"ratio": [1.0]}) for size in ("8", "8.0")])

    def test_a_picture_of_ratios_shows_the_worst_of_a_kind(self):
        from report.results import Case
        from report.series import worst_lines

        cases = [Case(f"vector/{operation}/CudaSpace/{type_name}/range_policy/n:1024", "", [1.0], {"ratio": [ratio]})
                 for operation, type_name, ratio in (("copy", "double", 0.9), ("add", "float", 0.6), ("dot", "double", 0.3))]
        found = {name: line[1024.0].summary("ratio").median for name, line in worst_lines(cases).items()}
        self.assertEqual(found, {"CudaSpace, range_policy: maps": 0.6, "CudaSpace, range_policy: sums": 0.3})

    def test_pieces_of_different_length_are_not_joined(self):
        from report.results import Case
        from report.series import worst_lines

        cases = [Case(f"copy/batch/PinnedSpace/to_host/piece:{piece}/bytes:{size}", "", [1.0], {"ratio": [1.0]})
                 for piece, size in ((64, 4096), (4096, 65536), (64, 65536))]
        self.assertEqual({name: list(line) for name, line in worst_lines(cases).items()},
                         {"PinnedSpace: batch, pieces of 64 B": [4096, 65536], "PinnedSpace: batch, pieces of 4 KiB": [65536]})

    @unittest.skipUnless(HAS_PLOTS, f"{sys.executable} has no matplotlib")
    def test_each_figure_beyond_the_edge_of_a_picture_of_ratios_can_be_read(self):
        machine = synthetic.Machine(1, 3)
        for operation, ratio in (("copy", 1.7), ("dot", 1.2)):
            machine.add(f"vector/{operation}/CudaSpace/double/range_policy/n:1048576", 1e-3, ratio * 1e-3)
        self.call(self.write(machine), "--pictures", self.folder)
        picture = (self.folder / "vector_ratio.svg").read_text(encoding="utf-8")
        places = {words: re.search(rf'<text [^>]*y="([\d.]+)"[^>]*>{words}</text>', picture)[1] for words in ("1.7", "1.2")}
        self.assertNotEqual(*places.values())

    def test_each_space_of_the_library_has_a_colour_of_its_own(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        headers = {path.stem for path in (root / "memspaces/include/KokkosHostSpaces").glob("*Space.hpp")}
        listed = re.search(r"_SPACES = \[(.*?)\]", (root / "perf/report/looks.py").read_text(encoding="utf-8"), re.DOTALL)
        self.assertLessEqual(headers, set(re.findall(r'"(\w+)"', listed[1])))

    def test_a_report_of_a_host_has_neither_gpu_nor_its_ratios_nor_goals_that_were_not_judged(self):
        _, page = self.report(synthetic.machine(1, 3, (10, 28), ("triad", "dot"), gpu="", host_cpu="EPYC"))
        for words in ("plain CUDA", "not judged", "The smallest ratio"):
            self.assertFalse(words in page, words)
        self.assert_says(page, "Making and freeing memory, EPYC")

    def test_without_matplotlib_the_pictures_are_left_out_and_nothing_else(self):
        code, page = self.report(synthetic.machine(1, 3, (10, 28), ("triad", "dot")))
        self.assertEqual(code, 0)
        self.assert_says(page, "The pictures are left out")
        self.assertFalse("<img" in page)
        self.assert_says(page, "vector, NVIDIA H200")

    def test_the_verdict_comes_first(self):
        few = synthetic.Machine(1, 3, groups="copy")
        for operation in ("to_device", "to_host"):
            for space in ("PinnedSpace", "MappedSpace"):
                few.add(f"copy/{operation}/{space}/contiguous/bytes:268435456", 1.0, 1.0, bytes=268435456.0)
        for change, words in ((1, "Sound as far as it was judged"), (1.1, "Not sound")):
            few.change("copy/to_host/MappedSpace", real_time=change)
            _, page = self.report(few)
            self.assertRegex(page, f'<h1>[^\\n]*\\n<div class="verdict (good|bad)"><h2>{words}: ')
        self.assert_says(self.report(synthetic.machine(1, 3, (10, 28)))[1], '<h2>Sound: ')
        self.assert_says(page, "copy/to_host/MappedSpace/contiguous/256 MiB: wanted ratio &gt;= 0.95, measured 0.9")
        few.data["benchmarks"][0] |= {"error_occurred": True, "error_message": "element 7 is <wrong>"}
        code, page = self.report(few)
        self.assertEqual(code, 1)
        self.assertRegex(page, '<div class="verdict bad"><h2>Wrong results: ')
        self.assert_says(page, "element 7 is &lt;wrong&gt;")
        few.data["context"] |= {"gpu": ""}
        few.data["benchmarks"] = few.data["benchmarks"][1:]
        self.assert_says(self.report(few)[1], '<div class="verdict"><h2>Not judged: ')

    def test_the_slowest_rank_is_named_and_ranks_stand_by_host_and_by_gpu_and_numa_node(self):
        _, page = self.report(of_two_ranks())
        slowest = "rank 1 (node2, GPU 0000:bd:00.0, NUMA node 1)"
        self.assert_says(page, f"the slowest is {slowest}, at 0.80 of the speed of the middle rank: look at its host")
        rows = tables(page)
        host = next(row for row in rows if row[:2] == ["node2", "1"])
        self.assertRegex(host[2], r"^4[34]\.\d+$")
        self.assertEqual(host[4:], [slowest, "0.80"])
        gpu = next(row for row in rows if row[0] == "0000:bd:00.0" and len(row) == 3)
        self.assertEqual(gpu[1], "")
        self.assertRegex(gpu[2], r"^4[34]\.\d+ / 4[34]\.\d+ GB/s, speed 0\.80$")
        self.assertFalse("look at its host" in self.report(of_two_ranks(1.01))[1])

    def test_the_sum_of_ranks_and_its_efficiency_are_shown(self):
        one = synthetic.machine(1, 3, (10, 28), ("triad", "dot"))
        _, page = self.report(one, of_two_ranks())
        row = next(row for row in tables(page) if row[:2] == ["copy/to_host/PinnedSpace/contiguous/256 MiB", "2"])
        self.assertRegex(" ".join(row[2:]), r"^8[78][.\d]* 4[34][.\d]* \(.*\) 0\.80$")

    def test_each_case_stands_beside_its_own_baseline(self):
        machine = synthetic.Machine(1, 3)
        machine.add("latency/fence/CudaSpace/idle", 2.5e-6, 2.6e-6, label="cudaStreamSynchronize")
        machine.add("latency/fence/CudaSpace/launch_and_fence", 12.7e-6, 12.1e-6, label="cudaStreamSynchronize")
        rows = {row[0]: row for row in tables(self.report(machine)[1]) if row[1:2] + row[-1:] == ["", "cudaStreamSynchronize"]}
        self.assertRegex(rows["CudaSpace, idle"][3], r"^2\.6\d* µs$|^2\.59\d* µs$")
        self.assertRegex(rows["CudaSpace, launch_and_fence"][3], r"^12\.\d* µs$")

    def test_a_machine_is_shown_and_facts_missing_in_old_files_are_unknown(self):
        machine = synthetic.Machine(1, 3, kernel="6.1", clock_sm="1755", link_width="8", link_width_max="16",
                                    link_generation_max="5", power_limit="700.00", ecc="Enabled")
        machine.add("latency/fence/CudaSpace/idle", 2.5e-6, 2.6e-6)
        page = self.report(machine)[1]
        rows = {row[0]: row[1] for row in tables(page) if len(row) == 2}
        told = {"kernel": "6.1", "SM clock now, MHz": "1755", "ECC": "Enabled", "power limit, W": "700.00", "PCIe lanes now": "8"}
        self.assertEqual({key: rows[key] for key in told}, told)
        self.assertEqual(rows["SM clock at most, MHz"], "unknown")
        self.assert_says(page, "the link ran at generation 5 with 8 lanes, and could do generation 5 with 16")


if __name__ == "__main__":
    unittest.main()
