"""Opening HDF5 files of weir and reading their columns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy
import xarray

from .errors import ResultError

#: Length in bytes of the text before the HDF5 file proper.
HEADER_BYTES = 512


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """The file, for reading. What HDF5 says about a file that is none becomes a ResultError."""
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        raise ResultError(f"there is no {path}") from None
    except OSError as error:
        raise ResultError(f"{path} cannot be read as HDF5: {error}") from error
    with file:
        check_self_contained(path, file)
        yield file


def check_self_contained(path: Path, group: h5py.Group) -> None:
    """Refuses a file whose content is partly elsewhere, where its checksum does not reach."""
    for name in group:
        where = f"{path}: {group.name.rstrip('/')}/{name}"
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise ResultError(f"{where} is a link to something elsewhere, which the checksum does not cover")
        item = group[name]
        if isinstance(item, h5py.Group):
            check_self_contained(path, item)
        elif isinstance(item, h5py.Dataset) and (item.is_virtual or item.external):
            raise ResultError(f"{where} is not stored in the file, so the checksum does not cover it")


def check_seal(path: Path) -> None:
    """Refuses a result whose length, or whose checksum if xxhash is there, is not what its first 512 bytes say.

    HDF5 trusts what it reads, and a single flipped bit can have it search for ever: so this comes first.
    """
    with open(path, "rb") as file:
        header = file.read(HEADER_BYTES)
        if not header.startswith(b"weir result\n"):
            return
        stated = dict(line.split(b" ", 1) for line in header.split(b"\n\n")[0].splitlines()[1:])
        size = os.path.getsize(path)
        if int(stated[b"bytes"]) != size:
            raise ResultError(f"{path} is damaged: it has {size} bytes, and was written with {int(stated[b'bytes'])}")
        try:
            import xxhash
        except ModuleNotFoundError:
            return
        state = xxhash.xxh3_128()
        while block := file.read(1 << 20):
            state.update(block)
        if state.hexdigest() != stated[b"xxh3-128"].decode():
            raise ResultError(f"{path} is damaged, or was changed since it was written: its checksum is another one")


def plain(value: Any) -> Any:
    """An attribute as Python has it: whole numbers without limit, floats, texts, lists of these."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, numpy.ndarray):
        return [plain(one) for one in value.tolist()]
    return value


def attributes(group: h5py.Group) -> dict[str, Any]:
    """The attributes of a group, as Python's numbers and texts."""
    return {name: plain(value) for name, value in group.attrs.items()}


def values(column: h5py.Dataset) -> numpy.ndarray[Any, Any]:
    """A column in memory: texts as text, whole numbers signed, so that a difference below zero is one.

    Only a column with a number above 2**63 - 1 (a sum of latencies that is at its limit) stays unsigned.
    """
    if column.dtype.kind in "SO":
        # One type for all lengths and for columns without rows: Python's texts.
        return numpy.asarray(column.asstr()[:], dtype=object)
    data: numpy.ndarray[Any, Any] = column[:]
    if data.dtype.kind == "u" and not (data.size and data.max() > numpy.iinfo(numpy.int64).max):
        return data.astype(numpy.int64)
    return data


def labels(column: h5py.Dataset) -> dict[str, str]:
    """What xarray and its figures call a column, and its unit."""
    return {name: plain(column.attrs[name]) for name in ("units", "long_name") if name in column.attrs}


def dataset(group: h5py.Group, identity: frozenset[str] = frozenset()) -> xarray.Dataset:
    """The columns and attributes of a group. Dimension scales are its coordinates, and name its dimensions.

    Columns named by `identity` say what a row is about: they are coordinates, too.
    """
    columns = {name: item for name, item in group.items() if isinstance(item, h5py.Dataset)}
    scales = {name for name, column in columns.items() if column.is_scale}
    coordinates: dict[str, Any] = {}
    variables: dict[str, Any] = {}
    for name, column in columns.items():
        dimensions = [name] if name in scales else [dimension_of(column, axis) for axis in range(column.ndim)]
        entry = (dimensions, values(column), labels(column))
        (coordinates if name in scales or name in identity else variables)[name] = entry
    return xarray.Dataset(variables, coordinates, attributes(group))


def dimension_of(column: h5py.Dataset, axis: int) -> str:
    """The name of the scale of an axis; of an axis without one, a name that no other group has."""
    scale = next(iter(column.dims[axis].values()), None)
    if scale is None:
        return f"{column.name.strip('/').replace('/', '.')}.{axis}"
    return str(scale.name).rsplit("/", 1)[1]
