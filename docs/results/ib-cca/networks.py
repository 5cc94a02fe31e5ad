"""Shares of a link that the hot port and the other ports take on each network: from the results of jobs/ib-cca/networks.toml.

usage: networks.py DIR TABLE.csv
"""

import csv
import sys
import tomllib
from pathlib import Path

import h5py

BIN_US = 50
LINK_BYTES = 150_000  # in a bin
MS = 1000 // BIN_US


def shares(file):
    """Hot port and others in the second half of the hot spot; others before it, and in its first millisecond."""
    experiment = tomllib.loads(file.attrs["experiment"])
    pattern = experiment["workload"][0]["pattern"]
    hot, end = pattern["hot"], int(pattern["to"].split()[0]) * MS
    taken = {number: file[f"data/series/endpoint.{number}.delivered_bytes"][:] / LINK_BYTES for number in range(hot + 1)}
    others = sum(taken[number] for number in range(hot)) / hot
    late = slice((MS + end) // 2, end)
    return [taken[hot][late], others[late], others[MS // 2 : MS], others[MS : 2 * MS]]


def main(folder, out):
    with open(Path(folder, "table.csv"), newline="") as table:
        points = [point for point in csv.DictReader(table) if point["state"] == "done"]
    with open(out, "w", newline="") as table:
        rows = csv.writer(table, lineterminator="\n")
        rows.writerow(["network", "control", "seed", "hot", "others", "others_before", "others_first_ms"])
        for point in points:
            with h5py.File(Path(folder, "points", point["hash"], "result.h5")) as file:
                means = [f"{share.mean():.4f}" for share in shares(file)]
            rows.writerow([point["network"], point["control"], point["seed"], *means])


main(*sys.argv[1:])
