"""What can go wrong, each with the words of the program where it has said some."""

from __future__ import annotations

from collections.abc import Sequence


class WeirError(Exception):
    """Anything that this package refuses or that the program has refused."""


class WeirWarning(UserWarning):
    """Something remarkable about a result: it is not complete, or the program warned of it."""


class ResultError(WeirError):
    """A result or a table that is not there, is damaged, or is of a version that this package does not read."""


class ProgramNotFound(WeirError):
    """The program `weir` (or what starts its ranks) is not where it was looked for."""


class RunError(WeirError):
    """The program ended with an error. The text is what it said on standard error.

    Attributes: `code`, the exit code (a signal's number counts from 128); `command`, what was started.
    """

    def __init__(self, message: str, code: int, command: Sequence[str]) -> None:
        super().__init__(message)
        self.code = code
        self.command = list(command)


class BadInput(RunError):
    """Exit code 2: the experiment, the options or the output directory were refused before anything ran."""


class Stalled(RunError):
    """Exit code 4: packets in flight can never move again; the text has the cycle of waiting."""


class Interrupted(RunError):
    """Exit codes 85, 129, 130, 143: a signal ended it. A run has written its result as far as it got."""


BY_CODE: dict[int, type[RunError]] = {
    2: BadInput,
    4: Stalled,
    85: Interrupted,
    129: Interrupted,
    130: Interrupted,
    143: Interrupted,
}


def of_exit(code: int, message: str, command: Sequence[str]) -> RunError:
    """The error of an exit code other than 0. Python's negative codes are those of signals."""
    code = 128 - code if code < 0 else code
    return BY_CODE.get(code, RunError)(message, code, command)
