"""Checks and runs every ready file: each experiment of jobs/, each network of topologies/, each application of workloads/.

usage: run_ready.py weir directory [file…]

A file without a network is a preset that others name. An experiment is run with all of its times shrunk by one factor, so that it keeps its shape: what starts in the middle
of the run still does. Of a job file with axes the smaller study that its [reduced] describes is run as a sweep, and its
claims have to hold; without [reduced] its points are planned and the first one is run. Of one with [tune] the smaller search is run. A network is run under uniform traffic with every routing that is made for it. With files, only
these. Results go to the directory. A run has to end well and to deliver packets.
"""

import json
import os
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

# Simulated time of a shortened run: long enough for packets to cross the networks that come with weir. More endpoints than
# USUAL deliver more in that time, so they get less, in proportion, but SHORTEST_US at least.
SHORT_US = 3.0
SHORTEST_US = 0.8
USUAL = 2_000
# Of an application of at most USUAL tasks: longer than hosts take for the first messages. While it computes and nothing is
# delivered, it runs LONGER times as long, up to LONGEST_US.
APPLICATION_US = 10.0
LONGER = 3
LONGEST_US = 1e7
# What `layered` says of large networks.
TOO_MANY = "pairs of routers are more than layers are found for"
# Endpoints of a network that runs with one routing alone: tests of the catalog try each on small ones.
LARGE = 10_000

DRAGONFLIES = (72, 1056, 3078, 8192)

UNITS = {"ps": 1e-6, "ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def weir(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def microseconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def shrunk(value, factor):
    """A shorter time as a value of --set: whole picoseconds, at least one if there was any."""
    ps = microseconds(value) * factor * 1e6
    return f'"{max(round(ps), 1 if ps > 0 else 0)} ps"'


def endpoints_in(resolved):
    """Number of endpoints, as `weir check` prints it."""
    return int(next(line.split()[2] for line in resolved.splitlines() if line.startswith("# endpoints")))


def short_us(endpoints):
    return min(SHORT_US, max(SHORTEST_US, SHORT_US * USUAL / endpoints))


def shortened(experiment, endpoints):
    """Values of --set that shrink all times of a (resolved) experiment on a network."""
    run, workloads = experiment["run"], experiment["workload"]
    programs = [workload for workload in workloads if "motif" in workload or "trace" in workload]
    if programs:
        # Applications have no times that could be shrunk: their first microseconds.
        starts = [microseconds(workload["start"]) for workload in programs]
        return [f'run.until="{min(starts) + APPLICATION_US} us"']
    if run["until"] == "completion":
        longest = max(microseconds(workload["stop"]) for workload in workloads)
    else:
        longest = microseconds(run["until"])
    factor = min(1.0, short_us(endpoints) / longest)
    times = [("run", key, run) for key in ("until", "warmup", "measure")]
    times += [(f"workload.{i}", key, workload) for i, workload in enumerate(workloads) for key in ("start", "stop")]
    return [
        f"{path}.{key}={shrunk(table[key], factor)}"
        for path, key, table in times
        if key in table and table[key] != "completion"
    ]


def run(program, file, out, sets=(), may_be_silent=False, may_be_refused=None):
    """Packets delivered, None if it is refused with these words; ends the program if the run fails or delivers none."""
    began = time.monotonic()
    options = [option for value in sets for option in ("--set", value)]
    done = weir(program, "run", file, "--json", "--quiet", "--force", "--out", out, *options)
    if done.returncode == 2 and may_be_refused and may_be_refused in " ".join(done.stderr.split()):
        return None
    if done.returncode != 0:
        sys.exit(f"{file}: exit code {done.returncode} with {options}\n{done.stderr}")
    delivered = json.loads(done.stdout)["summary"]["packets_delivered"]
    if delivered == 0 and may_be_silent:
        return 0
    if delivered == 0:
        sys.exit(f"{file}: nothing was delivered with {options}")
    os.remove(os.path.join(out, "result.h5"))
    print(f"{file}: {delivered:,} packets delivered in {time.monotonic() - began:.1f} s", flush=True)
    return delivered


def is_study(file):
    with open(file, "rb") as text:
        job = tomllib.load(text)
    return job, any(key in job for key in ("axis", "seeds", "figure", "claims"))


def run_study(program, file, out, job):
    began = time.monotonic()
    plan = weir(program, "sweep", "plan", file, "--json")
    if plan.returncode != 0:
        sys.exit(f"{file}: weir sweep plan: exit code {plan.returncode}\n{plan.stderr}")
    points = json.loads(plan.stdout)["points"]
    out = os.path.join(out, os.path.splitext(file)[0])
    if "reduced" in job:
        done = weir(program, "sweep", "run", file, "--reduced", "-j", str(os.cpu_count()), "--out", out)
    else:
        # Axes may set times: what is short enough for one point is not known, so they stay as they are.
        done = weir(program, "sweep", "run", file, "--points", "0", "--out", out)
    if done.returncode != 0:
        sys.exit(f"{file}: weir sweep run: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{file}: {len(points)} points planned, a smaller study run in {time.monotonic() - began:.1f} s", flush=True)


def named_by_another(file):
    """A preset of the folder's job files: it is checked with those that name it."""
    folder, name = os.path.split(file)
    others = (os.path.join(folder, other) for other in os.listdir(folder) if other.endswith(".toml") and other != name)
    for other in others:
        with open(other, encoding="utf-8") as text:
            if f'"{name}"' in text.read():
                return
    sys.exit(f"{file}: no experiment, and no preset that a file beside it names")


def run_search(program, file, out):
    began = time.monotonic()
    out = os.path.join(out, os.path.splitext(file)[0])
    done = weir(program, "tune", file, "--plan", "--out", os.path.join(out, "whole"))
    if done.returncode != 0:
        sys.exit(f"{file}: weir tune --plan: exit code {done.returncode}\n{done.stderr}")
    done = weir(program, "tune", file, "--reduced", "-j", str(os.cpu_count()), "--out", os.path.join(out, "reduced"))
    if done.returncode != 0:
        sys.exit(f"{file}: weir tune: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{file}: planned, a smaller search run in {time.monotonic() - began:.1f} s", flush=True)


def run_job(program, file, out):
    job, study = is_study(file)
    if "topology" not in job:
        named_by_another(file)
        return
    if "tune" in job:
        run_search(program, file, out)
        return
    if study:
        run_study(program, file, out, job)
        return
    done = weir(program, "check", file)
    if done.returncode != 0:
        sys.exit(f"{file}: weir check: exit code {done.returncode}\n{done.stderr}")
    run(program, file, out, shortened(tomllib.loads(done.stdout), endpoints_in(done.stdout)))


def routings(program, kind):
    """The names of the routings for a kind of topology."""
    schema = json.loads(weir(program, "schema").stdout)
    variants = schema["properties"]["routing"]["anyOf"]
    return [one["title"] for one in variants if kind in one.get("x-topologies", [kind])]


def run_network(program, file, out):
    """With every routing that is made for it; a very large one with the first that takes it."""
    with open(file, "rb") as text:
        network = tomllib.load(text)
    kind = network["kind"]
    # As many packets where links are faster than 100 Gbps, which have shorter ways as well.
    bandwidth, unit = network["terminal"]["bandwidth"].split()
    faster = min(1.0, 100.0 / (float(bandwidth) * {"Gbps": 1.0, "GB/s": 8.0}[unit]))
    names = routings(program, kind)
    if not names:
        sys.exit(f"{file}: there is no routing for {kind}")
    done_with, endpoints = [], None
    for routing in names:
        path = os.path.join(out, f"{os.path.basename(file)[:-5]}-{routing}.toml")
        with open(path, "w", encoding="utf-8") as experiment:
            experiment.write(
                f'[topology]\nfile = "{os.path.abspath(file)}"\n'
                f'[routing]\nalgorithm = "{routing}"\n'
                '[[workload]]\npattern = { kind = "uniform" }\nload = 0.01\nmessage = "4 flits"\n'
                f'[run]\nuntil = "{SHORT_US} us"\n'
            )
        if endpoints is None:
            done = weir(program, "check", path, "--no-calibration")
            if done.returncode != 0:
                sys.exit(f"{path}: weir check: exit code {done.returncode}\n{done.stderr}")
            endpoints = endpoints_in(done.stdout)
        until = f'run.until="{short_us(endpoints) * faster:.3f} us"'
        if run(program, path, out, [until], may_be_refused=TOO_MANY) is None:
            continue
        done_with.append(routing)
        if endpoints > LARGE:
            break
    print(f"{file}: {', '.join(done_with)}")


def run_application(program, file, out):
    """Its first microseconds on the smallest dragonfly that has room for it."""
    with open(file, "rb") as text:
        tasks = tomllib.load(text)["tasks"]
    network = next(endpoints for endpoints in DRAGONFLIES if endpoints >= tasks)
    path = os.path.join(out, os.path.basename(file))
    with open(path, "w", encoding="utf-8") as experiment:
        experiment.write(
            f'[topology]\nfile = "dragonfly-{network}"\n[routing]\nalgorithm = "par"\n'
            f'[[workload]]\nfile = "{os.path.abspath(file)}"\n[run]\nuntil = "{APPLICATION_US} us"\n'
        )
    time_us = APPLICATION_US * min(1.0, USUAL / tasks)
    while run(program, path, out, [f'run.until="{time_us:.3f} us"'], may_be_silent=time_us < LONGEST_US) == 0:
        time_us *= LONGER


def files_below(folder):
    return sorted(
        os.path.join(path, name) for path, _, names in os.walk(folder) for name in names if name.endswith(".toml")
    )


def main(program, out, *files):
    os.makedirs(out, exist_ok=True)
    files = files or files_below("topologies") + files_below("workloads") + files_below("jobs")
    kinds = {"topologies": run_network, "workloads": run_application}

    def ready(file):
        own = os.path.join(out, file.replace(os.sep, "-").removesuffix(".toml"))
        os.makedirs(own, exist_ok=True)
        kinds.get(file.split(os.sep)[0], run_job)(program, file, own)

    # One run for each core; the first failure ends all.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for end in [pool.submit(ready, file) for file in files]:
            try:
                end.result()
            except SystemExit:
                pool.shutdown(cancel_futures=True)
                raise
    print(f"{len(files)} files")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
