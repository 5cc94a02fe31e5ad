"""Makes docs/validation.md: every comparison of weir with theory, other simulators and the papers in one place.

usage: validation_page.py [--check]

How many hold goes into README.md, too, between the marks there. Its rows come from docs/results/comparisons.toml (columns of the committed tables, and a bound for each; tables of claims about
other simulators), from all docs/results/*/claims.csv (whose they are says comparisons.toml), and from the tests in tests/physics. With --check nothing is written: the program fails if
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
README = Path("README.md")
MARKS = ("<!-- made by tests/python/validation_page.py -->\n", "<!-- end -->\n")
HEAD = """# What weir has been compared with

Made by `tests/python/validation_page.py` from the tables under [results](results), which carry the commands that made them.
What does not hold stays in the list; the page of each study says why. *Undecided*: seeds leave it open ([the rule](job-file.md#claims)).
*Simulated*: the time of each run. *Settled*: how many of the claim's points had come to their steady state, points that it compares with included ([the metric](job-file.md#metrics)).
It is empty for applications, for what happens while a hot spot comes and goes, and where nobody has looked yet.

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
    text, within, rows = "## Other simulators\n\n", 0, []
    for one in comparisons["comparison"]:
        off = [float(found[one["column"]]) for found in chosen(one) if found[one["column"]] != ""]
        worst = largest(one)
        holds = abs(worst) <= one["bound_percent"]
        within += holds
        page = f"[{one['page'].removesuffix('.md')}](results/{one['page']})"
        rows.append([one["against"], one["what"], f"{one['bound_percent']:g}%", f"{worst:+.1f}%", len(off), one.get("seeds", 1),
                     "yes" if holds else "no", page])
    text += f"{within} of {len(rows)} hold. The largest difference of any point is given; the bound is what was aimed at.\n\n"
    text += table(["against", "what", "bound", "largest", "points", "seeds", "holds", "how"], rows)
    for one in comparisons["claims"]:
        text += claims(f"{one['against']}: {one['what']}", RESULTS / one["table"], one["page"], "what", comparisons["readings"])
    return text


def checked(found, path):
    """Claims, none of which is decided though few seeds disagree (a table of an earlier weir may say so)."""
    for one in found:
        with_seeds, _, of = one.get("seeds", "").partition(" of ")
        if with_seeds not in ("", "0", of) and int(of) < 20 and one["holds"] != "undecided":
            sys.exit(f"{path}: {one['id']} is {one['holds']!r} with {one['seeds']} seeds, which is undecided")
    return found


def held(found, readings):
    """How many claims hold, and of how many; and how many under each other reading that some of them were judged by."""
    by_id = {one.get("id"): one for one in found}
    first = [one for one in found if not any(one.get("id", "").removesuffix(end) in by_id.keys() - {one["id"]} for end in readings)]

    def counted(judged, how=""):
        verdicts = [one["holds"] for one in judged]
        undecided = f", {verdicts.count('undecided')} undecided" if "undecided" in verdicts else ""
        return f"{verdicts.count('yes')}{how}{undecided}"

    def count(end):
        return counted([by_id.get(one.get("id", "") + end, one) for one in first], f" with {readings[end]}")

    others = [count(end) for end in readings if any(one.get("id", "") + end in by_id for one in first)]
    return counted(first, f" of {len(first)}"), others


def claims(title, path, page, says, readings):
    """A table of claims with how many of them hold."""
    found = checked(read(path), path)
    optional = [column for column in ("seeds", "simulated", "settled") if any(one.get(column) for one in found)]
    columns = ["id", "says", "measured", "bound", *optional, "holds"]
    head = [says if column == "says" else column for column in columns]
    rows = [[one[column] for column in columns] for one in found]
    count, others = held(found, readings)
    text = f"### {title}\n\nClaims that hold: {count} ([how, and why not](results/{page}))."
    for other in others:
        text += f" Of the same, {other}."
    return text + "\n\n" + table(head, rows)


def studies(comparisons, kind):
    """The tables of claims of the studies of a kind ("papers": others say it, "own": we do), with the name of each."""
    known = comparisons["papers"] | comparisons["own"]
    found = sorted(RESULTS.glob("*/claims.csv"))
    unknown = [str(path) for path in found if path.parent.name not in known]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: whose claims? (docs/results/comparisons.toml, [papers] or [own])")
    return [(comparisons[kind][path.parent.name], path) for path in found if path.parent.name in comparisons[kind]]


def in_numbers(comparisons):
    """How much of what each has said or measured holds."""
    rows = []
    for simulator in dict.fromkeys(one["against"] for one in comparisons["comparison"]):
        own = [one for one in comparisons["comparison"] if one["against"] == simulator]
        within = sum(abs(largest(one)) <= one["bound_percent"] for one in own)
        rows.append([f"{simulator}: curves within the bound aimed at", f"{within} of {len(own)}"])
    tables = [(f"{one['against']}: {one['what']}", RESULTS / one["table"]) for one in comparisons["claims"]]
    for name, path in studies(comparisons, "papers"):
        tables.append((f"[{name}](docs/{path.parent.relative_to('docs')}/README.md): claims", path))
    for title, path in tables:
        found = read(path)
        count, others = held(found, comparisons["readings"])
        rows.append([title, "; ".join([count, *others])])
    return table(["against", "holds"], rows)


def largest(comparison):
    """The difference of the point that is furthest off, in percent."""
    column = comparison["column"]
    return max((float(found[column]) for found in chosen(comparison) if found[column] != ""), key=abs)


def against_papers(comparisons):
    text = "## The papers' claims\n\n"
    for name, path in studies(comparisons, "papers"):
        text += claims(name, path, f"{path.parent.name}/README.md", "the paper says", comparisons["readings"])
    return text


def our_own(comparisons):
    text = "## What our own studies say\n\nNo comparison with anybody, but held to their tables in the same way.\n\n"
    found = studies(comparisons, "own")
    for name, path in found:
        text += claims(name, path, f"{path.parent.name}/README.md", "the page says", comparisons["readings"])
    return text if found else ""


def against_theory():
    text = "## Theory\n\nTests with numbers that follow from arithmetic or queueing theory; they run with every change.\n\n"
    rows = []
    tests = Path("tests")
    physics = ["flows.rs", "queue.rs", "rates/*.rs", "schemes.rs", "time/*.rs"]
    for path in sorted(path for name in physics for path in tests.glob(f"physics/{name}")):
        module = "::".join(path.relative_to(tests).with_suffix("").parts).removesuffix("::mod")
        for found in re.finditer(r"((?:^ *///.*\n)*) *#\[test\]\n(?: *#\[.*\]\n)* *fn (\w+)", path.read_text(), re.M):
            said = " ".join(line.strip().removeprefix("///").strip() for line in found[1].splitlines())
            name = found[2]
            rows.append([said or name.replace("_", " ") + ".", f"`{module}::{name}`"])
    return text + table(["what", "test (`cargo test --test all -- NAME`)"], rows)


def between_marks(text, made):
    """The README with what is made between its marks."""
    before, mark, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not mark or not end:
        sys.exit(f"{README} has no {MARKS[0].strip()} ... {MARKS[1].strip()}")
    return before + mark + "\n" + made + end + after


def main():
    with open(RESULTS / "comparisons.toml", "rb") as file:
        comparisons = tomllib.load(file)
    page = HEAD + against_simulators(comparisons) + against_theory() + against_papers(comparisons) + our_own(comparisons)
    files = {PAGE: page.rstrip("\n") + "\n", README: between_marks(README.read_text(), in_numbers(comparisons))}
    stale = []
    for path, made in files.items():
        there = path.read_text()
        if sys.argv[1:] != ["--check"]:
            path.write_text(made)
        elif there != made:
            sys.stdout.writelines(difflib.unified_diff(there.splitlines(True), made.splitlines(True), str(path), "as it should be"))
            stale.append(str(path))
    if stale:
        sys.exit(f"{' and '.join(stale)}: not what the tables make; run python3 tests/python/validation_page.py")


main()
