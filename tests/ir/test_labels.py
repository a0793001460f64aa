"""Headings and names of generated code: each section whole where the order allows it, components by name."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from rbdc.algorithms.trace import components
from rbdc.emit.generation import PLAIN, generate
from rbdc.functions.catalogue import functions_of
from rbdc.ir.nodes import Program
from rbdc.ir.passes.sections import gather_labels
from rbdc.model import Problem
from rbdc.planning.candidates import chosen
from rbdc.resources import resolve


def quadruped() -> Problem:
    return Problem.from_urdf(resolve("hyq"), root_joint="free-flyer")


def headings(program: Program) -> int:
    """Return times that the label changes from one computed value to the next."""
    labels = [program.sections[v.section] for v in program.values if not v.operation.is_leaf]
    return sum(a != b for a, b in pairwise(labels))


@pytest.mark.parametrize("name", ["rnea", "aba"])
def test_runs_join_the_section_around_them(name: str) -> None:
    model = quadruped()
    _, (program, *_) = chosen(model, functions_of(model)[name])
    again = gather_labels(program)
    assert headings(again) == headings(program), "done"
    assert [v._replace(section=0) for v in again.values] == [v._replace(section=0) for v in program.values]


def test_headings_name_all_limbs() -> None:
    text = generate(quadruped(), "hyq", ["rnea"], lambda _: None, PLAIN).files["hyq_rnea.c"]
    headings = re.findall(r"/\* (.*): F = m a \+ U h", text)
    hips = "lf_hipassembly, lh_hipassembly, rf_hipassembly, rh_hipassembly"
    assert headings.count(hips) == 1
    assert text.count("    /* ") <= 75
    assert re.search(r"\bf1_fy = ", text) and re.search(r"\bX1_R[xyz]{2}\b", text)


def test_components_have_names() -> None:
    assert components("f3", 6) == ["f3_fx", "f3_fy", "f3_fz", "f3_nx", "f3_ny", "f3_nz"]
    assert components("dIC4", 10)[:4] == ["dIC4_m", "dIC4_hx", "dIC4_hy", "dIC4_hz"]
    assert components("X1_bar", 12)[-1] == "X1_bar_pz"
    assert components("U2", 18)[6] == "U2_1fx"
    assert components("tau2", 1) == ["tau2"]
    assert components("M3", 3) == ["M3_0", "M3_1", "M3_2"]
    assert components("f3", 5) == [f"f3_{k}" for k in range(5)], "not a force"
    assert components("f3", 12) == [f"f3_{k}" for k in range(12)], "nor two of them"
