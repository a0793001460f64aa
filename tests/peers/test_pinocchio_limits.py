"""Functions that `test_pinocchio` leaves out: the Coriolis matrix, and robots whose M is singular."""

from __future__ import annotations

import numpy as np
import pytest

import rbdc
from tests.support import (
    ROOTS,
    UNOPTIMISED,
    URDF_ROBOTS,
    VALUES,
    WITH_DERIVATIVES,
    Array,
    assert_close,
    build_module,
    full_module,
    without,
)
from tests.support_pinocchio import REFERENCE, Peer, arguments, peer, pin, states

ALL = [(robot, root) for robot in URDF_ROBOTS for root in ROOTS]
NAMES = [f"{robot}-{root}" for robot, root in ALL]

SINGULAR = {
    ("cartpole", "free-flyer"): "the massless base can slide against the cart",
    (
        "planar_floating",
        "free-flyer",
    ): "the massless world link can move against its planar and floating joints",
}
"""Where forward dynamics is not defined, and why; a test asserts that it is left out there and nowhere else.
"""


@pytest.mark.parametrize(("robot", "root"), without(WITH_DERIVATIVES, VALUES))
def test_coriolis(robot: str, root: str) -> None:
    """C is not unique, but C v is, and so is C + C^T = Mdot for any C with Mdot - 2 C skew-symmetric, as
    Pinocchio's is.
    """
    module, reference = full_module(robot, root), peer(robot, root)
    if robot in VALUES:
        module = build_module(robot, root_joint=root, functions=("crba", "coriolis"), cflags=UNOPTIMISED)
    drawn = states(module, seed=2)
    batched = module.coriolis(
        np.array([state[0] for state in drawn]), np.array([state[1] for state in drawn])
    )
    for (q, v, *_), from_batch in zip(drawn, batched, strict=True):
        ours = module.coriolis(q, v)
        theirs = np.array(pin.computeCoriolisMatrix(reference.model, reference.data, reference.q(q), v))
        size = float(np.abs(module.crba(q)).max() * np.abs(v).max())  # size of the terms, which can cancel
        assert_close(ours @ v, theirs @ v, 1e-10, size * float(np.abs(v).max()) * 1e-2, "C v")
        assert_close(ours + ours.T, theirs + theirs.T, 1e-10, size * 1e-2, "C + C^T")
        assert_close(from_batch, ours, 1e-14, size * 1e-2, "coriolis, batched")


@pytest.mark.parametrize(("robot", "root"), ALL, ids=NAMES)
def test_forward_dynamics_is_left_out_exactly_where_it_is_not_defined(robot: str, root: str) -> None:
    module, reference = full_module(robot, root), peer(robot, root)
    defined = (robot, root) not in SINGULAR
    assert (
        {"aba", "minverse"} <= set(module.functions)
        if defined
        else not {"aba", "minverse"} & set(module.functions)
    )
    smallest = max(_smallest_eigenvalue(reference, state[0]) for state in states(module))
    assert (smallest > 1e-12) == defined, f"smallest eigenvalue of the scaled M: {smallest:.2e}"


@pytest.mark.parametrize(("robot", "root"), sorted(SINGULAR))
def test_forward_dynamics_asked_for_by_name_is_refused(robot: str, root: str) -> None:
    with pytest.raises(rbdc.SingularModelError, match="singular"):
        build_module(robot, root_joint=root, functions=("aba",), name="refused")


@pytest.mark.parametrize("name", sorted(set(REFERENCE) - {"aba", "minverse"}))
@pytest.mark.parametrize(("robot", "root"), sorted(SINGULAR))
def test_functions_of_singular_robots(robot: str, root: str, name: str) -> None:
    module, reference = full_module(robot, root), peer(robot, root)
    function = getattr(module, name)
    for state in states(module):
        expected = REFERENCE[name](reference, *state)
        floor = float(np.abs(module.torque_regressor(state[0], module.v_zero, module.v_zero)).max() * 0.1)
        assert_close(function(*arguments(name, state)), expected, 1e-10, floor, name)


def _smallest_eigenvalue(reference: Peer, q: Array) -> float:
    """Return the smallest eigenvalue of Pinocchio's M, scaled to a unit diagonal."""
    upper = np.triu(np.array(pin.crba(reference.model, reference.model.createData(), reference.q(q))))
    inertia = upper + np.triu(upper, 1).T
    scale = np.sqrt(np.diag(inertia))
    return float(np.linalg.eigvalsh(inertia / np.outer(scale, scale))[0])
