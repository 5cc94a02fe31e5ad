"""Saturations of Figures 2, 7, 10 and 12, and their pictures, from the tables beside this file.

    python3 docs/results/sc15/saturation.py

Rows of a table may come from different runs of one job file, so that `weir sweep` cannot judge them together. Saturated is where less than
a margin of what is offered is accepted (first = { below = 0.95, of = … } of a claim): by linear interpolation between two loads.
"""

import sys
from pathlib import Path

import matplotlib
import pandas

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

HERE = Path(__file__).parent
MARGINS = (0.95, 0.98)
ACCEPTED, OFFERED = "summary.accepted_load", "summary.offered_load"
SMALL, LARGE = ("jobs.small.accepted_load", "jobs.small.offered_load"), ("jobs.large.accepted_load", "jobs.large.offered_load")


def saturation(rows, accepted, offered, margin):
    """The load from which on less than the margin is accepted; infinite if there is none."""
    before = None
    for _, row in rows.sort_values("load").iterrows():
        short = margin * row[offered] - row[accepted]
        if short > 0:
            if before is None:
                return row["load"]
            load, excess = before
            return load + (row["load"] - load) * excess / (excess + short)
        before = row["load"], -short
    return float("inf")


def judge(figure, panels, pairs=((ACCEPTED, OFFERED),)):
    table = pandas.read_csv(HERE / f"{figure}.csv")
    table = table[table.state == "done"]
    keys = panels + ["scheme"]
    for accepted, offered in pairs:
        for margin in MARGINS:
            groups = ((key if isinstance(key, tuple) else (key,), rows) for key, rows in table.groupby(keys))
            found = {key: saturation(rows, accepted, offered, margin) for key, rows in groups}
            for key, load in found.items():
                base = found[key[:-1] + ("none",)]
                print(f"{figure} {' '.join(key)} {accepted} below {margin:.0%} from {load:.4f} on, {load / base:.4f} of none")
    return table


def draw(table, figure, name, y, label, panel=None):
    groups = [(None, table)] if panel is None else list(table.groupby(panel, sort=False))
    image, axes = pyplot.subplots(1, len(groups), figsize=(5.5 * len(groups), 4), squeeze=False, layout="constrained")
    for axis, (title, rows) in zip(axes[0], groups):
        for scheme, own in rows.groupby("scheme", sort=False):
            own = own.sort_values("load")
            axis.plot(own["load"], own[y], marker="o", markersize=3, label=scheme)
        axis.set(xlabel="offered load", ylabel=label, title=title or "", yscale="log" if "latency" in y else "linear")
        axis.grid(alpha=0.3)
        axis.legend()
    image.savefig(HERE / f"{figure}-{name}.png", dpi=110)


def main():
    latency, load = ("latency.message.mean [ns]", "mean message latency (ns)"), (ACCEPTED, "accepted load")
    for figure, panel in (("fig2", "message"), ("fig7", None), ("fig10", "message")):
        table = judge(figure, [panel] if panel else [])
        draw(table, figure, "latency", *latency, panel)
        draw(table, figure, "throughput", *load, panel)
    judge("fig12", [], (SMALL, LARGE))


if __name__ == "__main__":
    sys.exit(main())
