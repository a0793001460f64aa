"""Derivatives of a module for frameworks that differentiate (JAX, PyTorch). This module says which function
computes the derivatives of which function, how derivatives are applied to the frameworks' arrays, and how
configurations change by their entries and in the tangent space. This file is copied into each generated
package and needs Python alone.

Frameworks differentiate by all nq entries of q. They differentiate f(q / |q|): quaternions, and the cosine
and sine of a planar joint, are normalised first. So f(q) and its derivatives are defined off the unit sphere
too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn

from ._named import advice

PARAMETERS = "parameters"
"""Name of the input of run-time inertial parameters."""
KINDS = ("vector", "floating", "spherical", "planar")


class Differential(NamedTuple):
    """Names of the functions that compute the derivatives of a function's outputs; "" where there is none.

    first: function whose outputs are the derivatives of each output by each required input, in their order.
        Inputs of `first` that the function lacks are zero.
    weighted: function that multiplies these derivatives by weights of each output from the left.
    second: function of second derivatives, arranged like `rnea_second_derivatives`. Only functions of one
        output have it.
    inverse: whether the function solves inverse dynamics; then `second` differentiates inverse dynamics.
    configuration: whether the first output is a configuration; then `first` has its derivatives in the
        tangent space.
    forces: function whose result is the effect of external forces.
    through: input to which that effect is added, or output from which it is subtracted.
    alone: function that computes only the derivatives of this function; it replaces `first` if `first` was
        not built.
    parameters: function that multiplies weights of the output by derivatives in all inertial parameters.
    hessian: function with the blocks of the Hessian of weighted outputs, `hessian_ab` by inputs a and b; a
        block that it lacks is zero. It replaces `second`.
    """

    first: str
    weighted: str = ""
    second: str = ""
    inverse: bool = False
    configuration: bool = False
    forces: str = ""
    through: str = ""
    alone: str = ""
    parameters: str = ""
    hessian: str = ""

    def among(self, functions: Collection[str]) -> Differential:
        """Return this with "" in place of functions that are not among the built ones."""
        own = self._replace(first=self.alone) if self.first not in functions else self
        others = ("first", "weighted", "second", "forces", "parameters", "hessian")
        missing: dict[str, Any] = {key: "" for key in others if getattr(own, key) not in functions}
        return own._replace(**missing)


class Known:
    """The derivatives of the functions of a module, by name, as far as the functions that compute them were
    built.
    """

    def __init__(self, differentials: Mapping[str, Differential], functions: Sequence[str]) -> None:
        self._described, self._functions = differentials, frozenset(functions)
        built = ((name, found) for name, found in differentials.items() if name in functions)
        self._built = {name: found.among(functions) for name, found in built}

    def __getitem__(self, name: str) -> Differential:
        """Return the functions that compute the derivatives of a function; "" for those that do not exist or
        were not built.
        """
        return self._built.get(name, Differential(""))

    def second(self, first: str) -> tuple[str, Differential] | None:
        """Return the function whose first derivatives `first` computes, if its second derivatives were
        built.
        """
        found = self._built.items()
        return next(((name, d) for name, d in found if first and d.first == first and d.second), None)

    def rows(self, first: str) -> str:
        """Return the function of weighted sums of the rows that `first` computes, if its derivatives were
        built, otherwise "". The derivatives of sums with unit weights are the derivatives of the rows.
        """
        found = (d.weighted for d in self._built.values() if d.first == first)
        return next((weighted for weighted in found if self[weighted].first), "")

    def forces(self, name: str) -> str:
        """Return the function of the effect of external forces if its derivatives were built, otherwise
        "".
        """
        forces = self[name].forces
        return forces if self[forces].first else ""

    def needed(self, name: str) -> list[str]:
        """Return the functions that compute the derivatives of a function, as far as they were built."""
        twice = self.second(name)
        own = self[name]
        names = [own.first, own.weighted, own.parameters, self.rows(name), self.forces(name)]
        return [other for other in [*names, *((twice[0], twice[1].second) if twice else ())] if other]

    def refuse_input(self, name: str, argument: str) -> NoReturn:
        """Raise NotImplementedError: a function has no derivatives by an optional input."""
        found = self._described.get(name)
        if argument == PARAMETERS:
            other = "" if found is None else found.parameters
            remedy = f"build it with {advice(other)}" if other else "keep them constant"
            raise NotImplementedError(f"{name} has no derivatives by {argument}; {remedy}")
        remedy = "keep it constant, or add its effect to the torques"
        if found is not None and found.forces and found.forces not in self._functions:
            remedy += f"; for external forces, build {found.forces} and its derivatives too"
        raise NotImplementedError(f"{name} has no derivatives by {argument}; {remedy}")

    def refuse(self, name: str) -> NoReturn:
        """Raise NotImplementedError: a function has no derivatives here."""
        found = self._described.get(name)
        needed = [found.first] if found is not None else []
        needed += [found.second for found in self._described.values() if found.first == name]
        missing = [other for other in needed if other and other not in self._functions]
        remedy = f"; build it with {advice(*missing)}" if missing else ""
        if name in (found.weighted for found in self._described.values()):
            remedy = '; take second derivatives of the function itself, with mode="jvp"'
        raise NotImplementedError(f"{name} has no derivatives here{remedy}")


class Solution(NamedTuple):
    """The derivatives F of forward dynamics, whose changes follow from those of the derivatives G = (G_q,
    G_v, M) of inverse dynamics at the same acceleration: dF = -F_tau (dG + dM F).

    by_q, by_v, by_tau: F_q, F_v and F_tau.

    `steps` and `weights` turn arguments for F into those for G; `changes` and `gradients` turn results for G
    into those for F.
    """

    by_q: Any
    by_v: Any
    by_tau: Any

    def steps(self, along: Sequence[Any]) -> list[Any]:
        """Return the steps of q, v and the acceleration."""
        moved = [(F @ dx[..., None])[..., 0] for F, dx in zip(self, along, strict=False) if dx is not None]
        return [*along[:2], sum(moved[1:], moved[0])]

    def changes(self, G: Sequence[Any]) -> list[Any]:
        """Return the changes of F_q, F_v and F_tau."""
        by_q, by_v, inertia = G
        every = (by_q + inertia @ self.by_q, by_v + inertia @ self.by_v, inertia @ self.by_tau)
        return [-(self.by_tau @ change) for change in every]

    def weights(self, given: Sequence[Any]) -> list[Any]:
        """Return the weights of G_q, G_v and M."""
        turned = [-(self.by_tau.mT @ g) for g in given]
        first, *others = (g @ F.mT for g, F in zip(turned, self, strict=True))
        return [*turned[:2], sum(others, first)]

    def gradients(self, G: Sequence[Any]) -> list[Any]:
        """Return the gradients by q, v and tau."""
        by_q, by_v, by_tau = ((G[2][..., None, :] @ F)[..., 0, :] for F in self)
        return [G[0] + by_q, G[1] + by_v, by_tau]


def changed(J: Any, dx: Any, own: tuple[int, ...]) -> Any:
    """Multiply the derivatives (..., *own, n) of a result of shape `own` by a change (..., n) of an input."""
    batch = J.shape[: J.ndim - len(own) - 1]
    return (J.reshape((*batch, prod(own), J.shape[-1])) @ dx.reshape((*batch, J.shape[-1], 1))).reshape(
        (*batch, *own)
    )


def weighted(J: Any, g: Any, own: tuple[int, ...]) -> Any:
    """Return the product (..., n) of weights `g` (..., *own) of a result and the result's derivatives J with
    respect to an input of n entries.
    """
    batch = J.shape[: J.ndim - len(own) - 1]
    row = g.reshape((*batch, 1, prod(own))) @ J.reshape((*batch, prod(own), J.shape[-1]))
    return row.reshape((*batch, J.shape[-1]))


class Part(NamedTuple):
    """Consecutive entries of q of one kind.

    kind: "vector", "floating", "spherical" or "planar".
    q, nq: index of the first entry in q, and number of entries.
    v, nv: index of the first entry in v, and number of entries.

    In the methods, `x` are arrays with the sizes of q or of v, and `xp` is the framework's module of array
    functions.
    """

    kind: str
    q: int
    nq: int
    v: int
    nv: int

    def unit(self, q: Any, xp: Any) -> Any:
        """Return the entries of q, normalised."""
        x = q[..., self.q : self.q + self.nq]
        if self.kind == "vector":
            return x
        first = self.nq - (2 if self.kind == "planar" else 4)
        turning = x[..., first:]
        return xp.concatenate([x[..., :first], turning / _sum(turning * turning) ** 0.5], -1)

    def to_tangent(self, q: Any, x: Any, factor: float, xp: Any) -> Any:
        """Map a change of the entries of q to a tangent vector, in the body's axes, linear part first.
        `factor` scales the part of quaternions.
        """
        q, dx = (every[..., self.q : self.q + self.nq] for every in (q, x))
        if self.kind == "vector":
            return dx
        if self.kind == "planar":
            _, _, c, s = _entries(q)
            across, along, dc, ds = _entries(dx)
            return xp.concatenate([c * across + s * along, c * along - s * across, c * ds - s * dc], -1)
        u, w, d, dw = q[..., -4:-1], q[..., -1:], dx[..., -4:-1], dx[..., -1:]
        linear = [_rotated(-u, w, dx[..., :3], xp)] if self.kind == "floating" else []
        return xp.concatenate([*linear, factor * (w * d - dw * u - xp.linalg.cross(u, d))], -1)

    def to_entries(self, q: Any, x: Any, factor: float, xp: Any) -> Any:
        """Return the transpose of `to_tangent`."""
        q, g = q[..., self.q : self.q + self.nq], x[..., self.v : self.v + self.nv]
        if self.kind == "vector":
            return g
        if self.kind == "planar":
            _, _, c, s = _entries(q)
            across, along, turning = _entries(g)
            moved = [c * across - s * along, s * across + c * along]
            return xp.concatenate([*moved, -s * turning, c * turning], -1)
        u, w, turned = q[..., -4:-1], q[..., -1:], factor * g[..., -3:]
        linear = [_rotated(u, w, g[..., :3], xp)] if self.kind == "floating" else []
        return xp.concatenate([*linear, w * turned + xp.linalg.cross(u, turned), -_sum(u * turned)], -1)


class Chart:
    """The configurations of a module, as arrays of a framework: (..., nq) and (..., nv)."""

    def __init__(self, parts: Sequence[Part], operations: Any) -> None:
        self._parts, self._operations = tuple(parts), operations
        self._flat = all(part.kind == "vector" for part in self._parts)
        for part in self._parts:
            if part.kind not in KINDS:
                raise NotImplementedError(f"no derivatives with respect to q of a {part.kind} joint")

    def unit(self, q: Any) -> Any:
        """Return q with unit quaternions, cosines and sines."""
        return self._each(lambda part: part.unit(q, self._operations), q)

    def velocity(self, q: Any, dq: Any) -> Any:
        """Return the tangent vector (..., nv) of a change of the entries of a unit q."""
        return self._each(lambda part: part.to_tangent(q, dq, 2.0, self._operations), dq)

    def covector(self, q: Any, g: Any) -> Any:
        """Map the gradient g with respect to tangent vectors to the gradient (..., nq) with respect to the
        entries of a unit q.
        """
        return self._each(lambda part: part.to_entries(q, g, 2.0, self._operations), g)

    def change(self, q: Any, v: Any) -> Any:
        """Return the change (..., nq) of the entries of a unit q along a tangent vector. For quaternions it
        is (q o v) / 2 with the quaternion product o.
        """
        return self._each(lambda part: part.to_entries(q, v, 0.5, self._operations), v)

    def direction(self, q: Any, g: Any) -> Any:
        """Map the gradient g with respect to the entries of a unit q to the gradient (..., nv) with respect
        to tangent vectors: the transpose of `change`.
        """
        return self._each(lambda part: part.to_tangent(q, g, 0.5, self._operations), g)

    def _each(self, made: Callable[[Part], Any], flat: Any) -> Any:
        return flat if self._flat else self._operations.concatenate([made(part) for part in self._parts], -1)


def _entries(x: Any) -> list[Any]:
    return [x[..., k : k + 1] for k in range(x.shape[-1])]


def _sum(x: Any) -> Any:
    return sum(_entries(x))


def _rotated(u: Any, w: Any, x: Any, xp: Any) -> Any:
    """Rotate x by the unit quaternion with imaginary part u and real part w."""
    t = 2.0 * xp.linalg.cross(u, x)
    return x + w * t + xp.linalg.cross(u, t)
