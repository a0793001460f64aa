"""The model passes: every joint-space output is unchanged on random trees with every joint type, massless
links and free-flyers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rbdc
from rbdc import Inertia, Rotation
from rbdc.algorithms.derivatives import forward_derivatives as ahead
from rbdc.algorithms.derivatives import rnea_derivatives as generated
from rbdc.algorithms.dynamics import forward_dynamics as solves
from rbdc.algorithms.dynamics.coriolis import coriolis
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.derivatives import idsva
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.rnea import rnea
from rbdc.functions.catalogue import functions_of
from rbdc.ir.cost import cost
from rbdc.model import Problem
from rbdc.model.joint_space import JointSpaceBody
from rbdc.model.joints import Prismatic, Revolute
from rbdc.planning.candidates import chosen
from rbdc.reduction.passes import PASSES, reduced, regrouped
from rbdc.reduction.z_axes import angles, with_z_axes
from rbdc.resources import resolve
from rbdc.spatial import Force, Placement, Vector3
from tests.support import CASE_NAMES, CASES, assert_close
from tests.support_references import reference_of
from tests.support_trees import TREES, random_inertia, random_tree

UNCHANGED = 1e-12
Floats = list[float]


def trees(seed: int) -> Problem:
    """Return a random tree; in every third one link in two has no mass, so that only its torques are looked
    at.
    """
    tree = random_tree(seed)
    if seed % 3 == 0:
        bodies = [replace(b, inertia=Inertia.zero()) if k % 2 else b for k, b in enumerate(tree.bodies)]
        tree = replace(tree, bodies=tuple(bodies))
    return tree


def state(model: Problem, seed: int) -> tuple[Floats, Floats, Floats, list[list[float]]]:
    """Return q, v, a and external forces on every body."""
    rng = np.random.default_rng(seed)
    q = integrate(model, model.neutral(), list(rng.normal(size=model.nv)))
    v, a = rng.normal(size=(2, model.nv)).tolist()
    return [float(x) for x in q], v, a, rng.normal(size=(model.njoints, 6)).tolist()


def same(one: Any, other: Any, tolerance: float, what: str) -> None:
    """Assert that every output equals that of the other model."""
    for k, (x, y) in enumerate(
        zip(*(r if isinstance(r, tuple) else (r,) for r in (one, other)), strict=True)
    ):
        assert_close(np.array(x, dtype=float), np.array(y, dtype=float), tolerance, what=f"{what} {k}")


@pytest.mark.parametrize("seed", TREES)
@pytest.mark.parametrize("last", range(len(PASSES)), ids=[step.name for step in PASSES])
def test_joint_space_outputs_are_unchanged(seed: int, last: int) -> None:
    model = trees(seed)
    small = model
    for step in PASSES[: last + 1]:
        small = step.apply(small)
    q, v, a, forces = state(model, seed)
    wrenches = [Force.of(f) for f in forces]
    carried = [body.own_force(f) for body, f in zip(small.bodies, wrenches, strict=True)]
    same(newton_euler(small, q, v, a, carried), rnea(model, q, v, a, wrenches), UNCHANGED, "rnea")
    inertia = np.array(reference_of("crba")(model, q), dtype=float)
    same(crba(small, q), inertia.tolist(), UNCHANGED, "crba")
    same(coriolis(small, q, v), reference_of("coriolis")(model, q, v), UNCHANGED, "coriolis")
    derivatives = idsva.rnea_derivatives(model, q, v, a, wrenches)
    same(generated.rnea_derivatives(small, q, v, a, carried), derivatives, UNCHANGED, "derivatives")
    if seed % 3 == 0:
        return
    tolerance = max(UNCHANGED, 1e-15 * float(np.linalg.cond(inertia)))
    for solve in (solves.by_cholesky, solves.by_articulated_bodies):
        same(solve(small, q, v, a, carried), aba(model, q, v, a, wrenches), tolerance, solve.__name__)
    expected = aba_derivatives(model, q, v, a, wrenches)
    same(ahead.aba_derivatives(small, q, v, a, carried), expected, tolerance, "aba_derivatives")


@pytest.mark.parametrize("tilt", [1e-15, 1e-14, 3e-13, 1e-9, 1e-6])
def test_axes_that_are_all_but_parallel_keep_every_digit(tilt: float) -> None:
    rng = np.random.default_rng(3)
    tree = random_tree(1)
    bodies = []
    for body in tree.bodies:
        written = rng.integers(-1, 3, 3) * (np.pi / 2) + rng.uniform(-tilt, tilt, 3)
        placement = replace(body.placement, rotation=Rotation.from_rpy(*(float(x) for x in written)))
        joint = (
            replace(body.joint, axis=Vector3(0.0, 0.0, 1.0))
            if isinstance(body.joint, (Revolute, Prismatic))
            else body.joint
        )
        bodies.append(replace(body, placement=placement, joint=joint))
    model = replace(tree, bodies=tuple(bodies))
    small = reduced(model)
    longest = max(abs(x) for body in model.bodies for x in body.placement.translation.scalars())
    assert max(abs(x) for body in small.bodies for x in body.placement.translation.scalars()) < 10.0 * longest
    q, v, a, _ = state(model, 0)
    same(newton_euler(small, q, v, a), rnea(model, q, v, a), 1e-14, "rnea")
    same(crba(small, q), reference_of("crba")(model, q), 1e-14, "crba")


@pytest.mark.parametrize(("robot", "root"), CASES, ids=CASE_NAMES)
def test_every_one_dof_axis_is_z_and_regrouped_parameters_are_zero(robot: str, root: str) -> None:
    model = reduced(Problem.from_urdf(resolve(robot), root_joint=root))
    for body in model.bodies:
        assert isinstance(body, JointSpaceBody)
        if isinstance(body.joint, (Revolute, Prismatic)):
            assert body.joint.axis.scalars() == [0.0, 0.0, 1.0]
        inertia: Any = body.inertia
        if isinstance(body.joint, Revolute):
            assert (inertia.mass, inertia.first_moment.z, inertia.second.zz) == (0.0, 0.0, 0.0)
        if isinstance(body.joint, Prismatic):
            assert inertia.second.scalars() == [0.0] * 6


@pytest.mark.parametrize("seed", range(30))
def test_angles_make_the_rotation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    written = rng.uniform(-3.0, 3.0, 3) if seed % 2 else rng.integers(-2, 3, 3) * (np.pi / 2)
    rotation = Rotation.from_rpy(*(float(x) for x in written))
    gamma, alpha, theta = angles(rotation)
    turn: Callable[[float], Rotation] = lambda angle: Rotation.from_rpy(0.0, 0.0, angle)  # noqa: E731
    product = turn(gamma).compose(Rotation.from_rpy(alpha, 0.0, 0.0)).compose(turn(theta))
    assert_close(np.array(product.rows()), np.array(rotation.rows()), 1e-14)


@pytest.mark.parametrize("robot", ["ur5", "kuka_iiwa", "hyq", "solo12"])
def test_every_pass_saves_operations(robot: str) -> None:
    model = Problem.from_urdf(resolve(robot), snap=1e-11)
    functions = functions_of(model)
    from rbdc.reduction import passes as reduction

    counts = []
    for small in (with_z_axes(model), regrouped(with_z_axes(model)), reduced(model)):
        entry = functions["rnea"]
        method = {
            "newton_euler": lambda m, i, t, small=small: [
                newton_euler(small, i["q"], i["v"], i["a"], trace=t)
            ]
        }
        counts.append(cost(chosen(model, replace(entry, methods=method))[1][0]).operations)
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[1]
    assert reduction.reduced(model) == reduced(model)


@pytest.mark.parametrize("back", [1.0, -1.0])
def test_offsets_along_parallel_axes_are_put_together(back: float) -> None:
    """Three parallel axes, the second of which may point back, each with an offset along it: one link can
    have all of them.
    """
    rng = np.random.default_rng(0)
    axes = (Vector3(0.0, 0.0, 1.0), Vector3(0.0, 0.0, back), Vector3(0.0, 0.0, 1.0), Vector3(1.0, 0.0, 0.0))
    names = ["base", *(f"link{k}" for k in range(len(axes)))]
    links = [rbdc.Link("base"), *(rbdc.Link(name, random_inertia(rng)) for name in names[1:])]
    offsets = [Placement(Rotation.identity(), Vector3(0.5, 0.0, 0.1 * k)) for k in range(len(axes))]
    joints = [
        rbdc.Joint(f"joint{k}", "revolute", names[k], names[k + 1], offsets[k], axis)
        for k, axis in enumerate(axes)
    ]
    small = reduced(Problem.assemble("arm", links, joints))
    assert sum(body.placement.translation.z != 0.0 for body in small.bodies) <= 1
