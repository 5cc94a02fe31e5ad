"""Makes the tables of docs/experiment-file/ and docs/job-file-keys.md from `weir schema`, and checks these pages.

usage: experiment_page.py [--check] weir page.md|folder

A page has blocks between `<!-- made from weir schema: SECTION … -->` and `<!-- end -->`. Without --check they are
written anew. With it nothing is written: the program fails if a block is not what it should be, if a section is in no
block of a folder or in several, or if an example (a block of toml with a whole experiment) is refused by `weir check`,
or `weir sweep plan` and `weir tune --plan` for job files.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"<!-- made from weir schema: ([^>]*) -->\n.*?<!-- end -->\n", re.DOTALL)
QUANTITIES = {"Duration": "time", "TimeSpan": "time", "Rate": "bandwidth", "Size": "amount of data"}
# Sections that list variants: the key that chooses.
CHOSEN_BY = {"topology": "kind", "routing": "algorithm", "queueing": "scheme", "congestion": "scheme", "pattern": "kind", "motif": "kind", "trace": "format"}
# Keys at the top that are no sections.
KEYS = ["preset"]
# Sections of job files alone.
STUDY = ["title", "seeds", "metrics", "axis", "only", "exclude", "criterion", "figure", "claims", "reduced", "tune"]
# Blocks of a workload: its two forms, and keys that both have.
WORKLOAD = ["workload", "traffic", "application", "pattern", "motif", "trace"]
TYPES = {"integer": "whole number", "boolean": "`true` or `false`", "string": "text", "number": "number", "object": "table"}
HEAD = ["| key | value | default | meaning |", "| --- | --- | --- | --- |"]
# A meaning with more words than this is given once on a page.
LONG_MEANING = 12


class Page:
    def __init__(self, schema):
        self.schema = schema
        self.lines = []
        # Rows with a long meaning, and the variant that has them.
        self.told = {}

    def follow(self, schema):
        """The definition that a schema refers to, and the T of an optional T."""
        if "$ref" in schema:
            return self.follow(self.schema["$defs"][schema["$ref"].removeprefix("#/$defs/")])
        some = [one for one in self.alternatives(schema) if one.get("type") != "null"]
        if len(some) == 1 and len(some) < len(self.alternatives(schema)):
            return self.follow(some[0])
        return schema

    @staticmethod
    def alternatives(schema):
        return schema.get("anyOf") or schema.get("oneOf") or []

    @staticmethod
    def is_link(schema):
        return schema.get("$ref") == "#/$defs/LinkParams" or any(map(Page.is_link, Page.alternatives(schema)))

    def type_of(self, schema):
        if self.is_link(schema):
            return "[link](#links)"
        name = schema.get("$ref", "").removeprefix("#/$defs/").split(".")[-1]
        if name in QUANTITIES:
            return QUANTITIES[name]
        if name:
            return self.type_of(self.schema["$defs"][schema["$ref"].removeprefix("#/$defs/")])
        if "const" in schema:
            return f"`{json.dumps(schema['const'])}`"
        if "enum" in schema:
            return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"] if value is not None)
        if schema.get("pattern") == r"^\d+\.\.\d+$":
            return 'range `"a..b"`'
        some = [one for one in self.alternatives(schema) if one.get("type") != "null"]
        if some:
            return " or ".join(dict.fromkeys(self.type_of(one) for one in some))
        kinds = schema.get("type", "any")
        kinds = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null"]
        return " or ".join(
            f"list of {self.type_of(schema['items'])}" if kind == "array" else TYPES.get(kind, kind) for kind in kinds
        )

    def meaning(self, schema):
        """The description, and the meaning of each word of a choice that the description does not name."""
        inner = self.follow(schema)
        text = schema.get("description") or inner.get("description") or ""
        words = [one for one in self.alternatives(inner) if "const" in one and "description" in one]
        if not all(f'"{one["const"]}"' in text for one in words):
            text += " " + " ".join(f"`{one['const']}`: {one['description']}" for one in words)
        return " ".join(text.split()).replace("|", "\\|")

    def rows(self, table, path=""):
        """Key, type, default and meaning of each parameter."""
        required = table.get("required", [])
        for key, schema in table.get("properties", {}).items():
            if "const" in schema or (not path and key in CHOSEN_BY):
                continue
            default = schema.get("default")
            if key in required:
                text = "required"
            elif default is None:
                text = ""
            else:
                text = f"`{json.dumps(default, ensure_ascii=False)}`"
            yield f"`{path}{key}`", self.type_of(schema), text, self.meaning(schema)
            inner = self.follow(schema)
            if "properties" in inner and not self.is_link(schema):
                yield from self.rows(inner, f"{path}{key}.")

    def table(self, schema, variant=None, without=()):
        """The parameters; `variant` is the heading above them, `without` are rows that are told elsewhere."""
        rows = [row for row in self.rows(schema) if row not in without]
        if not rows:
            return
        self.lines += HEAD
        for key, kind, default, meaning in rows:
            if variant and len(meaning.split()) > LONG_MEANING:
                first = self.told.setdefault((key, kind, meaning), variant)
                if first != variant:
                    meaning = f"As for [{first}](#{anchor(first)})."
            self.lines.append(f"| {key} | {kind} | {default} | {meaning} |")
        self.lines.append("")

    def variants(self, section, schema):
        """A table of all variants, then the parameters of each that has some."""
        key = CHOSEN_BY[section]
        found = [one for one in self.alternatives(self.follow(schema)) if "const" in one.get("properties", {}).get(key, {})]
        names = [one["properties"][key]["const"] for one in found]
        every = [set(self.rows(one)) for one in found]
        # Rows of each variant stand once, before all.
        common = [row for row in self.rows(found[0]) if all(row in rows for rows in every)]
        made_for = any("x-topologies" in one for one in found)
        self.lines += [
            f"| `{key}` |{' for |' if made_for else ''} description | source |",
            f"| --- |{' --- |' if made_for else ''} --- | --- |",
        ]
        headings = []
        for variant, name in zip(found, names):
            topologies = variant.get("x-topologies", [])
            heading = f"{name} ({', '.join(topologies)})" if names.count(name) > 1 else name
            headings.append(heading)
            own = any(row not in common for row in self.rows(variant))
            linked = f"[`{name}`](#{anchor(heading)})" if own else f"`{name}`"
            text, source = apart(" ".join(variant.get("description", "").split()).replace("|", "\\|"))
            self.lines.append(f"| {linked} |{' ' + ', '.join(topologies) + ' |' if made_for else ''} {text} | {source} |")
        self.lines.append("")
        if common:
            self.lines += [f"Keys for each `{key}`:", "", *HEAD]
            self.lines += [f"| {' | '.join(row)} |" for row in common] + [""]
        for variant, heading in zip(found, headings):
            if any(row not in common for row in self.rows(variant)):
                self.lines += [f"### {heading}", ""]
                self.table(variant, heading, common)

    def workload(self, block):
        forms = [self.follow(one) for one in self.alternatives(self.schema["properties"]["workload"]["items"])]
        traffic = next(one for one in forms if "pattern" in one["properties"])
        application = next(one for one in forms if "motif" in one["properties"])
        theirs = set(self.rows(application))
        common = [row for row in self.rows(traffic) if row in theirs]
        if block == "workload":
            self.lines += HEAD + [f"| {' | '.join(row)} |" for row in common] + [""]
        elif block == "traffic":
            self.table(traffic, without=common)
        elif block == "application":
            self.table(application, without=common)
        else:
            self.variants(block, (traffic if block == "pattern" else application)["properties"][block])

    def section(self, name):
        """A section of an experiment; its heading is on the page."""
        if name in WORKLOAD:
            self.workload(name)
            return
        if name == "links":
            self.table(self.schema["$defs"]["LinkParams"])
            return
        schema = self.schema["properties"][name]
        if name in KEYS:
            self.lines += [schema["description"], ""]
        elif name in CHOSEN_BY:
            self.lines += [schema.get("description", ""), ""]
            self.variants(name, schema)
        else:
            self.table(self.follow(schema.get("items", schema)))

    def study(self):
        for name in study_order(self.schema):
            schema = self.schema["properties"][name]
            several = schema.get("type") == "array" and schema["items"].get("type") != "string"
            if not several and "properties" not in self.follow(schema):
                self.lines += [f"## `{name}`", "", schema["description"], ""]
                continue
            schema = self.follow(schema["items"] if several else schema)
            self.lines += [f"## `[[{name}]]`" if several else f"## `[{name}]`", ""]
            # Its first words are the heading in a terminal.
            text = " ".join(schema.get("description", "").split())
            text = re.sub(r"^`\[+\w+\]+`: ", "", text)
            self.lines += [text[:1].upper() + text[1:], ""]
            if "properties" in schema:
                self.table(schema)

    def block(self, names):
        self.lines = []
        for name in names:
            if name == "study":
                self.study()
            else:
                self.section(name)
        return "\n".join(self.lines).strip() + "\n\n"


def study_order(schema):
    return [name for name in schema["properties"] if name in STUDY]


def anchor(heading):
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def apart(description):
    """The text, and the source in the brackets at its end."""
    depth = 0
    for at in range(len(description) - 1, -1, -1):
        depth += (description[at] == ")") - (description[at] == "(")
        if depth == 0:
            break
    if not description.endswith(")") or at == 0:
        return description, ""
    return description[:at].strip(), description[at + 1 : -1]


def sections(schema):
    """All blocks that the pages of a folder must have."""
    return {*schema["properties"], *WORKLOAD, "links"} - set(STUDY)


def check_examples(program, pages):
    texts = {page: re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for page, text in pages.items()}
    whole = [(page, one) for page, some in texts.items() for one in some if "[run]" in one and "topology" in one]
    for page, example in whole:
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file, tempfile.TemporaryDirectory() as out:
            file.write(example)
            file.flush()
            command = ["sweep", "plan"] if "[[axis]]" in example else ["check"]
            arguments = [file.name]
            if "[tune]" in example:
                command, arguments = ["tune"], [file.name, "--plan", "--out", out]
            done = subprocess.run([program, *command, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{page}: an example is refused:\n{example}\n{done.stderr}")
    print(f"{len(whole)} examples are good experiments")


def main(check, program, place):
    schema = json.loads(subprocess.run([program, "schema"], check=True, capture_output=True).stdout)
    paths = [place]
    if os.path.isdir(place):
        paths = sorted(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".md"))
    pages, blocks = {}, []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        page = Page(schema)

        def made(found):
            names = found[1].split()
            blocks.extend(names)
            return f"<!-- made from weir schema: {found[1]} -->\n\n{page.block(names)}<!-- end -->\n"

        pages[path] = BLOCK.sub(made, text)
        if pages[path] == text:
            continue
        if check:
            sys.exit(f"{path} is not what weir schema says; run tests/python/experiment_page.py {program} {place}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(pages[path])
    if os.path.isdir(place) and sorted(blocks) != sorted(sections(schema)):
        sys.exit(f"{place} has the blocks {sorted(blocks)}, not once each {sorted(sections(schema))}")
    check_examples(program, pages)


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    main("--check" in sys.argv, *arguments)
