"""Results in handy shapes."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy
import pandas
import xarray

from .errors import WeirError

#: Units of results and of experiments: what each is of, and how many ps, bytes or bit/s it is.
UNITS: dict[str, tuple[str, float]] = {
    "ps": ("time", 1.0),
    "ns": ("time", 1e3),
    "us": ("time", 1e6),
    "ms": ("time", 1e9),
    "s": ("time", 1e12),
    "min": ("time", 60e12),
    "h": ("time", 3600e12),
    "B": ("size", 1.0),
    "kB": ("size", 1e3),
    "MB": ("size", 1e6),
    "GB": ("size", 1e9),
    "KiB": ("size", 2.0**10),
    "MiB": ("size", 2.0**20),
    "GiB": ("size", 2.0**30),
    "bit/s": ("rate", 1.0),
    "bps": ("rate", 1.0),
    "kbps": ("rate", 1e3),
    "Mbps": ("rate", 1e6),
    "Gbps": ("rate", 1e9),
    "Tbps": ("rate", 1e12),
    "B/s": ("rate", 8.0),
    "kB/s": ("rate", 8e3),
    "MB/s": ("rate", 8e6),
    "GB/s": ("rate", 8e9),
    "TB/s": ("rate", 8e12),
    "KiB/s": ("rate", 8 * 2.0**10),
    "MiB/s": ("rate", 8 * 2.0**20),
    "GiB/s": ("rate", 8 * 2.0**30),
}

Number = TypeVar("Number", float, numpy.ndarray[Any, Any], xarray.DataArray)
Array = TypeVar("Array", xarray.DataArray, xarray.Dataset)


def scaled(values: Number, units: str, to: str) -> Number:
    """Numbers in one unit as numbers in another one of its kind."""
    if units not in UNITS or to not in UNITS or UNITS[units][0] != UNITS[to][0]:
        raise WeirError(f"what is in {units!r} cannot be given in {to!r}; units are {', '.join(UNITS)}")
    # Not times their ratio, which is rounded: 1 ps is a millionth of a us.
    return values * UNITS[units][1] / UNITS[to][1]


def convert(data: Array, to: str) -> Array:
    """The same in another unit of its kind: `"us"` for what is in ps, `"GB"` for what is in bytes.

    Of an array its values are converted; a coordinate (such as `time_ps`) by `convert(array.time_ps, "us")`. Of a Dataset all
    variables and coordinates of that kind are. The names stay as they are, the attribute `units` says what holds.
    """
    if isinstance(data, xarray.DataArray):
        return scaled(data, data.attrs.get("units", ""), to).assign_attrs({**data.attrs, "units": to})
    if to not in UNITS:
        raise WeirError(f"{to!r} is no unit; units are {', '.join(UNITS)}")
    kind = UNITS[to][0]
    same_kind = [name for name, one in data.variables.items() if UNITS.get(str(one.attrs.get("units")), ("", 0.0))[0] == kind]
    changed = {}
    for name in same_kind:
        old = data.variables[name]
        new = scaled(old.values, old.attrs["units"], to)
        changed[name] = (old.dims, new, {**old.attrs, "units": to})
    return data.assign_coords({name: changed[name] for name in same_kind if name in data.coords}).assign(
        {name: changed[name] for name in same_kind if name not in data.coords}
    )


def table(node: xarray.DataTree) -> pandas.DataFrame:
    """A node as a table of pandas.

    Of a node with nodes below it (`jobs`, `latency`, `notes`) the attributes: a row for each, by its name. Of one with
    columns these, a row for each row of the file. Of any other (`summary`, `run`) its attributes: one row. Names and units
    are those of the file.
    """
    if node.children or not node.dims:
        rows = {name: child.attrs for name, child in (node.children or {str(node.name): node}).items() if child.attrs}
        return pandas.DataFrame.from_dict(rows, orient="index")
    return node.to_dataset().to_dataframe().reset_index()


def interval(metric: xarray.DataArray, over: str = "seed") -> xarray.Dataset:
    """The mean over the seeds, and its 95 % confidence interval: the variables `mean`, `low`, `high` and `count`.

    NaN (points without a result) do not count. One value alone has no interval: NaN. The quantile is that of Student's t
    (Abramowitz and Stegun, table 26.10; from 11 degrees of freedom on their expansion 26.7.5), as in the figures of `weir report`.
    """
    if over not in metric.dims:
        raise WeirError(f"there is no axis {over!r}; there are {', '.join(str(name) for name in metric.dims)}")
    count, mean = metric.count(over), metric.mean(over)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        half = student(count - 1) * metric.std(over, ddof=1) / count**0.5
    data = {"mean": mean, "low": mean - half, "high": mean + half}
    words = metric.attrs.get("long_name", metric.name)
    for name, array in data.items():
        array.attrs = {**metric.attrs, "long_name": f"{words} ({name})"}
    return xarray.Dataset({**data, "count": count})


def student(freedom: xarray.DataArray) -> xarray.DataArray:
    """The 97.5 % quantile of Student's t distribution; NaN without a degree of freedom."""
    known = [numpy.nan, 12.70620, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139]
    table = numpy.array(known)[numpy.clip(freedom.values, 0, 10)]
    z, n = 1.959964, numpy.maximum(freedom.values, 11)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return freedom.copy(data=numpy.where(freedom.values > 10, z + first / n + second / n**2 + third / n**3, table))


def by_job(tree: xarray.DataTree) -> xarray.Dataset:
    """The time series with the jobs as an axis: variables over `job` and `time_ps`.

    What the file has (`delivered_bytes`, `messages`, `message_latency_ps` …) and what follows from it: `delivered_rate` and
    `injected_rate` (Gbps of payload in the bin, as far as the run went on), `mean_message_latency` and `mean_network_latency` (ps; NaN in a bin
    without any). `time_ps` is the start of a bin.
    """
    missing = [name for name in ("series", "jobs", "summary") if name not in tree.children]
    if missing:
        raise WeirError(f"the result was loaded without {missing[0]}; the series of jobs take series, jobs, summary")
    series = tree["series"].to_dataset()
    jobs = sorted(tree["jobs"].children, key=lambda job: int(tree["jobs"][job].attrs["index"]))
    parts: dict[str, list[xarray.Variable]] = {}
    for name in jobs:
        prefix = f"job.{name}."
        for column in series.data_vars:
            if str(column).startswith(prefix):
                parts.setdefault(str(column).removeprefix(prefix), []).append(series[column].variable)
    joined = {
        name: (
            ("job", "time_ps"),
            numpy.stack([column.values for column in columns]),
            columns[0].attrs,
        )
        for name, columns in parts.items()
        if len(columns) == len(jobs)
    }
    data = xarray.Dataset(joined, {"job": jobs, "time_ps": series.time_ps}, series.attrs)
    # What has ended goes on with nothing; all else is cut off by the end of the run.
    over = all(job.attrs["over"] for job in tree["jobs"].children.values())
    rest = numpy.inf if over else tree["summary"].attrs["simulated_ps"] - data.time_ps
    lengths = numpy.minimum(series.attrs["bin_ps"], rest)
    for way in ("delivered", "injected"):
        rate = data[f"{way}_bytes"] * 8e3 / lengths
        data[f"{way}_rate"] = rate.assign_attrs(units="Gbps", long_name=f"payload {way} per time")
    for total, count, long_name in [
        (
            "message_latency_ps",
            "messages",
            "mean latency of the messages received in the bin",
        ),
        (
            "network_latency_ps",
            "packets",
            "mean network latency of the packets delivered in the bin",
        ),
    ]:
        mean = data[total] / data[count].where(data[count] > 0, numpy.nan)
        data["mean_" + total.removesuffix("_ps")] = mean.assign_attrs(units="ps", long_name=long_name)
    return data
