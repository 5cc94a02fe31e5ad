"""`weir.load` gives what the file has: compared with h5py, read by hand."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy
import pytest

import weir

ROOT = Path(__file__).parents[2]


def test_everything_under_data_is_there_with_its_numbers_units_and_scales(tree, result):
    compared = {"columns": 0, "attributes": 0, "scales": 0}

    def compare(name, item):
        if isinstance(item, h5py.Group):
            there = tree[name].attrs
            if item.attrs.get("over") == 0:
                # In the file a missing time is 0.
                for key in ("finish_ps", "communication_ps"):
                    assert item.attrs[key] == 0 and math.isnan(there[key]), (name, key)
                there = {**there, "finish_ps": 0, "communication_ps": 0}
            assert there.keys() == dict(item.attrs).keys(), name
            for key, value in item.attrs.items():
                same = (
                    numpy.array_equal(numpy.asarray(there[key]), numpy.asarray(value), equal_nan=not isinstance(value, str))
                    if numpy.asarray(value).dtype.kind == "f"
                    else list(numpy.atleast_1d(there[key])) == list(numpy.atleast_1d(value))
                )
                assert same, (name, key)
                compared["attributes"] += 1
            return
        group, column = name.rsplit("/", 1)
        variable = tree[group].to_dataset().variables[column]
        raw = item[:]
        expected = numpy.char.decode(raw) if raw.dtype.kind == "S" else raw
        assert variable.shape == raw.shape, name
        values = variable.values
        if column in ("task_finish_ps", "task_communication_ps", "end_ps", "received_ps"):
            # In the file the time of what the run cut off is 0.
            values = numpy.nan_to_num(values, nan=0.0)
        assert (values == expected).all(), name
        assert variable.attrs == {"units": item.attrs["units"], "long_name": item.attrs["long_name"]}, name
        compared["columns"] += 1
        if h5py.h5ds.is_scale(item.id):
            assert variable.dims == (column,) and column in tree[group].coords, name
            compared["scales"] += 1
        else:
            assert list(variable.dims) == [axis[0].name.rsplit("/", 1)[1] for axis in item.dims], name

    with h5py.File(result / "result.h5") as file:
        file["data"].visititems(compare)
        groups = set(file["data"])
        for key, value in file["run"].attrs.items():
            assert numpy.array_equal(numpy.asarray(tree["run"].attrs[key]), numpy.asarray(value)), key
        assert tree.attrs["experiment"] == file.attrs["experiment"]
    # The result has rows in all the groups that a result may have.
    assert groups >= {
        "iterations",
        "jobs",
        "latency",
        "messages",
        "notes",
        "occupancy",
        "packets",
        "ports",
        "rates",
        "routers",
        "scheme",
        "series",
        "summary",
    }
    for group in ("iterations", "messages", "occupancy", "packets", "ports", "rates", "routers", "series"):
        assert all(size > 0 for size in tree[group].to_dataset().sizes.values()), group
    assert compared["columns"] > 100 and compared["attributes"] > 200 and compared["scales"] > 20, compared


def test_the_numbers_are_those_that_the_program_prints(tree, result):
    printed = json.loads((result / "summary.json").read_text())
    for name, value in printed["summary"].items():
        assert tree["summary"].attrs[name] == value, name
    for name, job in printed["jobs"].items():
        found = tree[f"jobs/{name}"].attrs
        assert all(math.isnan(found[key]) if value is None else found[key] == value for key, value in job.items()), name
    assert printed["jobs"].keys() == {"hot", "halo", "victims"}


def test_a_row_is_selected_by_its_coordinate(tree, result):
    ports = tree["ports"].to_dataset()
    with h5py.File(result / "result.h5") as file:
        own = file["data/ports/router"][:] == 3
        expected = file["data/ports/bytes"][:][own]
    assert len(expected) == 7
    assert (ports["bytes"].sel(router=3).values == expected).all()
    assert set(ports.coords) == {"router", "port", "kind", "peer_router", "peer_port", "endpoint"}


def test_whole_numbers_are_signed(tree):
    bytes_in_bins = tree["series/job.victims.delivered_bytes"].values
    assert numpy.diff(bytes_in_bins).min() < 0
    # But for what does not fit.
    huge = numpy.array([0, 2**64 - 1], dtype=numpy.uint64)
    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        file["huge"] = huge
        assert weir.hdf.values(file["huge"]).tolist() == huge.tolist()


def test_only_the_groups_that_are_asked_for_are_read(result):
    tree = weir.load(result, groups=["summary", "latency/message", "jobs"])
    # The nodes above those that are asked for are there, too.
    assert set(tree.groups) == {
        "/",
        "/summary",
        "/latency",
        "/latency/message",
        "/jobs",
        "/jobs/hot",
        "/jobs/halo",
        "/jobs/victims",
    }
    assert not tree["latency"].to_dataset().variables
    with pytest.raises(weir.ResultError, match=r"has no packages; it has .*packets"):
        weir.load(result, groups=["packages"])
    assert weir.load(result, groups="summary").children.keys() == {"summary"}


@pytest.fixture
def copy(result, tmp_path):
    """A copy that a test may change. Its header goes, as in a file that another program has rewritten: HDF5 reads on."""

    def change(edit):
        place = tmp_path / "result.h5"
        shutil.copy(result / "result.h5", place)
        with open(place, "r+b") as file:
            file.write(b"\0" * 512)
        with h5py.File(place, "r+") as file:
            edit(file)
        return place

    return change


def test_a_newer_schema_is_refused_in_words(copy):
    def newer(file):
        file.attrs["schema_version"] = weir.SCHEMA_VERSION + 1
        file.attrs["weir_version"] = "7.8.9"

    with pytest.raises(
        weir.ResultError, match=f"has version {weir.SCHEMA_VERSION + 1} .*reads version {weir.SCHEMA_VERSION}.*weir 7.8.9"
    ):
        weir.load(copy(newer))


def test_an_older_schema_is_refused_in_words(copy):
    with pytest.raises(weir.ResultError, match="has version 2 .*run the experiment again"):
        weir.load(copy(lambda file: file.attrs.modify("schema_version", 2)))


def test_the_schema_is_that_of_the_manual():
    manual = (ROOT / "docs" / "result-file.md").read_text(encoding="utf-8")
    assert f"## Reference: schema version {weir.SCHEMA_VERSION}\n" in manual


def test_new_columns_and_groups_need_no_new_package(copy):
    def grown(file):
        group = file["data"].create_group("blame")
        group.attrs["roots"] = 2
        group["port"] = [1, 2]
        for name in ("units", "long_name"):
            group["port"].attrs[name] = "1"

    tree = weir.load(copy(grown))
    assert tree["blame"].attrs["roots"] == 2 and tree["blame/port"].values.tolist() == [1, 2]


def test_a_result_that_is_not_complete_warns(copy):
    def cut(file):
        file.attrs.modify("complete", 0)
        file["run"].attrs["stopped"] = "max_wall"

    with pytest.warns(weir.WeirWarning, match=r"not complete.*max_wall"):
        weir.load(copy(cut))


def test_damage_is_refused(result, tmp_path):
    whole = (result / "result.h5").read_bytes()
    place = tmp_path / "result.h5"
    place.write_bytes(whole[:-1])
    with pytest.raises(weir.ResultError, match=f"damaged: it has {len(whole) - 1} bytes"):
        weir.load(tmp_path)
    middle = len(whole) // 2
    place.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with pytest.raises(weir.ResultError, match="checksum"):
        weir.load(tmp_path)
    place.write_bytes(whole)
    weir.load(tmp_path)


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(weir.ResultError, match=r"there is no .*result.h5: weir run"):
        weir.load(tmp_path)
    (tmp_path / "result.h5").write_text("hello")
    with pytest.raises(weir.ResultError, match="cannot be read as HDF5"):
        weir.load(tmp_path)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = [1]
    with pytest.raises(weir.ResultError, match="not a result of weir"):
        weir.load(tmp_path / "other.h5")


def test_times_of_a_job_that_the_run_cut_off_are_nan(program, tmp_path):
    file = tmp_path / "cut.toml"
    file.write_text(
        'topology = { file = "dragonfly-72" }\nrouting = { algorithm = "minimal" }\n'
        'run = { until = "completion", at_most = "3 us" }\noutput = { iterations = true, flows = true }\n'
        '[[workload]]\nname = "long"\ntasks = 4\nmotif = { kind = "allreduce", iterations = 100 }\n'
        '[[workload]]\nname = "turns"\ntasks = 2\nmotif = { kind = "ping_pong", bytes = "8 kB", iterations = 100 }\n'
        '[[workload]]\nname = "short"\ntasks = 4\nmotif = { kind = "allreduce", iterations = 1 }\n'
    )
    done = subprocess.run([program, "run", file, "--out", tmp_path / "o", "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    tree = weir.load(tmp_path / "o")
    long, short = (tree[f"jobs/{name}"].to_dataset() for name in ("long", "short"))
    assert math.isnan(long.attrs["finish_ps"]) and math.isnan(long.attrs["communication_ps"])
    assert long.attrs["finish_at_least_ps"] == 3_000_000 == long.attrs["communication_at_least_ps"]
    assert long["task_finish_ps"].isnull().all() and long["task_communication_ps"].isnull().all()
    assert (long["task_communication_at_least_ps"] == 3_000_000).all()
    assert short.attrs["over"] == 1 and short.attrs["finish_ps"] == short["task_finish_ps"].max() > 0
    for group, begin, end in [("iterations", "begin_ps", "end_ps"), ("flows", "started_ps", "received_ps")]:
        rows = tree[group].to_dataset()
        gone = rows[end].isnull()
        assert gone.any() and not gone.all(), group
        assert (rows[end][~gone] >= rows[begin][~gone]).all() and rows[end].attrs["units"] == "ps", group
