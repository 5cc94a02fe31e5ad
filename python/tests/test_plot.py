"""Figures show the numbers that they are said to show."""

import h5py
import numpy
import pytest
from matplotlib import pyplot

import weir


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_a_metric_over_an_axis_is_the_mean_over_the_seeds_with_its_range(study):
    data = weir.sweep(study).sel(router=10.0)
    axes = weir.plot.over(data, "load", "latency.network.mean", series="routing", unit="us")
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["valiant", "minimal"]
    minimal = axes.containers[1]
    values = data["latency.network.mean"].sel(routing="minimal").values / 1e3
    line, _, (whiskers,) = minimal
    assert line.get_xdata().tolist() == [0.1, 0.3]
    assert line.get_ydata()[0] == pytest.approx(values[0].mean())
    low, high = whiskers.get_segments()[0][:, 1]
    assert (low, high) == (pytest.approx(values[0].min()), pytest.approx(values[0].max())) and low < high
    half = 12.7062 * abs(values[0][0] - values[0][1]) / 2
    axes = weir.plot.over(data, "load", "latency.network.mean", series="routing", unit="us", interval="confidence")
    _, _, (whiskers,) = axes.containers[1]
    assert whiskers.get_segments()[0][:, 1] == pytest.approx([values[0].mean() - half, values[0].mean() + half])
    # The points that have not run are a gap.
    assert numpy.isnan(values[1]).all() and numpy.isnan(line.get_ydata()[1])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("offered load", "latency.network.mean [us]")


def test_a_box_has_the_seeds(study):
    data = weir.sweep(study).sel(router=10.0, load=0.1)
    axes = weir.plot.box(data, "latency.network.mean", x="routing")
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(dots) == 2
    for dot, routing in zip(dots, ["valiant", "minimal"], strict=True):
        assert dot.get_ydata().tolist() == data["latency.network.mean"].sel(routing=routing).values.tolist()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["valiant", "minimal"]


def test_series_are_the_columns_of_the_file(tree, result):
    axes = weir.plot.series(tree, "delivered")
    lines = {line.get_label(): line for line in axes.lines}
    assert list(lines) == ["hot", "halo", "victims"]
    with h5py.File(result / "result.h5") as file:
        series = file["data/series"]
        expected = series["job.victims.delivered_bytes"][:] * 8 / 500
        # The last bin goes on to the end of the run.
        assert numpy.allclose(lines["victims"].get_ydata(), [*expected, expected[-1]])
        end = file["data/summary"].attrs["simulated_ps"]
        assert numpy.allclose(lines["victims"].get_xdata(), numpy.append(series["time_ps"][:], end) / 1e6)
    # A job has the colour of its place, whichever are drawn.
    alone = weir.plot.series(tree, "latency", jobs=["victims"]).lines[0]
    assert alone.get_color() == lines["victims"].get_color() != lines["hot"].get_color()


@pytest.mark.parametrize(("kind", "ports"), [(None, 252), ("global", 72)])
def test_the_heat_map_has_every_port(tree, result, kind, ports):
    axes = weir.plot.ports(tree, "busy", kind=kind)
    image = axes.images[0].get_array().filled(numpy.nan)
    with h5py.File(result / "result.h5") as file:
        table = {name: column[:] for name, column in file["data/ports"].items()}
        end = file["data/summary"].attrs["simulated_ps"]
    own = numpy.ones(252, bool) if kind is None else table["kind"] == kind.encode()
    assert numpy.isfinite(image).sum() == own.sum() == ports
    assert numpy.nansum(image) == pytest.approx(table["busy_ps"][own].sum() / end)
    if kind is None:
        row = 100
        assert image[table["port"][row], table["router"][row]] == pytest.approx(table["busy_ps"][row] / end)


def test_names_that_there_are_not_are_refused(tree, study):
    data = weir.sweep(study)
    with pytest.raises(weir.WeirError, match="no metric 'latency'; there are"):
        weir.plot.over(data, "load", "latency")
    with pytest.raises(weir.WeirError, match="no axis 'lead'; there are routing, load"):
        weir.plot.over(data, "lead")
    with pytest.raises(weir.WeirError, match="no interval 'error'"):
        weir.plot.over(data.sel(router=10.0, load=[0.1]), "load", series="routing", interval="error")
    with pytest.raises(weir.WeirError, match="router has 2 values: select one"):
        weir.plot.over(data, "load", series="routing")
    with pytest.raises(weir.WeirError, match="no job 'halos'; there are hot, halo"):
        weir.plot.series(tree, jobs=["halos"])
    with pytest.raises(weir.WeirError, match="no quantity 'lateness'"):
        weir.plot.series(tree, "lateness")
    with pytest.raises(weir.WeirError, match="no kind 'x' of links; there are terminal, local, global"):
        weir.plot.ports(tree, kind="x")
    with pytest.raises(weir.WeirError, match="no share 'hot'"):
        weir.plot.ports(tree, "hot")
