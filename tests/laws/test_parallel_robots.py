"""Parallel robots: Pinocchio on the rows that are held, and the dense references in verification."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio
import pytest

from rbdc.algorithms.reference.manifold import integrate
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.reduction.mobility import closed_from, mobility
from tests.support import OUT, UNOPTIMISED, Array, build_module, slow_but
from tests.support_contacts import constraint_models
from tests.support_differences import central
from tests.support_parallel import MECHANISMS
from tests.support_pinocchio import as_snapped

pin: Any = pinocchio

VERIFIED = ("four_bar", "two_rod_ankle")
QUICK = ("four_bar",)
"""Mechanisms of the default tier."""
TRIED = slow_but(MECHANISMS, QUICK, set(MECHANISMS) - {"delta"})
"""The largest in space is the platform on six legs."""
FUNCTIONS = ("constrained_dynamics", "constrained_dynamics_derivatives", "impulse_dynamics")


@cache
def written(case: str) -> Path:
    """Return the URDF file of a mechanism."""
    path = OUT / "mechanisms" / f"{case}.urdf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MECHANISMS[case]().urdf)
    return path


@cache
def model_of(case: str) -> Problem:
    return read(written(case), BuildOptions(contacts=MECHANISMS[case]().loops))


@cache
def built(case: str) -> ModuleType:
    """Return two mechanisms, one planar and one spatial, whose functions are verified with the dense
    references.
    """
    options: dict[str, Any] = {"contacts": MECHANISMS[case]().loops, "cflags": UNOPTIMISED, "name": case}
    return build_module(written(case), functions=FUNCTIONS, verify=case in VERIFIED, **options)


def states(case: str, seed: int) -> tuple[Array, Array, Array]:
    """Return q near which the loops are closed, v and tau."""
    model, rng = model_of(case), np.random.default_rng(seed)
    steps = [float(x) for x in rng.uniform(-0.3, 0.3, model.nv)]
    q, _ = closed_from(model, [float(x) for x in integrate(model, model.neutral(), steps)])
    return np.array(q, dtype=float), rng.normal(size=model.nv), rng.normal(size=model.nv)


@pytest.mark.parametrize("case", MECHANISMS)
def test_mobility_and_rows_that_depend_on_others(case: str) -> None:
    mechanism, model = MECHANISMS[case](), model_of(case)
    counts = mobility(model)
    assert counts["freedoms"] == mechanism.freedoms
    assert counts["rows"] == counts["rank"] == 3 * len(mechanism.loops) - mechanism.dropped
    left_out = [str(note) for note in model.notes if "rows are redundant and ignored" in str(note)]
    assert len(left_out) == mechanism.dropped


class Peer:
    """Pinocchio with the loops of a mechanism. Rows of planar loops that are left out here are zeros there,
    which its mu makes regular.
    """

    def __init__(self, case: str, gains: Array | None) -> None:
        model = model_of(case)
        self.model = pin.buildModelFromXML(as_snapped(written(case).read_text()))
        self.constraints = constraint_models(self.model, model, None, gains)
        self.held = [3 * k + row for k, contact in enumerate(model.contacts) for row in contact.held]

    def values(self, q: Array, v: Array, tau: Array) -> tuple[Any, list[Array]]:
        """Return its data, in which derivatives add up, and accelerations and forces."""
        data, datas = self.model.createData(), pin.StdVec_RigidConstraintData()
        settings = pin.ProximalSettings(1e-14, 1e-12, 1)
        for constraint in self.constraints:
            datas.append(constraint.createData())
        pin.initConstraintDynamics(self.model, data, self.constraints, datas)
        ddq = pin.constraintDynamics(self.model, data, q, v, tau, self.constraints, datas, settings).copy()
        forces = data.lambda_c[self.held]
        pin.computeConstraintDynamicsDerivatives(self.model, data, self.constraints, datas, settings)
        return data, [ddq, forces]

    def together(self, q: Array, v: Array, tau: Array) -> Array:
        return np.concatenate(self.values(q, v, tau)[1])

    def by_q(self, q: Array, v: Array, tau: Array) -> list[Array]:
        """Return differences: Pinocchio's derivatives are wrong in the columns of joints on the world that
        carry body 1 alone.
        """

        def moved(step: Array) -> Array:
            return self.together(pin.integrate(self.model, q, step), v, tau)

        slopes = central(moved, np.zeros(self.model.nv))
        return [slopes[: self.model.nv], slopes[self.model.nv :]]


def close(values: Array, right: Array, tolerance: float = 1e-9) -> None:
    """Equal in parts of the largest entry."""
    scale = max(1.0, float(np.max(np.abs(right))))
    np.testing.assert_allclose(values, right, rtol=0.0, atol=tolerance * scale)


@pytest.mark.parametrize("gains", [False, True], ids=["plain", "baumgarte"])
@pytest.mark.parametrize("case", TRIED)
def test_constrained_dynamics_of_mechanisms_are_pinocchios(case: str, gains: bool) -> None:
    model, module = model_of(case), built(case)
    gain_rows = np.abs(np.random.default_rng(3).normal(size=(len(model.contacts), 2))) * [100.0, 10.0]
    peer, options = Peer(case, gain_rows if gains else None), {"gains": gain_rows} if gains else {}
    for seed in range(2):
        q, v, tau = states(case, seed)
        data, right = peer.values(q, v, tau)
        for ours, theirs in zip(module.constrained_dynamics(q, v, tau, **options), right, strict=True):
            close(ours, theirs)
        matrices = module.constrained_dynamics_derivatives(q, v, tau, **options)
        right = [data.ddq_dv, data.ddq_dtau, data.dlambda_dv[peer.held], data.dlambda_dtau[peer.held]]
        for k, theirs in zip((1, 2, 4, 5), right, strict=True):
            close(matrices[k], np.array(theirs))
        for k, theirs in zip((0, 3), peer.by_q(q, v, tau), strict=True):
            close(matrices[k], theirs, 1e-8)


@pytest.mark.parametrize("case", TRIED)
def test_impacts_of_mechanisms_by_pinocchios_matrices(case: str) -> None:
    """Pinocchio's impulses through loops consider body 1 alone; the test solves for them with Pinocchio's
    matrices.
    """
    model, module = model_of(case), built(case)
    mechanism = Peer(case, None)
    peer, data = mechanism.model, mechanism.model.createData()
    for seed in range(2):
        q, v, _ = states(case, seed)
        restitution = np.random.default_rng(seed).random(len(model.contacts))
        inertia, jacobian = pin.crba(peer, data, q), np.zeros((3 * len(model.contacts), peer.nv))
        inertia = np.triu(inertia) + np.triu(inertia, 1).T
        pin.computeJointJacobians(peer, data, q)
        for k, constraint in enumerate(mechanism.constraints):
            turn = (data.oMi[constraint.joint1_id] * constraint.joint1_placement).rotation
            for sign, joint, placement in (
                (1.0, constraint.joint1_id, constraint.joint1_placement),
                (-1.0, constraint.joint2_id, constraint.joint2_placement),
            ):
                column = placement.toActionMatrixInverse() @ pin.getJointJacobian(
                    peer, data, joint, pin.LOCAL
                )
                axes = turn.T @ (data.oMi[joint] * placement).rotation
                jacobian[3 * k : 3 * k + 3] += sign * axes @ column[:3]
        jacobian = jacobian[mechanism.held]
        free = np.linalg.solve(inertia, jacobian.T)
        each_row = np.repeat(restitution, [contact.rows for contact in model.contacts])
        impulses = -np.linalg.solve(jacobian @ free, (1.0 + each_row) * (jacobian @ v))
        results = module.impulse_dynamics(q, v, restitution)
        for ours, theirs in zip(results, (v + free @ impulses, impulses), strict=True):
            close(ours, theirs)
