"""Saturations of Figures 2, 7, 10 and 12, from the tables beside this file.

    python3 docs/results/sc15/saturation.py

Rows of a table may come from several runs of one job file, which `weir sweep` does not judge together. Saturated is where less than a margin
of what is offered is accepted (first = { below = 0.95, of = … } of a claim): by linear interpolation between two loads.
"""

from pathlib import Path

import pandas

HERE = Path(__file__).parent
MARGINS = (0.95, 0.98)


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


def judge(figure, panels, job=None):
    table = pandas.read_csv(HERE / f"{figure}.csv")
    table = table[table.state == "done"]
    accepted, offered = (f"jobs.{job}.{what}_load" if job else f"summary.{what}_load" for what in ("accepted", "offered"))
    if offered not in table:
        # Tables from before the claim asked for it: half of the load is of either size.
        table = table.assign(**{offered: table["load"] / 2})
    groups = ((key if isinstance(key, tuple) else (key,), rows) for key, rows in table.groupby(panels + ["scheme"]))
    groups = list(groups)
    for margin in MARGINS:
        found = {key: saturation(rows, accepted, offered, margin) for key, rows in groups}
        for key, load in found.items():
            base = found.get(key[:-1] + ("none",), float("nan"))
            print(f"{figure} {job or ''} {' '.join(key)}: below {margin:.0%} from load {load:.4f} on, {load / base:.4f} of none")


if __name__ == "__main__":
    judge("fig2", ["message"])
    judge("fig7", [])
    judge("fig10", ["message"])
    judge("fig12", [], "small")
    judge("fig12", [], "large")
