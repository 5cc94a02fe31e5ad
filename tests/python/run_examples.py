"""Runs the examples of a page of the manual, so that none of them is wrong.

usage: run_examples.py page.md directory [WORDS]

Blocks of python and sh are run in the directory, each on its own. A block of toml with a file name behind it is written
to that file. A block of output holds what the block before it prints: of python all of it, of sh a part, or several with
a line of "…" between two of them. A block that imports a package that is not installed is told and passed over. With WORDS only the
blocks that contain these (all, if they are empty) are run, and none of them may be passed over.
"""

import contextlib
import io
import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(python|sh|toml \S+)\n(.*?)^```$(?:\n+```output\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def run_python(code, place, expected):
    """True if the block ran; an error in it, or another output than is expected (if any is), ends the program."""
    try:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(code, place, "exec"), {"__name__": "__main__"})
    except ModuleNotFoundError as error:
        print(f"{place}: passed over, there is no {error.name}")
        return False
    if "print" in code:
        assert output.getvalue().strip(), f"{place} printed nothing"
    if expected is not None:
        assert output.getvalue() == expected, f"{place} printed\n{output.getvalue()}and not\n{expected}"
    return True


def run_shell(code, place, expected):
    done = subprocess.run(["sh", "-e", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, f"{place}: {done.stdout}{done.stderr}"
    rest = "\n" + done.stdout
    for part in filter(None, (expected or "").split("…\n")):
        _, found, rest = rest.partition("\n" + part)
        rest = "\n" + rest
        assert found, f"{place} printed\n{done.stdout}and not\n{part}"
    return True


def main(page, directory, words=None):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    os.chdir(directory)
    blocks = [block for block in BLOCK.finditer(text) if (words or "") in block[2]]
    assert blocks, f"{page} has no examples"
    run = {"python": run_python, "sh": run_shell}
    ran = 0
    for block in blocks:
        language, code, expected = block.groups()
        line = text.count("\n", 0, block.start()) + 1
        if language.startswith("toml"):
            with open(language.split()[1], "w", encoding="utf-8") as file:
                file.write(code)
            ran += 1
            continue
        ran += run[language](code, f"{os.path.basename(page)}:{line}", expected)
    assert ran == len(blocks) or words is None, f"{page}: only {ran} of {len(blocks)} examples could be run"
    print(f"ran {ran} of {len(blocks)} examples")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
