"""What the rolled style costs: honest operation counts, and little code."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from rbdc.emit.c.trigonometry import widths
from rbdc.functions.scalar_types import DOUBLE
from rbdc.model import Model
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.planning.loops.tree import Tree
from rbdc.resources import resolve
from tests.emit.test_rolled import chain, screws, sources_of, write
from tests.laws.test_drives import driven
from tests.support import OUT
from tests.support_trees import mimic_tree, random_tree

COUNTING = """
#include <cmath>
#include <cstddef>
#include <cstdio>
extern long n[5];
struct counted {
    double x;
    counted() = default;
    constexpr counted(double y) : x(y) {}
};
inline counted operator+(counted a, counted b) { ++n[0]; return a.x + b.x; }
inline counted operator-(counted a, counted b) { ++n[0]; return a.x - b.x; }
inline counted operator*(counted a, counted b) { ++n[1]; return a.x * b.x; }
inline counted operator/(counted a, counted b) { ++n[2]; return a.x / b.x; }
inline counted operator-(counted a) { ++n[3]; return -a.x; }
inline counted &operator+=(counted &a, counted b) { return a = a + b; }
inline counted &operator-=(counted &a, counted b) { return a = a - b; }
inline counted &operator*=(counted &a, counted b) { return a = a * b; }
inline counted sin(counted a) { ++n[4]; return std::sin(a.x); }
inline counted cos(counted a) { ++n[4]; return std::cos(a.x); }
#define double counted
#define restrict __restrict
"""
"""In front of each C file, compiled as C++: a double that counts."""


@pytest.mark.parametrize(
    "model",
    [
        mimic_tree("coupled"),
        *(
            pytest.param(model, marks=pytest.mark.slow)
            for model in (
                *(chain(9), screws(), driven(random_tree(1))),
                Model.from_urdf(resolve("hyq"), root_joint="free-flyer"),
            )
        ),
        *(
            pytest.param(model, marks=pytest.mark.exhaustive)
            for model in (random_tree(0), random_tree(5), driven(mimic_tree("coupled")))
        ),
    ],
    ids=lambda model: model.name,
)
def test_operations_are_those_that_are_executed(model: Model, tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    sources, names, calls = sources_of(model), write(model, tmp_path), []
    for source in sources:
        d = source.declaration
        arguments = ["NULL" if p.optional else "in" for p in d.inputs]
        arguments += [f"out[{k}]" for k in range(len(d.outputs))]
        calls.append(f"for (int k = 0; k < 5; ++k) n[k] = 0;\nrobot_{d.name}({', '.join(arguments)});")
        calls.append('printf("%ld %ld %ld %ld %ld\\n", n[0], n[1], n[2], n[3], n[4]);')
    (tmp_path / "counting.h").write_text(COUNTING)
    (tmp_path / "main.cpp").write_text(
        '#include "robot.h"\nlong n[5];\nint main() {\n'
        f"static counted in[{model.nq + model.nv}], out[3][{model.nv**2}];\n"
        f"for (int k = 0; k < {model.nq + model.nv}; ++k) in[k] = 0.1 + 0.01 * k;\n"
        + "\n".join(calls)
        + "\n}\n"
    )
    # Without vectors, which cannot hold the counting type, sines and cosines call libm for every lane.
    flags = ["-w", "-O0", "-D__FAST_MATH__", "-x", "c++", "-include", "counting.h"]
    command = ["g++", *flags, *names, "main.cpp", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.run(
        [str(tmp_path / "main")], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    angles = len(Tree(model).turning)  # side by side, in whole vectors; other joints compute their own
    lanes = next((width for width in widths(DOUBLE) if width >= angles), widths(DOUBLE)[-1])
    for source, line in zip(sources, printed, strict=True):
        c = source.cost
        counts = [c.additions, c.multiplications, c.divisions, c.negations, c.calls + 2 * (-angles % lanes)]
        assert [int(x) for x in line.split()] == counts, source.declaration.name


@cache
def code_bytes(robot: str, root: str, style: str, functions: tuple[str, ...]) -> dict[str, int]:
    """The size of each function's code and tables, optimised for size in both styles alike."""
    options = BuildOptions(
        root_joint=root,
        style=style,
        functions=functions,
        name=f"size_{style}",
        cflags=("-Os",),
        targets=("c",),
        out=OUT / f"{root}-independent",
        verify=False,
    )
    return {f.name: f.code_bytes for f in build_package(robot, options).functions}


@pytest.mark.slow
def test_code_is_small() -> None:
    """A fraction of the unrolled, and hardly more for a robot five times as large: the tables are all that
    grows.
    """
    if shutil.which("size") is None:
        pytest.skip("binutils are not installed")
    functions = ("rnea_derivatives", "aba_derivatives")
    arm, unrolled = (
        code_bytes("kuka_iiwa", "free-flyer", style, functions) for style in ("rolled", "unrolled")
    )
    humanoid = code_bytes("simple_humanoid", "free-flyer", "rolled", functions)
    for name in functions:
        assert arm[name] < unrolled[name] / 2, (name, arm[name], unrolled[name])
        assert humanoid[name] < arm[name] + 12_000, (name, arm[name], humanoid[name])
