"""Draws how long LAMMPS takes beside an incast and fixed pairs under each congestion-control scheme.

usage: schemes.py picture.png

The numbers are those of the table in docs/results/reference-applications-schemes.md, which says what was run. Of a scheme that is there with
parameters adapted to its packets, too, these are drawn.
"""

import re
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

PAGE = "docs/results/reference-applications-schemes.md"
COLOURS = {"LAMMPS": "#0072b2", "fixed pairs": "#e69f00"}


def rows():
    """Of each scheme: LAMMPS and fixed pairs alone without a scheme, and both beside the others under it, ms."""
    with open(PAGE, encoding="utf-8") as page:
        section = page.read().split("```")[0]
    found = {}
    for line in re.findall(r"^\| (\w+(?:, adapted)?) \| (.*) \|$", section, re.MULTILINE):
        numbers = line[1].split(" | ")
        if len(numbers) == 6 and re.fullmatch(r"[0-9.]+", numbers[0]):
            found[line[0].removesuffix(", adapted")] = [float(number) for number in numbers]
    alone = found["none"]
    return {scheme: {"LAMMPS": each[1] / alone[0], "fixed pairs": each[5] / alone[4]} for scheme, each in found.items()}


def main(picture):
    schemes = rows()
    figure, panels = pyplot.subplots(1, 2, sharey=True, figsize=(7.5, 3.2), layout="constrained")
    names = list(schemes)[::-1]
    for axes, (job, colour) in zip(panels, COLOURS.items(), strict=True):
        values = [schemes[name][job] for name in names]
        bars = axes.barh(names, values, color=colour)
        axes.bar_label(bars, [f"{value:.1f}" for value in values], padding=3, fontsize=9)
        axes.axvline(1, color="0.4", linestyle=":", linewidth=1)
        axes.set_xlim(0, max(values) * 1.12)
        axes.set_xlabel(f"time of {job} over that alone")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
