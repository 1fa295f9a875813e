# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Colours, panels, axes and series of all pictures of a report (needs matplotlib)."""

from __future__ import annotations

import math
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from .numbers import Summary, count_name, size_name
from .results import Case, Run
from .series import size

# Colours of Okabe and Ito, distinguishable with any colour vision; markers differ as well.
COLOURS = ["#0072B2", "#009E73", "#E69F00", "#CC79A7", "#000000", "#D55E00", "#56B4E9", "#999999"]
_SPACES = ["PinnedSpace", "MappedSpace", "WriteCombinedSpace", "CudaHostPinnedSpace", "CudaSpace",
           "HostSpace", "CudaUVMSpace"]
_OURS = 3  # of these
_LAUNCHES = {"range_policy": COLOURS[5], "khs_parallel": COLOURS[6], "element_wise": COLOURS[0]}
MARKERS = "osD^vPX*"
LIMITS = {
    "limit_device_memory": "device memory",
    "limit_host_memory": "host memory",
    "limit_both": "link, both ways",
    "limit_to_device": "link to device",
    "limit_to_host": "link to host",
    "limit_two_to_one": "limit of the link, measured: two arrays in and one out at once",
}

plt.rcParams.update({
    "font.size": 9, "axes.titlesize": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "axes.axisbelow": True, "grid.alpha": 0.25, "legend.frameon": False, "lines.markersize": 4,
    "lines.linewidth": 1,
    "text.parse_math": False,
    "svg.hashsalt": "kokkos_host_spaces", "svg.fonttype": "none"})
# Inches around the panels; layout by matplotlib would be slow.
_LEFT, _RIGHT, _TOP, _BOTTOM, _BETWEEN = 0.75, 0.2, 0.4, 0.55, 0.35


def place_of(name: str) -> int:
    """The index of the memory space that the name begins with."""
    space = re.match(r"(zeroed_|memset_)?(View_)?([^,:]*)", name)[3]
    return _SPACES.index(space) if space in _SPACES else len(_SPACES)


class Styles:
    """The style of each series of a figure: colour by who owns it, marker by other differences.

    What this library owns has the colour of its memory space, also where it is a baseline; other baselines are grey. Ways
    to launch kernels on the device have colours of their own.
    """

    def __init__(self, plain: list[str] | None = None):
        self._plain = plain or []  # these are grey
        self._seen: dict[int, list[str]] = {}

    def of(self, name: str) -> dict:
        if name in self._plain and place_of(name) >= _OURS:
            at = self._plain.index(name) % 6
            return {"color": ("#333333", "#777777", "#aaaaaa")[at % 3], "marker": "1x2+34"[at], "markersize": 7,
                    "linestyle": ("-", "--", ":")[at % 3]}
        seen = self._seen.setdefault(place_of(name), [])
        if name not in seen:
            seen.append(name)
        colour = next((colour for way, colour in _LAUNCHES.items() if f"CudaSpace, {way}" in name), COLOURS[place_of(name)])
        # Stock's memory is as fast as ours in place: both can be seen where its line is the wider one below.
        below = {"linewidth": 3.5, "linestyle": (0, (1.5, 0.7)), "markersize": 8, "zorder": 1.9} \
            if name.startswith("CudaHostPinnedSpace") else {}
        return below | {"color": colour, "marker": MARKERS[(place_of(name) + 3 * seen.index(name)) % 8],
                "markerfacecolor": "none" if name.startswith("View_") or seen.index(name) >= len(MARKERS) else None}


def panels_of(count: int, most_columns: int, width: float, height: float, legend_rows: int = 2, title_rows: int = 1,
              **options):
    """Returns a figure and its `count` panels in rows, with room for a legend below."""
    columns = min(count, most_columns)
    rows = math.ceil(count / columns)
    gap = _BETWEEN if options.get("sharex") else _BETWEEN + _BOTTOM - 0.2
    top = _TOP + 0.15 * (title_rows - 1)
    gap += 0.15 * (title_rows - 1)
    aside = 0.15 if options.get("sharey") else 0.6
    bottom = _BOTTOM + (0.1 + 0.19 * legend_rows if legend_rows else 0)
    whole_width = _LEFT + columns * width + (columns - 1) * aside + _RIGHT
    whole_height = top + rows * height + (rows - 1) * gap + bottom
    figure, axes = plt.subplots(rows, columns, figsize=(whole_width, whole_height), squeeze=False, **options)
    figure.subplots_adjust(_LEFT / whole_width, bottom / whole_height, 1 - _RIGHT / whole_width,
                           1 - top / whole_height, aside / width, gap / height)
    for unused in axes.flat[count:]:
        unused.remove()
    for panel in axes.flat[max(0, count - columns):count]:
        panel.tick_params(labelbottom=True)
    return figure, list(axes.flat[:count])


def size_axis(panels: list, columns: int, cases: list[Case]) -> None:
    """Puts ticks at measured powers of two on a shared axis of elements or bytes."""
    name, label = (count_name, "elements") if "n" in cases[0].fields else (size_name, "size")
    sizes = sorted({size(case) for case in cases if size(case) > 0})
    panels[0].set_xscale("log", base=2)
    powers = [one for one in sizes if math.log2(one).is_integer()] or sizes
    panels[0].set_xticks(powers[:: math.ceil(len(powers) / 6)])
    panels[0].xaxis.set_major_formatter(FuncFormatter(lambda value, _: name(value)))
    panels[0].xaxis.set_minor_locator(NullLocator())
    for axes in panels[-columns:]:
        axes.set_xlabel(label)


def log_axis(axes, values: list[float], write) -> None:
    """A logarithmic axis between powers of ten."""
    axes.set_yscale("log")
    axes.set_ylim(10.0 ** math.floor(math.log10(min(values) * 0.9)), 10.0 ** math.ceil(math.log10(max(values) * 1.1)))
    axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(write))


_BASELINE = {"linestyle": "none", "marker": "o", "markersize": 6, "color": "black", "markerfacecolor": "none",
             "markeredgewidth": 0.8}


def draw(axes, series: dict[str, dict[float, Summary]], styles: dict[str, dict],
         baselines: dict[str, dict[float, float]] | None = None) -> None:
    """Draws medians, joined by lines, and quartiles, as vertical bars."""
    for name, points in series.items():
        axes.vlines(list(points), [one.lower for one in points.values()], [one.upper for one in points.values()],
                    color=styles[name]["color"], linewidth=0.8)
        axes.plot(list(points), [one.median for one in points.values()], label=name, **styles[name])
        if baselines and baselines.get(name):
            axes.plot(list(baselines[name]), list(baselines[name].values()), **_BASELINE | {"color": styles[name]["color"]})


def draw_limits(axes, run: Run, names: list[str], at_the_right: bool = False) -> None:
    """Draws the limits of the machine as dashed lines with their names."""
    for name in names:
        if limit := run.limit(name):
            axes.axhline(limit / 1e9, color="#666666", linewidth=0.8, linestyle=(0, (6, 3)))
            axes.annotate(LIMITS[name], (1 if at_the_right else 0.005, limit / 1e9), xycoords=("axes fraction", "data"),
                          xytext=(0, 6 if at_the_right else 0), textcoords="offset points",
                          va="bottom", ha="right" if at_the_right else "left", fontsize=6.5, color="#444444")


def legend(figure, panels, machine: str, columns: int = 4, baseline: bool = True) -> None:
    """One legend below all panels, and the machine that was measured in the upper corner."""
    figure.text(0.995, 0.995, machine, ha="right", va="top", fontsize=7, color="#444444")
    handles = {}
    for axes in panels:
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels())))
    if baseline:
        handles["ring: fastest plain program"] = plt.Line2D([], [], **_BASELINE)
    figure.legend(handles.values(), [name.replace("_", " ") for name in handles], loc="lower center", ncols=columns)
