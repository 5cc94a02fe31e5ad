"""A result as a tree of tables."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable
from pathlib import Path

import h5py
import xarray

from . import hdf
from .errors import ResultError, WeirWarning

#: The version of the result's schema that this package reads (docs/result-file.md).
SCHEMA_VERSION = 3

#: Columns that say what a row is about, besides the scale: by the group, or the group that it is in.
IDENTITY: dict[str, frozenset[str]] = {
    "ports": frozenset({"port", "kind", "peer_router", "peer_port", "endpoint"}),
    "failures": frozenset({"port", "nic", "kind", "failure"}),
    "routers": frozenset({"kind", "group", "domain"}),
    "rates": frozenset({"endpoint", "job", "task"}),
    "iterations": frozenset({"iteration"}),
    "packets": frozenset({"sequence", "destination", "job"}),
    "messages": frozenset({"message", "destination", "job"}),
}


def load(path: str | os.PathLike[str], *, groups: str | Iterable[str] | None = None) -> xarray.DataTree:
    """Everything in a result.

    `path` is the directory of a run or its `result.h5`. The nodes of the tree are the groups of `/data` without that word
    (`tree["ports"]`, `tree["series"]`, `tree["jobs/NAME"]`, `tree["latency/message"]`), and `run`. Single numbers are
    attributes (`tree["summary"].attrs["accepted_load"]`), columns are variables, and what the file has as a dimension scale
    is the coordinate: `tree["ports"].sel(router=12)`. Times are in ps and sizes in bytes; each variable has its unit in
    `attrs["units"]`, and `weir.convert` changes it. The root has the seed, the versions and the experiment (TOML) as
    attributes.

    Finish and communication time of a job or a task that the run cut off are NaN; `communication_at_least_ps` is a lower bound.
    So are the ends of iterations, phases and flows (`received_ps`) that it cut off.

    `groups` limits what is read to this node, or to these nodes and those below them: `groups=["summary", "series"]` for a result whose
    packets would fill the memory.

    Raises ResultError for a file that is not there, is damaged, or has another version of the schema. Warns (WeirWarning)
    of a result that is not complete.
    """
    file_path = result_path(path)
    if not file_path.is_file():
        if (file_path.parent / "points").is_dir():
            raise ResultError(f"{path} holds a study: weir.sweep reads its table, weir.point the result of one point")
        raise ResultError(f"there is no {file_path}: weir run FILE --out {file_path.parent} writes it")
    hdf.check_seal(file_path)
    named = [groups] if isinstance(groups, str) else groups
    wanted = None if named is None else {group.strip("/") for group in named}
    with hdf.opened(file_path) as file:
        check_version(file_path, file)
        nodes = {"/": xarray.Dataset(attrs=hdf.attributes(file))}
        if not file.attrs["complete"]:
            reason = hdf.plain(file["run"].attrs.get("stopped", "it does not say why"))
            message = f"{file_path} is not complete: the run was stopped early ({reason}); its numbers are those until then"
            warnings.warn(message, WeirWarning, stacklevel=2)
        found: set[str] = set()
        for group in every_group(file):
            name = group.name.removeprefix("/data").strip("/")
            top = {name[:end] for end in range(len(name) + 1) if end == len(name) or name[end] == "/"}
            if wanted is None or top & wanted:
                nodes[name] = with_missing(name, hdf.dataset(group, IDENTITY.get(name.split("/")[0], frozenset())))
                found |= top
        if wanted is not None and wanted - found:
            missing, there = (
                ", ".join(sorted(wanted - found)),
                ", ".join(sorted(file["data"])),
            )
            raise ResultError(f"{file_path} has no {missing}; it has {there}")
    return xarray.DataTree.from_dict(nodes, name=file_path.parent.name or None)


#: Columns with the end of what a row is about, which the file has as 0 if the run ended before that.
ENDS = {"iterations": "end_ps", "phases": "end_ps", "flows": "received_ps"}


def with_missing(name: str, node: xarray.Dataset) -> xarray.Dataset:
    """NaN for the times of what the run cut off, which the file has as 0."""
    end = ENDS.get(name)
    if end in node and bool((node[end] == 0).any()):
        return node.assign({end: node[end].where(node[end] != 0)})
    if not name.startswith("jobs/") or node.attrs.get("over", 1):
        return node
    node.attrs.update(finish_ps=math.nan, communication_ps=math.nan)
    done = node["task_finish_ps"] != 0
    if bool(done.all()):
        return node
    return node.assign({key: node[key].where(done) for key in ("task_finish_ps", "task_communication_ps")})


def result_path(path: str | os.PathLike[str]) -> Path:
    """`DIR/result.h5` of a directory, or the file itself."""
    path = Path(path)
    return path if path.suffix == ".h5" else path / "result.h5"


def check_version(path: Path, file: h5py.File) -> None:
    """Refuses what is not a result of this package's schema."""
    if "schema_version" not in file.attrs or "data" not in file:
        raise ResultError(f"{path} is not a result of weir: it has no schema_version")
    version = int(file.attrs["schema_version"])
    writer = hdf.plain(file.attrs.get("weir_version", "of an unknown version"))
    if version > SCHEMA_VERSION:
        raise ResultError(
            f"{path} has version {version} of the result's schema, and this package reads version {SCHEMA_VERSION}: it was "
            f"written by weir {writer}; install the Python package that came with that (pip install ./python)"
        )
    if version < SCHEMA_VERSION:
        raise ResultError(
            f"{path} has version {version} of the result's schema, from weir {writer}, and this package reads version "
            f"{SCHEMA_VERSION}: run the experiment again (weir inspect --experiment prints it)"
        )


def every_group(file: h5py.File) -> list[h5py.Group]:
    """All groups below `/data`, and `/run`, by name."""
    groups: list[h5py.Group] = []
    file["data"].visititems(lambda _, item: groups.append(item) if isinstance(item, h5py.Group) else None)
    return [*groups, file["run"]]
