"""The torque regressor with columns of links, payloads and drives, its products, and derivatives by
parameters: inverse dynamics is linear in them; forward dynamics changes by differences.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, get_args

import numpy as np
import pytest

from rbdc.errors import OptionError
from rbdc.model import Problem
from rbdc.model.options import RegressorPart
from rbdc.options import BuildOptions
from rbdc.resources import path_of
from tests.laws.test_curved_mimic import curved_tree
from tests.laws.test_drives import driven
from tests.laws.test_motion import TOLERANCE, rate
from tests.support import UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_trees import mimic_tree, random_tree

FUNCTIONS = (
    *("rnea", "aba", "rnea_jvp", "integrate", "torque_regressor", "rnea_parameter_vjp"),
    *("rnea_parameter_hessian_product", "aba_parameter_vjp", "aba_parameter_derivatives"),
)
TREES: dict[str, Callable[[], Problem]] = {
    "pendulum": lambda: driven(Problem.from_file(path_of("double_pendulum"))),
    "every joint": lambda: driven(random_tree(0), root=True),
    "followers": lambda: driven(mimic_tree("coupled"), root=True),
    "followers along curves": lambda: curved_tree("coupled"),
}
SAMPLES = 5


@pytest.fixture(params=slow_but(TREES, ("pendulum",), ("followers",)), scope="module")
def case(request: pytest.FixtureRequest) -> tuple[Problem, ModuleType]:
    """A tree with drives and its module, which takes inertial parameters and a payload."""
    model = TREES[request.param]()
    how: dict[str, Any] = {"regressor": get_args(RegressorPart), "parameters": (), "payloads": ("link2",)}
    how["verify"] = request.param != "pendulum"  # other tests verify those of small robots
    return model, build_module(model, functions=FUNCTIONS, cflags=UNOPTIMISED, **how)


def states(module: ModuleType) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(5)
    q = np.array([module.random_configuration(rng) for _ in range(SAMPLES)])
    v, a = rng.uniform(-1.0, 1.0, (2, SAMPLES, module.nv))
    return q, v, a


def changed(module: ModuleType) -> Array:
    """Return parameters other than the nominal ones, a payload among them."""
    rng = np.random.default_rng(6)
    nominal: Array = module.nominal_parameters
    return nominal * rng.uniform(0.8, 1.2, nominal.shape) + np.eye(len(nominal), 10) * 0.3


def columns(module: ModuleType) -> list[int]:
    """Return the columns of the regressor for the entries of `parameters`: bodies in order, then payloads."""
    return list(range(10 * len(module.parameter_names)))


def test_inverse_dynamics_is_linear(case: tuple[Problem, ModuleType]) -> None:
    """Y times parameters is rnea, with inertial parameters and a width of friction at run time."""
    model, m = case
    q, v, a = states(m)
    values, parameters = changed(m), m.regressor_parameters.copy()
    tau, width = m.rnea(q, v, a, m.nominal_parameters), 0.7
    assert_close(m.torque_regressor(q, v, a) @ parameters, tau, 1e-12)
    parameters[columns(m)] = values.ravel()
    Y = m.torque_regressor(q, v, a, friction_width=width)
    assert_close(Y @ parameters, m.rnea(q, v, a, values, friction_width=width), 1e-12)
    w = np.ones(m.nv) + v
    gradient = m.rnea_parameter_vjp(q, v, a, w, friction_width=width)
    assert_close(gradient, np.einsum("ni,nik->nk", w, Y), 1e-12)
    assert any(body.friction for body in model.bodies)


def test_names_and_units(case: tuple[Problem, ModuleType]) -> None:
    model, m = case
    by_name = dict(zip(m.regressor_names, m.regressor_parameters, strict=True))
    units = dict(zip(m.regressor_names, m.regressor_units, strict=True))
    assert len(by_name) == m.torque_regressor(*(x[0] for x in states(m))).shape[1]
    for body in model.bodies:
        assert by_name[f"m({body.name})"] == pytest.approx(body.inertia.mass)
        assert by_name[f"damping({body.joint_name})"] == pytest.approx(body.damping)
        slides = not any(any(s.angular.scalars()) for s in body.joint.subspace())
        assert (units[f"damping({body.joint_name})"] == "N s/m") == slides
        if body.joint.nq == 1:
            rest = body.stiffness * body.spring_rest
            assert by_name[f"stiffness*rest({body.joint_name})"] == pytest.approx(rest)
    assert by_name["m(payload at link2)"] == 0.0 and units["Izz(payload at link2)"] == "kg m^2"


def test_forward_dynamics_by_parameters(case: tuple[Problem, ModuleType]) -> None:
    """Along inertial parameters by differences; along those of drives, which forces of joints undo, by
    these.
    """
    _, m = case
    q, v, tau = states(m)
    values, width = changed(m), 0.7
    D = m.aba_parameter_derivatives(q, v, tau, values, friction_width=width)
    step = (
        np.random.default_rng(7).uniform(-1.0, 1.0, values.shape) * np.abs(m.nominal_parameters).max() * 0.01
    )
    slope = rate(lambda t: m.aba(q, v, tau, values + t * step, friction_width=width))
    ddq = m.aba(q, v, tau, values, friction_width=width)
    assert_close(D[..., columns(m)] @ step.ravel(), slope, TOLERANCE, float(np.abs(ddq).max()))
    Y = m.torque_regressor(q, v, ddq, friction_width=width)
    for k in range(10 * len(m.parameter_names), D.shape[-1]):
        moved = m.aba(q, v, tau - Y[..., k], values, friction_width=width)
        assert_close(D[..., k], moved - ddq, 1e-9, float(np.abs(ddq).max()))
    w = np.ones(m.nv) + v
    gradient = m.aba_parameter_vjp(q, v, tau, w, values, friction_width=width)
    assert_close(gradient, np.einsum("ni,nik->nk", w, D), 1e-10)


def test_the_rate_of_the_gradient(case: tuple[Problem, ModuleType]) -> None:
    """Along a direction of q, v and a by differences; its product with the parameters is w . rnea_jvp."""
    _, m = case
    q, v, a = (x[0] for x in states(m))
    w, dq, dv, da = np.random.default_rng(8).uniform(-1.0, 1.0, (4, m.nv))
    gradient = m.rnea_parameter_vjp(q, v, a, w)
    mixed = m.rnea_parameter_hessian_product(q, v, a, w, dq, dv, da)
    slope = rate(lambda t: m.rnea_parameter_vjp(m.integrate(q, t * dq), v + t * dv, a + t * da, w))
    assert_close(mixed, slope, TOLERANCE, float(np.abs(gradient).max()))
    along = m.rnea_jvp(q, v, a, dq, dv, da, m.nominal_parameters)
    assert_close(mixed @ m.regressor_parameters, w @ along, 1e-10, 1.0)


@pytest.mark.parametrize(
    ("option", "read"),
    [
        ("friction,links", ("links", "friction")),
        (["stiffness", "armature", "armature"], ("armature", "stiffness")),
    ],
)
def test_parts_are_in_order(option: Any, read: tuple[str, ...]) -> None:
    assert BuildOptions(regressor=option).regressor == read


@pytest.mark.parametrize("option", ["link", "links,rotor", "", 3])
def test_other_parts_are_refused(option: Any) -> None:
    with pytest.raises(OptionError, match=r"`regressor="):
        BuildOptions(regressor=option)
