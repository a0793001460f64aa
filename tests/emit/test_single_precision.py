"""C over floats: literals, no arithmetic in double precision anywhere, clean for both compilers."""

from __future__ import annotations

import itertools
import platform
import re
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rbdc
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import presets, rollable
from rbdc.functions.scalar_types import COMPLEX, DOUBLE, FLOAT
from rbdc.model import Problem
from rbdc.native.toolchain import OPTIMISATION_FLAGS, STANDARD_FLAGS, WARNING_FLAGS
from rbdc.resources import resolve
from tests.support import COMPILERS, slow_but
from tests.support_trees import mimic_tree, random_tree

STRICT = ("-Werror", "-Wshadow", "-Wdouble-promotion", "-Wfloat-conversion")
LIMBS = ("rnea", "crba", "aba", "rnea_derivatives", "aba_derivatives")
IN_DOUBLE = re.compile(
    r"\bv?cvt\w*(ss2sd|sd2ss|ps2pd|pd2ps|si2sd|sd2si)|\bv?(add|sub|mul|div|sqrt)[sp]d\b|\bvfn?m(add|sub)\w*[sp]d\b"
)
"""x86 instructions that convert to or from double precision or compute in it; what moves 64 bits at a time is
not among them.
"""


def hyq() -> Problem:
    return Problem.from_urdf(resolve("hyq"), root_joint="free-flyer", snap=1e-11)


MODELS: dict[str, tuple[Callable[[], Problem], tuple[str, ...] | None, str]] = {
    "every joint type": (lambda: random_tree(4, size=5), None, "unrolled"),
    "coupled": (lambda: mimic_tree("coupled"), None, "unrolled"),
    "limbs in lanes": (hyq, LIMBS, "unrolled"),
    "rolled": (lambda: random_tree(1), rollable(), "rolled"),
    "rolled and coupled": (lambda: mimic_tree("coupled"), rollable(), "rolled"),
}


@cache
def generated(name: str) -> dict[str, str]:
    """Return the text of a model by file."""
    make, functions, style = MODELS[name]
    options = GenerationOptions(style, targets=("c", "batch"), scalar=FLOAT)
    return generate(make(), "robot", functions or presets()["full"], lambda _: None, options).files


def write(name: str, folder: Path) -> list[str]:
    """Return the C of a model in a folder; the names of its C files."""
    files = generated(name)
    for file, text in files.items():
        (folder / file).write_text(text)
        assert not file.endswith((".c", ".h")) or not re.search(r"\bdouble\b", text), file
    return sorted(file for file in files if file.endswith(".c"))


def compile_c(compiler: str, flags: Sequence[str], files: Sequence[str], folder: Path) -> None:
    command = [compiler, *STANDARD_FLAGS, *WARNING_FLAGS, *STRICT, *flags, *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


@pytest.mark.parametrize(
    ("name", "compiler"),
    slow_but(
        itertools.product(MODELS, COMPILERS),
        [("rolled", "gcc")],
        [("coupled", "gcc"), ("rolled", COMPILERS[-1])],
    ),
)
def test_nothing_is_promoted(name: str, compiler: str, tmp_path: Path) -> None:
    files = write(name, tmp_path)
    unsuffixed = ["-Wunsuffixed-float-constants"] if compiler == "gcc" else []
    compile_c(compiler, ["-fsyntax-only", *unsuffixed], files, tmp_path)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions of x86")
@pytest.mark.parametrize("compiler", slow_but(COMPILERS, ("gcc",)))
@pytest.mark.parametrize("name", slow_but(["limbs in lanes", "rolled"], ["rolled"], ()))
def test_no_instruction_is_of_double_precision(compiler: str, name: str, tmp_path: Path) -> None:
    files = [file for file in write(name, tmp_path) if "derivatives" not in file]
    compile_c(compiler, [*OPTIMISATION_FLAGS, "-S"], files, tmp_path)
    for file in files:
        assembly = (tmp_path / file).with_suffix(".s").read_text()
        assert not IN_DOUBLE.search(assembly), file
        assert file != "robot_rnea.c" or re.search(r"\bv?mul[sp]s\b", assembly)


def test_the_pattern_finds_promotion(tmp_path: Path) -> None:
    if platform.machine() == "x86_64":
        (tmp_path / "promoted.c").write_text(
            "float f(float x);\nfloat f(float x) { return (float)(x * 0.1); }\n"
        )
        subprocess.run([COMPILERS[0], "-O2", "-S", "promoted.c"], cwd=tmp_path, check=True)
        assert IN_DOUBLE.search((tmp_path / "promoted.s").read_text())


def test_header_is_usable_from_cpp(tmp_path: Path) -> None:
    write("rolled", tmp_path)
    (tmp_path / "main.cpp").write_text(
        '#include "robot.h"\nvoid (*f)(const float *, float *) = robot_crba;\n'
        "int main() { return f != nullptr ? 0 : 1; }\n"
    )
    command = ["g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-c", "main.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_a_literal_is_the_shortest_that_reads_back() -> None:
    written = {
        0.1: "0.1f",
        9.81: "9.81f",
        1 / 3: "0.33333334f",
        100.0: "100.0f",
        -2.5e-5: "-2.5e-05f",
        16777216.0: "16777216.0f",
    }
    assert {number: FLOAT.literal(number) for number in written} == written
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2**32, 20_000, dtype=np.uint32).view(np.float32)
    edges = np.array([3.4028235e38, -3.4028235e38, 1.1754944e-38, 1e-45, 0.0, -0.0], np.float32)
    for number in np.concatenate([numbers[np.isfinite(numbers)], edges]):
        text = FLOAT.literal(float(number))
        assert text.endswith("f") and np.float32(text[:-1]).tobytes() == number.tobytes()
        digits = len(text.split("e")[0].strip("-f").replace(".", "").strip("0"))
        assert digits <= 9
        assert digits <= 1 or np.float32(f"{float(number):.{digits - 1}g}") != number
    assert (DOUBLE.literal(0.1), COMPLEX.literal(1 / 3)) == ("0.1", "0.3333333333333333")


def test_constants_out_of_range() -> None:
    """Too large is an error, too small counts as 0 but where something is divided by it."""
    for number in (3.5e38, -1e300):
        with pytest.raises(
            UnsupportedError, match=r"constant .* too large for float32; build with `dtype='float64'`"
        ):
            FLOAT.literal(number)
    assert (FLOAT.literal(1e-60), FLOAT.literal(-1e-60), FLOAT.literal(3.40282354e38)) == (
        "0.0f",
        "-0.0f",
        "3.4028235e+38f",
    )
    FLOAT.check_divisor(1e-45)
    DOUBLE.check_divisor(1e-60)
    with pytest.raises(UnsupportedError, match="divides by 1e-60, which is 0 in float32"):
        FLOAT.check_divisor(1e-60)
    with pytest.raises(ValueError, match="nan in generated code"):
        FLOAT.literal(float("nan"))


def test_a_model_that_floats_cannot_hold_is_refused() -> None:
    """A force of 1e43 N: 1e26 kg in a field of 1e17 m/s^2."""
    heavy = rbdc.Inertia.about_com(
        1e26, rbdc.Vector3(0.0, 0.0, 1.0), rbdc.Symmetric3(1.0, 0.0, 1.0, 0.0, 0.0, 1.0)
    )
    model = Problem.assemble(
        "heavy",
        [rbdc.Link("base"), rbdc.Link("mass", heavy)],
        [rbdc.Joint("slide", "prismatic", "base", "mass")],
        gravity=(1e17, 0.0, 0.0),
    )
    generate(model, "heavy", ["gravity_torque"], lambda _: None)
    for style in ("unrolled", "rolled"):
        with pytest.raises(UnsupportedError, match="too large for float32"):
            generate(
                model, "heavy", ["gravity_torque"], lambda _: None, GenerationOptions(style, scalar=FLOAT)
            )
