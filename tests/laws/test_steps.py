"""Steps of time: MuJoCo's by the same rule, the order of each rule, differences on the manifold, contacts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import casadi
import mujoco
import numpy as np
import pytest

from rbdc.errors import UnsupportedError
from rbdc.model import Problem
from tests.emit.test_casadi import chain
from tests.laws.test_curved_mimic import curved_tree
from tests.laws.test_parallel_robots import written
from tests.laws.test_reduced_loops import FOUR_BAR
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_differences import central
from tests.support_trees import mimic_tree, random_tree

mj: Any = mujoco
PRODUCTS = ("step", "step_derivatives", "step_vjp", "step_jvp")
EVERY = (*PRODUCTS, "step_hessian_vector")
RULES = ("semi-implicit", "explicit", "rk4")
DT = 0.03
BOX = '<geom type="box" size=".1 .2 .05" pos="0 .03 .1" mass="2"/>'
BALL = '<geom type="sphere" size=".1" mass="1.3" pos=".05 -.02 .1"/>'
ARM = f"""<mujoco model="stepping_arm"><worldbody><body name="a" pos=".1 .2 .3" euler="20 40 10">
<joint name="h" type="hinge" axis="1 2 .5" armature=".1"/>{BOX}<body name="b" pos="0 .1 .3">
<joint name="s" type="slide" axis="0 1 1"/>{BALL}</body></body></worldbody></mujoco>"""
TURNING = ARM.replace("stepping_arm", "stepping_ball").replace(
    f"{BALL}", f'{BALL}<body name="c" pos=".1 0 .2"><joint name="k" type="ball"/>{BOX}</body>'
)
FREE = f"""<mujoco model="stepping_free"><worldbody><body name="a"><freejoint name="f"/>{BOX}
<body name="b" pos="0 .1 .3"><joint name="h" type="hinge" axis="1 2 .5"/>{BALL}</body></body></worldbody>
</mujoco>"""


@cache
def built(which: str, rule: str, functions: tuple[str, ...] = EVERY, **options: Any) -> ModuleType:
    """The module of a description by its name, with steps by a rule."""
    scenes: dict[str, Callable[[], Any]] = {
        "arm": lambda: ARM,
        "ball": lambda: TURNING,
        "free": lambda: FREE,
        "turning": lambda: replace(chain("planar", "spherical"), name="step_turning"),
        "flying": lambda: replace(chain("floating", "spherical"), name="step_flying"),
        "pendulum": lambda: "double_pendulum",
        "coupled": lambda: replace(mimic_tree("coupled"), name="step_coupled"),
        "curved": lambda: curved_tree("coupled"),
    }
    name = "_".join(["step", which, rule.replace("-", "_"), functions[-1], *options])
    description = scenes[which]()
    description = replace(description, name=name) if isinstance(description, Problem) else description
    how: dict[str, Any] = {"cflags": UNOPTIMISED, "verify": False, "name": name, **options}
    if functions[: len(EVERY)] == EVERY and "dtype" not in options:
        how["targets"] = ("c", "casadi")
    return build_module(description, functions=functions, integrator=rule, **how)


def state(m: ModuleType, seed: int = 0) -> list[Array]:
    """q, v and tau."""
    rng = np.random.default_rng(seed)
    return [m.random_configuration(rng), *rng.standard_normal((2, m.nv))]


def stepped(m: ModuleType, scene: str, rule: str) -> tuple[Any, list[Array]]:
    """MuJoCo's data after a step of the same rule, and the state before."""
    q, v, tau = state(m)
    compiled = mj.MjModel.from_xml_string(scene)
    compiled.opt.timestep = DT
    compiled.opt.integrator = getattr(mj.mjtIntegrator, "mjINT_RK4" if rule == "rk4" else "mjINT_EULER")
    compiled.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_EULERDAMP
    data = mj.MjData(compiled)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = m.to_mujoco(q, v, tau=tau)
    mj.mj_step(compiled, data)
    return data, [q, v, tau]


@pytest.mark.parametrize(
    ("which", "scene", "rule"), [("arm", ARM, "rk4"), ("ball", TURNING, "semi-implicit")], ids=str
)
def test_mujoco_steps_likewise(which: str, scene: str, rule: str) -> None:
    m = built(which, rule, ("step",))
    data, (q, v, tau) = stepped(m, scene, rule)
    qpos, qvel = m.to_mujoco(*m.step(q, v, tau, DT))
    assert_close(qpos, data.qpos, 1e-12)
    assert_close(qvel, data.qvel, 1e-10)


def test_mujoco_steps_the_position_of_a_free_root_along_the_world() -> None:
    """MuJoCo has the linear velocity of a free root in the world's axes and moves along it; everything else
    is equal.
    """
    m = built("free", "semi-implicit", ("step",))
    data, (q, v, tau) = stepped(m, FREE, "semi-implicit")
    after, velocity = m.step(q, v, tau, DT)
    qpos, qvel = m.to_mujoco(after, velocity)
    assert_close(qpos[3:], data.qpos[3:], 1e-12)
    assert_close(qvel[3:], data.qvel[3:], 1e-11)
    _, world = m.to_mujoco(q, v)
    turn = np.array([m.to_mujoco(q, np.eye(m.nv)[k])[1][:3] for k in range(3)]).T
    rate = (velocity - v)[:3] / DT + np.cross(v[3:6], v[:3])
    expected = world[:3] + DT * turn @ rate
    assert_close(data.qvel[:3], expected, 1e-11)
    assert_close(data.qpos[:3], q[:3] + DT * expected, 1e-12)


@pytest.mark.parametrize(
    ("rule", "order"), [("rk4", 4), pytest.param("explicit", 1, marks=pytest.mark.slow), ("semi-implicit", 1)]
)
def test_rules_have_their_order(rule: str, order: int) -> None:
    """A free body carries a spherical joint, so that commutators matter."""
    m = built("flying", rule, ("step", "difference"))
    q, v, tau = state(m)

    def at_the_end(count: int) -> tuple[Array, Array]:
        x, rate = q, 2.0 * v
        for _ in range(count):
            x, rate = m.step(x, rate, tau, 0.4 / count)
        return x, rate

    ends = [at_the_end(32 * 2**k) for k in range(3)]
    errors = [
        max(np.abs(m.difference(a[0], b[0])).max(), np.abs(a[1] - b[1]).max()) for a, b in pairwise(ends)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


CASES = [
    ("turning", "semi-implicit"),
    *(
        pytest.param(which, rule, marks=pytest.mark.slow)
        for which, rule in (
            *(("turning", "explicit"), ("pendulum", "semi-implicit"), ("pendulum", "explicit")),
            *(("pendulum", "rk4"), ("coupled", "semi-implicit"), ("curved", "semi-implicit")),
        )
    ),
]


def check_products(m: ModuleType, name: str, at: tuple[Array, ...], J: Array, **options: Any) -> Array:
    """Compare products in a direction and with weights, which are returned, with those of the matrix J."""
    n, rng = m.nv, np.random.default_rng(1)
    w, direction = rng.standard_normal(len(J)), rng.standard_normal(3 * n + 1)
    *parts, ddt = np.split(direction, [n, 2 * n, 3 * n])
    changes = getattr(m, f"{name}_jvp")(*at, DT, *parts, ddt[0], **options)
    assert_close(np.concatenate(changes), J @ direction, 1e-11)
    weights = [x for x in np.split(w, [n, 2 * n]) if x.size]
    sums = getattr(m, f"{name}_vjp")(*at, DT, *weights, **options)
    assert_close(np.concatenate([np.atleast_1d(x) for x in sums]), w @ J, 1e-11)
    return w


@pytest.mark.parametrize(("which", "rule"), CASES)
def test_derivatives_are_those_of_differences_on_the_manifold(which: str, rule: str) -> None:
    m = built(which, rule, (*EVERY, "integrate", "difference"))
    q, v, tau = state(m)
    tau = 1e-2 * tau if which == "pendulum" else tau  # light links would turn far in a longer step
    n, (there, _) = m.nv, m.step(q, v, tau, DT)

    def moved(x: Array) -> Array:
        at = m.integrate(q, x[:n]), v + x[n : 2 * n], tau + x[2 * n : -1], DT + x[-1]
        after, velocity = m.step(*at)
        return np.concatenate([m.difference(there, after), velocity])

    matrices, zero = m.step_derivatives(q, v, tau, DT), np.zeros(3 * n + 1)
    blocks = [np.column_stack(matrices[k : k + 4]) for k in (0, 4)]
    J = np.concatenate(blocks)
    assert_close(J, central(moved, zero), 1e-8)
    w = check_products(m, "step", (q, v, tau), J)
    check_hessian(m, (q, v, tau), w, moved)


def check_hessian(
    m: ModuleType, at: tuple[Array, Array, Array], w: Array, moved: Callable[[Array], Array]
) -> None:
    """Compare the symmetric part of the Hessian, along straight lines of the tangent spaces, with differences
    of the sums.
    """
    n, blocks = m.nv, m.step_hessian_vector(*at, DT, w[: m.nv], w[m.nv :])
    (qq, vv, qv, qtau, vtau, tautau), (*by_time, twice) = blocks[:6], blocks[6:]
    whole = np.block([[qq, qv, qtau], [qv.T, vv, vtau], [qtau.T, vtau.T, tautau]])
    column = np.concatenate(by_time)[:, None]
    whole = np.block([[whole, column], [column.T, twice]])

    def gradient(x: Array) -> Array:
        return np.asarray(w @ central(lambda y: moved(x + y), np.zeros(3 * n + 1)))

    assert_close((whole + whole.T) / 2.0, central(gradient, np.zeros(3 * n + 1)), 1e-5)
    assert_close(vv, vv.T, 1e-10)
    assert_close(tautau, tautau.T, 1e-10)


def test_casadi_has_hessians_of_steps_by_one_call() -> None:
    """By all inputs, of all results, from quaternions of any length, against differences of gradients."""
    m = built("turning", "semi-implicit", (*EVERY, "integrate", "difference"))
    x, ends = casadi.MX.sym("x", m.nq + 2 * m.nv + 1), np.cumsum([0, m.nq, m.nv, m.nv, 1])
    y = casadi.veccat(*m.casadi("step")(*casadi.vertsplit(x, ends.tolist())))
    weighted = casadi.dot(np.random.default_rng(1).standard_normal(y.numel()), y) + casadi.sumsqr(y)
    H, gradient = (casadi.Function("f", [x], [of]) for of in casadi.hessian(weighted, x))
    listing = H.str(True)
    assert listing.count("jac_adj1_step_turning") == 1
    assert "fd_" not in listing
    q, v, tau = state(m)
    at = np.concatenate([1.3 * q, v, tau, [DT]])
    assert_close(np.array(H(at)), central(lambda z: np.array(gradient(z)).ravel(), at), 1e-7)


def test_no_time_leaves_all_as_it_is_and_dt_broadcasts() -> None:
    m = built("turning", "semi-implicit", (*EVERY, "integrate", "difference"))
    q, v, tau = state(m)
    after, velocity = m.step(q, v, tau, 0.0)
    assert_close(after, q, 1e-15)
    assert np.array_equal(velocity, v)
    times = np.array([0.0, 0.01, 0.02])
    many = m.step(np.stack([q] * 3), v, tau, times)
    for k, dt in enumerate(times):
        for one, other in zip(m.step(q, v, tau, dt), many, strict=True):
            assert_close(other[k], one, 1e-14)


TIP = ("tip=point@link1:0.1,0.2,0.3",)
OF_CONTACTS = (
    *(f"constrained_{name}" for name in PRODUCTS),
    *("constrained_dynamics", "constrained_dynamics_derivatives", "difference", "integrate"),
)


def test_a_step_under_contacts_is_one_by_constrained_dynamics() -> None:
    m = built("turning", "semi-implicit", OF_CONTACTS, contacts=TIP)
    q, v, tau = state(m)
    options = {"gains": [[10.0, 3.0]]}
    after, velocity, forces = m.constrained_step(q, v, tau, DT, **options)
    ddq, expected = m.constrained_dynamics(q, v, tau, **options)
    assert_close(velocity, v + DT * ddq, 1e-12)
    assert_close(after, m.integrate(q, DT * velocity), 1e-13)
    assert_close(forces, expected, 1e-12)
    n = m.nv

    def moved(x: Array) -> Array:
        at = m.integrate(q, x[:n]), v + x[n : 2 * n], tau + x[2 * n : -1], DT + x[-1]
        reached, *others = m.constrained_step(*at, **options)
        return np.concatenate([m.difference(after, reached), *others])

    matrices = m.constrained_step_derivatives(q, v, tau, DT, **options)
    J = np.concatenate([np.column_stack(matrices[k : k + 4]) for k in (0, 4, 8)])
    assert_close(J, central(moved, np.zeros(3 * n + 1)), 1e-8)
    check_products(m, "constrained_step", (q, v, tau), J, **options)
    free = m.constrained_step(q, v, tau, DT, active=[0.0])
    assert not free[2].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "rule", "functions", "options"),
    [
        ("pendulum", "rk4", EVERY, {"dtype": "float32", "targets": ("c", "batch")}),
        ("pendulum", "semi-implicit", EVERY, {"dtype": "float32", "root_joint": "fixed"}),
        ("turning", "semi-implicit", EVERY, {}),
        ("turning", "explicit", EVERY, {}),
        ("turning", "rk4", PRODUCTS, {}),
        pytest.param("curved", "rk4", PRODUCTS, {}, marks=pytest.mark.exhaustive),
        pytest.param("coupled", "rk4", PRODUCTS, {"targets": ("c", "batch")}, marks=pytest.mark.exhaustive),
        ("turning", "semi-implicit", OF_CONTACTS, {"contacts": TIP}),
    ],
)
def test_builds_verify(which: str, rule: str, functions: tuple[str, ...], options: dict[str, Any]) -> None:
    """Against the rules of textbooks with dual numbers, in every way of calling."""
    built(which, rule, functions, verify=True, **options)


@pytest.mark.slow
@pytest.mark.parametrize("root", ["fixed", "free-flyer"])
def test_hyq_and_iiwa(root: str) -> None:
    """Limbs in lanes; the build verifies."""
    robot = "hyq" if root == "free-flyer" else "kuka_iiwa"
    build_module(robot, root_joint=root, functions=PRODUCTS, cflags=UNOPTIMISED, name=f"{robot}_steps")


@pytest.mark.slow
def test_drives_count() -> None:
    model = random_tree(0, size=3)
    options: dict[str, Any] = dict.fromkeys(("damping", "friction", "springs"), "include")
    build_module(model, name="step_driven", functions=EVERY, cflags=UNOPTIMISED, **options)


def test_hessians_of_many_stages_are_refused_where_they_are_large() -> None:
    for robot, rule, most in (("kuka_iiwa", "rk4", 3), ("hyq", "rk4", 3)):
        with pytest.raises(UnsupportedError, match=f"unrolls step_hessian_vector for at most {most}"):
            build_module(robot, functions=("step_hessian_vector",), integrator=rule, root_joint="free-flyer")
    with pytest.raises(
        UnsupportedError, match="step_hessian_vector by rk4 needs joints of one degree of freedom"
    ):
        build_module(chain("spherical"), functions=("step_hessian_vector",), integrator="rk4")


@pytest.mark.slow
def test_stages_are_on_the_curves_that_joints_follow_along() -> None:
    """The classical rule with `aba` and differences give the same step; tangents of the curves turn from
    stage to stage.
    """
    m = built("curved", "rk4", (*PRODUCTS, "aba"))
    q, v, tau = state(m)
    rates, ends = [(v, m.aba(q, v, tau))], (0.5 * DT, 0.5 * DT, DT)
    for h in ends:
        x, rate = q + h * rates[-1][0], v + h * rates[-1][1]
        rates.append((rate, m.aba(x, rate, tau)))
    k1, k2, k3, k4 = (np.array(pair) for pair in rates)
    expected = np.array([q, v]) + DT / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    assert_close(np.array(m.step(q, v, tau, DT)), expected, 1e-12)
    n, matrices = m.nv, m.step_derivatives(q, v, tau, DT)
    J = np.concatenate([np.column_stack(matrices[k : k + 4]) for k in (0, 4)])

    def moved(x: Array) -> Array:
        return np.concatenate(m.step(x[:n], x[n : 2 * n], x[2 * n : -1], x[-1]))

    assert_close(J, central(moved, np.concatenate([q, v, tau, [DT]])), 1e-8)
    check_products(m, "step", (q, v, tau), J)


def test_derivatives_that_are_refused_along_curves() -> None:
    name, tip = "constrained_step_jvp", ("tip=point@link5:0.1,0.2,0.3",)
    with pytest.raises(
        UnsupportedError, match=f"{name} does not support joints that follow others along curves"
    ):
        build_module(curved_tree("coupled"), functions=(name,), contacts=tip)


def test_derivatives_of_steps_are_refused_on_reduced_loops() -> None:
    with pytest.raises(UnsupportedError, match=r"step_jvp does not support joints .*; reduce no loops"):
        build_module(written("four_bar"), functions=("step_jvp",), contacts=FOUR_BAR, loops="reduce:j_crank")
