"""Makes the reference part of docs/experiment-file.md or docs/job-file.md from `weir schema`, and checks the page.

usage: experiment_page.py [--check] weir page.md

Without --check the part between the two marks of the page is written anew. With it nothing is written: the program
fails if that part is not what it should be, or if an example of the page (a block of toml with a whole experiment) is
refused by `weir check`, or `weir sweep plan` and `weir tune --plan` for job files.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

BEGIN, END = "<!-- made from weir schema -->\n", "<!-- end -->\n"
# What quantities are called, and sections that list variants: the key that chooses, and the name for `weir list`.
QUANTITIES = {"Duration": "time", "TimeSpan": "time", "Rate": "bandwidth", "Size": "amount of data"}
CHOSEN_BY = {"topology": "kind", "routing": "algorithm", "queueing": "scheme", "congestion": "scheme", "pattern": "kind", "motif": "kind", "trace": "format"}
# Keys at the top that are no sections.
KEYS = ["preset"]
# What only job files have.
STUDY = ["title", "seeds", "metrics", "axis", "only", "exclude", "criterion", "figure", "claims", "reduced", "tune"]
TYPES = {"integer": "whole number", "boolean": "`true` or `false`", "string": "text", "number": "number", "object": "table"}


class Page:
    def __init__(self, schema):
        self.schema = schema
        self.lines = []

    def follow(self, schema):
        """What a schema refers to, and the T of an optional T."""
        if "$ref" in schema:
            return self.follow(self.schema["$defs"][schema["$ref"].removeprefix("#/$defs/")])
        some = [one for one in self.alternatives(schema) if one.get("type") != "null"]
        if len(some) == 1 and len(some) < len(self.alternatives(schema)):
            return self.follow(some[0])
        return schema

    @staticmethod
    def alternatives(schema):
        return schema.get("anyOf") or schema.get("oneOf") or []

    def type_of(self, schema):
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
        """The description, and what each word of a choice means."""
        inner = self.follow(schema)
        text = schema.get("description") or inner.get("description") or ""
        words = [one for one in self.alternatives(inner) if "const" in one and "description" in one]
        if words:
            text += " " + " ".join(f"`{one['const']}`: {one['description']}" for one in words)
        return " ".join(text.split()).replace("|", "\\|")

    def rows(self, table, path=""):
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
            yield f"| `{path}{key}` | {self.type_of(schema)} | {text} | {self.meaning(schema)} |"
            inner = self.follow(schema)
            if "properties" in inner:
                yield from self.rows(inner, f"{path}{key}.")

    def table(self, schema):
        rows = list(self.rows(schema))
        if rows:
            self.lines += ["| key | value | default | meaning |", "| --- | --- | --- | --- |", *rows, ""]
        else:
            self.lines += ["No parameters.", ""]

    def variants(self, header, section, schema):
        key = CHOSEN_BY[section]
        for variant in self.alternatives(self.follow(schema)):
            properties = variant.get("properties", {})
            if "const" not in properties.get(key, {}):
                continue
            name = properties[key]["const"]
            topologies = variant.get("x-topologies")
            chosen = f'{section} = {{ {key} = "{name}", … }}' if section in ("pattern", "motif", "trace") else f'{key} = "{name}"'
            made_for = f" for {' and '.join(f'`{kind}`' for kind in topologies)}" if topologies else ""
            self.lines += [f"{header} `{chosen}`{made_for}", "", " ".join(variant.get("description", "").split()), ""]
            self.table(variant)

    def section(self, name, schema):
        if schema.get("type") == "array" and name not in STUDY:
            self.listed(name, schema["items"])
            return
        several = schema.get("type") == "array" and schema["items"].get("type") != "string"
        if name in KEYS or name in STUDY and not several and "properties" not in self.follow(schema):
            self.lines += [f"### `{name}`", "", schema["description"], ""]
            return
        schema = self.follow(schema["items"] if several else schema)
        self.lines += [f"### `[[{name}]]`" if several else f"### `[{name}]`", ""]
        if name in CHOSEN_BY:
            self.lines += [schema.get("description", ""), ""]
            self.variants("####", name, schema)
            return
        if name in STUDY:
            self.lines += [" ".join(schema.get("description", "").split()), ""]
            if "properties" not in schema:
                return
        self.table(schema)

    def listed(self, name, items):
        """A section that there may be several of, in one or more forms. A form that is only a file is told in words."""
        for form in self.alternatives(items) or [items]:
            schema = self.follow(form)
            properties = schema.get("properties", {})
            if list(properties) == ["file"]:
                continue
            chosen = [key for key in ("pattern", "motif", "trace") if key in properties]
            self.lines += [f"### `[[{name}]]`" + " or".join(f" with a {key}" for key in chosen), ""]
            self.table(schema)
            for key in chosen:
                self.variants("####", key, properties[key])

    def text(self, study):
        for name, schema in self.schema["properties"].items():
            if (name in STUDY) == study:
                self.section(name, schema)
        return "\n".join(self.lines).strip() + "\n\n"


def check_examples(program, page, text):
    examples = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    whole = [example for example in examples if "[topology]" in example and "[run]" in example]
    if not whole:
        sys.exit(f"{page} has no whole experiment as an example")
    for example in whole:
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


def main(check, program, page):
    schema = json.loads(subprocess.run([program, "schema"], check=True, capture_output=True).stdout)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    study = os.path.basename(page) == "job-file.md"
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    new = before + BEGIN + "\n" + Page(schema).text(study) + END + after
    if not check:
        with open(page, "w", encoding="utf-8") as file:
            file.write(new)
    elif new != text:
        sys.exit(f"{page} is not what weir schema says; run tests/python/experiment_page.py {program} {page}")
    check_examples(program, page, new)


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    main("--check" in sys.argv, *arguments)
