"""`weir.compare`: the numbers of two runs and of two studies beside one another."""

import numpy
import pytest

import weir
from test_run import DICT


def test_numbers_of_two_runs(tmp_path, program):
    # Both end at the same time: another end would be a second remark.
    base = {**DICT, "run": {"until": "5 us"}}
    one = weir.run(base, tmp_path / "one")
    two = weir.run(base, tmp_path / "two", set={"workload.a.load": 0.1})
    frame = weir.compare(tmp_path / "one", tmp_path / "two").set_index("metric")
    own, other = (tree["summary"].attrs["messages_received"] for tree in (one, two))
    row = frame.loc["summary.messages_received"]
    assert (row["a"], row["b"], row["difference"]) == (own, other, float(other) - float(own))
    mean = frame.loc["latency.message.mean"]
    own, other = (tree["latency/message"].attrs["mean_ps"] / 1e3 for tree in (one, two))
    assert numpy.isclose(mean["difference"], other - own)
    assert numpy.isclose(mean["relative"], (other - own) / own)
    assert frame.attrs["keys"] == {"workload.a.load": ("0.2", "0.1")}
    assert frame.attrs["remarks"] == ["B has another workload than A."]


def test_bounds_are_no_numbers(tmp_path, program):
    # Far more than the two can take: most messages are missing at the end.
    storm = {"name": "a", "pattern": {"kind": "hotspot", "sources": 10, "destinations": 2}, "load": 1.0, "message": "4 flits"}
    with pytest.warns(weir.WeirWarning):
        weir.run({**DICT, "workload": [storm], "run": {"until": "5 us"}}, tmp_path / "storm")
    row = weir.compare(tmp_path / "storm", tmp_path / "storm").set_index("metric").loc["latency.message.p99"]
    assert numpy.isnan(row["a"]) and row["a_at_least"] > 0 and numpy.isnan(row["a_at_most"])
    assert row["same"]


def test_numbers_of_two_studies(study, program):
    frame = weir.compare(study, study)
    assert {"routing", "load", "router", "low", "high"} <= set(frame.columns)
    assert frame["same"].all() and (frame["difference"].dropna() == 0).all()
    # Seven of eight combinations with two seeds; the last has not run.
    accepted = frame[frame["metric"] == "summary.accepted_load"]
    assert len(accepted) == 6 and (accepted["pairs"] == 2).all()
    # Numbers are numbers; times with their unit and names are texts.
    assert len(accepted.query("load == 0.1")) == 3 and set(accepted["router"]) == {"10 ns", "20 ns"}


def test_what_would_mislead_is_refused(result, study):
    with pytest.raises(weir.BadInput, match="is a sweep and"):
        weir.compare(result, study)
