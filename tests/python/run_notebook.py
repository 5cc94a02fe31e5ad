"""Runs a notebook without Jupyter, or makes a page of the manual from it.

usage: run_notebook.py NOTEBOOK DIRECTORY | --page NOTEBOOK | --check NOTEBOOK

The cells of code run in the directory, one after the other, and must print what the notebook has as their output. Figures
are drawn but not compared. --page writes README.md and the figures beside the notebook; --check tells if they differ from
it. After a change of its cells: jupyter nbconvert --to notebook --execute --inplace NOTEBOOK, then --page.
"""

import base64
import contextlib
import io
import json
import os
import sys


def cells_of(path):
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    for cell in notebook["cells"]:
        outputs = cell.get("outputs", [])
        printed = "".join("".join(output["text"]) for output in outputs if output.get("name") == "stdout")
        pictures = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
        yield cell["cell_type"], "".join(cell["source"]), printed, pictures, cell["metadata"]


def run(path, directory):
    cells = list(cells_of(path))
    os.chdir(directory)
    names, ran = {"__name__": "__main__"}, 0
    for number, (kind, source, printed, _, _) in enumerate(cells, 1):
        if kind != "code":
            continue
        place = f"{os.path.basename(path)}, cell {number}"
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(source, place, "exec"), names)
        assert output.getvalue() == printed, f"{place} printed\n{output.getvalue()}and not\n{printed}"
        ran += 1
    assert ran, f"{path} has no code"
    print(f"ran {ran} cells")


def page_of(path):
    """The text of the page, and the figures by name."""
    parts, figures = [], {}
    for kind, source, printed, pictures, about in cells_of(path):
        parts.append(source if kind == "markdown" else f"```python\n{source}\n```")
        if printed:
            parts.append(f"```output\n{printed.rstrip()}\n```")
        for picture in pictures:
            name = f"figure-{len(figures) + 1}.png"
            figures[name] = base64.b64decode(picture)
            parts.append(f"![{about['alt']}]({name})")
    title, _, rest = parts[0].partition("\n")
    name = os.path.basename(path)
    parts[0] = f"{title}\n\n<!-- made from {name} by tests/python/run_notebook.py -->\n\nA notebook: [{name}]({name}).\n{rest}"
    return "\n\n".join(parts) + "\n", figures


def files_of(path):
    folder = os.path.dirname(path)
    text, figures = page_of(path)
    return {os.path.join(folder, name): content for name, content in {"README.md": text.encode(), **figures}.items()}


def main(first, second):
    if first == "--page":
        for name, content in files_of(second).items():
            with open(name, "wb") as file:
                file.write(content)
    elif first == "--check":
        for name, content in files_of(second).items():
            with open(name, "rb") as file:
                assert file.read() == content, f"{name} is not what {second} has: run_notebook.py --page {second}"
    else:
        run(first, second)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
