"""Generated text: deterministic, committed for two small robots, clean for both compilers, sanitised on the
test inputs.

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
from rbdc.emit.backend import Package
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.library import render_manifest
from rbdc.functions.catalogue import functions_of, presets
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.model import Problem
from rbdc.native.install import SEAL, recorded, sealed
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS
from rbdc.resources import resolve
from tests.support import UNOPTIMISED, build_module, slow_but, without_derivatives
from tests.support_trees import random_inertia, random_tree

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ("double_pendulum", "cartpole")
COMPILERS = [c for c in ("gcc", "clang", "clang-19") if shutil.which(c)]

SANITIZED: tuple[str, ...] = (
    *("rnea", "aba", "crba", "minverse", "torque_regressor", "aba_vjp", "com_jacobian"),
    *("frame_jacobian", "frame_acceleration", "relative_jacobian", "integrate", "difference"),
)
"""Functions of every kind: vectors, matrices, solves, frames, the manifold."""
BATCH = GenerationOptions(targets=("c", "batch"))


def package(robot: str) -> dict[str, str]:
    """All text of the full package of a shipped robot; the manifest as it is before compiling."""
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
    committed, made = json.loads((folder / "manifest.json").read_text()), json.loads(files["manifest.json"])
    assert made["files"].items() <= committed["files"].items()
    for name, entry in made["functions"].items():
        assert entry.items() <= committed["functions"][name].items(), name


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
    """The text of functions of a model, by default of all, by file."""
    return generate(model, robot, list(names or presets()["full"]), lambda _: None, BATCH).files


@cache
def c_of_small_tree(seed: int) -> dict[str, str]:
    """That of `small_tree`."""
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
    """Four joints: seeds 1 and 4 together have all types, and one of the two roots is free."""
    return random_tree(seed, size=4)


@pytest.mark.parametrize(
    ("seed", "level", "compiler"),
    slow_but(
        [(seed, level, c) for seed, level in LEVELS for c in COMPILERS],
        [],
        [(None, "-O2", "gcc"), (4, "-fsyntax-only", "clang"), (1, "-fsyntax-only", "gcc")],
    ),
)
def test_c_is_clean(compiler: str, seed: int | None, level: str, tmp_path: Path) -> None:
    """Of two random trees, and of a robot of one joint with everything."""
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


def test_cmake_builds_the_library(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    robot = tmp_path / "robot"
    robot.mkdir()
    write_c(c_of(small_tree(4), "robot", ("rnea", "frame_jacobian", "potential_energy")), robot)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(user C)\nadd_subdirectory(robot)\n"
        "add_executable(user main.c)\ntarget_link_libraries(user PRIVATE robot)\n"
    )
    (tmp_path / "main.c").write_text(
        '#include "robot.h"\n'
        "int main(void) { double q[ROBOT_NQ] = {0}, e; robot_potential_energy(q, &e); return e != e; }\n"
    )
    subprocess.run(["cmake", "-S", ".", "-B", "made"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", "made"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([str(tmp_path / "made" / "user")], check=True)


def sanitized_call(d: FunctionDeclaration, n: int, place: Sequence[str], given: Sequence[str]) -> str:
    """C that calls a batch into heap blocks exactly as large as needed, so that one double too many is found,
    and prints them.
    """
    outputs = [f"out{k}" for k in range(len(d.outputs))]
    arguments = [*given, *place, *outputs]
    lines = [
        f"double *{out} = malloc(sizeof(double) * {n * p.size});"
        for out, p in zip(outputs, d.outputs, strict=True)
    ]
    lines.append(f"tree_{d.name}_batch({n}, {', '.join(arguments)});")
    for out, p in zip(outputs, d.outputs, strict=True):
        lines.append(f'for (int i = 0; i < {n * p.size}; ++i) printf("%.17g\\n", {out}[i]);\nfree({out});')
    return "{\n" + "\n".join(lines) + "\n}"


@pytest.mark.parametrize(
    ("seed", "names"),
    [
        pytest.param(1, without_derivatives(), marks=pytest.mark.exhaustive),
        pytest.param(2, presets()["full"], marks=pytest.mark.exhaustive),
        pytest.param(4, SANITIZED, marks=pytest.mark.slow),
    ],
)
def test_sanitizers_find_nothing(seed: int, names: Sequence[str], tmp_path: Path) -> None:
    """AddressSanitizer and UBSan builds on random inputs; the values equal those of the ordinary build. One
    tree with every function, others with some, for derivatives are most of the text.
    """
    model, targets = small_tree(seed), ("c", "batch")
    module = build_module(
        model, functions=tuple(names), targets=targets, cflags=UNOPTIMISED, verify=False, name="tree"
    )
    made = [path for path in Path(str(module.__file__)).parent.iterdir() if path.suffix in (".c", ".h")]
    sources = write_c({path.name: path.read_text() for path in made}, tmp_path)
    rng = np.random.default_rng(0)
    n = 11  # a whole block side by side, and some that are left
    tangents = ("v", "a", "tau", "dv", "w", "dq", "da", "dtau")
    values = (
        {name: np.array([module.random_configuration(rng) for _ in range(n)]) for name in ("q", "q0", "q1")}
        | {name: rng.standard_normal((n, module.nv)) for name in tangents}
        | {"fext": rng.standard_normal((n, module.njoints, 6))}
    )
    arrays = "\n".join(
        f"static const double {k}[] = {{{', '.join(map(repr, v.ravel().tolist()))}}};"
        for k, v in values.items()
    )
    calls, expected = [], []
    for function in (functions_of(model)[name] for name in names):
        d = function.declaration
        others = [len(model.frames) - 2] if d.pair else []
        frames = [len(model.frames) - 1, *others] if d.framed else []
        extra = (*frames, "WORLD") if frames else ()
        place = [*map(str, frames), "1"] if frames else []
        for left_out in (None, *(p.name for p in d.inputs if p.optional)):
            given = [p.name if p.name != left_out else "NULL" for p in d.inputs]
            calls.append(sanitized_call(d, n, place, given))
            results = getattr(module, d.name)(*(values.get(name) for name in given), *extra)
            expected += [
                np.asarray(r).ravel() for r in (results if isinstance(results, tuple) else (results,))
            ]
    main = (
        f'#include "tree.h"\n#include <stdio.h>\n#include <stdlib.h>\n{arrays}\nint main(void) {{\n'
        + "\n".join(calls)
        + "\nreturn 0; }\n"
    )
    (tmp_path / "main.c").write_text(main)
    # clang takes a quarter of gcc's time.
    compiler = next(c for c in ("clang-19", "clang", "gcc") if shutil.which(c))
    flags = ["-std=c99", "-g1", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(
        [compiler, *flags, *map(str, sources), "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True
    )
    printed = subprocess.run(
        [str(tmp_path / "main")], check=True, capture_output=True, text=True
    ).stdout.split()
    reference = np.concatenate(expected)
    np.testing.assert_allclose(
        [float(x) for x in printed], reference, rtol=1e-8, atol=1e-9 * np.abs(reference).max()
    )
