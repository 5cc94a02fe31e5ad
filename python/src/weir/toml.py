"""Experiments and job files that are Python's dicts, as TOML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any


def document(data: Mapping[str, Any]) -> str:
    """A TOML file: keys, then a section for each table, so that an error of the program names a short line."""
    lines: list[str] = []
    sections: list[str] = []
    for name, item in data.items():
        if isinstance(item, Mapping) and item:
            sections += section(f"[{key(name)}]", item)
        elif is_tables(item):
            for table in item:
                sections += section(f"[[{key(name)}]]", table)
        else:
            lines.append(f"{key(name)} = {value(item, name)}")
    return "\n".join([*lines, *sections]) + "\n"


def section(heading: str, table: Mapping[str, Any]) -> list[str]:
    return [
        "",
        heading,
        *(f"{key(name)} = {value(item, name)}" for name, item in table.items()),
    ]


def is_tables(item: Any) -> bool:
    """Whether it is a list of tables, as the workloads are."""
    return (
        isinstance(item, Sequence)
        and not isinstance(item, str)
        and len(item) > 0
        and all(isinstance(one, Mapping) for one in item)
    )


def key(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a key is a text, not {name!r}")
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else text(name)


def text(value: str) -> str:
    """JSON's escapes are TOML's, but for U+007F, which TOML wants escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def value(item: Any, name: str = "") -> str:
    """One value; `name` is the key that it is for, in an error."""
    # Numbers of numpy and pandas.
    if hasattr(item, "item") and getattr(item, "ndim", 0) == 0:
        item = item.item()
    elif hasattr(item, "tolist"):
        item = item.tolist()
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return text(item)
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        return repr(item) if math.isfinite(item) else str(item)
    if isinstance(item, Mapping):
        return "{ " + ", ".join(f"{key(own)} = {value(one, own)}" for own, one in item.items()) + " }"
    if isinstance(item, Sequence):
        return "[" + ", ".join(value(one, name) for one in item) + "]"
    raise TypeError(f"{name}: TOML has no {item!r}; leave out what is to keep its default")
