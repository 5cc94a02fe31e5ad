"""The shapes that results are put into, against the columns of the file."""

import h5py
import numpy
import pytest
import xarray

import weir


def test_a_table_of_nodes_has_their_attributes_and_of_columns_their_rows(tree, result):
    jobs = weir.table(tree["jobs"])
    ports = weir.table(tree["ports"])
    with h5py.File(result / "result.h5") as file:
        assert jobs["bytes_delivered"].to_dict() == {
            name: job.attrs["bytes_delivered"] for name, job in file["data/jobs"].items()
        }
        assert set(ports.columns) == set(file["data/ports"])
        assert (ports["busy_ps"].to_numpy() == file["data/ports/busy_ps"][:]).all()
        terminal = file["data/ports/kind"][:] == b"terminal"
    assert ports.groupby("kind").size()["terminal"] == terminal.sum() == 72


def test_a_node_of_attributes_alone_is_a_row_and_one_without_any_is_empty(tree, result):
    summary = weir.table(tree["summary"])
    with h5py.File(result / "result.h5") as file:
        assert summary.loc["summary", "packets_delivered"] == file["data/summary"].attrs["packets_delivered"]
        assert len(weir.table(tree["notes"])) == len(file["data/notes"])
    assert weir.table(xarray.DataTree(name="notes")).empty


def test_means_have_the_intervals_of_students_t():
    rows = {"seed": ("seed", [1, 2, 3]), "load": ("load", [0.1, 0.2, 0.3])}
    values = [[1.0, 2.0, 3.0], [5.0, numpy.nan, 7.0], [4.0, numpy.nan, numpy.nan]]
    metric = xarray.DataArray(values, rows, ["load", "seed"], "delay", {"units": "ns"})
    data = weir.interval(metric)
    assert data["count"].values.tolist() == [3, 2, 1] and data["mean"].values.tolist() == [2.0, 6.0, 4.0]
    # Two degrees of freedom: 4.302653 standard errors, of 1 / 3 ** 0.5; one: 12.7062 of 1.
    half = [4.302653 / 3**0.5, 12.7062]
    assert numpy.allclose(data["high"].values[:2], [2 + half[0], 6 + half[1]])
    assert numpy.allclose(data["low"].values[:2], [2 - half[0], 6 - half[1]])
    assert numpy.isnan(data["low"].values[2]) and data["high"].attrs["units"] == "ns"
    with pytest.raises(weir.WeirError, match="no axis 'seeds'; there are load, seed"):
        weir.interval(metric, "seeds")


def test_quantiles_of_many_seeds_are_those_of_tables():
    # Abramowitz and Stegun, table 26.10.
    table = {11: 2.201, 15: 2.131, 20: 2.086, 29: 2.045, 60: 2.000, 120: 1.980}
    found = weir.shape.student(xarray.DataArray(list(table)))
    assert numpy.allclose(found, list(table.values()), atol=5e-4)


def test_series_by_job_want_their_groups(result):
    with pytest.raises(weir.WeirError, match="loaded without jobs; the series of jobs take series, jobs"):
        weir.by_job(weir.load(result, groups="series"))


def test_series_by_job_are_the_columns_and_what_follows_from_them(tree, result):
    data = weir.by_job(tree)
    assert data.job.values.tolist() == ["hot", "halo", "victims"]
    with h5py.File(result / "result.h5") as file:
        series = file["data/series"]
        for job in ("hot", "victims"):
            column = {
                name: series[f"job.{job}.{name}"][:].astype(float)
                for name in ("delivered_bytes", "messages", "message_latency_ps")
            }
            one = data.sel(job=job)
            assert (one["delivered_bytes"].values == column["delivered_bytes"]).all()
            # Bins of 500 ns: bits per nanosecond are Gbps.
            assert numpy.allclose(one["delivered_rate"].values, column["delivered_bytes"] * 8 / 500)
            with numpy.errstate(invalid="ignore"):
                mean = column["message_latency_ps"] / column["messages"]
            # The hot spot begins later: bins without a message have no mean.
            assert numpy.isnan(mean).any() == (job == "hot") and numpy.isfinite(mean).any()
            assert numpy.array_equal(one["mean_message_latency"].values, mean, equal_nan=True)
    assert (data["delivered_rate"].attrs["units"], data["mean_network_latency"].attrs["units"]) == ("Gbps", "ps")


def test_a_bin_that_the_end_cuts_off_is_shorter(tree):
    whole = weir.by_job(tree)
    cut = tree.copy()
    # 6 us of 12 bins of 500 ns; the last one now ends after 200 ns.
    cut["summary"].attrs = tree["summary"].attrs | {"simulated_ps": 5_700_000}
    data = weir.by_job(cut)
    rates = [one["delivered_rate"].sel(job="victims").values for one in (whole, data)]
    assert numpy.allclose(rates[1][:-1], rates[0][:-1])
    assert rates[1][-1] == pytest.approx(rates[0][-1] * 500 / 200) and rates[0][-1] > 0
    over = {name: job.attrs | {"over": True} for name, job in cut["jobs"].children.items()}
    for name, attributes in over.items():
        cut[f"jobs/{name}"].attrs = attributes
    assert numpy.allclose(weir.by_job(cut)["delivered_rate"], whole["delivered_rate"])


def test_units_are_converted_and_said(tree):
    ports = tree["ports"].to_dataset()
    busy = weir.convert(ports["busy_ps"], "us")
    assert (busy.values == ports["busy_ps"].values / 1e6).all()
    assert (busy.attrs["units"], busy.attrs["long_name"]) == ("us", ports["busy_ps"].attrs["long_name"])
    series = weir.convert(tree["series"].to_dataset(), "ns")
    assert series["time_ps"].values.tolist() == [500.0 * number for number in range(12)]
    assert series["time_ps"].attrs["units"] == series["job.hot.network_latency_ps"].attrs["units"] == "ns"
    # What is of another kind stays.
    assert series["job.hot.delivered_bytes"].attrs["units"] == "B"
    assert series["job.hot.delivered_bytes"].equals(
        tree["series"].to_dataset()["job.hot.delivered_bytes"].assign_coords(time_ps=series.time_ps)
    )


def test_a_unit_of_another_kind_is_refused(tree):
    ports = tree["ports"].to_dataset()
    with pytest.raises(weir.WeirError, match="in 'ps' cannot be given in 'GB'"):
        weir.convert(ports["busy_ps"], "GB")
    with pytest.raises(weir.WeirError, match="'parsec' is no unit"):
        weir.convert(ports, "parsec")
