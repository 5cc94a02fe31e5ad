"""What the tests read: results and a study that weir itself writes, once for all of them."""

import os
import shutil
import subprocess
from pathlib import Path

import matplotlib
import pytest

import weir

matplotlib.use("Agg")

#: Small, and with everything that can be recorded, under a scheme with rows of its own.
EXPERIMENT = """
[topology]
file = "dragonfly-72"

[routing]
algorithm = "par"

[congestion]
scheme = "codes_cc"

[[workload]]
name = "hot"
endpoints = { count = 12, placement = "random" }
pattern = { kind = "hotspot", sources = 10, destinations = 2 }
load = 0.5
message = "4 flits"
start = "2.5 us"

[[workload]]
name = "halo"
motif = { kind = "halo2d", iterations = 2 }
tasks = 16

[[workload]]
name = "victims"
endpoints = "rest"
pattern = { kind = "uniform" }
load = 0.3
message = "4 flits"

[run]
until = "6 us"
warmup = "1 us"

[output]
bin = "500 ns"
occupancy = "500 ns"
packets = true
messages = true
"""

#: Axes of texts, of numbers, and of times; two seeds; a combination that is left out.
STUDY = """
title = "Small"
seeds = 2

[topology]
file = "dragonfly-72"

[routing]
algorithm = "par"

[[workload]]
name = "uniform"
pattern = { kind = "uniform" }
load = 0.1
message = "4 flits"

[run]
until = "3 us"

[[axis]]
name = "routing"
key = "routing.algorithm"
values = ["valiant", "minimal"]

[[axis]]
name = "load"
label = "offered load"
key = "workload.uniform.load"
values = [0.1, 0.3]

[[axis]]
name = "router"
key = "router.latency"
values = ["20 ns", "10 ns"]

[[exclude]]
routing = "valiant"
load = 0.1
router = "20 ns"

[[claims]]
id = "long-ways"
says = "Valiant routes are longer."
metric = "latency.network.mean"
where = { load = 0.1 }
order = { axis = "routing", values = ["minimal", "valiant"] }
"""


@pytest.fixture(scope="session")
def program():
    """The program, as weir.run finds it. Without one nothing here can be tested, and that is a failure."""
    path = shutil.which(os.environ.get("WEIR", "weir"))
    assert path, "there is no weir: set WEIR"
    return path


def ran(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def experiment(tmp_path_factory):
    file = tmp_path_factory.mktemp("experiment") / "experiment.toml"
    file.write_text(EXPERIMENT)
    return file


@pytest.fixture(scope="session")
def result(program, experiment, tmp_path_factory):
    """A directory with a result that has rows in every group; and what the program printed of it, as JSON."""
    out = tmp_path_factory.mktemp("result")
    sets = ["--set", "output.rates={ interval = '1 us', endpoints = [0, 5] }", "--set", "output.received=[0, 1]"]
    sets += ["--set", "output.iterations=true"]
    (out / "summary.json").write_text(ran(program, "run", experiment, "--out", out, "--quiet", "--json", *sets))
    return out


@pytest.fixture(scope="session")
def tree(result):
    """That result, loaded. Nobody changes it."""
    return weir.load(result)


@pytest.fixture(scope="session")
def study(program, tmp_path_factory):
    """A directory with a study whose last two points have not run."""
    out = tmp_path_factory.mktemp("study")
    job = out / "small.toml"
    job.write_text(STUDY)
    ran(program, "sweep", "run", job, "--out", out, "--quiet", "--points", "0..12")
    ran(program, "sweep", "collect", job, "--out", out)
    return out


@pytest.fixture(scope="session")
def network(program, tmp_path_factory):
    """A function: the result of a few nanoseconds on a ready network, by its name and a routing."""

    def make(name: str, routing: str) -> Path:
        out = tmp_path_factory.mktemp(name)
        file = out / "experiment.toml"
        file.write_text(
            f'topology = {{ file = "{name}" }}\nrouting = {{ algorithm = "{routing}" }}\nrun = {{ until = "2 us" }}\n'
            '[[workload]]\npattern = { kind = "uniform" }\nload = 0.05\nmessage = "4 flits"\n'
        )
        ran(program, "run", file, "--out", out, "--quiet")
        return out

    return make
