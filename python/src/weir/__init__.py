"""Runs weir, the simulator of HPC interconnects, and reads what it writes.

>>> import weir
>>> result = weir.run({"topology": {"file": "dragonfly-72"}, "routing": {"algorithm": "par"},
...     "workload": [{"pattern": {"kind": "uniform"}, "load": 0.4, "message": "4 flits"}],
...     "run": {"until": "20 us", "warmup": "5 us"}})
>>> result["summary"].attrs["accepted_load"]

`run`, `run_sweep` and `compare` start the program; `load`, `sweep`, `point`, `gather`, `claims` read results; `table`, `by_job`, `interval`, `convert`
put them into handy shapes; `topology` makes a graph of the network; `weir.plot` draws. Numbers are in the units of the file
(picoseconds, bytes), which every column has in its attribute `units`; `convert` changes them.
"""

from . import plot
from .errors import (
    BadInput,
    Interrupted,
    ProgramNotFound,
    ResultError,
    RunError,
    Stalled,
    WeirError,
    WeirWarning,
)
from .network import topology
from .program import compare, run, run_sweep
from .result import SCHEMA_VERSION, load
from .shape import by_job, convert, interval, table
from .study import claims, gather, point, sweep

__all__ = [
    "SCHEMA_VERSION",
    "BadInput",
    "Interrupted",
    "ProgramNotFound",
    "ResultError",
    "RunError",
    "Stalled",
    "WeirError",
    "WeirWarning",
    "by_job",
    "claims",
    "compare",
    "convert",
    "gather",
    "interval",
    "load",
    "plot",
    "point",
    "run",
    "run_sweep",
    "sweep",
    "table",
    "topology",
]
