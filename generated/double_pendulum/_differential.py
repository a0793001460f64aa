"""Derivatives of a module for frameworks that differentiate (JAX, PyTorch): which function has those of
which, what is done with their arrays, and configurations by their entries and in the tangent space. It is
copied into each generated package and needs Python alone.

Frameworks differentiate by all nq entries of q. What they get is f(q / |q|): quaternions, and a planar
joint's cosine and sine, are normalised first, so that f(q) and its derivatives are defined off the unit
sphere too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn

from ._named import advice

KINDS = ("vector", "floating", "spherical", "planar")


class Differential(NamedTuple):
    """Where the derivatives of a function's outputs are, by the names of other functions.

    first: its outputs are the derivatives of each output by each required input, in their order, first; what
    it takes and the function does not is zero. Its record is made from the function's where no family has
    one. Only functions of one output have the others. weighted: products of these with weights from the left.
    second: second derivatives as those of inverse dynamics come, by q and v; `inverse`: the function is the
    solution of that one for its last input. configuration: the output is one, of which `first` has the
    derivatives in the tangent space. forces: external forces act as the result of this function, added to the
    input `through` or taken from the output of that name. alone: a function of the function's derivatives
    alone, which takes the place of `first` where that was not built.
    """

    first: str
    weighted: str = ""
    second: str = ""
    inverse: bool = False
    configuration: bool = False
    forces: str = ""
    through: str = ""
    alone: str = ""

    def among(self, functions: Collection[str]) -> Differential:
        """Where the derivatives are among the functions that were built, with "" for those that were not."""
        own = self._replace(first=self.alone) if self.first not in functions else self
        others = ("first", "weighted", "second", "forces")
        missing: dict[str, Any] = {key: "" for key in others if getattr(own, key) not in functions}
        return own._replace(**missing)


class Known:
    """The derivatives of a module: of each function by name, as far as the functions that give them are
    built.
    """

    def __init__(self, differentials: Mapping[str, Differential], functions: Sequence[str]) -> None:
        self._described, self._functions = differentials, frozenset(functions)
        built = ((name, found) for name, found in differentials.items() if name in functions)
        self._built = {name: found.among(functions) for name, found in built}

    def __getitem__(self, name: str) -> Differential:
        """Where the derivatives of a function are, with "" for those that it has not or were not built."""
        return self._built.get(name, Differential(""))

    def second(self, first: str) -> tuple[str, Differential] | None:
        """The function whose first derivatives another one gives, if its second ones are there."""
        found = self._built.items()
        return next(((name, d) for name, d in found if first and d.first == first and d.second), None)

    def rows(self, first: str) -> str:
        """The function whose derivatives give, with unit weights, those of the rows of derivatives; "" where
        there is none.
        """
        found = (d.weighted for d in self._built.values() if d.first == first)
        return next((weighted for weighted in found if self[weighted].first), "")

    def forces(self, name: str) -> str:
        """The function of what external forces do, where its derivatives were built; otherwise ""."""
        forces = self[name].forces
        return forces if self[forces].first else ""

    def needed(self, name: str) -> list[str]:
        """The functions that the derivatives of a function take, as far as they are built."""
        twice = self.second(name)
        names = [self[name].first, self[name].weighted, self.rows(name), self.forces(name)]
        return [other for other in [*names, *((twice[0], twice[1].second) if twice else ())] if other]

    def refuse_input(self, name: str, argument: str) -> NoReturn:
        """Raise NotImplementedError for the derivatives by an optional input."""
        found = self._described.get(name)
        if argument == "parameters":
            build = "" if "torque_regressor" in self._functions else f" ({advice('torque_regressor')})"
            raise NotImplementedError(
                f"{name} has no derivatives by parameters; keep them constant: those of rnea are the columns "
                f"of torque_regressor{build}, those of aba minus M^-1 times these"
            )
        remedy = "keep it constant, or add what it does to the torques"
        if found is not None and found.forces and found.forces not in self._functions:
            remedy += f", as {found.forces} in `functions` and its derivatives do for external forces"
        raise NotImplementedError(f"{name} has no derivatives by {argument}; {remedy}")

    def refuse(self, name: str) -> NoReturn:
        """Raise NotImplementedError for the derivatives of a function."""
        found = self._described.get(name)
        needed = [found.first] if found is not None else []
        needed += [found.second for found in self._described.values() if found.first == name]
        missing = [other for other in needed if other and other not in self._functions]
        remedy = f"; build it with {advice(*missing)}" if missing else ""
        if name in (found.weighted for found in self._described.values()):
            remedy = '; of what it is the gradient of mode="jvp" has second derivatives'
        raise NotImplementedError(f"{name} has no derivatives here{remedy}")


class Solution(NamedTuple):
    """The derivatives F_q, F_v, F_tau of forward dynamics as functions, by those of inverse dynamics, G_q,
    G_v and M, at the acceleration that forward dynamics gives: dF = -F_tau (dG + dM F). `steps` and `weights`
    are what G takes in place of F, `changes` and `gradients` what F gives where G gives these.
    """

    by_q: Any
    by_v: Any
    by_tau: Any

    def steps(self, along: Sequence[Any]) -> list[Any]:
        """Steps of q, v and the acceleration."""
        moved = [(F @ dx[..., None])[..., 0] for F, dx in zip(self, along, strict=False) if dx is not None]
        return [*along[:2], sum(moved[1:], moved[0])]

    def changes(self, G: Sequence[Any]) -> list[Any]:
        """Changes of F_q, F_v and F_tau."""
        by_q, by_v, inertia = G
        every = (by_q + inertia @ self.by_q, by_v + inertia @ self.by_v, inertia @ self.by_tau)
        return [-(self.by_tau @ change) for change in every]

    def weights(self, given: Sequence[Any]) -> list[Any]:
        """Weights of G_q, G_v and M."""
        turned = [-(self.by_tau.mT @ g) for g in given]
        first, *others = (g @ F.mT for g, F in zip(turned, self, strict=True))
        return [*turned[:2], sum(others, first)]

    def gradients(self, G: Sequence[Any]) -> list[Any]:
        """Gradients by q, v and tau."""
        by_q, by_v, by_tau = ((G[2][..., None, :] @ F)[..., 0, :] for F in self)
        return [G[0] + by_q, G[1] + by_v, by_tau]


def changed(J: Any, dx: Any, own: tuple[int, ...]) -> Any:
    """Derivatives (..., *own, n) of a result times a change of an input, which has n entries."""
    batch = J.shape[: J.ndim - len(own) - 1]
    return (J.reshape((*batch, prod(own), J.shape[-1])) @ dx.reshape((*batch, J.shape[-1], 1))).reshape(
        (*batch, *own)
    )


def weighted(J: Any, g: Any, own: tuple[int, ...]) -> Any:
    """Weights `g` (..., *own) of a result times its derivatives by an input of n entries, (..., n)."""
    batch = J.shape[: J.ndim - len(own) - 1]
    row = g.reshape((*batch, 1, prod(own))) @ J.reshape((*batch, prod(own), J.shape[-1]))
    return row.reshape((*batch, J.shape[-1]))


class Part(NamedTuple):
    """Entries of q of one kind ("vector", "floating", "spherical", "planar"): where they and their velocities
    begin, and how many there are. `x` are arrays as q or as v; `xp` is the framework's module of functions of
    arrays.
    """

    kind: str
    q: int
    nq: int
    v: int
    nv: int

    def unit(self, q: Any, xp: Any) -> Any:
        """Its entries of q, normalised."""
        x = q[..., self.q : self.q + self.nq]
        if self.kind == "vector":
            return x
        first = self.nq - (2 if self.kind == "planar" else 4)
        turning = x[..., first:]
        return xp.concatenate([x[..., :first], turning / _sum(turning * turning) ** 0.5], -1)

    def to_tangent(self, q: Any, x: Any, factor: float, xp: Any) -> Any:
        """Entries as of q to those as of its velocity, in the body's axes, linear part first; quaternions by
        `factor`.
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
        """The transpose of `to_tangent`."""
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
    """The configurations of a module. Arrays are those of a framework, (..., nq) and (..., nv)."""

    def __init__(self, parts: Sequence[Part], operations: Any) -> None:
        self._parts, self._operations = tuple(parts), operations
        self._flat = all(part.kind == "vector" for part in self._parts)
        for part in self._parts:
            if part.kind not in KINDS:
                raise NotImplementedError(f"no derivatives by the configuration of a {part.kind} joint")

    def unit(self, q: Any) -> Any:
        """q with unit quaternions, cosines and sines."""
        return self._each(lambda part: part.unit(q, self._operations), q)

    def velocity(self, q: Any, dq: Any) -> Any:
        """The tangent vector (..., nv) of a change of the entries of a unit q."""
        return self._each(lambda part: part.to_tangent(q, dq, 2.0, self._operations), dq)

    def covector(self, q: Any, g: Any) -> Any:
        """The gradient (..., nq) by the entries of a unit q of what has the gradient g by tangent vectors."""
        return self._each(lambda part: part.to_entries(q, g, 2.0, self._operations), g)

    def change(self, q: Any, v: Any) -> Any:
        """The change of the entries of a unit q (..., nq) along a tangent vector: of quaternions half of
        q o v, of which `covector` has four times.
        """
        return self._each(lambda part: part.to_entries(q, v, 0.5, self._operations), v)

    def direction(self, q: Any, g: Any) -> Any:
        """The gradient (..., nv) by tangent vectors of what has the gradient g by the entries of a unit q:
        the transpose of `change`.
        """
        return self._each(lambda part: part.to_tangent(q, g, 0.5, self._operations), g)

    def _each(self, made: Callable[[Part], Any], flat: Any) -> Any:
        return flat if self._flat else self._operations.concatenate([made(part) for part in self._parts], -1)


def _entries(x: Any) -> list[Any]:
    return [x[..., k : k + 1] for k in range(x.shape[-1])]


def _sum(x: Any) -> Any:
    return sum(_entries(x))


def _rotated(u: Any, w: Any, x: Any, xp: Any) -> Any:
    """x turned by the unit quaternion with imaginary part u and real part w."""
    t = 2.0 * xp.linalg.cross(u, x)
    return x + w * t + xp.linalg.cross(u, t)
