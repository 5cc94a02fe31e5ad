"""Makes docs/validation.md: every comparison of weir with theory, other simulators and the papers in one place.

usage: validation_page.py [--check]

Its rows come from docs/results/comparisons.toml (columns of the committed tables, and a bound for each; tables of claims about
other simulators), from all docs/results/*/claims.csv, and from the tests in tests/physics_*.rs. With --check nothing is written: the program fails if
the page is not what it should be.
"""

import csv
import difflib
import re
import sys
import tomllib
from pathlib import Path

RESULTS = Path("docs/results")
PAGE = Path("docs/validation.md")
HEAD = """# What weir has been compared with

Made by `tests/python/validation_page.py` from the tables under [results](results), which carry the commands that made them.
What does not hold stays in the list; the page of each study says why.

"""


def row(cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


def table(head, rows):
    return row(head) + row(["---"] * len(head)) + "".join(row(cells) for cells in rows) + "\n"


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def chosen(comparison):
    """The rows of its table that a comparison is about."""
    rows = read(RESULTS / comparison["table"])
    for column, wanted in comparison.get("where", {}).items():
        rows = [one for one in rows if matches(one[column], wanted)]
    if not rows:
        sys.exit(f"{RESULTS / comparison['table']}: no row for {comparison['what']!r}")
    return rows


def matches(cell, wanted):
    """A range of numbers [from, to], or the texts that are allowed."""
    if isinstance(wanted, list) and all(isinstance(one, (int, float)) for one in wanted):
        return wanted[0] <= float(cell) <= wanted[1]
    return cell in (wanted if isinstance(wanted, list) else [wanted])


def against_simulators(comparisons):
    text, held, rows = "## Other simulators\n\n", 0, []
    for one in comparisons["comparison"]:
        off = [float(found[one["column"]]) for found in chosen(one) if found[one["column"]] != ""]
        worst = max(off, key=abs)
        holds = abs(worst) <= one["bound_percent"]
        held += holds
        page = f"[{one['page'].removesuffix('.md')}](results/{one['page']})"
        rows.append([one["against"], one["what"], f"{one['bound_percent']:g}%", f"{worst:+.1f}%", len(off), one.get("seeds", 1),
                     "yes" if holds else "no", page])
    text += f"{held} of {len(rows)} hold. The largest difference of any point is given; the bound is what was aimed at.\n\n"
    text += table(["against", "what", "bound", "largest", "points", "seeds", "holds", "how"], rows)
    for one in comparisons["claims"]:
        text += claims(f"{one['against']}: {one['what']}", RESULTS / one["table"], one["page"], "what")
    return text


def claims(title, path, page, says):
    """A table of claims with how many of them hold."""
    found = read(path)
    held = sum(one["holds"] == "yes" for one in found)
    columns = ["id", "says", "measured", "bound", *(["seeds"] if "seeds" in found[0] else []), "holds"]
    head = [says if column == "says" else column for column in columns]
    rows = [[one[column] for column in columns] for one in found]
    return f"### {title}\n\n{held} of {len(found)} claims hold: [how, and why not](results/{page}).\n\n" + table(head, rows)


def against_papers(comparisons):
    text = "## The papers' claims\n\n"
    for path in sorted(RESULTS.glob("*/claims.csv")):
        study = path.parent.name
        text += claims(comparisons["papers"][study], path, f"{study}/README.md", "the paper says")
    return text


def against_theory():
    text = "## Theory\n\nTests with numbers that follow from arithmetic or queueing theory; they run with every change.\n\n"
    rows = []
    for path in sorted(Path("tests").glob("physics_*.rs")):
        for found in re.finditer(r"((?:^ *///.*\n)*) *#\[test\]\n(?: *#\[.*\]\n)* *fn (\w+)", path.read_text(), re.M):
            said = " ".join(line.strip().removeprefix("///").strip() for line in found[1].splitlines())
            name = found[2]
            rows.append([said or name.replace("_", " ") + ".", f"`{path.stem}::{name}`"])
    return text + table(["what", "test (`cargo test --test all -- NAME`)"], rows)


def main():
    with open(RESULTS / "comparisons.toml", "rb") as file:
        comparisons = tomllib.load(file)
    made = HEAD + against_simulators(comparisons) + against_theory() + against_papers(comparisons)
    made = made.rstrip("\n") + "\n"
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(made)
        return
    there = PAGE.read_text()
    if there != made:
        sys.stdout.writelines(difflib.unified_diff(there.splitlines(True), made.splitlines(True), str(PAGE), "as it should be"))
        sys.exit(f"{PAGE} is not what its tables make: python3 tests/python/validation_page.py")


main()
