# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""The pictures of a report (needs matplotlib). Each function returns a figure, or None without data."""

from __future__ import annotations

import io
import math
import re

from matplotlib.colors import TwoSlopeNorm
from matplotlib.ticker import FuncFormatter

from .looks import (
    COLOURS, LIMITS, MARKERS, Styles, draw, draw_limits, legend, log_axis, panels_of, place_of, plt, size_axis)
from .numbers import Summary, gain_text, rough_time_text, size_name, time_unit
from .results import Run
from .series import (
    FIRST, TRACES, Scaling, baseline_name, cases_of, crossings, gains, line_name, lines, of_bytes, ordered, rate_lines, size,
    ways, worst_lines)


def rates(run: Run, group: str, type_name: str = ""):
    """Plots rate against size, a panel for each operation of the group; rings in the colour of a line are its fastest baseline."""
    cases = [case for case in cases_of(run, group)
             if case.bytes and size(case) and (not type_name or type_name in case.words) and "automatic" not in case.words
             and not case.operation.startswith("cpu_")]
    operations = ordered(case.operation for case in cases)
    if not operations:
        return None
    columns = 3 if len(operations) > 4 else min(2, len(operations))
    beside = 4 if columns > 1 else 2  # in the legend, which names the baseline too
    figure, panels = panels_of(len(operations), columns, 4.3 if columns == 3 else 5.2, 2.4,
                               math.ceil((len(lines(cases)) + 1) / beside), sharex=True, sharey=True)
    looks, values = Styles(), []
    styles = {name: looks.of(name) for name in sorted(lines(cases), key=lambda name: (place_of(name), name))}
    for place, (axes, operation) in enumerate(zip(panels, operations)):
        here = rate_lines(case for case in cases if case.operation == operation)
        series = {name: {one: rate.scaled(1e-9) for one, rate in here[name][0].items()} for name in styles if name in here}
        draw(axes, series, styles, {name: {one: rate * 1e-9 for one, rate in best.items()}
                                    for name, (_, best) in here.items()})
        values += [value for points in series.values() for one in points.values() for value in one]
        limits = [f"limit_{operation}"] if f"limit_{operation}" in LIMITS else \
            ["limit_device_memory", "limit_host_memory", "limit_both", "limit_to_device"] if group == "vector" else \
            ["limit_two_to_one"] if group == "transport" else []
        draw_limits(axes, run, limits, at_the_right=group == "transport")
        axes.set_title(", ".join(filter(None, [group, operation.replace("_", " "), type_name])))
        rate = "bytes of three arrays / time, GB/s" if group == "transport" else "GB/s"
        axes.set_ylabel(rate if place % columns == 0 else "")
    log_axis(panels[0], values, lambda value, _: f"{value:g}")
    size_axis(panels, columns, cases)
    if group == "transport":
        panels[-1].set_xlabel("size of one array")
    legend(figure, panels, run.machine, beside)
    return figure


def _draw_edge_figures(axes, points: list[tuple[float, float, str]], low: float, high: float) -> None:
    """Writes the figures (x, value, colour) that lie outside at the edge, one above the other where they are neighbours."""
    last, level = {}, {}
    for x, value, colour in sorted(points):
        is_below = value < low
        level[is_below] = level[is_below] + 1 if x < 1.5 * last.get(is_below, 0) else 0
        last[is_below] = x
        axes.annotate(f"{value:.2g}", (x, low if is_below else high), fontsize=6, ha="center", color=colour,
                      textcoords="offset points", xytext=(0, 4 + 7 * level[is_below] if is_below else -9 - 7 * level[is_below]))


def ratios(run: Run, group: str):
    """Plots the smallest ratio to the baseline against size, of what differs: a line for each way and kind of work that is
    anywhere slower or faster by more than 3 %, a panel for each length of pieces. Of vector kernels, those on arrays in
    device memory beside the best plain kernel."""
    is_vector = group == "vector"
    cases = [case for case in cases_of(run, group) if case.summary("ratio") and size(case) and "automatic" not in case.words
             and not case.operation.startswith("cpu_")]
    if is_vector:
        cases = [case for case in cases if case.space == "CudaSpace" and "baseline" not in case.fields]
    found = worst_lines(cases)
    if is_vector:
        found = {name.removeprefix("CudaSpace, ").replace(":", ""): line for name, line in found.items()}
    if not found:
        return None
    shown = {name: line for name, line in found.items()
             if any(abs(case.summary("ratio").median - 1) > 0.03 for case in line.values())}
    others = [name for name in found if name not in shown] if shown else []
    within = f"; {', '.join(others) if is_vector else 'the others'} stay within 3 %" if others else ""
    title = f"arrays in device memory{within}" if is_vector else f"{group}: {len(shown)} of {len(found)} lines{within}"
    pieces: dict[float, dict[str, dict]] = {}
    for name, line in (shown or found).items():
        case = next(iter(line.values()))
        of_pieces = f", {of_bytes(case, 'piece')}" if "piece" in case.fields else ""
        pieces.setdefault(float(case.fields.get("piece", 0)), {})[name.replace(of_pieces, "")] = line
    names = ordered(name for lines_here in pieces.values() for name in lines_here)
    columns = min(3, len(pieces))
    figure, panels = panels_of(len(pieces), columns, 8 if columns == 1 else 4.3, 3.4 if columns == 1 else 2.6,
                               math.ceil(len(names) / (2 if columns == 1 else 3)), sharex=True, sharey=True)
    figure.subplots_adjust(right=0.97)
    looks, low, high = Styles(), 0.3, 1.1
    coloured = [colour for colour in COLOURS if colour != "#000000"]
    styles = {name: {"color": coloured[place % 7], "marker": MARKERS[place % 8]} if is_vector else looks.of(name)
              for place, name in enumerate(names)}
    styles = {name: style | {"clip_on": False} for name, style in styles.items()}
    for axes, length in zip(panels, sorted(pieces)):
        series = {name: {one: case.summary("ratio") for one, case in line.items()} for name, line in pieces[length].items()}
        axes.axhspan(0.97, 1.03, color="#000000", alpha=0.06, linewidth=0)
        axes.axhline(1, color="black", linewidth=0.8)
        # Draw what lies outside at the edge, with its figure; its whole marker tells which line it is of.
        draw(axes, {name: {one: Summary(*(min(max(value, low), high) for value in ratio)) for one, ratio in line.items()}
                    for name, line in series.items()}, styles)
        _draw_edge_figures(axes, [(one, ratio.median, styles[name]["color"]) for name, line in series.items()
                                  for one, ratio in line.items() if not low <= ratio.median <= high], low, high)
        axes.set_ylim(low, high)
        axes.set_title((f"pieces of {size_name(length)}" if length else "whole arrays") if len(pieces) > 1 else title)
    for axes in panels[::columns]:
        axes.set_ylabel("time of the best plain kernel /\ntime of this way; the worst kernel" if is_vector else
                        "speed relative to the baseline" + (", worst of its kind" if columns == 1 else ""))
    if len(pieces) > 1:
        figure.text(0.01, 0.995, f"worst of its kind; {title}", va="top", fontsize=8)
    size_axis(panels, columns, cases)
    legend(figure, panels, run.machine, 2 if columns == 1 else 3, baseline=False)
    return figure


def allocations(run: Run):
    """Plots time against size, a panel for each operation with several sizes; baselines are grey."""
    cases = [case for case in cases_of(run, "alloc") if "bytes" in case.fields and size(case)]
    operations = [operation for operation in ordered(case.operation for case in cases)
                  if len({size(case) for case in cases if case.operation == operation}) > 1]
    cases = [case for case in cases if case.operation in operations]
    if not operations:
        return None
    columns = min(2, len(operations))
    figure, panels = panels_of(len(operations), columns, 5.2, 2.4, sharex=True, sharey=True)
    looks, values = Styles(ordered(baseline_name(case) for case in cases if case.summary("baseline_seconds"))), []
    for place, (axes, operation) in enumerate(zip(panels, operations)):
        here = ways(case for case in cases if case.operation == operation)
        draw(axes, here, {name: looks.of(name) for name in here})
        values += [value for points in here.values() for one in points.values() for value in one]
        axes.set_title(f"alloc, {operation.replace('_', ' ')}")
        axes.set_ylabel("time" if place % columns == 0 else "")
    log_axis(panels[0], values, _time_tick)
    size_axis(panels, columns, cases)
    legend(figure, panels, run.machine, 3, baseline=False)
    return figure


def _time_tick(seconds: float, _position) -> str:
    factor, unit = time_unit(seconds)
    return f"{seconds * factor:g} {unit}"


def first_gains(run: Run):
    """Plots the times of things that codes do, with their quartiles, on one logarithmic axis: a row for each thing, with
    the gain."""
    forms, found = gains(case for case in run.cases.values() if re.search(FIRST, case.name) and case.summary("ratio"))
    if not found:
        return None
    # Of a thing in many sizes, the smallest, the middle and the largest tell all.
    sizes = {one.doing: [same for same in found if same.doing == one.doing] for one in found}
    found = [one for same in sizes.values() for one in (same if len(same) < 6 else [same[0], same[len(same) // 2], same[-1]])]
    rows = list(reversed(range(len(found))))
    figure, (axes,) = panels_of(1, 1, 7.5, 0.36 * len(found), 0.8, title_rows=3)
    figure.subplots_adjust(left=0.31, right=0.78)
    # Dots of one row stand one above the other, so that none hides another one.
    series = [(f"stock Kokkos, {form}", colour, [one.stock.get(form) for one in found], 0.25 - 0.5 * at / len(forms))
              for at, (form, colour) in enumerate(zip(forms, ("#999999", "#D55E00", "#009E73")))]
    for name, colour, times, shift in [*series, ("this library", COLOURS[0], [one.ours for one in found], -0.25)]:
        points = [(time, row + shift) for time, row in zip(times, rows) if time]
        axes.hlines([row for _, row in points], [time.lower for time, _ in points], [time.upper for time, _ in points],
                    color=colour, linewidth=0.8)
        axes.plot([time.median for time, _ in points], [row for _, row in points], "o", color=colour, markersize=4, label=name)
    beside = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 8, "annotation_clip": False}
    above = beside | {"xycoords": "axes fraction", "va": "bottom"}
    axes.annotate("this\nlibrary", (1.01, 1.01), **above)
    axes.annotate("gain over the faster\nform of stock", (1.13, 1.01), **above)
    for one, row in zip(found, rows):
        is_slower = round(one.gain, 2) < 1
        axes.annotate(rough_time_text(one.ours.median), (1.01, row), **beside)
        axes.annotate(gain_text(one.gain), (1.13, row), **beside, color="#cc0000" if is_slower else "black",
                      weight="bold" if is_slower else "normal")
        axes.axhline(row - 0.5, color="#dddddd", linewidth=0.6)
    axes.set_yticks(rows, [f"{one.doing}, {one.amount}" for one in found])
    axes.set_ylim(-0.5, len(found) - 0.5)
    axes.grid(False, axis="y")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(_time_tick))
    axes.set_xlabel("time, logarithmic; bars: quartiles; less is better")
    legend(figure, [axes], run.machine, 3, baseline=False)
    return figure


def crossing_maps(run: Run):
    """Maps fraction touched and number of passes to the speedup of in place over staged."""
    found = crossings(run)
    if not found:
        return None
    figure, panels = panels_of(len(found), 3, 3.4, 2.4, 0)
    most = 3  # colours tell which is faster, up to 8 times; figures tell the rest
    for axes, crossing in zip(panels, found):
        passes, fractions = crossing.passes(), crossing.fractions()
        values = [[math.log2(crossing.ratios.get((p, f), math.nan)) for f in fractions] for p in passes]
        # Orange: staged is faster; purple: in place is. White in between, also in grey.
        image = axes.imshow(values, aspect="auto", cmap="PuOr",
                            norm=TwoSlopeNorm(0, -most, most))
        for row, p in enumerate(passes):
            for column, f in enumerate(fractions):
                if (p, f) in crossing.ratios:
                    value = crossing.ratios[p, f]
                    decimals = 0 if value >= 10 else 1 if value >= 1 else 2
                    axes.text(column, row, f"{value:.{decimals}f}×", ha="center", va="center", fontsize=7,
                              color="white" if abs(math.log2(value)) > 0.7 * most else "black")
        axes.set_xticks(range(len(fractions)), [f"{fraction:g}" for fraction in fractions])
        axes.set_yticks(range(len(passes)), [f"{p:g}" for p in passes])
        axes.set_xlabel("fraction touched")
        axes.set_ylabel("passes")
        axes.set_title(crossing.title + "; staged copies all of it", fontsize=8)
        axes.grid(False)
    figure.text(0.995, 0.995, run.machine, ha="right", va="top", fontsize=5.5, color="#444444")
    ticks = range(-most, most + 1)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width + 1, height)
    figure.subplots_adjust(right=1 - 0.9 / (width + 1))
    colours = figure.colorbar(image, ax=panels, ticks=ticks, extend="both", label="in place: times as fast as staged")
    colours.ax.set_yticklabels([f"1/{2 ** -tick}" if tick < 0 else f"{2 ** tick}" for tick in ticks])
    return figure


def several_gpus(found: list[Scaling], machine: str):
    """Plots the sum of the rates of all ranks against their number."""
    # GPUs share no device memory: triad represents all vector kernels.
    found = [one for one in found if one.case.space != "CudaSpace" and "strided" not in one.case.words
             and (one.case.group != "vector" or (one.case.operation == "triad" and "float" not in one.case.words))]
    titles = ordered(one.title for one in found)
    if not titles:
        return None
    figure, panels = panels_of(len(titles), 4, 2.6, 2.2, 1)
    styles = Styles()
    for axes, title in zip(panels, titles):
        here = [one for one in found if one.title == title]
        ranks = sorted({count for one in here for count in one.sums})
        for one in here:
            axes.plot(sorted(one.sums), [one.sums[count] / 1e9 for count in sorted(one.sums)],
                      label=line_name(one.case), **styles.of(line_name(one.case)))
        best = max(one.sums[min(one.sums)] / min(one.sums) for one in here) / 1e9
        axes.plot([0, *ranks], [0, *(best * count for count in ranks)], color="#888888", linewidth=0.8,
                  linestyle=(0, (6, 3)), label="nothing shared")
        axes.set_xticks(ranks)
        axes.set_xlim(0, max(ranks) + 0.5)
        axes.set_ylim(0)
        axes.set_title(title)
        axes.set_xlabel("ranks, one GPU each")
        axes.set_ylabel("GB/s, sum of all ranks")
    legend(figure, panels, machine, baseline=False)
    return figure


def locked_memory(run: Run):
    """Plots memory in use, and what of it and beside it is page-locked, over the allocations of each trace in TRACES."""
    found = [(name, case) for name in TRACES for case in run.cases.values()
             if case.group == "traces" and case.name.endswith(f"/{name}") and case.values("locked_mib")]
    if not found:
        return None
    figure, panels = panels_of(len(found), 2, 4.4, 1.7, 1, title_rows=2, sharex=True, sharey=True)
    each = f"(most of each {round(float(run.context['allocations']) / len(found[0][1].values('locked_mib')), -1):g}"
    for place, (axes, (name, case)) in enumerate(zip(panels, found)):
        in_use, locked = case.values("in_use_mib"), case.values("locked_mib")
        at = [float(run.context["allocations"]) * (part + 1) / len(locked) for part in range(len(locked))]
        peak = max(in_use)
        axes.fill_between(at, [value / peak for value in in_use], color="#bbbbbb", label=f"in use {each} allocations)", linewidth=0)
        axes.plot(at, [value / peak for value in locked], color=COLOURS[0], linewidth=1.2, label=f"page-locked {each})")
        axes.set_ylim(0, max(3, math.ceil(max(locked) / peak)))
        axes.set_title(f"{name.replace('_', ' ')}\nmost locked / most in use: {max(locked) / peak:.2f}; most in use: {peak:.0f} MiB",
                       fontsize=9)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", " ")))
        axes.set_xlabel("allocations" if place + 2 >= len(found) else "")
        axes.set_ylabel("1 = most in use" if place % 2 == 0 else "")
    legend(figure, panels, f"the pool on a host without a GPU, commit {run.context.get('commit')}, {run.context['date'][:10]}", 2,
           baseline=False)
    return figure


def svg(figure) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()
