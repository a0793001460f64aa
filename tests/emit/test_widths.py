"""Kernels for batches with as many samples side by side as suit the registers of a processor."""

from __future__ import annotations

import re
from functools import cache
from math import inf
from typing import Any

import pytest

import rbdc.emit.c.csource
import rbdc.planning.batches
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, FLOAT, REGISTERS
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.planning.batches import kernel_widths, side_by_side_programs, widths
from rbdc.planning.candidates import over
from rbdc.planning.forms import Subject, chosen_plan
from rbdc.planning.plans import FormChoice
from rbdc.resources import resolve
from tests.support import OUT

FUNCTIONS = ("rnea", "integrate", "frame_position")
LARGE = {16: inf, 32: 0, 64: 0}
"""What a register holds, of processors whose registers have 32 bytes or more."""


@cache
def model() -> Problem:
    return Problem.from_urdf(resolve("double_pendulum"), root_joint="free-flyer")


def function(name: str) -> Function:
    return functions_of(model())[name]


def kernels(lanes: int | None = None) -> list[str]:
    """Return the preprocessor lines of the batch of inverse dynamics, and the widths of the called kernels in
    order.
    """
    options = GenerationOptions(targets=("c", "batch"), choices={"": {"rnea": FormChoice(lanes=lanes)}})
    text = generate(model(), "robot", ["rnea"], lambda _: None, options).files["robot_rnea_batch.c"]
    block = text[text.index("static inline int robot_rnea_block") : text.index("return 1;")]
    return re.findall(r"^#.*|(?<=kernel)\d+(?=_without_fext\(|\()|(?<=_of)\d+(?=\()", block, re.MULTILINE)


def test_a_scalar_type_knows_its_widths() -> None:
    assert [DOUBLE.widths(size) for size in REGISTERS] == [(2, 4, 8), (4, 8), (8,)]
    assert [FLOAT.widths(size) for size in REGISTERS] == [(4, 8, 16), (8, 16), (16,)]


def test_a_batch_has_those_and_one_by_one() -> None:
    rnea, framed = function("rnea"), function("frame_position")
    programs = side_by_side_programs(Subject(model(), rnea), chosen_plan(Subject(model(), rnea)))
    assert widths(rnea, programs) == (1, 2, 4, 8) and widths(rnea, programs, 32) == (1, 4, 8)
    assert widths(framed, programs) == (1, 8) and widths(rnea, ()) == (1,)


def test_large_kernels_have_what_a_register_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The width is that of a register if none is chosen and the function has no frame."""
    rnea, framed = function("rnea"), function("frame_position")
    programs = side_by_side_programs(Subject(model(), rnea), chosen_plan(Subject(model(), rnea)))
    assert kernel_widths(rnea, programs) == dict.fromkeys(REGISTERS, 8)
    assert kernel_widths(over(rnea, FLOAT), programs) == dict.fromkeys(REGISTERS, 16)
    monkeypatch.setattr(rbdc.planning.batches, "ONE_REGISTER_BEYOND", LARGE)
    assert kernel_widths(rnea, programs) == {16: 8, 32: 4, 64: 8}
    assert kernel_widths(over(rnea, FLOAT), programs) == {16: 16, 32: 8, 64: 16}
    assert kernel_widths(rnea, programs, 2) == dict.fromkeys(REGISTERS, 2)
    assert kernel_widths(framed, programs) == dict.fromkeys(REGISTERS, 8)


def test_the_preprocessor_chooses_where_processors_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernels() == ["8"] and kernels(4) == ["4"]
    monkeypatch.setattr(rbdc.planning.batches, "ONE_REGISTER_BEYOND", LARGE)
    assert kernels() == [
        *("#if defined(__AVX512F__) || !defined(__AVX__)", "8", "#endif"),
        *("#if (defined(__AVX__) && !defined(__AVX512F__))", "4", "#endif"),
    ]


@pytest.mark.slow
def test_every_variant_by_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """The build verifies each variant that this processor runs, kernels in parts too."""
    monkeypatch.setattr(rbdc.emit.c.csource, "CHUNK_OPERATIONS", 100)
    monkeypatch.setattr(rbdc.planning.batches, "ONE_REGISTER_BEYOND", dict.fromkeys(REGISTERS, 0))
    options: dict[str, Any] = {"functions": FUNCTIONS, "march": "portable", "jobs": 1}
    options["root_joint"] = "free-flyer"
    how = BuildOptions(name="widths", out=OUT / "widths", cflags=("-O1", "-ffp-contract=fast"), **options)
    built = build_package("double_pendulum", how)
    assert built.errors is not None and set(built.errors) == set(FUNCTIONS)
    text = (built.directory / "widths_rnea_batch.c").read_text()
    assert all(f"kernel{width}_without_fext(" in text for width in (2, 4, 8))
