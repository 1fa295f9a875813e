# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""The pictures of a report (needs matplotlib). Each function returns a figure, or None without data."""

from __future__ import annotations

import math
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import TwoSlopeNorm  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: E402

from .numbers import count_name, size_name, time_unit  # noqa: E402
from .results import Case, Run  # noqa: E402
from .series import Scaling, TYPES, cases_of, crossings, line_name, lines, ordered, size, twin_name, ways  # noqa: E402

# By Okabe and Ito: told apart by all kinds of colour vision; markers and dashes tell them apart once more.
_COLOURS = ["#0072B2", "#009E73", "#E69F00", "#CC79A7", "#000000", "#D55E00", "#56B4E9", "#999999"]
_SPACES = ["PinnedSpace", "MappedSpace", "WriteCombinedSpace", "CudaHostPinnedSpace", "CudaSpace",
           "HostSpace", "CudaUVMSpace"]
_MARKERS = "osD^vPX*"
_DASHES = ["-", "--", ":", "-."]
_LIMITS = {
    "limit_device_memory": "device memory",
    "limit_host_memory": "host memory",
    "limit_both": "link, both ways",
    "limit_to_device": "link to device",
    "limit_to_host": "link to host",
}

plt.rcParams.update({
    "font.size": 9, "axes.titlesize": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.alpha": 0.25, "legend.frameon": False, "lines.markersize": 4, "lines.linewidth": 1.4,
    "figure.constrained_layout.use": True, "svg.hashsalt": "kokkos_host_spaces", "savefig.dpi": 150,
    "savefig.bbox": "tight"})


def _place(name: str) -> int:
    """Where the memory space that a name begins with stands among all."""
    space = name.partition(", ")[0]
    return _SPACES.index(space) if space in _SPACES else len(_SPACES)


class _Styles:
    """A look for each line of a figure: colour by memory space, dashes by what else differs."""

    def __init__(self):
        self._seen: dict[str, dict[str, dict]] = {}

    def of(self, name: str) -> dict:
        space, _, rest = name.partition(", ")
        variants = self._seen.setdefault(space, {})
        if rest not in variants:
            place = _place(space)
            variants[rest] = {"color": _COLOURS[place], "marker": _MARKERS[place],
                              "linestyle": _DASHES[len(variants) % len(_DASHES)]}
        return variants[rest]


def _panels(count: int, most_columns: int, width: float = 4.2, height: float = 3.2, **options):
    """A figure with that many panels, in rows; returns it, and the panels."""
    columns = min(count, most_columns)
    rows = math.ceil(count / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False, **options)
    for unused in axes.flat[count:]:
        unused.remove()
    return figure, list(axes.flat[:count])


def _size_axis(axes, cases: list[Case]) -> None:
    """Ticks at powers of two of elements or bytes."""
    name, label = (count_name, "elements") if "n" in cases[0].fields else (size_name, "bytes")
    axes.set_xscale("log", base=2)
    exponents = [math.log2(size(case)) for case in cases if size(case) > 0]
    first, last = math.floor(min(exponents)), math.ceil(max(exponents))
    step = max(1, math.ceil((last - first) / 5))
    axes.set_xticks([2.0**exponent for exponent in range(first, last + 1, step)])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: name(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(label)


def _log_axis(axes, write) -> None:
    """From one power of ten to another, with few enough marks to be read."""
    axes.set_yscale("log")
    low, high = (math.log10(limit) for limit in axes.get_ylim())
    low, high = math.floor(low), math.ceil(high)
    axes.set_ylim(10.0**low, 10.0**high)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high - low <= 2 else (1,)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(write))


def _draw_limits(axes, run: Run, names: list[str], are_named: bool = True) -> None:
    """Dashed lines where the machine ends, named at their right end."""
    for name in names:
        if limit := run.limit(name):
            axes.axhline(limit / 1e9, color="#666666", linewidth=0.8, linestyle=(0, (6, 3)))
            if are_named:
                axes.annotate(_LIMITS[name], (1.01, limit / 1e9), xycoords=("axes fraction", "data"),
                              va="center", fontsize=7, color="#444444")


def _draw_rates(axes, cases: list[Case], styles: _Styles) -> None:
    """Rate against size; lines are ours, hollow points the twin."""
    for name, line in lines(case for case in cases if case.bytes).items():
        style = styles.of(name)
        rates = [case.summary("bytes_per_second").scaled(1e-9) for case in line]
        sizes = [size(case) for case in line]
        axes.plot(sizes, [rate.median for rate in rates], label=name, **style)
        axes.fill_between(sizes, [rate.lower for rate in rates], [rate.upper for rate in rates],
                          color=style["color"], alpha=0.15, linewidth=0)
        twins = [case for case in line if case.summary("twin_seconds")]
        axes.plot([size(case) for case in twins],
                  [case.bytes / case.summary("twin_seconds").median / 1e9 for case in twins],
                  linestyle="none", marker="o", markersize=7, color=style["color"], markerfacecolor="none",
                  markeredgewidth=0.7)
    _log_axis(axes, lambda value, _: f"{value:g}")
    axes.set_ylabel("GB/s")
    _size_axis(axes, cases)


def _legend(figure, panels, columns: int = 4, twin: bool = True) -> None:
    """One legend below all panels."""
    handles = {}
    for axes in panels:
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels())))
    if twin:
        handles["plain twin"] = plt.Line2D([], [], linestyle="none", marker="o", markersize=7, color="black",
                                           markerfacecolor="none", markeredgewidth=0.7)
    figure.legend(handles.values(), handles.keys(), loc="upper center", bbox_to_anchor=(0.5, 0), ncols=columns)


def vector_rates(run: Run, type_name: str):
    cases = [case for case in cases_of(run, "vector") if type_name in case.words]
    operations = ordered(case.operation for case in cases)
    if not operations:
        return None
    figure, panels = _panels(len(operations), 4, 3.4, 2.7, sharey=True)
    styles = _Styles()
    for place, (axes, operation) in enumerate(zip(panels, operations)):
        _draw_rates(axes, [case for case in cases if case.operation == operation], styles)
        at_end = place % 4 == 3 or axes is panels[-1]
        _draw_limits(axes, run,
                     ["limit_device_memory", "limit_host_memory", "limit_both", "limit_to_device"], at_end)
        axes.set_title(f"{operation}, {type_name}")
        if place % 4:
            axes.set_ylabel("")
    _legend(figure, panels)
    return figure


def rates(run: Run, group: str):
    """Rate against size, a panel for each operation of the group."""
    cases = [case for case in cases_of(run, group) if case.bytes]
    operations = ordered(case.operation for case in cases)
    if not operations:
        return None
    figure, panels = _panels(len(operations), 3, 4.6)
    styles = _Styles()
    for axes, operation in zip(panels, operations):
        _draw_rates(axes, [case for case in cases if case.operation == operation], styles)
        _draw_limits(axes, run, [f"limit_{operation}"] if f"limit_{operation}" in _LIMITS else [])
        axes.set_title(f"{group}, {operation.replace('_', ' ')}")
    _legend(figure, panels, 3)
    return figure


def ratios(run: Run, group: str):
    """Ratio to the twin over size: a line for each operation, a panel for each of all else."""
    found: dict[str, dict[str, list[Case]]] = {}
    for case in sorted(cases_of(run, group), key=size):
        if case.summary("ratio") and size(case):
            panel = ", ".join([line_name(case), *(word for word in case.words if word in TYPES)])
            found.setdefault(panel, {}).setdefault(case.operation.replace("_", " "), []).append(case)
    if not found:
        return None
    names = ordered(name for panel in found.values() for name in panel)
    figure, panels = _panels(len(found), 4, 3.4, 2.7)
    for axes, title in zip(panels, sorted(found, key=lambda title: (_place(title), title))):
        panel = found[title]
        for name, line in panel.items():
            place = names.index(name)
            axes.plot([size(case) for case in line], [case.summary("ratio").median for case in line], label=name,
                      color=_COLOURS[place % 8], marker=_MARKERS[place % 8], linestyle=_DASHES[place // 8 % 4])
        axes.axhline(1, color="black", linewidth=0.8)
        # No closer: else the noise fills the picture.
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.9), max(high, 1.1))
        axes.set_title(title)
        axes.set_ylabel("time of the twin / ours")
        _size_axis(axes, [case for line in panel.values() for case in line])
    _legend(figure, panels, twin=False)
    return figure


def allocations(run: Run):
    """Time against size, a panel for each situation that was measured at several sizes; grey: plain ways."""
    cases = [case for case in cases_of(run, "alloc") if "bytes" in case.fields]
    operations = [operation for operation in ordered(case.operation for case in cases)
                  if len({size(case) for case in cases if case.operation == operation}) > 1]
    if not operations:
        return None
    figure, panels = _panels(len(operations), 2, 5)
    styles = _Styles()
    plain = ordered(twin_name(case) for case in cases if case.summary("twin_seconds"))
    for axes, operation in zip(panels, operations):
        here = [case for case in cases if case.operation == operation]
        for name, times in ways(here).items():
            if name in plain:
                place = plain.index(name)
                style = {"color": "#777777", "linestyle": _DASHES[1 + place % 3], "marker": "1234x+"[place % 6],
                         "markersize": 7}
            else:
                style = styles.of(name)
            axes.plot(list(times), list(times.values()), label=name, **style)
        _log_axis(axes, _time_tick)
        axes.set_title(f"alloc, {operation.replace('_', ' ')}")
        axes.set_ylabel("time")
        _size_axis(axes, here)
    _legend(figure, panels, 3, twin=False)
    return figure


def _time_tick(seconds: float, _position) -> str:
    factor, unit = time_unit(seconds)
    return f"{seconds * factor:g} {unit}"


def crossing_maps(run: Run):
    """For each fraction touched and number of passes, how much faster in place is than staged."""
    found = crossings(run)
    if not found:
        return None
    figure, panels = _panels(len(found), 3, 4.6, 3)
    for axes, crossing in zip(panels, found):
        passes, fractions = crossing.passes(), crossing.fractions()
        values = [[math.log2(crossing.ratios.get((p, f), math.nan)) for f in fractions] for p in passes]
        # Orange: staged is faster; purple: in place is. White in between, also in grey.
        image = axes.imshow(values, origin="lower", aspect="auto", cmap="PuOr",
                            norm=TwoSlopeNorm(0, -5, 5))
        for row, p in enumerate(passes):
            for column, f in enumerate(fractions):
                if (p, f) in crossing.ratios:
                    value = crossing.ratios[p, f]
                    axes.text(column, row, f"{value:.2g}×", ha="center", va="center", fontsize=7,
                              color="white" if abs(math.log2(value)) > 3 else "black")
        axes.set_xticks(range(len(fractions)), [f"{fraction:g}" for fraction in fractions])
        axes.set_yticks(range(len(passes)), [f"{p:g}" for p in passes])
        axes.set_xlabel("fraction touched")
        axes.set_ylabel("passes")
        axes.set_title(crossing.title, fontsize=8)
        axes.grid(False)
    colours = figure.colorbar(image, ax=panels, ticks=[-4, -2, 0, 2, 4],
                              label="times as fast as staged")
    colours.ax.set_yticklabels(["1/16", "1/4", "1", "4", "16"])
    return figure


def several_gpus(found: list[Scaling]):
    """Sum of the rates of all ranks against their number: where the machine is shared, lines bend."""
    # Memory of its own is nothing that GPUs share; triad stands for all vector kernels.
    found = [one for one in found if one.case.space != "CudaSpace" and "strided" not in one.case.words
             and (one.case.group != "vector" or (one.case.operation == "triad" and "float" not in one.case.words))]
    titles = ordered(one.title for one in found)
    if not titles:
        return None
    figure, panels = _panels(len(titles), 4, 3.6, 2.8)
    styles = _Styles()
    for axes, title in zip(panels, titles):
        here = [one for one in found if one.title == title]
        ranks = sorted({count for one in here for count in one.sums})
        for one in here:
            counts = sorted(one.sums)
            axes.plot(counts, [one.sums[count] / 1e9 for count in counts], label=line_name(one.case),
                      **styles.of(line_name(one.case)))
        best = max(one.sums[min(one.sums)] / min(one.sums) for one in here) / 1e9
        axes.plot([0, *ranks], [0, *(best * count for count in ranks)], color="#888888", linewidth=0.8,
                  linestyle=(0, (6, 3)), label="nothing shared")
        axes.set_xticks(ranks)
        axes.set_xlim(0, max(ranks) * 1.05)
        axes.set_ylim(0)
        axes.set_title(title)
        axes.set_xlabel("ranks, one GPU each")
        axes.set_ylabel("GB/s, sum of all ranks")
    _legend(figure, panels, twin=False)
    return figure


def save(figure, folder: pathlib.Path, name: str) -> list[pathlib.Path]:
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    figure.savefig(paths[0], metadata={"Date": None})
    figure.set_layout_engine("none")  # it is laid out
    figure.savefig(paths[1])
    plt.close(figure)
    return paths
