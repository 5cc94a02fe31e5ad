"""Draws the time series of the demo: throughput and latency of each job.

usage: demo.py result.h5 picture.png
"""

import sys
import tomllib

import h5py
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot, ticker

COLOURS = {"hot": "#c0392b", "victims": "#1f618d"}


def series(result, job):
    """Time in us, throughput in Gbps, mean latency of the messages received in each bin in us."""
    rows = result["data/series"]
    time = rows["time_ps"][:] / 1e6
    gigabits = rows[f"job.{job}.delivered_bytes"][:] * 8e3 / float(rows.attrs["bin_ps"])
    messages = rows[f"job.{job}.messages"][:].astype(float)
    messages[messages == 0] = float("nan")
    latency = rows[f"job.{job}.message_latency_ps"][:] / messages / 1e6
    return time, gigabits, latency


def microseconds(text):
    number, unit = text.split()
    return float(number) * {"ps": 1e-6, "ns": 1e-3, "us": 1, "ms": 1e3}[unit]


def main(path, picture):
    figure, (upper, lower) = pyplot.subplots(2, 1, sharex=True, figsize=(7.5, 5), layout="constrained")
    with h5py.File(path) as result:
        workloads = tomllib.loads(result.attrs["experiment"])["workload"]
        hot = next(workload for workload in workloads if workload["name"] == "hot")
        finish = float(result["data/jobs/hot"].attrs["finish_ps"]) / 1e6
        for job in (workload["name"] for workload in workloads):
            time, gigabits, latency = series(result, job)
            upper.step(time, gigabits, where="post", color=COLOURS[job], label=job)
            lower.step(time, latency, where="post", color=COLOURS[job], label=job)
    start, stop = microseconds(hot["start"]), microseconds(hot["stop"])
    for axes in (upper, lower):
        axes.axvspan(start, stop, color="0.92", zorder=0)
        axes.axvline(finish, color="0.6", linestyle=":", linewidth=1)
        axes.spines[["top", "right"]].set_visible(False)
    for time, text in [((start + stop) / 2, "the hot spot's sources send"), (finish, "its last packet arrives")]:
        upper.annotate(text, (time, 1.01), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=9)
    upper.set_ylabel("delivered, Gbps")
    upper.set_ylim(bottom=0)
    lower.set_ylabel("mean message latency, us")
    lower.set_yscale("log")
    lower.yaxis.set_major_formatter(ticker.ScalarFormatter())
    lower.set_ylim(bottom=0.5)
    lower.set_xlabel("simulated time, us")
    lower.legend(frameon=False)
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
