"""Draws what the six schemes of Yébenes et al. accept at load 1 in each figure of the paper, and how it goes with load on tori.

usage: kns_torus.py folder

The folder is docs/results/kns-torus: its tables are read, load1.png and tori.png are written. Of several tables of a figure that have a
point the one with the longest run is taken.
"""

import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

COLOURS = {
    "1VC": "#999999",
    "OSHA-2VC": "#e69f00",
    "SASHA-2VC": "#56b4e9",
    "OSHA-4VC": "#d55e00",
    "SASHA-4VC": "#0072b2",
    "BBQ-4VC": "#009e73",
}
SWITCHES = ["without VOQs", "with VOQs"]
# Panels of a figure of the paper: the figure, the column that tells them apart, its value, and what is written below the bars.
PANELS = [
    ("fig5", "s", "1", "5: 2D KNS\ns = 1"),
    ("fig5", "s", "3", "5: 2D KNS\ns = 3"),
    ("fig6", "s", "1", "6: 3D KNS\ns = 1"),
    ("fig7", "s", "1", "7: 2D torus\ns = 1"),
    ("fig7", "s", "3", "7: 2D torus\ns = 3"),
    ("fig8", "s", "1", "8: 3D torus\ns = 1"),
    ("fig9", "network", "2D KNS of 2,304", "9: 2D KNS\nhot spot"),
    ("fig9", "network", "3D KNS of 13,824", "9: 3D KNS\nhot spot"),
    ("fig10", "network", "2D torus of 2,304", "10: 2D torus\nhot spot"),
    ("fig10", "network", "3D torus of 13,824", "10: 3D torus\nhot spot"),
]
# Tables with a figure's points as they are in its job file, and nothing else changed but how long they run, ms.
TABLES = {
    "fig5": {"fig5-120us": 0.12, "fig5-3ms": 3},
    "fig6": {"fig6-120us": 0.12, "fig6-600us": 0.6, "fig6-3ms": 3},
    "fig7": {"fig7-120us": 0.12, "fig7-3ms": 3},
    "fig8": {"fig8-120us": 0.12, "fig8-600us": 0.6},
    "fig9": {"fig9-300us": 0.3, "fig9-3d-600us": 0.6, "fig9-3d-1200us": 1.2, "fig9-3ms": 3},
    "fig10": {"fig10-300us": 0.3, "fig10-3d-600us": 0.6, "fig10-3ms": 3},
}


def points(folder, figure):
    """All points of a figure, by their number: the rows of its tables, a longer run in place of a shorter one."""
    found = {}
    for name, simulated in TABLES[figure].items():
        with open(folder / f"{name}.csv", encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table):
                found[row["point"]] = {**row, "ms": simulated}
    return list(found.values())


def accepted(rows, column, value, voq):
    """Of one panel: what each scheme accepts, by load, and the simulated time of those at load 1, ms."""
    by_scheme, times = {}, set()
    for row in rows:
        if row[column] == value and row["voq"] == voq:
            by_scheme.setdefault(row["scheme"], {})[float(row["load"])] = float(row["summary.accepted_load"])
            if float(row["load"]) == 1.0:
                times.add(row["ms"])
    return by_scheme, times


def draw_load_1(folder, picture):
    figure, panels = pyplot.subplots(2, 1, figsize=(12, 6.4), layout="constrained")
    width = 0.8 / (len(COLOURS) - 1)
    for axes, voq in zip(panels, SWITCHES, strict=True):
        labels = []
        for place, (number, column, value, label) in enumerate(PANELS):
            schemes, times = accepted(points(folder, number), column, value, voq)
            best = schemes["BBQ-4VC"][1.0]
            shown = [scheme for scheme in COLOURS if scheme != "BBQ-4VC"]
            for at, scheme in enumerate(shown):
                if 1.0 in schemes.get(scheme, {}):
                    ratio = schemes[scheme][1.0] / best
                    x = place - 0.4 + width * (at + 0.5)
                    axes.bar(x, ratio, width * 0.92, color=COLOURS[scheme], label=scheme if place == 0 else None)
                    axes.text(x, ratio + 0.015, f"{ratio:.2f}", ha="center", va="bottom", fontsize=6.5, rotation=90)
            span = " and ".join(f"{time:g}" for time in sorted(times))
            labels.append(f"{label}\nBBQ-4VC {best:.3f}\n{span} ms")
        axes.axhline(1, color=COLOURS["BBQ-4VC"], linewidth=1, label="BBQ-4VC")
        axes.set_xticks(range(len(PANELS)), labels, fontsize=8)
        axes.set_ylim(0, 1.3)
        axes.set_ylabel(f"accepted traffic over\nthat of BBQ-4VC, {voq}")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(ncols=6, fontsize=8, frameon=False, loc="upper right")
    figure.savefig(picture, dpi=110)


def draw_tori(folder, picture):
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    drawn = [("fig7", "s", "3", "Figure 7: 2D torus, Zipf traffic, s = 3"), ("fig10", "network", "2D torus of 2,304", "Figure 10: 2D torus, hot spot")]
    for axes, (number, column, value, title) in zip(panels, drawn, strict=True):
        rows = [row for row in points(folder, number) if row["ms"] == 3]
        schemes, _ = accepted(rows, column, value, "without VOQs")
        for scheme, colour in COLOURS.items():
            loads = sorted(schemes[scheme])
            axes.plot(loads, [schemes[scheme][load] for load in loads], color=colour, marker="o", markersize=3, linewidth=1.4, label=scheme)
        axes.set_title(f"{title}\nwithout VOQs, 1 to 3 ms", fontsize=9)
        axes.set_xlabel("generated traffic")
        axes.set_ylabel("accepted traffic")
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(fontsize=8, frameon=False, ncols=2, loc="lower right")
    figure.savefig(picture, dpi=110)


def main(folder):
    folder = pathlib.Path(folder)
    draw_load_1(folder, folder / "load1.png")
    draw_tori(folder, folder / "tori.png")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
