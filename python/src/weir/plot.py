"""Figures. Each function draws into an Axes of matplotlib (a new figure's, if none is given) and returns it.

Colours are those of Okabe and Ito, which differ for people who see fewer colours, too; series differ in their marks as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy
import xarray

from .errors import WeirError
from .shape import by_job, convert, scaled
from .shape import interval as mean_and_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = [
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#999999",
]
MARKS = "osD^vP*X"

#: What `series` draws: the variable of `by_job`, the unit, and the words at the axis.
QUANTITIES = {
    "delivered": ("delivered_rate", "Gbps", "delivered"),
    "injected": ("injected_rate", "Gbps", "injected"),
    "latency": ("mean_message_latency", "us", "mean message latency"),
    "network_latency": ("mean_network_latency", "us", "mean network latency"),
}


def over(
    data: xarray.Dataset,
    x: str,
    y: str = "latency.message.mean",
    *,
    series: str | None = None,
    unit: str | None = None,
    interval: Literal["range", "confidence"] = "range",
    ax: Axes | None = None,
) -> Axes:
    """A metric of a study over one of its axes (latency over load), a curve for each value of the axis `series`.

    The mean over the seeds, with whiskers where there are several: from the least to the largest, or (`interval="confidence"`)
    the 95 % confidence interval of the mean. `unit` converts the metric
    (from ns: "us"). Axes besides these must have one value each: select first (`data.sel(...)`). Points without a result
    are gaps. Numbers on the axis are in ascending order, names in the order of the job file.
    """
    ax = new(ax)
    metric = chosen(data, y, unit, {x, "seed"} | ({series} if series else set()))
    if numpy.issubdtype(metric[x].dtype, numpy.number):
        metric = metric.sortby(x)
    for number, (label, curve) in enumerate(curves(metric, series)):
        mean, least, most = spread(curve, interval)
        style: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "marker": MARKS[number % len(MARKS)],
            "markersize": 4,
            "label": label,
        }
        if curve.sizes.get("seed", 1) > 1:
            ax.errorbar(curve[x].values, mean, [mean - least, most - mean], capsize=2, **style)
        else:
            ax.plot(curve[x].values, mean, **style)
    ax.set_xlabel(named(data[x]))
    ax.set_ylabel(named(metric))
    if series:
        ax.legend(title=series, frameon=False)
    return ax


def box(
    data: xarray.Dataset,
    y: str = "latency.message.mean",
    *,
    x: str | None = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A box for each value of the axis `x`, over the seeds.

    It has the median, the quartiles, and whiskers to the furthest within 1.5 times their distance. Every seed is a dot, too: with
    few of them a box says little. Axes besides `x` must have one value each.
    """
    ax = new(ax)
    metric = chosen(data, y, unit, {"seed"} | ({x} if x else set()))
    columns = curves(metric, x)
    samples = [column.values[~numpy.isnan(column.values)] for _, column in columns]
    places = list(range(1, len(samples) + 1))
    ax.boxplot(
        samples,
        positions=places,
        widths=0.5,
        showfliers=False,
        medianprops={"color": COLOURS[0]},
    )
    for place, sample in zip(places, samples, strict=True):
        ax.plot(
            [place] * len(sample),
            sample,
            "o",
            color=COLOURS[1],
            markersize=4,
            alpha=0.7,
        )
    ax.set_xticks(places, [label for label, _ in columns])
    if x:
        ax.set_xlabel(named(data[x]))
    ax.set_ylabel(named(metric))
    return ax


def series(
    tree: xarray.DataTree,
    quantity: str = "latency",
    *,
    jobs: list[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Every job over time: "latency" or "network_latency" (mean of a bin, us), "delivered" or "injected" (payload, Gbps).

    `jobs` limits it to these. A bin without a message has no latency, and is a gap. A job's colour is that of its place in
    the experiment.
    """
    if quantity not in QUANTITIES:
        raise WeirError(f"there is no quantity {quantity!r}; there are {', '.join(QUANTITIES)}")
    ax = new(ax)
    data = by_job(tree)
    known = [str(name) for name in data.job.values]
    variable, unit, words = QUANTITIES[quantity]
    values = scaled(data[variable], data[variable].attrs["units"], unit)
    # A bin ends where the next one begins, the last one at the latest with the run.
    end = data.time_ps.values[-1:] + data.attrs["bin_ps"]
    edges = numpy.append(data.time_ps.values, numpy.minimum(end, tree["summary"].attrs["simulated_ps"]))
    time = scaled(edges, "ps", "us")
    for name in jobs or known:
        if name not in known:
            raise WeirError(f"there is no job {name!r}; there are {', '.join(known)}")
        own = values.sel(job=name).values
        ax.step(
            time,
            numpy.append(own, own[-1:]),
            where="post",
            label=name,
            color=COLOURS[known.index(name) % len(COLOURS)],
        )
    ax.set_xlabel("simulated time [us]")
    ax.set_ylabel(f"{words} [{unit}]")
    ax.legend(frameon=False)
    return ax


def ports(
    tree: xarray.DataTree,
    share: str = "busy",
    *,
    kind: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A heat map of the routers' ports: the share of the simulated time in which they were "busy", "stalled" or "idle".

    A column for each router, a row for each port number; `kind` limits it to one kind of links ("terminal", "global", … of
    the network). A full link whose packets never wait for credits (busy, not stalled) is where congestion begins; stalled
    ones are where it has spread to.
    """
    table = tree["ports"].to_dataset()
    if f"{share}_ps" not in table:
        raise WeirError(f"there is no share {share!r}; there are busy, stalled and idle")
    if kind is not None:
        kinds = tree["ports"].attrs["kinds"]
        if kind not in kinds:
            raise WeirError(f"there is no kind {kind!r} of links; there are {', '.join(kinds)}")
        table = table.isel(router=table["kind"].values == kind)
    ax = new(ax)
    routers, numbers = (
        numpy.unique(table["router"].values),
        numpy.unique(table["port"].values),
    )
    grid = numpy.full((len(numbers), len(routers)), numpy.nan)
    rows, columns = (
        numpy.searchsorted(numbers, table["port"].values),
        numpy.searchsorted(routers, table["router"].values),
    )
    grid[rows, columns] = table[f"{share}_ps"].values / tree["summary"].attrs["simulated_ps"]
    image = ax.imshow(
        grid,
        aspect="auto",
        origin="lower",
        vmin=0.0,
        vmax=1.0,
        cmap="viridis",
        interpolation="nearest",
    )
    for axis, values in ((ax.xaxis, routers), (ax.yaxis, numbers)):
        step = max(1, len(values) // 10)
        axis.set_ticks(range(0, len(values), step), [str(value) for value in values[::step]])
    ax.set_xlabel("router")
    ax.set_ylabel("port" if kind is None else f"port ({kind})")
    ax.figure.colorbar(image, ax=ax, label=f"{share}, share of the time")
    return ax


def new(ax: Axes | None) -> Axes:
    """The axes that are given, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def chosen(data: xarray.Dataset, y: str, unit: str | None, kept: set[str]) -> xarray.DataArray:
    """A metric, in a unit, over the axes that are kept. The others must have a single value."""
    for name in kept - {"seed"}:
        if name not in data.dims:
            raise WeirError(f"there is no axis {name!r}; there are {', '.join(str(one) for one in data.dims)}")
    if y not in data:
        raise WeirError(f"there is no metric {y!r}; there are {', '.join(str(name) for name in data.data_vars)}")
    metric = data[y] if unit is None else convert(data[y], unit)
    for name in [str(name) for name in metric.dims if name not in kept]:
        if metric.sizes[name] > 1:
            raise WeirError(f"{name} has {metric.sizes[name]} values: select one (data.sel({name}=...))")
        metric = metric.isel({name: 0})
    return metric


def curves(metric: xarray.DataArray, axis: str | None) -> list[tuple[str, xarray.DataArray]]:
    """What is drawn for each value of an axis, and its name; the whole without an axis."""
    if axis is None:
        return [("", metric)]
    return [
        (
            f"{value:g}" if isinstance(value, float) else str(value),
            metric.sel({axis: value}),
        )
        for value in metric[axis].values
    ]


def spread(curve: xarray.DataArray, interval: str) -> tuple[Any, Any, Any]:
    """Mean, least and largest over the seeds, or the ends of the mean's confidence interval."""
    if "seed" not in curve.dims:
        return curve.values, curve.values, curve.values
    if interval == "confidence":
        data = mean_and_interval(curve)
        return data["mean"].values, data["low"].values, data["high"].values
    if interval != "range":
        raise WeirError(f'there is no interval {interval!r}; there are "range" and "confidence"')
    return curve.mean("seed").values, curve.min("seed").values, curve.max("seed").values


def named(array: xarray.DataArray) -> str:
    """What stands at an axis: the long name (or the name), and the unit."""
    words, unit = (
        array.attrs.get("long_name", array.name),
        array.attrs.get("units", "1"),
    )
    return f"{words}" if unit in ("1", "") else f"{words} [{unit}]"
