"""`weir.run` and `weir.run_sweep`: what they start, what comes back, and how the program's errors arrive."""

import functools
import os
import signal
import stat
import subprocess
import sys
import time
import tomllib

import numpy
import pytest

import weir
from weir import toml

DICT = {
    "topology": {"file": "dragonfly-72"},
    "routing": {"algorithm": "par"},
    "workload": [{"name": "a", "pattern": {"kind": "uniform"}, "load": 0.2, "message": "4 flits", "stop": "1 us"}],
    "run": {"until": "completion"},
}


def same_data(a, b):
    """All columns under /data are equal, and there are some."""
    groups = [group for group in a.groups if group != "/run"]
    assert groups == [group for group in b.groups if group != "/run"]
    columns = 0
    for group in groups:
        for name, column in a[group].to_dataset().variables.items():
            if not numpy.array_equal(column.values, b[group].to_dataset().variables[name].values):
                return False
            columns += 1
    assert columns > 50
    return True


def test_a_dict_is_the_file_that_it_stands_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(
        'topology = { file = "dragonfly-72" }\nrouting = { algorithm = "par" }\nrun = { until = "completion" }\n'
        '[[workload]]\nname = "a"\npattern = { kind = "uniform" }\nload = 0.2\nmessage = "4 flits"\nstop = "1 us"\n'
    )
    of_dict = weir.run(DICT, "out/dict")
    assert same_data(of_dict, weir.run("a.toml"))
    assert same_data(of_dict, weir.load("out/dict"))
    assert not same_data(of_dict, weir.run(DICT, seed=2))
    assert weir.run(DICT, set={"workload.a.load": 0.1})["jobs/a"].attrs["offered_load"] < 0.15
    # Nothing is left but what was asked for.
    assert sorted(os.listdir(".")) == ["a.toml", "out"]


def test_ranks_are_started_and_change_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one, two = weir.run(DICT), weir.run(DICT, ranks=2)
    assert (one["run"].attrs["ranks"], two["run"].attrs["ranks"]) == (1, 2)
    assert same_data(one, two)
    with pytest.raises(weir.ProgramNotFound, match="'no-such-launcher -n' is not there"):
        weir.run(DICT, ranks=2, launcher="no-such-launcher -n")
    with pytest.raises(ValueError, match="at least 1"):
        weir.run(DICT, ranks=0)


def test_bad_input_is_the_programs_own_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(weir.BadInput, match=r"did you mean.*uniform|uniform") as caught:
        weir.run({**DICT, "workload": [{**DICT["workload"][0], "pattern": {"kind": "unifrm"}}]})
    assert caught.value.code == 2 and "unifrm" in str(caught.value) and caught.value.command[1] == "run"
    weir.run(DICT, "out")
    with pytest.raises(weir.BadInput, match="result of another experiment"):
        weir.run(DICT, "out", seed=3)
    assert weir.run(DICT, "out", seed=3, force=True).attrs["seed"] == 3
    with pytest.raises(weir.BadInput, match="missing.toml"):
        weir.run("missing.toml")
    assert os.listdir(".") == ["out"]


def test_a_run_that_is_stopped_early_is_an_error_and_leaves_its_result(tmp_path):
    long = {**DICT, "workload": [{**DICT["workload"][0], "stop": "20 ms"}]}
    with pytest.raises(weir.RunError, match="max_wall") as caught:
        weir.run(long, tmp_path, set={"run.max_wall": "200 ms"})
    assert type(caught.value) is weir.RunError and caught.value.code == 1
    with pytest.warns(weir.WeirWarning, match="max_wall"):
        assert weir.load(tmp_path).attrs["complete"] == 0


def test_warnings_of_the_program_are_warnings(tmp_path):
    cut = {**DICT, "run": {"until": "500 ns"}}
    with pytest.warns(weir.WeirWarning, match="messages generated .* had not arrived when the run ended"):
        weir.run(cut, tmp_path)


@pytest.fixture
def pretender(tmp_path):
    """A program that says something and ends with an exit code."""

    def make(code, says="help: eat more fruit"):
        path = tmp_path / f"pretender-{code}"
        path.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {code}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (1, weir.RunError),
        (2, weir.BadInput),
        (4, weir.Stalled),
        (130, weir.Interrupted),
        (143, weir.Interrupted),
        (77, weir.RunError),
    ],
)
def test_every_exit_code_has_its_exception(pretender, code, kind):
    with pytest.raises(weir.RunError, match="eat more fruit") as caught:
        weir.run(DICT, program=pretender(code))
    assert type(caught.value) is kind and caught.value.code == code


def test_the_program_is_found_or_its_absence_is_said(monkeypatch, tmp_path, pretender):
    monkeypatch.setenv("WEIR", str(pretender(4)))
    with pytest.raises(weir.Stalled):
        weir.run(DICT)
    monkeypatch.setenv("WEIR", str(tmp_path / "nothing"))
    with pytest.raises(weir.ProgramNotFound, match="nothing is no program"):
        weir.run(DICT)
    monkeypatch.delenv("WEIR")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(weir.ProgramNotFound, match="cargo install"):
        weir.run(DICT)
    pretender(2).rename(tmp_path / "weir")
    with pytest.raises(weir.BadInput):
        weir.run(DICT)


def test_a_study_of_a_dict(tmp_path):
    job = {**DICT, "axis": [{"name": "load", "key": "workload.0.load", "values": [0.1, 0.2]}]}
    job["claims"] = [{"id": "never", "says": "Nothing arrives.", "metric": "summary.packets_delivered", "max": 0}]
    with pytest.warns(weir.WeirWarning, match="a claim of .* does not hold"):
        data = weir.run_sweep(job, tmp_path / "s", set={"run.seed": 5})
    assert data.sizes == {"load": 2, "seed": 1} and data.seed.values.tolist() == [5]
    assert (data["summary.packets_delivered"] > 0).all()
    assert not weir.claims(tmp_path / "s").loc["never", "holds"]
    results = list((tmp_path / "s" / "points").glob("*/result.h5"))
    before = [file.stat().st_mtime_ns for file in results]
    assert len(results) == 2
    del job["claims"]
    weir.run_sweep(job, tmp_path / "s", set={"run.seed": 5})
    assert [file.stat().st_mtime_ns for file in results] == before
    with pytest.raises(weir.BadInput, match="axis"):
        weir.run_sweep({**job, "axis": [{"name": "load"}]}, tmp_path / "t")


@pytest.mark.parametrize(
    "data",
    [
        {"a": 1, "b": 0.1, "c": True, "d": "text", "e": [1, 2], "f": []},
        {"t": {"x": {"y": {"z": 1}}, "empty": {}}, "w": [{"n": "1"}, {"n": "2", "list": [{"a": 1}]}], "after": 1},
        {"quote": 'say "hi"\\ \n \x7f \u00e9 \U0001f600', "key with space": 1, "dot.ted": {"a.b": 2}},
        {"large": 2**62, "small": -1e-300, "inf": float("inf"), "e": 1e22},
    ],
)
def test_toml_reads_back_as_what_was_written(data):
    assert tomllib.loads(toml.document(data)) == data


def test_numbers_of_numpy_are_numbers_and_none_is_refused():
    assert tomllib.loads(toml.document({"a": numpy.float64(0.5), "b": numpy.arange(3), "c": numpy.bool_(True)})) == {
        "a": 0.5,
        "b": [0, 1, 2],
        "c": True,
    }
    with pytest.raises(TypeError, match="stop: TOML has no None"):
        toml.document({"workload": [{"stop": None}]})


def test_an_interrupt_reaches_the_program_and_is_waited_for(tmp_path):
    """As a notebook does it: the signal goes to Python alone. The program then ends by itself, with what it has to write."""
    program = tmp_path / "pretender"
    program.write_text(
        f"#!/bin/sh\ntrap 'sleep 0.3; touch {tmp_path}/written; exit 130' INT\ntouch {tmp_path}/begun\n"
        "for i in $(seq 400); do sleep 0.05; done\n"
    )
    program.chmod(0o755)
    code = f"import weir; weir.run({DICT!r}, program={str(program)!r})"
    # What is started in the background inherits that interrupts are ignored; a notebook's kernel does not.
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=listening
    ) as python:
        until = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.05)
        python.send_signal(signal.SIGINT)
        _, said = python.communicate(timeout=60)
    assert python.returncode != 0 and "KeyboardInterrupt" in said
    assert (tmp_path / "written").exists() and not list(tmp_path.glob("*.toml"))
