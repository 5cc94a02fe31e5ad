"""Checks with h5py that a file keeps the promises of docs/result-file.md.

usage: check_result.py result.h5
"""

import sys

import h5py
import numpy

CHUNK_ROWS = 65536
COMPACT_BYTES = 4096


def check_header(result):
    assert result.attrs["schema_version"] == 3
    assert result.attrs["complete"] in (0, 1)
    assert result.attrs["seed"].dtype == numpy.uint64
    for name in ("weir_version", "experiment"):
        assert isinstance(result.attrs[name], str), name
    run = result["run"].attrs
    assert len(run["hosts"]) in (0, run["ranks"])
    assert (result.attrs["complete"] == 0) == ("stopped" in run)


def check_dataset(dataset):
    for name in ("units", "long_name"):
        text = dataset.attrs[name]
        assert isinstance(text, str) and text, (dataset.name, name)
    if dataset.size == 0:
        return
    if dataset.size * dataset.dtype.itemsize <= COMPACT_BYTES:
        assert dataset.id.get_create_plist().get_layout() == h5py.h5d.COMPACT, dataset.name
        return
    assert dataset.shuffle and dataset.compression == "gzip", dataset.name
    elements = numpy.prod(dataset.chunks)
    assert dataset.chunks[0] == dataset.shape[0] or elements <= CHUNK_ROWS < dataset.size, dataset.name
    if dataset.ndim == 1:
        assert dataset.chunks[0] == min(dataset.shape[0], CHUNK_ROWS), dataset.name


def check_columns(group):
    """All columns of a group have the same length, and every value can be read."""
    columns = [item for item in group.values() if isinstance(item, h5py.Dataset)]
    rows = {column.shape[0] for column in columns if column.name != "/data/occupancy/router"}
    assert len(rows) <= 1, group.name
    for column in columns:
        check_dataset(column)
        assert column[:].shape == column.shape
    if columns:
        check_scales(group, columns)


# Group or its parent, and the column that is the scale of its rows.
SCALES = {
    "latency": "lower_ps",
    "jobs": "endpoint",
    "ports": "router",
    "failures": "router",
    "routers": "router",
    "series": "time_ps",
    "occupancy": "time_ps",
    "rates": "time_ps",
    "iterations": "job",
    "packets": "source",
    "messages": "source",
}


def check_scales(group, columns):
    """Every axis of every column has one scale, of its length, with its unit; and the scales know it."""
    family = group.name.split("/")[2]
    found = [column for column in columns if h5py.h5ds.is_scale(column.id)]
    rows = group[SCALES[family]] if family in SCALES else found[0]
    scales = [rows, group["router"]] if family == "occupancy" else [rows]
    assert sorted(found, key=str) == sorted(scales, key=str), group.name
    for scale in scales:
        assert scale.attrs["NAME"] == scale.name.rsplit("/", 1)[1].encode(), scale.name
    for column in columns:
        if column in scales:
            continue
        assert column.ndim == len(column.dims) <= len(scales), column.name
        for axis, (dimension, scale) in enumerate(zip(column.dims, scales)):
            assert len(dimension) == 1 and dimension[0] == scale, column.name
            assert dimension[0].shape == (column.shape[axis],), column.name
            assert h5py.h5ds.is_attached(column.id, scale.id, axis), column.name


def check_latency(group):
    for name, latency in group.items():
        attrs = latency.attrs
        samples, missing = attrs["samples"], attrs["missing"]
        lower, count, ages = (latency[column][:] for column in ("lower_ps", "count", "missing"))
        assert (count.sum(), ages.sum()) == (samples, missing), name
        assert (count + ages > 0).all(), name
        assert (numpy.diff(lower.astype(numpy.int64)) > 0).all(), name
        check_shape(name, attrs, "", lower[count > 0])
        check_shape(name, attrs, "_at_least", lower)
        share = missing / (samples + missing) if samples + missing else numpy.nan
        assert numpy.array_equal(attrs["missing_share"], share, equal_nan=True), name
        for quantile, part in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)):
            check_bounds(name, attrs, quantile, numpy.ceil(part * (samples + missing)))


def check_shape(name, attrs, kind, lower):
    """Mean, percentiles and maximum of samples in buckets with these lower edges."""
    mean, *quantiles, largest = (attrs[f"{q}{kind}_ps"] for q in ("mean", "p50", "p90", "p99", "p999", "max"))
    if len(lower) == 0:
        assert numpy.isnan([mean, *quantiles]).all() and largest == 0, name
    else:
        assert quantiles == sorted(quantiles) and quantiles[-1] <= largest, (name, quantiles)
        assert lower[-1] <= largest and mean >= lower[0], name


def check_bounds(name, attrs, quantile, rank):
    """Both bounds are that of what arrived if nothing is missing; there is an upper one if so many arrived."""
    plain, least, most = (attrs[f"{quantile}{kind}_ps"] for kind in ("", "_at_least", "_at_most"))
    if attrs["missing"] == 0:
        assert numpy.array_equal([least, most], [plain, plain], equal_nan=True), name
    else:
        assert least <= most and numpy.isinf(most) == (rank > attrs["samples"]), (name, least, most)


def check_notes(group, count):
    assert sorted(group, key=int) == [str(number) for number in range(count)]
    for note in group.values():
        assert note.attrs["kind"] in ("standstill", "missing", "drops") and note.attrs["text"], note.name


def check_jobs(group):
    indices = sorted(job.attrs["index"] for job in group.values())
    assert indices == list(range(len(group))), indices
    for job in group.values():
        assert len(job["endpoint"]) == job.attrs["tasks"]


def check_ports(group):
    kinds = group["kind"]
    assert kinds.dtype.kind == "S"
    if kinds.size:
        assert set(kinds.asstr()[:]) <= set(group.attrs["kinds"])
    assert group.attrs["kinds"][0] == "terminal"
    order = group["router"][:].astype(numpy.int64) * 65536 + group["port"][:]
    assert (numpy.diff(order) > 0).all()
    router, peer, endpoint = (group[name][:] for name in ("router", "peer_router", "endpoint"))
    to_endpoint = kinds[:] == b"terminal"
    assert ((endpoint >= 0) == to_endpoint).all() and ((peer >= 0) != to_endpoint).all()
    assert len(set(endpoint[to_endpoint])) == to_endpoint.sum()


def check_links(ports):
    """The peer of a port's peer is that port."""
    columns = (ports[name][:].tolist() for name in ("router", "port", "peer_router", "peer_port"))
    ends = {(a, b): (c, d) for a, b, c, d in zip(*columns) if c >= 0}
    assert all(ends[peer] == port for port, peer in ends.items())


def check_routers(group, ports):
    kinds = group["kind"]
    assert set(kinds.asstr()[:]) <= set(group.attrs["kinds"])
    assert (group["router"][:] == numpy.arange(len(kinds))).all()
    axes = [group[name][:] for name in group if name.startswith("axis.")]
    places = set(zip(*(axis.tolist() for axis in axes)))
    assert not axes or len(places) == len(kinds)
    assert not ports["router"].size or ports["router"][:].max() < len(kinds)


def main(path):
    with h5py.File(path) as result:
        check_header(result)
        items = []
        result.visititems(lambda _, item: items.append(item))
        for group in items:
            if isinstance(group, h5py.Group):
                check_columns(group)
        assert any(isinstance(item, h5py.Dataset) and item.chunks for item in items)
        check_latency(result["data/latency"])
        check_notes(result["data/notes"], result["data/summary"].attrs["notes"])
        check_jobs(result["data/jobs"])
        check_ports(result["data/ports"])
        check_links(result["data/ports"])
        check_routers(result["data/routers"], result["data/ports"])
        summary = result["data/summary"].attrs
        sent = int(summary["packets_injected"])
        ends = ("packets_delivered", "packets_dropped", "packets_in_flight")
        assert sent == sum(int(summary[end]) for end in ends)
        time = result["data/series/time_ps"][:]
        assert (numpy.diff(time.astype(numpy.int64)) == result["data/series"].attrs["bin_ps"]).all()
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
