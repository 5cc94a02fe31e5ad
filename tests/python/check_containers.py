"""Checks that the container recipes take all of the sources that building weir reads, and that of Spack has its version.

usage: check_containers.py cargo

Copies what they take to an empty place: there cargo has to understand the manifest, and every file that the sources include has to be.
(Building takes the network, a container engine and many minutes.)
"""

import fnmatch
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

INCLUDED = re.compile(r'include_(?:str|bytes)!\("([^"]+)"\)')
#: Lists of ready files: the folder and the names.
READY = re.compile(r'ready!\["(\w+)":([^\]]*)\]')


def of_apptainer(place):
    """What the first stage's %files lists, copied as Apptainer does: to a path, or into a folder that is there."""
    stage = Path("containers/weir.def").read_text().split("%post")[0]
    (place / "source").mkdir()
    for line in stage.split("%files")[1].split("\n"):
        if line.strip():
            source, target = line.split()
            to = place / target.lstrip("/")
            copy(Path(source), to / source if to.is_dir() else to)
    return place / "source"


def of_docker(place):
    """The context without what .dockerignore names, if the Dockerfile copies all of it."""
    assert "\nCOPY . .\n" in Path("containers/Dockerfile").read_text(), "the Dockerfile copies something else now"
    ignored = [line.strip("/") for line in Path(".dockerignore").read_text().split()]
    for path in Path(".").iterdir():
        if not any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored):
            copy(path, place / path.name)
    return place


def copy(source, target):
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def check(recipe, place, cargo):
    subprocess.run([cargo, "metadata", "--no-deps", "--offline", "--format-version", "1"], cwd=place, check=True, capture_output=True)
    wanted = set()
    for file in (*(place / "crates").rglob("*.rs"), *(place / "src").rglob("*.rs")):
        text = file.read_text(encoding="utf-8")
        wanted |= {file.parent / name for name in INCLUDED.findall(text)}
        for folder, names in READY.findall(text):
            wanted |= {place / folder / f"{name}.toml" for name in re.findall(r'"([^"]+)"', names)}
    missing = sorted(str(path.relative_to(place)) for path in wanted if not path.exists())
    assert len(wanted) > 40 and not missing, f"{recipe} leaves out {', '.join(missing)}"
    print(f"{recipe}: {len(wanted)} included files are there")


def check_spack():
    """The recipe has the version of the program, and asks cargo for features that exist."""
    recipe = Path("containers/spack/packages/weir/package.py").read_text(encoding="utf-8")
    manifest = tomllib.loads(Path("Cargo.toml").read_text(encoding="utf-8"))
    assert f'version("{manifest["workspace"]["package"]["version"]}")' in recipe, "the recipe is of another version"
    assert f'rust@{manifest["workspace"]["package"]["rust-version"]}:' in recipe, "the recipe is of another Rust"
    features = set(re.findall(r'variant\("(\w+)"', recipe))
    assert features and features <= set(manifest["features"]), f"there is no feature {features - set(manifest['features'])}"
    print("spack: version and options are those of Cargo.toml")


def check_versions():
    """All places that a release writes its version into have the same one."""
    version = tomllib.loads(Path("Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    others = {
        "CITATION.cff": re.search(r"^version: (.*)$", Path("CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1],
        ".zenodo.json": json.loads(Path(".zenodo.json").read_text(encoding="utf-8"))["version"],
        "python/pyproject.toml": tomllib.loads(Path("python/pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
    }
    wrong = {place: other for place, other in others.items() if other != version}
    assert not wrong, f"the version is {version}, but {wrong}"
    # The wheel and the package alone are one project with two ways to build it.
    wheel, alone = (tomllib.loads(Path(path).read_text(encoding="utf-8"))["project"] for path in ("pyproject.toml", "python/pyproject.toml"))
    extras = {name: libraries for name, libraries in alone["optional-dependencies"].items() if name != "test"}
    assert wheel["dependencies"] == alone["dependencies"] and wheel["optional-dependencies"] == extras, "pyproject.toml has other dependencies"
    print("versions and dependencies agree")


def main(cargo):
    check_spack()
    check_versions()
    for recipe, taken in (("weir.def", of_apptainer), ("Dockerfile", of_docker)):
        with tempfile.TemporaryDirectory() as place:
            check(recipe, taken(Path(place)), cargo)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
