"""Inputs of public bug reports that no other test has; `cases/` has their descriptions."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import rbdc
from rbdc.errors import RbdcError
from tests.laws.test_optimal_control import rate
from tests.support import UNOPTIMISED, build_module

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "cases"


def test_armature_of_a_free_joint() -> None:
    with pytest.raises(RbdcError) as refused:
        rbdc.Model.from_file(CASES / "free_joint_armature.xml")
    message = str(refused.value)
    assert "more mass" not in message
    assert "armature" in message and "<freejoint/>" in message and "floating_base" in message


def test_missing_mesh() -> None:
    """No inertia depends on the mesh that is not there."""
    (body,) = rbdc.Model.from_file(CASES / "missing_mesh.xml").bodies
    assert body.inertia.about_origin.yy == pytest.approx(0.1 + 1.0 * 0.1**2)


def test_hessian_through_a_step() -> None:
    """CasADi refuses the Hessian through integrate; it has that of the step of generated/casadi.md, which
    differs from integrate by the square of the step.
    """
    names = ("integrate", "dintegrate")
    m = build_module(
        "hyq", functions=names, targets=("c", "casadi"), name="hyq_hessian", root_joint="free-flyer",
        cflags=UNOPTIMISED,
    )  # fmt: skip
    q, v = m.random_configuration(0), ca.MX.sym("v", m.nv)
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated"):
        ca.hessian(ca.sumsqr(m.casadi("integrate")(q, v)), v)
    hessian = ca.Function("H", [v], [ca.hessian(ca.sumsqr(ca.sin(q + rate(q, v))), v)[0]])
    values = np.array(hessian(np.ones(m.nv)))
    assert values.shape == (m.nv, m.nv) and np.isfinite(values).all() and values.any()
    speeds = np.random.default_rng(1).normal(size=m.nv)
    left = [
        np.abs(q + h * np.array(rate(ca.DM(q), ca.DM(speeds))).ravel() - m.integrate(q, h * speeds)).max()
        for h in (1e-3, 1e-4)
    ]
    assert left[1] / left[0] == pytest.approx(0.01, rel=0.01)
