"""Contacts, loops and impacts: Pinocchio, and the laws that constrained dynamics keeps."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio
import pytest

from rbdc.errors import OptionError, UnsupportedError
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from tests import support_pinocchio
from tests.laws.test_contacts_in_lanes import mirrored
from tests.support import UNOPTIMISED, Array, build_module, slow_but
from tests.support_contacts import FEET, POINTS, SOLES, constraint_models

pin: Any = pinocchio

DYNAMICS = ("constrained_dynamics", "constrained_dynamics_derivatives")
IMPACTS = ("impulse_dynamics", "impulse_dynamics_derivatives")
WRISTS = (
    "knot=weld@left_wrist_yaw_link:0.01,0.02,0.03,0.1,0.2,0.3=right_wrist_yaw_link:0.01,0,0,0.3,0.2,0.1",
)
ARM = ("knot=weld@panda_link8:0.01,0.02,0.03,0.1,0.2,0.3=panda_link0:0.4,0.1,0.5,3,0.2,0.1",)
LEGS = ("knot=point@lf_foot:0.01,0.02,0.03,0.1,0.2,0.3=lh_foot:0.01,0,0,0.3,0.2,0.1",)
CASES = {
    "hyq": ("hyq", POINTS),
    "solo12": ("solo12", tuple(f"{foot}=point@{foot}_FOOT" for foot in ("FL", "FR", "HL", "HR"))),
    "g1": ("g1_29dof", SOLES),
    "wrists": ("g1_29dof", WRISTS),
    "sole": ("hyq", (POINTS[0].replace("point", "surface"), POINTS[3])),
    "arm": ("panda_arm", ARM),
    "legs": ("hyq", LEGS),
}
TRIED = slow_but(CASES, (), ("hyq", "sole", "arm"))
"""Points, a sole and a weld; parallel robots have loops by points, and more robots are exhaustive."""
FUSED = ("arm",)
"""Those that have values and derivatives in one function too."""
STRUCK = ("hyq", "sole", "g1")
"""Those that have impacts."""


@cache
def built(case: str) -> tuple[Problem, ModuleType]:
    """Return a robot with contacts, and its module."""
    robot, contacts = CASES[case]
    options: dict[str, Any] = {"root_joint": "free-flyer", "contacts": contacts}
    model = read(robot, BuildOptions(**options))
    names = (
        *(*DYNAMICS, *(IMPACTS if case in STRUCK else ())),
        *("contact_jacobian", "contact_drift", "crba", "nle"),
        *("contact_inverse_dynamics", "contact_forward_dynamics", "delassus"),
    )
    return model, build_module(
        robot,
        functions=names,
        cflags=UNOPTIMISED,
        name=f"contacts_{case}",
        verify=False,
        fuse=(DYNAMICS,) if case in FUSED else (),
        **options,
    )


def states(model: Problem, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return q, v and tau."""
    rng = np.random.default_rng(seed)
    q = pin.XYZQUATToSE3(np.array([0.1, -0.2, 0.5, *rng.normal(size=4)]))
    base = pin.SE3ToXYZQUAT(pin.SE3(pin.Quaternion(q.rotation).normalized(), q.translation))
    return (
        np.concatenate([base, rng.uniform(-1.0, 1.0, model.nq - 7)]),
        rng.normal(size=model.nv),
        10.0 * rng.normal(size=model.nv),
    )


def peer(case: str) -> Any:
    return support_pinocchio.peer(CASES[case][0], "free-flyer").model


def options_of(model: Problem, seed: int, *, gains: bool) -> dict[str, Array]:
    """Return targets within a right angle or so of the contacts' frames, and gains."""
    if not gains:
        return {}
    rng = np.random.default_rng(seed)
    world = sum(contact.second is None for contact in model.contacts)
    options = {"gains": np.abs(rng.normal(size=(len(model.contacts), 2))) * [100.0, 10.0]}
    if world:
        placed = [pin.SE3.Random() for _ in range(world)]
        options["target"] = np.array([pin.SE3ToXYZQUAT(placement) for placement in placed])
    return options


def close(values: Array, right: Array, tolerance: float = 1e-9) -> None:
    """Equal in parts of the largest entry."""
    scale = max(1.0, float(np.max(np.abs(right), initial=0.0)))
    np.testing.assert_allclose(values, right, rtol=0.0, atol=tolerance * scale)


def pinocchios(peer_model: Any, constraints: Any, q: Array, v: Array, tau: Array) -> list[Array]:
    """Return accelerations and forces, and the derivatives of both by q, v and tau."""
    data, settings = peer_model.createData(), pin.ProximalSettings(1e-14, 0.0, 1)
    datas = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        datas.append(constraint.createData())
    pin.initConstraintDynamics(peer_model, data, constraints, datas)
    ddq = pin.constraintDynamics(peer_model, data, q, v, tau, constraints, datas, settings)
    values = [ddq.copy(), data.lambda_c.copy()]
    pin.computeConstraintDynamicsDerivatives(peer_model, data, constraints, datas, settings)
    by = [data.ddq_dq, data.ddq_dv, data.ddq_dtau, data.dlambda_dq, data.dlambda_dv, data.dlambda_dtau]
    return values + [np.array(x) for x in by]


@pytest.mark.parametrize("gains", [False, True], ids=["plain", "baumgarte"])
@pytest.mark.parametrize("case", TRIED)
def test_constrained_dynamics_are_pinocchios(case: str, gains: bool) -> None:
    model, module = built(case)
    peer_model = peer(case)
    pin.seed(1)
    options = options_of(model, 3, gains=gains)
    constraints = constraint_models(peer_model, model, options.get("target"), options.get("gains"))
    for seed in range(3):
        q, v, tau = states(model, seed)
        results = [x for name in DYNAMICS for x in getattr(module, name)(q, v, tau, **options)]
        for ours, theirs in zip(results, pinocchios(peer_model, constraints, q, v, tau), strict=True):
            close(ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("case", FUSED)
def test_values_and_derivatives_in_one_call(case: str) -> None:
    """It costs what the derivatives alone cost, and takes all options."""
    model, module = built(case)
    q, v, tau = states(model, 8)
    options = options_of(model, 4, gains=True)
    options["active"] = np.array([k != 1 for k in range(len(model.contacts))], dtype=float)
    together = module.constrained_dynamics_and_constrained_dynamics_derivatives(q, v, tau, **options)
    one_by_one = [getattr(module, name)(q, v, tau, **options) for name in DYNAMICS]
    for value, right in zip(together, [x for results in one_by_one for x in results], strict=True):
        close(value, right, 1e-11)
    manifest = json.loads((Path(str(module.__file__)).parent / "manifest.json").read_text())["functions"]
    both, derivatives = (manifest[name]["operations"] for name in ("_and_".join(DYNAMICS), DYNAMICS[1]))
    assert both < 1.01 * derivatives


@pytest.mark.parametrize("case", slow_but(STRUCK, (), STRUCK[:2]))
def test_impacts_are_pinocchios(case: str) -> None:
    model, module = built(case)
    peer_model = peer(case)
    settings = pin.ProximalSettings(1e-14, 0.0, 1)
    constraints = constraint_models(peer_model, model)
    for seed, restitution in enumerate([0.0, 0.4, 1.0]):
        data, datas = (
            peer_model.createData(),
            pin.StdVec_RigidConstraintData(),
        )  # the last derivatives stay in it
        for constraint in constraints:
            datas.append(constraint.createData())
        pin.initConstraintDynamics(peer_model, data, constraints, datas)
        q, v, _ = states(model, seed)
        after = pin.impulseDynamics(peer_model, data, q, v, constraints, datas, restitution, settings).copy()
        impulses = data.impulse_c.copy()
        pin.computeImpulseDynamicsDerivatives(peer_model, data, constraints, datas, restitution, settings)
        results = module.impulse_dynamics(q, v, restitution)
        close(results[0], after)
        close(results[1], impulses)
        dq, dv, fq, fv = module.impulse_dynamics_derivatives(q, v, restitution)
        close(dq, np.array(data.ddq_dq))
        close(dv, np.array(data.ddq_dv) + np.eye(model.nv))  # the ddq_dv of Pinocchio lacks the identity
        close(fq, np.array(data.dlambda_dq))
        close(fv, np.array(data.dlambda_dv))


MASKS = list(itertools.product([0.0, 1.0], repeat=4))


@pytest.mark.slow
@pytest.mark.parametrize("active", MASKS)
def test_under_a_mask(active: tuple[float, ...]) -> None:
    """Pinocchio's with the contacts that are active alone, and zero for forces of the others."""
    model, module = built("hyq")
    peer_model, (q, v, tau) = peer("hyq"), states(model, 7)
    results = [x for name in DYNAMICS for x in getattr(module, name)(q, v, tau, active=np.array(active))]
    rows = np.repeat(np.array(active) > 0.0, 3)
    assert not any(forces[~rows].any() for forces in (results[1], *results[5:]))
    if not any(active):
        close(results[0], np.linalg.solve(module.crba(q), tau - module.nle(q, v)), 1e-12)
        return
    constraints = pin.StdVec_RigidConstraintModel()
    for constraint, on in zip(constraint_models(peer_model, model), active, strict=True):
        if on:
            constraints.append(constraint)
    for k, right in enumerate(pinocchios(peer_model, constraints, q, v, tau)):
        close(results[k][rows] if k == 1 or k > 4 else results[k], right, 1e-11)


@pytest.mark.parametrize("case", slow_but(CASES, (), ("hyq",)))
def test_builds_are_verified(case: str) -> None:
    robot, contacts = CASES[case]
    functions = ("constrained_dynamics", "impulse_dynamics", "contact_inverse_dynamics_derivatives")
    options: dict[str, Any] = {"root_joint": "free-flyer", "contacts": contacts, "targets": ("c", "batch")}
    build_module(robot, functions=functions, cflags=UNOPTIMISED, name=f"verified_{case}", **options)


@pytest.mark.slow
@pytest.mark.parametrize("feet", [4, 1])
def test_derivatives_under_forces_in_one_call(feet: int) -> None:
    """The legs have two joints. The build verifies the derivatives on one foot, alone and in one call with
    the values, which costs little more. Limbs with contacts are not alike.
    """
    names = ("contact_forward_dynamics", "contact_forward_dynamics_derivatives")
    contacts = tuple(f"c{leg}=point@leg{leg}_1:0.1,0.2,-0.1" for leg in range(feet))
    legs = replace(mirrored(4, 2, "free-flyer"), name=f"under_forces{feet}")
    options: dict[str, Any] = {"contacts": contacts, "fuse": (names,), "verify": feet == 1}
    module = build_module(legs, functions=names[1:], cflags=UNOPTIMISED, **options)
    manifest = json.loads((Path(str(module.__file__)).parent / "manifest.json").read_text())["functions"]
    both, derivatives = (manifest[name] for name in ("_and_".join(names), names[1]))
    assert both["form"] == derivatives["form"] == "columns"
    assert both["operations"] < 1.01 * derivatives["operations"]


@pytest.mark.slow
def test_redundant_points_at_rest() -> None:
    """Four points of each sole: the accelerations are those of the soles, the forces of least norm."""
    corners = [(x, y) for x in (-0.05, 0.12) for y in (-0.03, 0.03)]
    points = [
        f"{side}{k}=point@{side}_ankle_roll_link:{x},{y},-0.03"
        for side in ("left", "right")
        for k, (x, y) in enumerate(corners)
    ]
    module = build_module(
        "g1_29dof",
        functions=("constrained_dynamics", "contact_jacobian", "crba", "nle", "delassus"),
        cflags=UNOPTIMISED,
        root_joint="free-flyer",
        contacts=points,
        verify=False,
    )
    assert any("some rows are redundant" in text for text in module.warnings)
    model = read("g1_29dof", BuildOptions(root_joint="free-flyer"))
    q, _, tau = states(model, 2)
    still = np.zeros(model.nv)
    mu = 1e-6 * np.trace(module.delassus(q, 0.0)) / 24.0
    ddq, forces = module.constrained_dynamics(q, still, tau, mu)
    jacobian, inertia = module.contact_jacobian(q), module.crba(q)
    delassus = jacobian @ np.linalg.solve(inertia, jacobian.T)
    free = np.linalg.solve(inertia, tau - module.nle(q, still))
    least = -np.linalg.pinv(delassus, rcond=1e-10) @ (jacobian @ free)
    close(ddq, free + np.linalg.solve(inertia, jacobian.T @ least), 1e-10)
    close(forces, least, 1e-6)
    with pytest.raises(TypeError):
        module.constrained_dynamics(q, still, tau)


@pytest.mark.parametrize(
    ("contacts", "words"),
    [
        (["a=point@nowhere"], 'no link "nowhere"; there are'),
        (["a=point@lf_foot", "a=point@rf_foot"], "two contacts are named a; rename one"),
        (["a=blob@lf_foot"], "cannot have the kind blob; there are point, surface"),
        (["a=weld@lf_foot"], "cannot have the kind weld; there are point, surface"),
        (["a=surface@lf_foot=rf_foot"], "cannot have the kind surface; there are point, weld, revolute"),
        (["a=point@lf_foot:1,2"], "give three or six finite numbers (m, rad), or none"),
        (["a=point@lf_foot:1,2,nan"], "give three or six finite numbers (m, rad), or none"),
        (["point@lf_foot"], "the contact has no name; give NAME=point@LINK"),
        (["a=point"], "give NAME=point@LINK"),
        (["a=point@lf_foot=lf_lowerleg"], "is fixed to lf_lowerleg: name a link that moves"),
    ],
)
def test_contacts_that_are_refused(contacts: list[str], words: str) -> None:
    with pytest.raises(OptionError) as caught:
        read("hyq", BuildOptions(root_joint="free-flyer", contacts=contacts))
    assert words in str(caught.value)


def test_more_rows_than_are_unrolled() -> None:
    """40 points at a link: functions that solve for no forces are built all the same."""
    points = [f"c{k}=point@link2:0,0,0.{k:02}" for k in range(40)]
    with pytest.raises(UnsupportedError, match="120 rows of contacts; delassus unrolls at most 96: "):
        build_module("double_pendulum", functions=["delassus"], contacts=points)
    module = build_module("double_pendulum", functions=["contact_velocity"], contacts=points)
    assert module.contact_velocity(module.q_neutral, module.v_zero).shape == (120,)


def test_a_loop_that_cannot_close_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="cannot be closed"):
        read("double_pendulum", BuildOptions(contacts=["a=point@link2:0,0,0=base_link:5,0,0"]))


def test_a_file_of_contacts(tmp_path: Any) -> None:
    file = tmp_path / "contacts.toml"
    file.write_text(
        "".join(
            f'[contacts.{foot}]\nkind = "point"\nlink = "{foot}_foot"\n'
            "origin = [0.01, 0.02, -0.03, 0.1, 0.2, 0.3]\n"
            for foot in FEET
        )
    )
    options: dict[str, Any] = {"root_joint": "free-flyer"}
    assert (
        read("hyq", BuildOptions(contacts=file, **options)).contacts
        == read("hyq", BuildOptions(contacts=POINTS, **options)).contacts
    )
