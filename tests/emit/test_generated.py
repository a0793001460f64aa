"""Generated text: deterministic, committed for two small robots, clean for both compilers.

After a change of the generator that is meant to change its output: RBDC_UPDATE=1 pytest
tests/emit/test_generated.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rbdc
from docs.functions_page import page
from rbdc.emit.backend import Package
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.library import render_manifest
from rbdc.functions.catalogue import presets
from rbdc.model import Problem
from rbdc.native.install import SEAL, recorded, sealed
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS
from rbdc.resources import resolve
from tests.support import slow_but
from tests.support_trees import random_inertia, random_tree

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ("double_pendulum", "cartpole")
PAGE = ROOT / "docs" / "functions.md"
COMPILERS = [c for c in ("gcc", "clang", "clang-19") if shutil.which(c)]

BATCH = GenerationOptions(targets=("c", "batch"))


def package(robot: str) -> dict[str, str]:
    """Return all text of the full package of a shipped robot; the manifest as it is before compiling."""
    model = Problem.from_urdf(resolve(robot))
    generated = generate(model, robot, presets()["full"], lambda _: None, BATCH)
    hashes = recorded({name: text.encode() for name, text in generated.files.items()})
    about = {"left_out": [], "files": hashes, SEAL: "", "compiler": {}, "variants": []}
    manifest = sealed(render_manifest(Package(model, robot), generated.sources, about))
    return {**generated.files, "manifest.json": manifest}


@pytest.mark.parametrize("robot", GOLDEN)
def test_committed_output(robot: str) -> None:
    folder, files = ROOT / "generated" / robot, package(robot)
    if os.environ.get("RBDC_UPDATE"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    tracked = {p.name for p in folder.iterdir() if not p.name.startswith(("_native", "__pycache__"))}
    assert tracked == set(files)
    for name, text in files.items():
        if name != "manifest.json":
            assert (folder / name).read_text() == text, (
                f"{name} differs from the committed one; see the docstring of this file"
            )
    committed, now = json.loads((folder / "manifest.json").read_text()), json.loads(files["manifest.json"])
    assert now["files"].items() <= committed["files"].items()
    for name, entry in now["functions"].items():
        assert entry.items() <= committed["functions"][name].items(), name


def test_committed_page_of_functions() -> None:
    """The page of all functions is as the records and the docstrings of references have it."""
    text = page()
    if os.environ.get("RBDC_UPDATE"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, "python docs/functions_page.py writes it"


def test_text_does_not_depend_on_hash_seed_or_folder(tmp_path: Path) -> None:
    code = (
        "import hashlib, sys; sys.path.insert(0, sys.argv[1]); "
        "from tests.emit.test_generated import package; "
        "print(hashlib.sha256(repr(sorted(package('r2d2').items())).encode()).hexdigest())"
    )
    digests = set()
    for seed, folder in (("0", "one"), ("4242", "two")):
        (tmp_path / folder).mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code, str(ROOT)]
        digests.add(
            subprocess.run(
                command, env=environment, cwd=tmp_path / folder, capture_output=True, check=True
            ).stdout
        )
    assert len(digests) == 1


def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    from rbdc.options import BuildOptions
    from rbdc.pipeline import build_package

    for name in ("one", "two"):
        build_package(
            "cartpole",
            BuildOptions(
                functions=("rnea", "frame_jacobian"), out=tmp_path / name, cflags=("-O0",), force=True
            ),
        )
    for file in (tmp_path / "one" / "cartpole").iterdir():
        if file.is_file():
            assert file.read_bytes() == (tmp_path / "two" / "cartpole" / file.name).read_bytes(), file.name
    text = "".join(
        f.read_text()
        for f in (tmp_path / "one" / "cartpole").iterdir()
        if f.suffix not in (".so", "") or f.name == "manifest.json"
    )
    assert str(tmp_path) not in text
    assert str(ROOT) not in text


def c_of(model: Problem, robot: str = "tree", names: Sequence[str] | None = None) -> dict[str, str]:
    """Return the text of functions of a model, by default of all, by file."""
    return generate(model, robot, list(names or presets()["full"]), lambda _: None, BATCH).files


@cache
def c_of_small_tree(seed: int) -> dict[str, str]:
    """Return the C files of `small_tree`."""
    return c_of(small_tree(seed))


def write_c(files: Mapping[str, str], folder: Path) -> list[Path]:
    for name, text in files.items():
        (folder / name).write_text(text)
    return sorted(folder.glob("*.c"))


def one_joint() -> Problem:
    links = [rbdc.Link("base"), rbdc.Link("arm", random_inertia(np.random.default_rng(0)))]
    return Problem.assemble("one", links, [rbdc.Joint("joint", "revolute", "base", "arm")])


LEVELS = ((1, "-fsyntax-only"), (4, "-fsyntax-only"), (None, "-O2"))
"""Trees, and how far their C is compiled: that of one joint optimised, which is when gcc warns of more."""


def small_tree(seed: int) -> Problem:
    """Return four joints: seeds 1 and 4 together have all types, and one of the two roots is free."""
    return random_tree(seed, size=4)


@pytest.mark.parametrize(
    ("seed", "level", "compiler"),
    slow_but([(seed, level, c) for seed, level in LEVELS for c in COMPILERS], [], [(None, "-O2", "gcc")]),
)
def test_c_is_clean(compiler: str, seed: int | None, level: str, tmp_path: Path) -> None:
    """Two random trees, and a robot of one joint with all options, compile without warnings."""
    sources = write_c(c_of(one_joint()) if seed is None else c_of_small_tree(seed), tmp_path)
    flags = [*STANDARD_FLAGS, *WARNING_FLAGS, "-Werror", "-Wshadow", level, "-c"]
    subprocess.run([compiler, *flags, *map(str, sources)], cwd=tmp_path, check=True)
    text = "".join(source.read_text() for source in sources)
    assert "malloc" not in text
    assert not [
        line
        for line in text.splitlines()
        if line.startswith("static") and "(" not in line and "const" not in line
    ]
