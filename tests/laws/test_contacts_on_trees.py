"""Contacts and loops on random trees with every joint type, mimic joints, armature and damping, under
external forces and all options: equations of motion, complex steps of the dense reference, products with
derivatives, momentum, projections, single precision, axes of the world.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.frames import PathToRoot
from rbdc.algorithms.manifold import integrate
from rbdc.algorithms.reference.contacts import (
    centroidal_contact_dynamics,
    constrained_dynamics,
    impulse_dynamics,
)
from rbdc.functions.catalogue import functions_of
from rbdc.functions.contacts import contacts as contacts_of
from rbdc.functions.evaluation import arrays, called_with, with_given
from rbdc.functions.references import reference_of
from rbdc.model import Problem
from rbdc.model.contacts import ContactOptions, row_slices
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.spatial import Force, Placement, Rotation, Vector3
from rbdc.spatial.quaternions import quaternion_of
from tests.laws.test_derivatives import TINY, tangent
from tests.laws.test_drives import driven
from tests.support import UNOPTIMISED, Array, build_module, slow_but
from tests.support_references import generated
from tests.support_trees import mimic_tree, random_tree

OF_CONTACTS = (
    *("constrained_dynamics", "constrained_dynamics_derivatives"),
    *("constrained_dynamics_vjp", "constrained_dynamics_jvp"),
    *("impulse_dynamics", "impulse_dynamics_derivatives"),
    *("contact_inverse_dynamics", "contact_forward_dynamics"),
    *("centroidal_contact_dynamics", "centroidal_contact_dynamics_derivatives"),
    *("project_configuration", "project_velocity"),
    *("contact_jacobian", "contact_drift", "contact_error"),
)
FUNCTIONS = (*OF_CONTACTS, "contact_placements", "centroidal_momentum_derivative", "crba", "nle", "rnea")
VERIFIED = (
    *OF_CONTACTS,
    *("contact_inverse_dynamics_derivatives", "contact_forward_dynamics_derivatives", "delassus"),
    *("contact_space", "contact_space_inertia"),
)
QUICKLY_VERIFIED = (
    *("constrained_dynamics", "constrained_dynamics_vjp", "contact_inverse_dynamics_derivatives"),
    *("centroidal_contact_dynamics_derivatives", "project_configuration", "project_velocity"),
)
POINT, SURFACE = "tip=point@link2:0.1,0.2,-0.1,0.3,0.2,0.1", "sole=surface@link3:0.1,0,-0.2,0.5,0.1,0.2"
TREES: dict[str, Any] = {
    "fixed": (lambda: driven(random_tree(0, size=6), root=True), (), ("weld", "link3", "link1")),
    "mimic": (
        lambda: driven(mimic_tree("coupled", root_joint="free-flyer")),
        (POINT,),
        ("point", "link4", "link1"),
    ),
    "spherical": (lambda: driven(random_tree(1, size=4)), (SURFACE,), ("point", "link0", "link2")),
    "planar": (lambda: driven(random_tree(3, size=4)), (POINT,), ("revolute", "link3", "link0")),
    "every type": (lambda: driven(random_tree(7, size=7)), (POINT,), ("weld", "link6", "link0")),
}


def loop(tree: Problem, kind: str, one: str, two: str) -> tuple[Any, ...]:
    """Return a loop that a random configuration closes."""
    rng = np.random.default_rng(8)
    q = integrate(tree, tree.neutral(), [float(x) for x in rng.uniform(-0.7, 0.7, tree.nv)])
    placed = {frame.name: PathToRoot.of(tree, q, k, "LOCAL").world for k, frame in enumerate(tree.frames)}
    placement = Placement(Rotation.from_rpy(0.3, 0.2, 0.1), Vector3(0.1, -0.2, 0.1))
    other = placed[two].inverse().compose(placed[one]).compose(placement)
    x, y, z = (
        np.array(axis.scalars(), dtype=float)
        for axis in (other.rotation.x, other.rotation.y, other.rotation.z)
    )
    angles = np.arctan2(y[2], z[2]), np.arctan2(-x[2], np.hypot(x[0], x[1])), np.arctan2(x[1], x[0])
    second = [float(number) for number in (*other.translation.scalars(), *angles)]
    return "closed", kind, (one, (0.1, -0.2, 0.1, 0.3, 0.2, 0.1)), (two, tuple(second))


def held(case: str) -> tuple[Problem, tuple[Any, ...]]:
    """Return a tree and its contacts."""
    make, contacts, closed = TREES[case]
    tree = replace(make(), name=f"held_{case.replace(' ', '_')}")
    return tree, (*contacts, loop(tree, *closed))


@cache
def built(case: str) -> tuple[Problem, ModuleType]:
    """Return a tree with its contacts, and its module."""
    tree, contacts = held(case)
    model = read(tree, BuildOptions(contacts=contacts))
    return model, build_module(tree, functions=FUNCTIONS, cflags=UNOPTIMISED, contacts=contacts, verify=False)


@pytest.fixture(params=slow_but(TREES, (), ("spherical", "mimic")), scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[Problem, ModuleType]:
    return built(request.param)


def state(module: ModuleType) -> tuple[Array, Array, Array, Array]:
    """Return q, v, tau and fext."""
    rng = np.random.default_rng(1)
    v, tau = rng.normal(size=(2, module.nv))
    return module.random_configuration(1), v, tau, rng.normal(size=(module.njoints, 6))


def options(model: Problem) -> dict[str, Array]:
    """Return gains, and a target for each contact with the world."""
    rng = np.random.default_rng(2)
    values = {"gains": np.abs(rng.normal(size=(len(model.contacts), 2)))}
    world = sum(contact.second is None for contact in model.contacts)
    if world:
        turns = rng.normal(size=(world, 4))
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        values["target"] = np.hstack([rng.normal(size=(world, 3)), turns])
    return values


def restitution_of(model: Problem) -> list[float]:
    """Return a coefficient for each contact."""
    return [0.3 + 0.5 * k for k in range(len(model.contacts))]


def close(values: Array, right: Array, tolerance: float = 1e-9, what: str = "") -> None:
    scale = max(1.0, float(np.max(np.abs(right), initial=0.0)))
    np.testing.assert_allclose(values, right, rtol=0.0, atol=tolerance * scale, err_msg=what)


def test_the_equations_hold(pair: tuple[Problem, ModuleType]) -> None:
    model, module = pair
    q, v, tau, fext = state(module)
    options_of_call = options(model)
    ddq, forces = module.constrained_dynamics(q, v, tau, fext=fext, **options_of_call)
    jacobian, inertia = module.contact_jacobian(q), module.crba(q)
    close(inertia @ ddq + module.rnea(q, v, 0.0 * v, fext), tau + jacobian.T @ forces)
    close(jacobian @ ddq + module.contact_drift(q, v, **options_of_call), np.zeros(len(forces)))
    torque, residual = module.contact_inverse_dynamics(q, v, ddq, forces, fext=fext, **options_of_call)
    close(torque, tau)
    close(residual, np.zeros(len(forces)))
    close(module.contact_forward_dynamics(q, v, tau, forces, fext), ddq)
    restitution = restitution_of(model)
    after, impulses = module.impulse_dynamics(q, v, restitution)
    close(inertia @ (after - v), jacobian.T @ impulses)
    for rows, e in zip(module.contact_rows, restitution, strict=True):
        close(jacobian[rows] @ (after + e * v), np.zeros(rows.stop - rows.start))


def steps(function: Any, model: Problem, at: list[Array]) -> list[list[Array]]:
    """Return the complex-step derivatives of all outputs by each argument, first by q in its
    tangent space.
    """
    derivatives = []
    for which, x in enumerate(at):
        directions = tangent(model, at[0]) if which == 0 else np.eye(x.size)
        columns = []
        for direction in directions.T:
            moved = [y.astype(complex) for y in at]
            moved[which] = moved[which] + 1j * TINY * direction
            columns.append([[y.imag / TINY for y in out] for out in function(*(list(y) for y in moved))])
        derivatives.append([np.array(out, dtype=float).T for out in zip(*columns, strict=True)])
    return derivatives


def complex_arctangent(y: Any, x: Any) -> Any:
    """Return the angle of (x, y), and its rate for the complex step."""
    rate = (x.real * y.imag - y.real * x.imag) / (x.real * x.real + y.real * y.real)
    return complex(math.atan2(y.real, x.real), rate)


def test_derivatives_by_complex_steps(
    pair: tuple[Problem, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, module = pair
    parts = "rbdc.spatial.tangent"  # logarithms are over dual numbers, whose parts are complex here
    monkeypatch.setattr(f"{parts}.atan2", complex_arctangent)
    monkeypatch.setattr(f"{parts}.where_less", lambda a, b, x, y: x if a.real < b else y)
    q, v, tau, fext = state(module)
    options_of_call = options(model)
    at = ContactOptions(**{name: list(x.ravel()) for name, x in options_of_call.items()})
    on_bodies = [Force.of([float(x) for x in row]) for row in fext]
    right = steps(lambda q, v, tau: constrained_dynamics(model, q, v, tau, on_bodies, at), model, [q, v, tau])
    matrices = module.constrained_dynamics_derivatives(q, v, tau, fext=fext, **options_of_call)
    for k, by in enumerate(right):
        close(matrices[k], by[0])
        close(matrices[3 + k], by[1])
    restitution = restitution_of(model)
    right = steps(lambda q, v: impulse_dynamics(model, q, v, restitution), model, [q, v])
    matrices = module.impulse_dynamics_derivatives(q, v, restitution)
    for k, by in enumerate(right):
        close(matrices[k], by[0])
        close(matrices[2 + k], by[1])
    forces = np.random.default_rng(3).normal(size=module.contact_rows[-1].stop)
    right = steps(lambda *x: [centroidal_contact_dynamics(model, *x)], model, [q, forces])
    for matrix, (by_one,) in zip(
        module.centroidal_contact_dynamics_derivatives(q, forces), right, strict=True
    ):
        close(matrix, by_one)


def test_products_take_fewer_operations_than_the_derivatives(pair: tuple[Problem, ModuleType]) -> None:
    manifest = json.loads((Path(str(pair[1].__file__)).parent / "manifest.json").read_text())
    counts = {name: entry["operations"] for name, entry in manifest["functions"].items()}
    for name in ("constrained_dynamics_vjp", "constrained_dynamics_jvp"):
        assert counts[name] < 0.75 * counts["constrained_dynamics_derivatives"]


@pytest.mark.parametrize("with_options", [False, True], ids=["plain", "with options"])
def test_products_with_the_derivatives(pair: tuple[Problem, ModuleType], with_options: bool) -> None:
    model, module = pair
    q, v, tau, fext = state(module)
    rng = np.random.default_rng(4)
    more: dict[str, Array] = {}
    if with_options:
        more = {"fext": fext, "active": np.eye(len(model.contacts))[0], **options(model)}
    matrices = module.constrained_dynamics_derivatives(q, v, tau, **more)
    w_ddq, dq, dv, dtau = rng.normal(size=(4, module.nv))
    w_forces = rng.normal(size=len(matrices[3]))
    products = module.constrained_dynamics_vjp(q, v, tau, w_ddq, w_forces, **more)
    for k, product in enumerate(products):
        close(product, w_ddq @ matrices[k] + w_forces @ matrices[3 + k])
    products = module.constrained_dynamics_jvp(q, v, tau, dq, dv, dtau, **more)
    for k, product in enumerate(products):
        close(product, sum(m @ x for m, x in zip(matrices[3 * k : 3 * k + 3], (dq, dv, dtau), strict=True)))


def test_loops_are_closed(pair: tuple[Problem, ModuleType]) -> None:
    """A configuration near a closed one becomes closed, and a closed one stays as it is; projected velocities
    keep the loops closed.
    """
    model, module = pair
    q, v, _, _ = state(module)
    for _ in range(20):
        q, error = module.project_configuration(q)
    close(error, np.zeros_like(error), 1e-10)
    near = module.normalised(q + 0.05 * tangent(model, q) @ v / np.linalg.norm(v))
    closed, error = module.project_configuration(near)
    close(error, np.zeros_like(error), 1e-10)
    close(module.project_configuration(closed)[0], closed, 1e-10)
    assert np.linalg.norm(closed - near) < 0.2
    slices = row_slices(model)
    rows = np.r_[tuple(slices[c.name] for c in model.contacts if c.second is not None)]
    jacobian = module.contact_jacobian(closed)[rows]
    projected = module.project_velocity(closed, v)
    close(jacobian @ projected, np.zeros(len(rows)), 1e-8)
    close(module.project_velocity(closed, projected), projected, 1e-8)
    close(np.linalg.pinv(jacobian) @ jacobian @ (v - projected), v - projected, 1e-8)


def test_options_that_are_out_of_range_are_refused(pair: tuple[Problem, ModuleType]) -> None:
    model, module = pair
    q, v, tau, _ = state(module)
    gains = np.ones((len(model.contacts), 2))
    for name, value, words in (
        ("gains", -gains, "argument gains has negative entries or entries that are not numbers"),
        ("gains", np.nan * gains, "argument gains has negative entries or entries that are not numbers"),
        ("active", 0.5 * gains[:, 0], "argument active has entries other than 0 and 1"),
    ):
        with pytest.raises(ValueError, match=words):
            module.constrained_dynamics(q, v, tau, **{name: value})
    target = options(model).get("target")
    if target is not None:
        with pytest.raises(ValueError, match="has quaternions that are not of unit length; give x y z"):
            module.constrained_dynamics(q, v, tau, target=2.0 * target)
    result = module.constrained_dynamics(q, v, tau, active=np.ones(len(model.contacts), dtype=bool))
    close(result[0], module.constrained_dynamics(q, v, tau)[0], 1e-12)


@pytest.mark.slow
def test_errors_at_half_a_turn() -> None:
    """A target that is turned by nearly half a turn, or by half a turn, about any axis: the error is this
    turn. Computed from the trace of the rotation alone, it had half the digits, or was NaN.
    """
    _, module = built("spherical")
    q, rng = module.random_configuration(3), np.random.default_rng(9)
    placement = module.contact_placements(q)[0]
    for short in (1e-3, 1e-6, 1e-9, 0.0):
        for axis in (*np.eye(3), rng.normal(size=3)):
            x, y, z = axis = axis / np.linalg.norm(axis)
            cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            back = np.eye(3) - math.sin(short) * cross + (1.0 + math.cos(short)) * cross @ cross
            quaternion = quaternion_of((placement[:3, :3] @ back).tolist())
            target = np.array([[*placement[:3, 3], *quaternion]], dtype=float)
            error = module.contact_error(q, target)[:6]
            sign = 1.0 if short else np.sign(error[3:] @ axis)
            close(sign * error, np.array([0.0, 0.0, 0.0, *((math.pi - short) * axis)]), 1e-13)


@pytest.mark.slow
def test_the_momentum_changes_by_contacts_and_gravity() -> None:
    """On a free root the momentum changes by A ddq and dA/dt v, for accelerations under contact forces."""
    _, module = built("spherical")
    rng = np.random.default_rng(5)
    q, (v, tau) = module.random_configuration(2), rng.normal(size=(2, module.nv))
    tau[:6] = 0.0
    forces = rng.normal(size=module.contact_rows[-1].stop)
    ddq = module.contact_forward_dynamics(q, v, tau, forces)
    rate = module.centroidal_momentum_derivative(q, v, ddq)
    change = module.centroidal_contact_dynamics(q, forces)
    close(change, rate, 1e-10)


@pytest.mark.parametrize(
    ("dtype", "aligned"),
    slow_but(itertools.product(("float64", "float32"), (False, True)), (), [("float32", True)]),
)
def test_builds_are_verified(dtype: str, aligned: bool) -> None:
    """The build verifies every function of a small tree, single samples and batches, with and without each
    option.
    """
    tree = replace(driven(random_tree(1, size=3)), name=f"verified_{dtype}_{'world' if aligned else 'own'}")
    module = build_module(
        tree,
        functions=QUICKLY_VERIFIED if aligned else VERIFIED,
        cflags=UNOPTIMISED,
        contacts=(
            f"tip={'surface' if aligned else 'point'}@link2:0.1,0,0",
            loop(tree, "weld", "link0", "link2"),
        ),
        targets=("c", "batch"),
        dtype=dtype,
        contact_frame="local-world-aligned" if aligned else "local",
    )
    assert module.contact_names == ("tip", "closed")


def test_every_function_along_the_axes_of_the_world() -> None:
    """Algorithms on the reduced model and references, at numbers."""
    tree, contacts = held("spherical")
    model = read(tree, BuildOptions(contacts=contacts, contact_frame="local-world-aligned"))
    functions = functions_of(model)
    for name in (function.name for function in contacts_of(model)):
        inputs, rng = functions[name].declaration.inputs, np.random.default_rng(6)
        values = {p.name: [float(x) for x in rng.uniform(0.2, 1.0, p.size)] for p in inputs}
        values["q"] = [float(x) for x in integrate(model, model.neutral(), list(rng.normal(size=model.nv)))]
        values |= {p.name: [1.0, 0.0] for p in inputs if p.name == "active"}
        if "target" in values:
            values["target"][3:] = [0.5, 0.5, -0.5, 0.5]
        (method,) = functions[name].methods.values()
        results = generated(method, model, values)
        arguments, keywords = called_with(values)
        right = arrays(reference_of(functions[name])(with_given(model, values), *arguments, **keywords))
        for one, other in zip(results, right, strict=True):
            close(np.array(one, dtype=float).ravel(), np.array(other, dtype=float), 1e-10, name)


@pytest.mark.slow
def test_forces_along_the_axes_of_the_world() -> None:
    """Accelerations stay as they are, forces are turned with the contact's frame; a loop that holds less than
    vectors keeps its axes, with a warning.
    """
    (tree, contacts), (_, local) = held("spherical"), built("spherical")
    world = build_module(
        tree,
        functions=("constrained_dynamics", "contact_jacobian"),
        cflags=UNOPTIMISED,
        contacts=contacts,
        verify=False,
        contact_frame="local-world-aligned",
        name="aligned",
    )
    q, v, tau, _ = state(local)
    (ddq, local_forces), (right, forces) = (m.constrained_dynamics(q, v, tau) for m in (local, world))
    close(right, ddq, 1e-11)
    turn = local.contact_placements(q)[0, :3, :3]
    close(forces[:6], (local_forces[:6].reshape(2, 3) @ turn.T).ravel(), 1e-11)
    close(forces[6:], local_forces[6:], 1e-11)
    assert any("along the axes of its own frame" in text for text in world.warnings)
    close(world.contact_jacobian(q).T @ forces, local.contact_jacobian(q).T @ local_forces, 1e-11)
    model = read(tree, BuildOptions(contacts=contacts, contact_frame="local-world-aligned"))
    _, expected = constrained_dynamics(model, list(q), list(v), list(tau))
    close(np.array(expected), forces, 1e-11)
