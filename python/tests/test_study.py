"""`weir.sweep` against the table that weir writes as CSV, cell by cell."""

import csv
import itertools
import shutil

import h5py
import numpy
import pandas
import pytest

import weir

ROUTINGS, LOADS, LATENCIES, SEEDS = ["valiant", "minimal"], [0.1, 0.3], [20.0, 10.0], [1, 2]


@pytest.fixture(scope="module")
def rows(study):
    with open(study / "table.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def place(row):
    """The table in text has the values as the job file writes them: times with their unit."""
    nanoseconds = float(row["router"].removesuffix(" ns"))
    return {"routing": row["routing"], "load": float(row["load"]), "router": nanoseconds, "seed": int(row["seed"])}


def test_the_axes_are_those_of_the_job_file_in_its_order(study):
    data = weir.sweep(study)
    assert data["state"].dims == ("routing", "load", "router", "seed")
    assert data.routing.values.tolist() == ROUTINGS
    assert (data["load"].values.tolist(), data.router.values.tolist(), data.seed.values.tolist()) == (LOADS, LATENCIES, SEEDS)
    assert (data["load"].attrs["long_name"], data.router.attrs["units"]) == ("offered load", "ns")
    assert data.attrs["title"] == "Small"


def test_every_cell_is_that_of_the_table_in_text(study, rows):
    data = weir.sweep(study)
    metrics = [name for name in rows[0] if name not in ("point", "hash", "state", "routing", "load", "router", "seed")]
    assert {name.split(" ")[0] for name in metrics} == set(data.data_vars) - {"point", "hash", "state"}
    numbers = missing = 0
    for row in rows:
        cell = data.sel(place(row))
        assert (cell["point"], cell["hash"], cell["state"]) == (int(row["point"]), row["hash"], row["state"])
        for name in metrics:
            metric, _, unit = name.partition(" ")
            assert data[metric].attrs["units"] == (unit.strip("[]") or "1")
            if row[name] == "":
                assert numpy.isnan(cell[metric]), name
                missing += 1
            else:
                assert float(cell[metric]) == float(row[name]), name
                numbers += 1
    assert numbers == 12 * len(metrics) and missing == 2 * len(metrics)


def test_what_has_not_run_is_nan_and_says_so(study, rows):
    data = weir.sweep(study)
    states = data["state"].to_series().value_counts().to_dict()
    # 2 x 2 x 2 x 2 less one combination of two seeds; the last two have not run.
    assert states == {"done": 12, "waiting": 2, "excluded": 2}
    known = data["latency.message.mean"].notnull()
    assert (known == (data["state"] == "done")).all()
    excluded = data.sel(routing="valiant", load=0.1, router=20.0)
    assert excluded["state"].values.tolist() == ["excluded"] * 2
    assert excluded["point"].values.tolist() == [-1, -1] and excluded["hash"].values.tolist() == ["", ""]
    listed = {(row["routing"], float(row["load"])) for row in rows}
    assert listed == set(itertools.product(ROUTINGS, LOADS))


def test_the_mean_over_the_seeds_is_that_of_the_rows(study, rows):
    mean = weir.sweep(study)["latency.network.mean"].mean("seed").sel(routing="minimal", load=0.1, router=10.0)
    own = [
        float(row["latency.network.mean [ns]"])
        for row in rows
        if place(row) | {"seed": 0} == {"routing": "minimal", "load": 0.1, "router": 10.0, "seed": 0}
    ]
    assert len(own) == 2 and own[0] != own[1]
    assert float(mean) == pytest.approx(sum(own) / 2, rel=1e-12)


def test_values_of_an_axis_of_yes_and_no_are_found():
    assert [weir.study.alike(value, False) for value in ("false", "true", "False")] == [True, False, False]


def test_the_result_of_a_point_is_that_of_its_directory(study, rows):
    row = rows[3]
    tree = weir.point(study, **place(row))
    with h5py.File(study / "points" / row["hash"] / "result.h5") as file:
        assert tree.attrs["seed"] == file.attrs["seed"] == int(row["seed"])
        assert tree["summary"].attrs["packets_delivered"] == file["data/summary"].attrs["packets_delivered"]
    assert tree["summary"].attrs["accepted_load"] == float(row["summary.accepted_load"])


def test_what_is_not_one_point_with_a_result_is_refused(study):
    with pytest.raises(weir.ResultError, match="seed has several values: 1, 2$"):
        weir.point(study, routing="minimal", load=0.1, router=10)
    with pytest.raises(weir.ResultError, match=r"load = 0.2 is none of its values: 0.1, 0.3$"):
        weir.point(study, routing="minimal", load=0.2, router=10, seed=1)
    with pytest.raises(weir.ResultError, match="no axis 'rooting'; it has routing, load"):
        weir.point(study, rooting="minimal")
    with pytest.raises(weir.ResultError, match="its state is 'waiting'"):
        weir.point(study, routing="minimal", load=0.3, router=10, seed=2)
    with pytest.raises(weir.ResultError, match="its state is 'excluded'"):
        weir.point(study, routing="valiant", load=0.1, router=20, seed=2)


def test_a_number_that_is_not_in_the_table_is_read_from_the_results(study):
    data = weir.sweep(study)
    read = []

    def delivered(tree):
        read.append(set(tree.children))
        return tree["summary"].attrs["packets_delivered"]

    gathered = weir.gather(study, delivered, groups=["summary"])
    assert gathered.equals(data["summary.packets_delivered"])
    assert gathered.notnull().sum() == 12 and read == [{"summary"}] * 12


def test_claims_are_those_of_the_file(study, program):
    import subprocess

    with pytest.raises(weir.ResultError, match="weir sweep claims"):
        weir.claims(study / "points")
    subprocess.run([program, "sweep", "claims", study / "small.toml", "--out", study, "--csv"], capture_output=True)
    claims = weir.claims(study)
    assert claims.index.tolist() == ["long-ways"]
    assert claims.loc["long-ways", "says"] == "Valiant routes are longer."
    text = (study / "claims.csv").read_text()
    (study / "claims.csv").write_text(text.replace("Valiant routes", "'-1 ns (routes)"))
    assert weir.claims(study).loc["long-ways", "says"] == "-1 ns (routes) are longer."
    (study / "claims.csv").write_text('id,says,measured,bound,holds\n007,NA,0.158,1,yes\nNA,5,0.1,1,undecided\n')
    others = weir.claims(study)
    assert others.index.tolist() == ["007", "NA"] and others["says"].tolist() == ["NA", "5"]
    assert others["measured"].tolist() == ["0.158", "0.1"] and others["holds"].tolist() == [True, pandas.NA]
    (study / "claims.csv").write_text(text)
    with open(study / "claims.csv", newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["measured"] == str(claims.loc["long-ways", "measured"])


def test_a_directory_without_a_table_says_what_makes_one(study, tmp_path):
    with pytest.raises(weir.ResultError, match="weir sweep collect"):
        weir.sweep(tmp_path)
    shutil.copy(study / "table.h5", tmp_path)
    with pytest.raises(weir.ResultError, match="not the directory of a study"):
        weir.sweep(tmp_path)
    text = (study / "job.toml").read_text().replace('name = "load"', 'name = "lead"')
    (tmp_path / "job.toml").write_text(text)
    with pytest.raises(weir.ResultError, match="has no column lead"):
        weir.sweep(tmp_path)
