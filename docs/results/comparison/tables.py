#!/usr/bin/env python3
"""The tables and the figure of these pages, from the tables of the sweeps.

    tables.py keep OUT/table.csv >schemes.csv     the columns that are used here
    tables.py tuned OUT/tune/* >tune.csv           what the searches have tried
    tables.py                                     schemes.csv, gpcnet.csv -> summary.csv, impact.csv, comparison.svg, the tables of these pages and of README

Needs nothing but Python. What the numbers are is said on the page.
"""

import csv
import math
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).parent
APPS = ["lammps", "milc", "halo", "pairs", "allreduce"]
NETWORKS = ["dragonfly", "fat tree", "fat tree, flows"]
# Two-sided 95% of Student's t, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262}
KEPT = ["network", "scenario", "setting", "seed", "test", "congestors"]
MEASURED = ["jobs.", "phases.", "latency.job.victims.message", "latency.job.hot", "scheme.packets_", "ports.", "latency.job.test.iteration"]
MESSAGES = [f"latency.job.{app}.message.p99 [ns]" for app in APPS]
NEEDLESS = (".network.", ".samples", ".p50", ".p90", ".max", "_by_arrival.p")


def keep(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["state"] == "done"]
    def wanted(name):
        measured = name in MESSAGES or any(name.startswith(one) for one in MEASURED)
        return name in KEPT or measured and not any(one in name for one in NEEDLESS)
    names = [name for name in rows[0] if wanted(name)]
    out = csv.DictWriter(sys.stdout, names, extrasaction="ignore", lineterminator="\n")
    out.writeheader()
    for row in rows:
        out.writerow({name: short(row[name]) if name not in KEPT else row[name] for name in names})


def short(text):
    """Six digits are enough."""
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text


def read(name, axes):
    path = HERE / name
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {tuple(row[axis] for axis in axes): row for row in csv.DictReader(file)}


def number(row, name):
    text = (row or {}).get(name, "")
    return float(text) if text else math.nan


def geometric(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def spread(values):
    """Mean and half of the 95% confidence interval; none of a single value."""
    values = [value for value in values if not math.isnan(value)]
    if not values:
        return math.nan, math.nan, 0
    mean, count = statistics.fmean(values), len(values)
    if count < 2:
        return mean, math.nan, count
    half = STUDENT.get(count - 1, 2.0) * statistics.stdev(values) / math.sqrt(count)
    return mean, half, count


def per_seed(rows, network, setting):
    """By seed: what a setting does, over none without an incast on the same network and places."""
    seeds = sorted({key[3] for key in rows if key[:3] == (network, "incast", setting)}, key=int)
    for seed in seeds:
        at = lambda scenario, one: rows.get((network, scenario, one, seed))
        base, calm, incast = at("calm", "none"), at("calm", setting), at("incast", setting)
        beside, phase, best = at("incast", "none"), at("permutations", setting), at("permutations", "none")
        hot, cool = at("hot spots", setting), at("no hot spots", "none")
        if not (base and calm and incast and beside):
            continue
        times = lambda row: [number(row, f"jobs.{app}.communication [ns]") / number(base, f"jobs.{app}.communication [ns]") for app in APPS]
        tails = [number(incast, one) / number(base, one) for one in MESSAGES]
        ratio = lambda row, over, name: number(row, name) / number(over, name)
        yield seed, {
            "slowdown": geometric(times(incast)),
            "worst": max(times(incast)),
            "tail": geometric(tails),
            "calm": geometric(times(calm)),
            "incast": ratio(incast, beside, "jobs.storm.communication [ns]"),
            "permutations": ratio(phase, best, "phases.app.0.time [ns]"),
            "hot_mean": ratio(hot, cool, "latency.job.victims.message.mean [ns]"),
            "hot_p999": ratio(hot, cool, "latency.job.victims.message.p999 [ns]"),
            "control": control(incast),
            "again": number(incast, "scheme.packets_data") / number(incast, "scheme.packets_ack") - 1,
            "held": number(incast, "ports.all.peak_occupancy [B]"),
            **{app: time for app, time in zip(APPS, times(incast))},
        }


def control(row):
    """Control packets for each packet of data that arrives, its acknowledgement not counted."""
    names = [name for name in row if name.startswith("scheme.packets_") and not name.endswith(("_data", "_ack"))]
    return sum(float(row[name] or 0) for name in names) / number(row, "scheme.packets_ack")


COLUMNS = ["slowdown", "worst", "tail", "calm", "incast", "permutations", "hot_mean", "hot_p999", "control", "again", "held"] + APPS


def summary(rows):
    """(network, setting) -> {column: (mean, half of the interval, seeds)}."""
    found = {}
    for network in NETWORKS:
        for setting in dict.fromkeys(key[2] for key in rows if key[0] == network):
            seeds = [values for _, values in per_seed(rows, network, setting)]
            if seeds:
                found[network, setting] = {name: spread([one[name] for one in seeds]) for name in COLUMNS}
    return found


def impacts(rows):
    """(network, setting, test) -> impact of the mean and of the 99th percentile, and what the setting costs without congestors, each (mean, half, seeds); whether
    something was not over at the end, so that the impact is at least that."""
    found = {}
    for network, test, setting in dict.fromkeys((key[0], key[1], key[3]) for key in rows):
        values, missing = {"mean": [], "p99": [], "cost": []}, False
        for seed in sorted({key[4] for key in rows}):
            off, on, plain = (rows.get((network, test, *one, seed)) for one in (("off", setting), ("on", setting), ("off", "none")))
            if not (off and on and plain):
                continue
            of = lambda row, what: number(row, f"latency.job.test.iteration.{what}_at_least [ns]")
            values["mean"].append(of(on, "mean") / of(off, "mean"))
            values["p99"].append(of(on, "p99") / of(off, "p99"))
            values["cost"].append(of(off, "mean") / of(plain, "mean"))
            missing |= number(on, "latency.job.test.iteration.missing") > 0
        if values["mean"]:
            found[network, setting, test] = [spread(one) for one in values.values()] + [missing]
    return found


def tuned(paths):
    """What `weir tune` has tried, of several schemes: the directories of its searches."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    goals = APPS + ["storm"]
    out.writerow(["scheme", "setting", "score"] + goals)
    for path in paths:
        with open(pathlib.Path(path) / "table.csv", newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["state"] == "done"]
        names = list(rows[0])
        axes = names[names.index("state") + 1 : names.index("seed")]
        for row in sorted(rows, key=lambda row: -float(row["score"])):
            setting = "; ".join(f"{axis} = {row[axis]}" for axis in axes)
            out.writerow([pathlib.Path(path).name, setting, short(row["score"])] + [short(row[f"criterion.{goal}"]) for goal in goals])


def written(value, digits=2):
    mean, half, _ = value
    if math.isnan(mean):
        return ""
    places = digits if mean < 10 else 1 if mean < 100 else 0
    return f"{mean:.{places}f}" if math.isnan(half) else f"{mean:.{places}f} ± {half:.{places}f}"


def write_csv(name, head, lines):
    with open(HERE / name, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(head)
        out.writerows(lines)


def flat(value):
    mean, half, count = value
    return [f"{mean:.4g}", "" if math.isnan(half) else f"{half:.2g}", count]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "keep":
        return keep(sys.argv[2])
    if len(sys.argv) > 2 and sys.argv[1] == "tuned":
        return tuned(sys.argv[2:])
    found = summary(read("schemes.csv", ["network", "scenario", "setting", "seed"]))
    head = ["network", "setting"] + [f"{name}{part}" for name in COLUMNS for part in ("", "_half", "_seeds")]
    write_csv("summary.csv", head, [list(key) + [part for name in COLUMNS for part in flat(row[name])] for key, row in found.items()])
    impact = impacts(read("gpcnet.csv", ["network", "test", "congestors", "setting", "seed"]))
    head = ["network", "setting", "test"] + [f"{what}{part}" for what in ("impact_mean", "impact_p99", "cost") for part in ("", "_half", "_seeds")] + ["at_least"]
    lines = [list(key) + [part for one in row[:3] for part in flat(one)] + [int(row[3])] for key, row in impact.items()]
    write_csv("impact.csv", head, lines)
    (HERE / "comparison.svg").write_text(figure(found), encoding="utf-8")
    short = in_short(found)
    fill(HERE / "README.md", {"in short": short})
    fill(HERE / "numbers.md", {network: whole(found, network) for network in NETWORKS})
    fill(HERE / "gpcnet.md", {"gpcnet": gpcnet(impact)})
    fill(HERE.parent.parent.parent / "README.md", {"the comparison in short": short})


def fill(page, sections):
    """Puts tables between their marks in a page."""
    text = page.read_text(encoding="utf-8")
    for name, table in sections.items():
        begin, end = f"<!-- made by tables.py: {name} -->\n", "<!-- end -->"
        if begin in text:
            before, rest = text.split(begin)
            text = f"{before}{begin}\n{table}\n\n{end}{rest.split(end, 1)[1]}"
    page.write_text(text, encoding="utf-8")


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


# One row for each scheme: as it was found where it was searched.
CHOSEN = ["none", "ecn, tuned", "ib_cca, tuned", "srp", "smsrp, tuned", "lhrp, tuned", "lhrp_srp, tuned", "codes_cc, tuned", "sst_cm, tuned",
          "saa, tuned", "window, tuned", "1VC", "dbbm", "voq_net"]


def in_short(found):
    head = ["", "applications beside an incast", "without it", "the incast", "permutations", "p99.9 beside hot spots"]
    both = lambda setting, name: " / ".join(f"{mean:.2f}" if mean < 10 else f"{mean:.1f}" for mean in
                                            (found[network, setting][name][0] if (network, setting) in found else math.nan for network in NETWORKS[:2]))
    rows = [[setting] + [both(setting, name) for name in ("slowdown", "calm", "incast", "permutations", "hot_p999")] for setting in CHOSEN]
    return table(head, rows)


def whole(found, network):
    """All numbers of a network, in two tables."""
    rows = [(setting, row) for (where, setting), row in found.items() if where == network]
    head = ["", "seeds", "five applications beside the incast", "the worst of them", "p99 of messages", "without incast", "the incast", "permutations",
            "hot spots: mean", "p99.9"]
    first = table(head, [[setting, str(row["slowdown"][2])] + [written(row[name]) for name in COLUMNS[:8]] for setting, row in rows])
    head = [""] + APPS + ["control packets", "sent again", "fullest port, KiB"]
    last = lambda row: [f"{row['control'][0]:.2f}", f"{100 * row['again'][0]:.1f}%", f"{row['held'][0] / 1024:.0f}"]
    second = table(head, [[setting] + [written(row[name]) for name in APPS] + last(row) for setting, row in rows])
    return f"{first}\n\n{second}"


def gpcnet(impact):
    parts = []
    tests = list(dict.fromkeys(test for _, _, test in impact))
    for network in dict.fromkeys(network for network, _, _ in impact):
        rows = []
        for setting in dict.fromkeys(one for where, one, _ in impact if where == network):
            cells = []
            for test in tests:
                *values, missing = impact.get((network, setting, test), [(math.nan, math.nan, 0)] * 3 + [False])
                cells += [("≥ " if missing else "") + written(value) for value in values[:2]] + [written(values[2])]
            rows.append([setting] + cells)
        parts.append(f"**{network.capitalize()}**\n\n" + table([""] + [f"{test}{what}" for test in tests for what in (": mean", ", p99", ", alone")], rows))
    return "\n\n".join(parts)


SHOWN = [("slowdown", "applications beside the incast", "#c0392b", "circle"), ("calm", "applications without incast", "#2c7fb8", "diamond"), ("incast", "the incast", "#7f8c8d", "square")]


def figure(found):
    """Dots on a logarithmic axis: a row for each setting, a panel for each of the first two networks."""
    panels = NETWORKS[:2]
    settings = list(dict.fromkeys(setting for where, setting in found if where in panels))
    left, width, gap, top, step = 118, 330, 26, 62, 19
    low, high = math.log10(0.8), math.log10(60)
    height = top + step * len(settings) + 48
    total = left + len(panels) * (width + gap)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height}" width="{total}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{total}" height="{height}" fill="white"/>']
    x_key = left
    for _, label, colour, shape in SHOWN:
        out += [mark(shape, x_key + 5, 16, colour), f'<text x="{x_key + 15}" y="20" fill="#222">{label}</text>']
        x_key += 30 + 6.4 * len(label)
    for panel, network in enumerate(panels):
        start = left + panel * (width + gap)
        x = lambda value: start + width * (min(max(math.log10(value), low), high) - low) / (high - low)
        out.append(f'<text x="{start + width / 2:.0f}" y="46" text-anchor="middle" font-weight="bold" fill="#222">{network}</text>')
        bottom = top + step * len(settings)
        for tick in (1, 2, 5, 10, 20, 50):
            out.append(f'<line x1="{x(tick):.1f}" y1="{top - 6}" x2="{x(tick):.1f}" y2="{bottom}" stroke="{"#888" if tick == 1 else "#ddd"}"/>')
            out.append(f'<text x="{x(tick):.1f}" y="{bottom + 15}" text-anchor="middle" fill="#444">{tick}</text>')
        out.append(f'<text x="{start + width / 2:.0f}" y="{bottom + 34}" text-anchor="middle" fill="#444">time over that without control and incast</text>')
        for place, setting in enumerate(settings):
            y = top + step * place + step / 2
            if panel == 0:
                out.append(f'<text x="{left - 10}" y="{y + 4:.1f}" text-anchor="end" fill="#222">{setting}</text>')
            row = found.get((network, setting))
            if not row:
                continue
            for name, _, colour, shape in reversed(SHOWN):
                mean, half, _ = row[name]
                if math.isnan(mean):
                    continue
                if not math.isnan(half):
                    out.append(f'<line x1="{x(max(mean - half, 0.8)):.1f}" y1="{y:.1f}" x2="{x(mean + half):.1f}" y2="{y:.1f}" stroke="{colour}" stroke-opacity="0.5" stroke-width="2"/>')
                out.append(mark(shape, x(mean), y, colour))
    return "\n".join(out + ["</svg>", ""])


def mark(shape, x, y, colour):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
    if shape == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    return f'<path d="M{x:.1f} {y - 5:.1f} l5 5 l-5 5 l-5 -5 z" fill="{colour}"/>'


if __name__ == "__main__":
    main()
