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
from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: E402

from .numbers import count_name, size_name, time_unit  # noqa: E402
from .results import Case, Run  # noqa: E402
from .series import cases_of, crossings, line_name, lines, ordered, size  # noqa: E402

# By Okabe and Ito: told apart by all kinds of colour vision; markers and dashes tell them apart once more.
_COLOURS = ["#0072B2", "#009E73", "#E69F00", "#CC79A7", "#000000", "#D55E00", "#56B4E9", "#999999"]
_SPACES = ["PinnedSpace", "MappedSpace", "WriteCombinedSpace", "CudaHostPinnedSpace", "CudaSpace",
           "HostSpace", "CudaUVMSpace"]
_MARKERS = "osD^vPX*"
_DASHES = ["-", "--", ":", "-."]
_LIMITS = {
    "limit_device_memory": "device memory",
    "limit_both": "link, both directions",
    "limit_to_device": "link, to the device",
    "limit_to_host": "link, to the host",
}

plt.rcParams.update({
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.alpha": 0.25, "legend.frameon": False, "lines.markersize": 4, "lines.linewidth": 1.4,
    "figure.constrained_layout.use": True, "svg.hashsalt": "kokkos_host_spaces", "savefig.dpi": 150, "savefig.bbox": "tight"})


class _Styles:
    """A look for each line of a figure: colour by memory space, dashes by what else differs."""

    def __init__(self):
        self._seen: dict[str, dict[str, dict]] = {}

    def of(self, name: str) -> dict:
        space, _, rest = name.partition(", ")
        variants = self._seen.setdefault(space, {})
        if rest not in variants:
            place = _SPACES.index(space) if space in _SPACES else len(_SPACES)
            variants[rest] = {"color": _COLOURS[place], "marker": _MARKERS[place],
                              "linestyle": _DASHES[len(variants) % len(_DASHES)]}
        return variants[rest]


def _panels(rows: int, columns: int, width: float = 4.2, height: float = 3.2):
    figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    return figure, list(axes.flat)


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


def _draw_limits(axes, run: Run, names: list[str]) -> None:
    for name in names:
        if limit := run.limit(name):
            axes.axhline(limit / 1e9, color="#666666", linewidth=0.8, linestyle=(0, (6, 3)))
            axes.annotate(_LIMITS[name], (0.01, limit / 1e9), xycoords=("axes fraction", "data"),
                          va="bottom", fontsize=7, color="#444444")


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
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
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
    columns = min(4, len(operations))
    figure, panels = _panels(math.ceil(len(operations) / columns), columns, 3.6, 2.8)
    styles = _Styles()
    for axes in panels[len(operations):]:
        axes.remove()
    for axes, operation in zip(panels, operations):
        _draw_rates(axes, [case for case in cases if case.operation == operation], styles)
        _draw_limits(axes, run, ["limit_device_memory", "limit_both", "limit_to_device"])
        axes.set_title(f"{operation}, {type_name}")
    _legend(figure, panels[:len(operations)])
    return figure


def copy_rates(run: Run):
    cases = [case for case in cases_of(run, "copy") if case.bytes]
    operations = ordered(case.operation for case in cases)
    if not operations:
        return None
    figure, panels = _panels(1, len(operations), 5)
    styles = _Styles()
    for axes, operation in zip(panels, operations):
        _draw_rates(axes, [case for case in cases if case.operation == operation], styles)
        _draw_limits(axes, run, [f"limit_{operation}"] if f"limit_{operation}" in _LIMITS else [])
        axes.set_title(f"copy, {operation.replace('_', ' ')}")
    _legend(figure, panels)
    return figure


def ratios(run: Run, group: str):
    """Ratio to the twin over size: a panel for each memory space, a line for each operation."""
    cases = [case for case in cases_of(run, group) if case.summary("ratio") and size(case)]
    spaces = ordered(case.space for case in cases)
    if not spaces:
        return None
    columns = min(3, len(spaces))
    figure, panels = _panels(math.ceil(len(spaces) / columns), columns)
    names = ordered(", ".join([case.operation, *line_name(case).split(", ")[1:]]) for case in cases)
    for axes in panels[len(spaces):]:
        axes.remove()
    for axes, space in zip(panels, spaces):
        here = [case for case in cases if case.space == space]
        for place, name in enumerate(names):
            operation, *rest = name.split(", ")
            for type_name, dashes in (("", "-"), ("double", "-"), ("float", ":")):
                line = sorted((case for case in here if case.operation == operation
                               and line_name(case).split(", ")[1:] == rest
                               and (type_name in case.words if type_name else
                                    not {"double", "float"} & set(case.words))), key=size)
                if line:
                    axes.plot([size(case) for case in line], [case.summary("ratio").median for case in line],
                              color=_COLOURS[place % len(_COLOURS)], marker=_MARKERS[place % len(_MARKERS)],
                              linestyle=dashes, label=", ".join(filter(None, [name, type_name])))
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_title(f"{group}, {space}")
        axes.set_ylabel("time of the twin / ours")
        _size_axis(axes, here)
    _legend(figure, panels[:len(spaces)], 4, twin=False)
    return figure


def allocations(run: Run):
    """Time against size, a panel for each situation; dashed grey lines are the plain ways."""
    cases = [case for case in cases_of(run, "alloc") if "bytes" in case.fields]
    operations = ordered(case.operation for case in cases)
    if not operations:
        return None
    columns = min(3, len(operations))
    figure, panels = _panels(math.ceil(len(operations) / columns), columns, 4.6)
    styles = _Styles()
    ways = ordered(case.fields.get("twin", case.label) for case in cases if case.summary("twin_seconds"))
    for axes in panels[len(operations):]:
        axes.remove()
    for axes, operation in zip(panels, operations):
        here = [case for case in cases if case.operation == operation]
        for name, line in lines(here).items():
            # Held against several twins, ours was measured several times: all count.
            sizes = ordered(size(case) for case in line)
            times = [min(case.summary("seconds").median for case in line if size(case) == one) for one in sizes]
            axes.plot(sizes, times, label=name, **styles.of(name))
        for place, way in enumerate(ways):
            line = sorted((case for case in here if case.summary("twin_seconds")
                           and case.fields.get("twin", case.label) == way), key=size)
            axes.plot([size(case) for case in line], [case.summary("twin_seconds").median for case in line],
                      color="#777777", linestyle=_DASHES[1 + place % 3], marker="1234x+"[place % 6], label=way)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(_time_tick))
        axes.set_title(f"alloc, {operation.replace('_', ' ')}")
        axes.set_ylabel("time")
        _size_axis(axes, here)
    _legend(figure, panels[:len(operations)], 3, twin=False)
    return figure


def _time_tick(seconds: float, _position) -> str:
    factor, unit = time_unit(seconds)
    return f"{seconds * factor:g} {unit}"


def crossing_maps(run: Run):
    """For each fraction touched and number of passes, how much faster in place is than staged."""
    found = crossings(run)
    if not found:
        return None
    columns = min(3, len(found))
    figure, panels = _panels(math.ceil(len(found) / columns), columns, 4.6, 3)
    for axes in panels[len(found):]:
        axes.remove()
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
    colours = figure.colorbar(image, ax=panels[:len(found)], ticks=[-4, -2, 0, 2, 4],
                              label="times as fast as staged")
    colours.ax.set_yticklabels(["1/16", "1/4", "1", "4", "16"])
    return figure


def several_gpus(series: dict[str, dict[int, float]]):
    """Sum of the rates of all ranks, in bytes/s, against the number of ranks."""
    if not series:
        return None
    figure, (axes,) = _panels(1, 1, 7, 4)
    for place, (name, sums) in enumerate(series.items()):
        ranks = sorted(sums)
        axes.plot(ranks, [sums[count] / 1e9 for count in ranks], label=name, color=_COLOURS[place % 8],
                  marker=_MARKERS[place % 8], linestyle=_DASHES[place // 8 % 4])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(ordered(count for sums in series.values() for count in sums))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("ranks, one GPU each")
    axes.set_ylabel("GB/s, sum of all ranks")
    _legend(figure, [axes], 2, twin=False)
    return figure


def save(figure, folder: pathlib.Path, name: str) -> list[pathlib.Path]:
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    figure.savefig(paths[0], metadata={"Date": None})
    figure.savefig(paths[1])
    plt.close(figure)
    return paths
