"""Every entry of the table of derivatives, in every framework, against differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import casadi
import numpy as np
import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from tests.analysis.differentiability import differentiable
from tests.emit.test_casadi import chain, symbolic
from tests.support import UNOPTIMISED, Array, build_module, slow_but
from tests.support_differences import Vector, central

ROWS = differentiable()
ROBOTS = ("planar_spherical", "spherical_planar", "kuka_iiwa", "hyq")
TOUCHING = {
    "planar_spherical": "link1",
    "spherical_planar": "link1",
    "kuka_iiwa": "lbr_iiwa_link_7",
    "hyq": "lf_foot",
}
"""The link of each robot that touches the world."""


@cache
def module(robot: str) -> ModuleType:
    """Return functions of the table; their values, and derivatives in CasADi, are verified on other
    robots.
    """
    model: Any = chain(*robot.split("_")) if robot in ROBOTS[:2] else robot
    options: dict[str, Any] = {
        "root_joint": "free-flyer" if robot == "hyq" else "fixed",
        "contacts": (f"touch=point@{TOUCHING[robot]}:0.1,-0.2,0.05",),
    }
    names = {name for row in ROWS for name in (row.name, row.first, row.second)} | {"rnea_vjp", "aba_vjp"}
    if robot in ROBOTS[:2]:  # these chains do not move the last frame in all directions: it has no inertia
        names.remove("operational_space_inertia")
    return build_module(
        model,
        **options,
        functions=tuple(name for name in functions_of(read(model, BuildOptions(**options))) if name in names),
        targets=("c", "casadi") if robot == ROBOTS[0] else ("c", "batch", "casadi", "jax"),
        cflags=UNOPTIMISED,
        verify=False,
        name=f"{robot}_differentiable",
    )


def cases(robot: str) -> Iterator[tuple[Any, bool]]:
    """Yield the entries of the table that a module has, each with and without external forces."""
    m = module(robot)
    for row in ROWS:
        if row.name in m.functions and row.first in m.functions:
            yield from ((row, forces) for forces in ((False, True) if row.forces else (False,)))


def drawn(m: ModuleType, f: Any) -> list[Array]:
    """Return configurations off the unit sphere and random vectors."""
    rng = np.random.default_rng(1)
    return [
        m.random_configuration(rng) * 1.2
        if f.name_in(k) in ("q", "q0", "q1")
        else rng.standard_normal(f.size_in(k))
        for k in range(f.n_in())
    ]


def flat(f: Any) -> Vector:
    """Return the function of all its arguments in one vector, matrices by columns, by values alone."""
    ends = np.cumsum([f.numel_in(k) for k in range(f.n_in())])[:-1]
    shapes = [f.size_in(k) for k in range(f.n_in())]

    def values(x: Array) -> Array:
        inputs = (
            part.reshape(shape, order="F") for part, shape in zip(np.split(x, ends), shapes, strict=True)
        )
        return np.array(f(*inputs)).ravel()

    return values


def close(values: Array, expected: Array, tolerance: float) -> None:
    assert np.abs(values - expected).max() <= tolerance * max(np.abs(expected).max(), 1e-3)


@pytest.mark.parametrize("robot", slow_but(ROBOTS, (), ROBOTS[:1]))
def test_casadi(robot: str) -> None:
    """Jacobians, Hessians of a sum with weights and Jacobians of Jacobians; or a refusal."""
    m = module(robot)
    for row, forces in cases(robot):
        place = f"@{m.frame_names[-1]}@WORLD" if vars(m)[f"_{row.name}"].framed else ""
        f = m.casadi(f"{row.name}{place}", fext=forces)
        x, outputs = symbolic(f)
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        y, every, inputs = casadi.vertcat(*map(casadi.vec, several)), casadi.veccat(*x), drawn(m, f)
        at = np.concatenate([x.ravel(order="F") for x in inputs])
        J = np.array(casadi.Function("J", x, [casadi.jacobian(y, every)])(*inputs))
        close(J, central(flat(casadi.Function("y", x, [y])), at), 1e-8)
        weights = np.random.default_rng(2).standard_normal(y.numel())
        weighted = casadi.dot(casadi.DM(weights), y)
        if not row.second:
            with pytest.raises(RuntimeError, match="Derivatives cannot be calculated for"):
                casadi.hessian(weighted, every)
            continue
        H = np.array(casadi.Function("H", x, [casadi.hessian(weighted, every)[0]])(*inputs))
        close(H, central(flat(casadi.Function("g", x, [casadi.gradient(weighted, every)])), at), 1e-7)
        close(H, H.T, 1e-12)
        twice = casadi.jacobian(casadi.vec(casadi.jacobian(y, every)), every)
        tensor = np.array(casadi.Function("T", x, [twice])(*inputs)).reshape(len(at), y.numel(), len(at))
        close(np.einsum("i,jik->jk", weights, tensor), H, 1e-10)


def total(
    m: ModuleType, name: str, f: Callable[..., Any], array: Callable[[Any], Any], *, forces: bool
) -> tuple[Callable[[Any], Any], Array]:
    """Return a sum with weights of the results of a framework's function, of all its inputs in one vector,
    optional ones left out but for external forces where these are wanted, and a point.
    """
    entry, rng = vars(m)[f"_{name}"], np.random.default_rng(3)
    place = {"frame": m.frame_names[-1], "reference": "WORLD"} if entry.framed else {}
    shapes = {spec[0]: spec[1] for spec in entry.inputs if not spec[2] or (forces and spec[0] == "fext")}
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    weights = [array(rng.standard_normal(shape)) for _, shape in entry.outputs]

    def summed(x: Any) -> Any:
        parts = zip(shapes.items(), [0, *ends[:-1]], ends, strict=True)
        results = f(**{key: x[a:b].reshape(shape) for (key, shape), a, b in parts}, **place)
        several = results if isinstance(results, tuple) else (results,)
        return sum((y * w).sum() for y, w in zip(several, weights, strict=True))

    q = m.random_configuration(rng) * 1.2
    return summed, np.concatenate([q, rng.standard_normal(ends[-1] - m.nq)])


def values(f: Callable[[Any], Any], array: Callable[[Any], Any]) -> Callable[[Array], Array]:
    """Return a framework's function as one of NumPy's arrays."""
    return lambda x: np.atleast_1d(np.asarray(f(array(x))))


def test_derivatives_at_rest_take_the_place_of_all() -> None:
    """Gravity and nonlinear effects are differentiated in a module without `rnea_derivatives`."""
    names = ("nle", "nle_derivatives", "gravity_torque", "gravity_torque_derivatives")
    m = build_module(
        "double_pendulum", functions=names, targets=("c", "casadi"), cflags=UNOPTIMISED, name="at_rest"
    )
    for name in names[::2]:
        f = m.casadi(name)
        x, y = symbolic(f)
        inputs = drawn(m, f)
        J = np.array(casadi.Function("J", x, [casadi.jacobian(y, casadi.veccat(*x))])(*inputs))
        close(J, central(flat(f), np.concatenate([x.ravel() for x in inputs])), 1e-8)


@pytest.mark.parametrize("robot", slow_but(ROBOTS[1:3], (), ()))
def test_jax(robot: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    m = module(robot)
    with jax.enable_x64(True):
        for row, forces in cases(robot):
            f, x = total(m, row.name, getattr(m.jax, row.name), jax.numpy.asarray, forces=forces)
            gradient = jax.jit(jax.grad(f))
            close(np.array(gradient(x)), central(values(f, np.asarray), x)[0], 1e-7)
            if row.second:
                close(np.array(jax.hessian(f)(x)), central(values(gradient, np.asarray), x), 1e-7)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize("robot", slow_but(ROBOTS[1:], (), ROBOTS[1:2]))
def test_torch(robot: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    m = module(robot)
    for row, forces in cases(robot):
        f, x = total(m, row.name, getattr(m.torch, row.name), torch.tensor, forces=forces)

        def gradient(x: Array, f: Any = f) -> Array:
            return np.array(torch.func.grad(f)(torch.tensor(x)).detach().numpy())

        close(gradient(x), central(values(f, torch.tensor), x)[0], 1e-7)
        if row.second:
            second = torch.func.jacrev(torch.func.grad(f))(torch.tensor(x))
            close(second.detach().numpy(), central(gradient, x), 1e-7)
