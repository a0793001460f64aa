"""Compilers' messages about generated C with more warnings than in a build, and the counts in the heads of C
files.
"""

from __future__ import annotations

import itertools
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from rbdc.emit.generation import GenerationOptions, generate
from rbdc.functions.catalogue import functions_of
from rbdc.functions.scalar_types import SCALARS
from rbdc.model import Problem
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS
from rbdc.reduction.schedules import LIMBS, scheduled
from rbdc.resources import resolve
from tests.support import COMPILERS, slow_but
from tests.support_windows import kernel_alone, path_tree

SECOND = ("rnea_second_derivatives", "aba_second_derivatives", "rnea_hessian_vector", "aba_hessian_vector")
FRAMED = ("frame_jacobian", "relative_jacobian", "manipulability_gradient")


@cache
def generated(dtype: str) -> dict[str, str]:
    """Return second derivatives by paths, functions of frames, and batches of these."""
    model = Problem.from_urdf(resolve("double_pendulum"), root_joint="free-flyer")
    options = GenerationOptions(scalar=SCALARS[dtype], targets=("c", "batch"))
    return generate(model, "robot", [*SECOND, *FRAMED, "crba"], lambda _: None, options).files


@pytest.mark.parametrize(
    ("compiler", "dtype"),
    slow_but(itertools.product(COMPILERS, SCALARS), [], [("clang", "float64"), ("gcc", "float32")]),
)
def test_no_compiler_says_a_word(compiler: str, dtype: str, tmp_path: Path) -> None:
    """No compiler warns about implicit conversions to higher precision, or about passing
    vectors without AVX.
    """
    for name, text in generated(dtype).items():
        (tmp_path / name).write_text(text)
    flags = [*STANDARD_FLAGS, *WARNING_FLAGS, "-Wdouble-promotion", "-O0"]
    sources = [path.name for path in tmp_path.glob("*.c") if "_kernel" not in path.name]
    command = [compiler, *flags, "-S", *sources]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stderr == ""


def counts(text: str) -> dict[str, int]:
    """Return the counts in the head of a C file."""
    (line,) = re.findall(r"^ \* (\d+ operations: .*)$", text, re.MULTILINE)
    before = line.split(" for ")[0]
    return {words: int(number) for number, words in re.findall(r"(\d+) ([a-z ]+?)(?=[,:]|$)", before)}


def check(text: str) -> dict[str, int]:
    """Return the counts, which make up the operations."""
    counted = counts(text)
    assert counted["operations"] == sum(counted.values()) - counted["operations"]
    return counted


def test_heads_of_loops_count_all_that_they_execute() -> None:
    files = generated("float64")
    assert check(files["robot_rnea_second_derivatives.c"])["calls of libm"] == 4  # two joints
    for name in ("aba_second_derivatives", "aba_hessian_vector"):
        counted = check(files[f"robot_{name}.c"])
        assert counted["divisions"] >= 8, "the pivots of M"
        assert counted["on vectors"] > 1000


@pytest.mark.parametrize("name", ["minverse", "rnea_derivatives", "aba_derivatives"])
def test_heads_of_windows_count_vectors_divisions_and_calls(name: str) -> None:
    """Sines and cosines of all lanes of rows, also of those without a joint, and divisions for a free root;
    those of rows are on vectors.
    """
    model = path_tree(5, 9)
    record = functions_of(model)[name]
    source = kernel_alone(model, record)
    counted = check(source.files[f"robot_{name}.c"])
    assert counted["calls of libm"] == 2 * LIMBS * scheduled(model).rows > 0
    assert counted["divisions"] == (0 if name == "rnea_derivatives" else 6 * model.bodies[0].joint.free)
    assert counted["on vectors"] > 500 and source.cost.lane_flops >= 4 * counted["on vectors"] * 0.9


def test_heads_of_batches_count_what_is_done_on_vectors() -> None:
    counted = check(generated("float64")["robot_crba_batch.c"])
    assert counted["on vectors"] > 50


def test_a_comment_stands_once_in_a_function() -> None:
    """It names all limbs that it is about; where a section goes on, "more of" what it gives."""
    model = Problem.from_file(resolve("hyq"), root_joint="free-flyer")
    text = generate(model, "robot", ["rnea"], lambda _: None).files["robot_rnea.c"]
    for function in text.split("\n}\n"):
        comments = re.findall(r"^ +/\* (.* = .*) \*/$", function, re.MULTILINE)
        assert len(comments) == len(set(comments))
    four = r"(l|r)(f|h)_upperleg, " * 3 + r"(l|r)(f|h)_upperleg: (?!more of)"
    # motion, force, force on the parent
    assert len(re.findall(four, text)) == 3 and ": more of " in text
