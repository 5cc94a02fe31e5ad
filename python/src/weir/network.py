"""The network of a result as a graph."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING, Any

import xarray

from .errors import ResultError
from .result import load

if TYPE_CHECKING:
    import networkx


def topology(source: str | os.PathLike[str] | xarray.DataTree) -> networkx.MultiDiGraph:
    """The network of a result (its directory, its file, or what `load` gave) as a directed graph.

    Nodes are `("router", n)` with `kind`, `group`, `domain` and `axis` (a dict of the coordinates), and `("endpoint", n)`
    with `jobs`, the names of the jobs that have a task there. Every edge is one direction of a link. Edges from a router
    have the port as their key, and everything that the file says of the port: `kind`, `port`, `bytes`, `packets`,
    `bandwidth` (bit/s) and `latency_ps` (ps) as built, `busy_ps`, `stalled_ps`, `idle_ps` …; those from an endpoint (key 0)
    only the kind, the bandwidth and the latency, since weir counts at routers. `weir.load(...)["failures"]` has those of
    degraded links. `graph.graph` has the parameters of the topology.

    Raises ModuleNotFoundError without networkx (pip install "weir[network]").
    """
    import networkx

    wanted = ["ports", "routers", "jobs"]
    tree = source if isinstance(source, xarray.DataTree) else load(source, groups=wanted)
    missing = [name for name in wanted if name not in tree.children]
    if missing:
        raise ResultError(f"the result was loaded without {missing[0]}; a topology takes {', '.join(wanted)}")
    experiment = tomllib.loads(tree.attrs["experiment"])
    graph = networkx.MultiDiGraph()
    graph.graph.update(experiment["topology"])
    add_routers(graph, tree["routers"].to_dataset())
    jobs: dict[int, list[str]] = {}
    for name, job in tree["jobs"].children.items():
        for endpoint in job.to_dataset()["endpoint"].values.tolist():
            jobs.setdefault(endpoint, []).append(name)
    for row in records(tree["ports"].to_dataset()):
        here = ("router", row.pop("router"))
        link: dict[str, Any] = {**row}
        endpoint, peer = link.pop("endpoint"), link["peer_router"]
        if endpoint >= 0:
            there = ("endpoint", endpoint)
            graph.add_node(there, jobs=jobs.get(endpoint, []))
            back = {name: row[name] for name in ("kind", "bandwidth", "latency_ps") if name in row}
            graph.add_edge(there, here, key=0, **back)
        else:
            there = ("router", peer)
        graph.add_edge(here, there, key=row["port"], **link)
    return graph


def add_routers(graph: networkx.MultiDiGraph, routers: xarray.Dataset) -> None:
    """The routers with what the file says of them."""
    for row in records(routers):
        axes = {name.split(".")[1]: row.pop(name) for name in list(row) if name.startswith("axis.")}
        graph.add_node(("router", row.pop("router")), axis=axes, **row)


def records(data: xarray.Dataset) -> list[dict[str, Any]]:
    """The rows, each by the names of the columns, in Python's numbers and texts."""
    rows = data.to_dataframe().reset_index().to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]
