"""Starting the program."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas
import xarray

from . import toml
from .errors import ProgramNotFound, WeirWarning, of_exit
from .result import load
from .study import sweep

#: A path of a file, or what would stand in it.
Source = str | os.PathLike[str] | Mapping[str, Any]


def run(
    experiment: Source,
    out: str | os.PathLike[str] | None = None,
    *,
    ranks: int = 1,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    force: bool = False,
    program: str | os.PathLike[str] | None = None,
    launcher: str = "mpirun -n",
) -> xarray.DataTree:
    """Runs an experiment and loads its result.

    `experiment` is the path of an experiment file, or a dict of what would stand in one (files that it names are looked for
    from the current directory on). `out` is where `result.h5` goes; without it the result is only in memory. `ranks` MPI
    ranks are started by `launcher`; the numbers do not depend on how many. `set` changes keys (`{"workload.0.load": 0.4}`),
    `seed` is `run.seed`. `force` replaces the result of another experiment in `out`. `program` is weir; by default $WEIR,
    or else the first `weir` in the path.

    Raises BadInput, Stalled, Interrupted or RunError with the program's own words, ProgramNotFound, and what `load` raises. What
    is remarkable about the run (`/data/notes`: a job at a standstill, messages that had not arrived, a setting that does
    nothing) becomes a WeirWarning each.
    """
    sets = dict(set or {})
    if seed is not None:
        sets["run.seed"] = seed
    with ExitStack() as cleared:
        file = cleared.enter_context(written(experiment))
        place = Path(out) if out is not None else Path(cleared.enter_context(tempfile.TemporaryDirectory()))
        command = [
            *started(ranks, launcher),
            find(program),
            "run",
            str(file),
            "--quiet",
            "--out",
            str(place),
        ]
        command += [option for name, value in sets.items() for option in ("--set", f"{name}={toml.value(value, name)}")]
        if force:
            command.append("--force")
        finish(command)
        tree = load(place)
    for note in tree["notes"].children.values():
        warnings.warn(note.attrs["text"], WeirWarning, stacklevel=2)
    return tree


def run_sweep(
    job: Source,
    out: str | os.PathLike[str],
    *,
    jobs: int = 1,
    ranks: int = 1,
    reduced: bool = False,
    set: Mapping[str, Any] | None = None,
    program: str | os.PathLike[str] | None = None,
    launcher: str = "mpirun -n",
) -> xarray.Dataset:
    """Runs what has no result yet of a study, and gives its table as `sweep` does.

    `job` is the path of a job file or a dict of what would stand in one, `out` the study's directory. `jobs` points run at
    once, each on `ranks` MPI ranks. `reduced` runs the smaller study that the job file describes. `set` changes keys at all
    points.

    Raises what `run` raises; a point that fails is a RunError (the others have run, and `weir.sweep(out)` has them). A
    claim that does not hold, or is undecided, is no error: it is a WeirWarning, and `weir.claims(out)` tells.
    """
    with written(job, title=Path(out).name) as file:
        command = [
            find(program),
            "sweep",
            "run",
            str(file),
            "--quiet",
            "--out",
            str(out),
            "-j",
            str(jobs),
        ]
        if ranks > 1:
            found(launcher)
            command += ["--ranks", str(ranks), "--launcher", launcher]
        if reduced:
            command.append("--reduced")
        for name, value in (set or {}).items():
            command += ["--set", f"{name}={toml.value(value, name)}"]
        # 3: a claim does not hold, or is undecided.
        if finish(command, allowed=(0, 3)) == 3:
            warnings.warn(
                f"a claim of {out} does not hold, or is undecided: see weir.claims({str(out)!r})",
                WeirWarning,
                stacklevel=2,
            )
    return sweep(out)


def compare(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    program: str | os.PathLike[str] | None = None,
) -> pandas.DataFrame:
    """The differences of two runs, or of two sweeps, to the first one: a row for each number, as `weir compare --json` has it.

    Columns: `metric` (units are in `unit`), the axes of sweeps, `a` and `b`, `difference`, `relative`, and for sweeps `low` and
    `high` (the 95 % confidence interval of the mean difference) and `pairs` (of runs with equal seeds). A number that is known
    within bounds only is NaN, and its bounds are in `a_at_least`, `a_at_most` and so on. `attrs` has `remarks` and `keys`, the
    keys of the experiments that differ.

    Raises BadInput if the comparison would mislead.
    """
    command = [find(program), "compare", str(first), str(second), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise of_exit(done.returncode, done.stderr.strip(), command)
    content = json.loads(done.stdout)
    sweeps = content["of"] == "sweeps"
    frame = pandas.DataFrame([_row(number, sweeps) for number in content["numbers"]])
    for axis in {axis for number in content["numbers"] for axis in number.get("point", {})}:
        # The values of an axis are texts, or all of them are numbers.
        with suppress(ValueError):
            frame[axis] = pandas.to_numeric(frame[axis])
    frame.attrs["remarks"] = content["remarks"]
    frame.attrs["keys"] = {one["key"]: tuple(one["values"].values()) for one in content["keys"]}
    return frame


def _row(number: dict[str, Any], sweeps: bool) -> dict[str, Any]:
    change = number["differences"]["B"] or {}
    row = {"metric": number["metric"], "unit": number["unit"], **number.get("point", {})}
    for side in ["A", "B"]:
        value = number["values"][side]
        bounded = isinstance(value, dict)
        row[side.lower()] = None if bounded else value
        row[f"{side.lower()}_at_least"] = value["at_least"] if bounded else value
        # No upper bound is null.
        row[f"{side.lower()}_at_most"] = value["at_most"] if bounded else value
    for name, key in [("difference", "absolute"), ("relative", "relative")]:
        value = change.get(key)
        row[name] = None if isinstance(value, dict) else value
    if sweeps:
        row["low"], row["high"] = change.get("interval") or (None, None)
        row["pairs"] = change.get("pairs", 0)
    row["same"] = number["same"]
    return row


def find(program: str | os.PathLike[str] | None = None) -> str:
    """The program: what is given, or $WEIR, or the first in the path, or cargo's own place."""
    named = os.fspath(program) if program is not None else os.environ.get("WEIR")
    if named:
        path = shutil.which(named)
        if path is None:
            raise ProgramNotFound(f"{named} is no program that can be started")
        return path
    path = shutil.which("weir") or shutil.which(str(Path.home() / ".cargo" / "bin" / "weir"))
    if path is None:
        raise ProgramNotFound(
            "there is no weir in the path: install it (cargo install --path . --locked), name it in the environment variable "
            "WEIR, or give program="
        )
    return path


def found(launcher: str) -> list[str]:
    """The words of what starts ranks; it has to be there."""
    words = shlex.split(launcher)
    if not words or shutil.which(words[0]) is None:
        raise ProgramNotFound(f"several ranks take an MPI launcher, and {launcher!r} is not there; give launcher=, or ranks=1")
    return words


def started(ranks: int, launcher: str) -> list[str]:
    """What stands before the program."""
    if ranks < 1:
        raise ValueError(f"ranks is {ranks}, and has to be at least 1")
    return [] if ranks == 1 else [*found(launcher), str(ranks)]


def finish(command: list[str], allowed: tuple[int, ...] = (0,)) -> int:
    """Runs to the end. An exit code that is not allowed is raised, with what stands on standard error."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            out, err = process.communicate()
        except KeyboardInterrupt:
            # It writes what it has and ends; a second one would end it at once.
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    code = process.returncode
    if code not in allowed:
        # A sweep tells on standard output which of its points failed.
        raise of_exit(
            code,
            err.strip() or out.strip() or f"{command[0]} ended with exit code {code}",
            command,
        )
    return code


@contextmanager
def written(source: Source, title: str | None = None) -> Iterator[Path]:
    """A file with the experiment: its own, or one in the current directory for as long as it is needed."""
    if not isinstance(source, Mapping):
        yield Path(source)
        return
    content = dict(source)
    if title is not None:
        content = {"title": title, **content}
    handle, name = tempfile.mkstemp(prefix="experiment-", suffix=".toml", dir=".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(toml.document(content))
        yield Path(name)
    finally:
        os.unlink(name)
