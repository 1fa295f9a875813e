#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: Copyright Contributors to the Kokkos Host Spaces project
"""Draws what heat --picture wrote: plot.py SLICES.npy PICTURE.png (needs numpy and matplotlib)."""

import sys

import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main():
    first, last, error = numpy.load(sys.argv[1])
    limit = abs(first).max()
    panels = (
        ("at the beginning", first, "RdBu_r", limit),
        ("at the end", last, "RdBu_r", limit),
        ("end minus solution", error, "PiYG", abs(error).max() or 1),
    )
    figure, axes = plt.subplots(1, 3, figsize=(6, 2.1), layout="constrained")
    for place, (title, values, colours, largest) in zip(axes, panels):
        image = place.imshow(values, origin="lower", cmap=colours, vmin=-largest, vmax=largest)
        place.set_title(title, fontsize=8)
        place.set_xticks([])
        place.set_yticks([])
        bar = figure.colorbar(image, ax=place, shrink=0.85)
        bar.ax.tick_params(labelsize=6)
        bar.ax.yaxis.offsetText.set_fontsize(6)
    figure.savefig(sys.argv[2], dpi=100)


if __name__ == "__main__":
    main()
