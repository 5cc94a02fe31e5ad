"""The table of a study as an array over its axes."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import pandas
import xarray

from . import hdf
from .errors import ResultError
from .result import load

#: Columns of a table that are neither an axis nor a metric.
OWN = ("point", "hash", "state")


def sweep(path: str | os.PathLike[str]) -> xarray.Dataset:
    """The metrics of a study over its axes and `seed`, from `DIR/table.h5`.

    Coordinates are the axes with the values of the job file, in its order: numbers (with their unit; times in ns) or the
    texts that label them. Variables are the metrics by their names in the table (times in ns), NaN where there is none;
    `state` ("done", "waiting", "failed" …; "excluded" for a combination that is not in the study); `hash`, the directory of
    the point; and `point`, its place in the study (-1 if excluded).

    Raises ResultError if there is no table; `weir sweep collect` makes one of the results that there are.
    """
    directory = Path(path)
    table = directory / "table.h5"
    if not table.is_file():
        if (directory / "result.h5").is_file():
            raise ResultError(f"{path} holds a single run: weir.load reads it")
        raise ResultError(
            f"there is no {table}: weir sweep run JOB --out {directory} makes it at its end, weir sweep collect of the results "
            "that there are"
        )
    job = job_file(directory)
    names = [*(axis["name"] for axis in job.get("axis", [])), "seed"]
    with hdf.opened(table) as file:
        columns = {name: hdf.values(column) for name, column in file.items()}
        labels = {name: hdf.labels(column) for name, column in file.items()}
    strange = [name for name in (*names, *OWN) if name not in columns]
    if strange:
        raise ResultError(f"{table} has no column {strange[0]}: it was not made of {directory / 'job.toml'}")
    rows = pandas.DataFrame({name: columns[name] for name in names})
    axes = {name: in_order(rows, name, names[:axis]) for axis, name in enumerate(names)}
    shape = tuple(len(values) for values in axes.values())
    places = tuple(pandas.Index(axes[name]).get_indexer(columns[name]) for name in names)
    cells = numpy.ravel_multi_index(places, shape)
    if len(numpy.unique(cells)) != len(cells):
        raise ResultError(f"{table} has two points with the same values of all axes; give the values labels that differ")

    def spread(name: str) -> Any:
        blank: Any = {"state": "excluded", "hash": "", "point": -1}.get(name, numpy.nan)
        values = columns[name]
        array = numpy.full(shape, blank, dtype=values.dtype)
        array.reshape(-1)[cells] = values
        return (names, array, labels[name])

    metrics = [name for name in columns if name not in names and name not in OWN]
    data = {name: spread(name) for name in (*metrics, *OWN)}
    coordinates = {name: (name, values, labels[name]) for name, values in axes.items()}
    attrs = {"title": job.get("title", ""), "directory": str(directory)}
    return xarray.Dataset(data, coordinates, attrs)


def in_order(rows: pandas.DataFrame, name: str, outer: list[str]) -> Any:
    """The values of an axis in the order of the job file. Rows keep it under each choice of the outer axes, though exclusions
    may leave out some values of each.
    """
    order: TopologicalSorter[Any] = TopologicalSorter()
    parts = [part for _, part in rows.groupby(outer, sort=False)] if outer else [rows]
    for values in (part[name].unique().tolist() for part in parts):
        order.add(values[0])
        for before, after in pairwise(values):
            order.add(after, before)
    return numpy.array(list(order.static_order()), rows[name].to_numpy().dtype)


def point(path: str | os.PathLike[str], **where: Any) -> xarray.DataTree:
    """The whole result of one point of a study: `weir.point("out/study", routing="par", load=0.5, seed=1)`.

    `path` is the study's directory. Axes with a single value need not be named. A number may be off by a part in 10⁹.

    Raises ResultError if that is not one point, or one without a result.
    """
    data = sweep(path)
    axes = [str(name) for name in data["state"].dims]
    for name in where:
        if name not in axes:
            raise ResultError(f"{path} has no axis {name!r}; it has {', '.join(axes)}")
    chosen = data[["hash", "state"]]
    for name in axes:
        values = data[name].values
        if name in where:
            places = [place for place, value in enumerate(values) if alike(value, where[name])]
        else:
            places = list(range(len(values)))
        if len(places) != 1:
            what = f"{name} = {where[name]!r} is none of its values" if name in where else f"{name} has several values"
            unit = data[name].attrs.get("units", "1")
            listed = ", ".join(str(value) for value in values) + ("" if unit == "1" else f" {unit}")
            raise ResultError(f"{path}: {what}: {listed}")
        chosen = chosen.isel({name: places[0]})
    state = str(chosen["state"].item())
    if state != "done":
        raise ResultError(f"{path}: this point has no result, its state is {state!r}")
    return load(Path(path) / "points" / str(chosen["hash"].item()))


def gather(
    path: str | os.PathLike[str], read: Callable[[xarray.DataTree], float], *, groups: str | Iterable[str] | None = None
) -> xarray.DataArray:
    """A number that is not in the table of a study, over its axes and `seed`: what `read` makes of the result of each point.

    `weir.gather("out/study", lambda tree: tree["jobs/mine"].attrs["finish_ps"])`. It has the unit that `read` gives it. NaN
    where there is no result. `groups` limits what is loaded, as in `load`.
    """
    data = sweep(path)
    groups = groups if groups is None or isinstance(groups, str) else list(groups)
    numbers = numpy.full(data["state"].shape, numpy.nan)
    for place in zip(*numpy.nonzero((data["state"] == "done").values), strict=True):
        result = Path(path) / "points" / str(data["hash"].values[place])
        numbers[place] = read(load(result, groups=groups))
    return xarray.DataArray(numbers, data["state"].coords, data["state"].dims)


def alike(value: Any, wanted: Any) -> bool:
    """Whether they are the same text, or the same number but for rounding."""
    if isinstance(wanted, bool):
        return str(value) == str(wanted).lower()
    if isinstance(value, str) or isinstance(wanted, str):
        return str(value) == str(wanted)
    return bool(numpy.isclose(value, wanted, rtol=1e-9, atol=0.0))


def claims(path: str | os.PathLike[str]) -> pandas.DataFrame:
    """The claims of a study as they were last checked: a row for each, by its id.

    Columns are those of `claims.csv`, all texts: `says`, `measured`, `bound`, `seeds`, `simulated`, `settled`, `scale` and
    `command`; but `holds` is true, false, or NA if it is undecided: a value is missing, or seeds leave it open.
    """
    table = Path(path) / "claims.csv"
    if not table.is_file():
        raise ResultError(f"there is no {table}: its job file has no claims, or weir sweep claims was not run")
    rows = pandas.read_csv(table, dtype=str, keep_default_na=False).set_index("id")
    # weir writes an apostrophe before what a spreadsheet would take for a formula.
    texts = {name: rows[name].str.replace(r"^'(?=[=+@\t\r-])", "", regex=True) for name in ("says", "measured", "bound")}
    holds = rows["holds"].map({"yes": True, "no": False}).astype("boolean")
    return rows.assign(holds=holds, **texts)


def job_file(directory: Path) -> dict[str, Any]:
    """The job file that the study was made of."""
    path = directory / "job.toml"
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise ResultError(f"there is no {path}: {directory} is not the directory of a study") from None
