"""Tables of the comparisons with BookSim2, from the sweeps of jobs/reference/booksim-*.toml and the curves of tests/reference.

usage: booksim.py mesh-torus DIR DIR-WITHOUT-STAGES   (writes reference-*.csv and prints rows for the page)
       booksim.py fattree DIR
       booksim.py dragonfly|dragonfly-ugal DIR         (of DIR/LOAD-SEED.json, what `weir run --json` prints)
"""

import csv
import json
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).parent
REFERENCE = HERE.parent.parent / "tests/reference"
COLUMNS = ["booksim_packet_latency_ns", "weir_packet_latency_ns", "packet_off_percent"]
NETWORK = ["booksim_network_latency_ns", "weir_network_latency_ns", "network_off_percent"]
ACCEPTED = ["booksim_accepted", "weir_accepted", "accepted_off_percent"]


def curve(name):
    """By load: latency of packets and in the network (None if they did not settle), and what was accepted."""
    with open(REFERENCE / f"{name}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    keys = ("pkt_lat_avg", "net_lat_avg", "accepted_avg")
    own = [[float(row[key]) if row[key] else None for key in keys] for row in rows]
    return {float(row["offered_flits_per_node_cycle"]): numbers for row, numbers in zip(rows, own) if numbers[2]}


def sweep(folder, axes):
    """By the values of the axes: mean latency of messages, in the network, and what was accepted, over seeds."""
    found = {}
    with open(Path(folder, "table.csv"), newline="") as file:
        for row in csv.DictReader(file):
            keys = ["latency.message.mean [ns]", "latency.network.mean [ns]", "summary.accepted_load"]
            found.setdefault(tuple(row[axis] for axis in axes), []).append([float(row[key]) for key in keys])
    return {point: [statistics.mean(column) for column in zip(*seeds)] for point, seeds in found.items()}


def singles(folder):
    """The same of single runs, by load alone."""
    found = {}
    for path in Path(folder).glob("*.json"):
        summary = json.loads(path.read_text())
        latency = [summary["latency"][name]["mean_ps"] / 1e3 for name in ("message", "network")]
        own = [*latency, summary["summary"]["accepted_load"]]
        found.setdefault((path.stem.split("-")[0],), []).append(own)
    return {point: [statistics.mean(column) for column in zip(*seeds)] for point, seeds in found.items()}


def off(weir, booksim, digits=1):
    # No -0.0.
    return "" if booksim is None else f"{round((weir / booksim - 1) * 100, digits) + 0.0:.{digits}f}"


def shown(percent):
    return f"{round(float(percent), 1) + 0.0:+.1f}%".replace("+0.0", "0.0") if percent else ""


def write(name, head, rows):
    with open(HERE / f"reference-{name}.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(head)
        table.writerows(rows)


def mesh_torus(folder, plain):
    names = ["network", "packet", "load"]
    found, without = sweep(folder, names), sweep(plain, names)
    rows = []
    for flits in (4, 1):
        for network in ("mesh", "torus"):
            for load, (latency, _, accepted) in curve(f"{network}88_dor_uniform_p{flits}").items():
                point = next((key for key in found if key[:2] == (network, f"{flits} flits") and float(key[2]) == load), None)
                if point is None:
                    continue
                (own, _, taken), (bare, _, bare_taken) = found[point], without[point]
                cells = ["" if latency is None else f"{latency:.2f}", f"{own:.2f}", off(own, latency)]
                cells += [f"{accepted:.4f}", f"{taken:.4f}", off(taken, accepted)]
                rows.append([network, flits, f"{load:g}", *cells])
                shows = [cells[0] or "unstable", cells[1], shown(cells[2]), shown(off(bare, latency)), *cells[3:5]]
                shows += [shown(cells[5]), shown(off(bare_taken, accepted))]
                print("|", " | ".join([network, str(flits), f"{load:g}", *shows]), "|")
    write("mesh-torus", ["network", "flits", "load", *COLUMNS, *ACCEPTED], rows)


def fattree(folder):
    booksim = curve("fattree_k4n3_nca_uniform_p1")
    rows = []
    for (channels, load), (own, _, taken) in sweep(folder, ["channels", "load"]).items():
        if float(load) not in booksim:
            continue
        latency, _, accepted = booksim[float(load)]
        cells = ["" if latency is None else f"{latency:.2f}", f"{own:.2f}", off(own, latency)]
        cells += [f"{accepted:.4f}", f"{taken:.4f}", off(taken, accepted)]
        rows.append([channels, load, 3, *cells])
        print("|", " | ".join([channels, load, cells[0] or "unstable", *cells[1:2], shown(cells[2]), *cells[3:5], shown(cells[5])]), "|")
    write("fattree", ["channels", "load", "seeds", *COLUMNS, *ACCEPTED], rows)


def dragonfly(name, folder):
    way = {"dragonfly": "min", "dragonfly-ugal": "ugal"}[name]
    booksim = curve(f"dragonfly1056_{way}_uniform_p4")
    rows = []
    for (load,), own in sorted(singles(folder).items()):
        theirs = booksim[float(load)]
        pairs = list(zip(own, theirs))
        cells = [[f"{b:.{d}f}", f"{w:.{d}f}", off(w, b, 2)] for (w, b), d in zip(pairs, (3, 3, 4))]
        rows.append([load, *cells[0], *cells[1], *cells[2]])
        print("|", " | ".join([load, *(cell for three in cells for cell in (*three[:2], shown(three[2])))]), "|")
    write(name, ["load", *COLUMNS, *NETWORK, *ACCEPTED], rows)


which, *folders = sys.argv[1:]
{"mesh-torus": mesh_torus, "fattree": fattree}.get(which, lambda folder: dragonfly(which, folder))(*folders)
