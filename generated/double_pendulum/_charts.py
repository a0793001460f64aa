"""Configurations by their entries and in the tangent space, for frameworks that differentiate (JAX,
PyTorch). It is copied into each generated package and needs Python alone.

Frameworks differentiate by all nq entries of q. What they get is f(q / |q|): quaternions, and a planar
joint's cosine and sine, are normalised first, so that f(q) and its derivatives are defined off the unit
sphere too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

KINDS = ("vector", "floating", "spherical", "planar")

Join = Callable[[Sequence[Any]], Any]
"""Arrays side by side along their last dimension."""


class Part(NamedTuple):
    """Entries of q of one kind ("vector", "floating", "spherical", "planar"): where they and their velocities
    begin, and how many there are.
    """

    kind: str
    q: int
    nq: int
    v: int
    nv: int

    def of_q(self, x: Any) -> Any:
        """Its entries of an array as q."""
        return x[..., self.q : self.q + self.nq]

    def of_v(self, x: Any) -> Any:
        """Its entries of an array as v."""
        return x[..., self.v : self.v + self.nv]


class Chart:
    """The configurations of a module. Arrays are those of a framework, (..., nq) and (..., nv)."""

    def __init__(self, parts: Sequence[Part], join: Join) -> None:
        self._parts, self._join = tuple(parts), join
        for part in self._parts:
            if part.kind not in KINDS:
                raise NotImplementedError(f"no derivatives by the configuration of a {part.kind} joint")

    @property
    def flat(self) -> bool:
        """Whether configurations are a vector space."""
        return all(part.kind == "vector" for part in self._parts)

    def unit(self, q: Any) -> Any:
        """q with unit quaternions, cosines and sines."""
        return self._each(lambda part: _unit(part.kind, part.of_q(q), self._join), q)

    def velocity(self, q: Any, dq: Any) -> Any:
        """The tangent vector (..., nv) of a change of the entries of a unit q."""
        return self._to_tangent(q, dq, 2.0)

    def covector(self, q: Any, g: Any) -> Any:
        """The gradient (..., nq) by the entries of a unit q of what has the gradient g by tangent vectors."""
        return self._to_entries(q, g, 2.0)

    def change(self, q: Any, v: Any) -> Any:
        """The change of the entries of a unit q (..., nq) along a tangent vector: of quaternions half of
        q o v, of which `covector` has four times.
        """
        return self._to_entries(q, v, 0.5)

    def direction(self, q: Any, g: Any) -> Any:
        """The gradient (..., nv) by tangent vectors of what has the gradient g by the entries of a unit q:
        the transpose of `change`.
        """
        return self._to_tangent(q, g, 0.5)

    def _to_tangent(self, q: Any, x: Any, factor: float) -> Any:
        return self._each(
            lambda part: _to_tangent(part.kind, part.of_q(q), part.of_q(x), factor, self._join), x
        )

    def _to_entries(self, q: Any, x: Any, factor: float) -> Any:
        return self._each(
            lambda part: _to_entries(part.kind, part.of_q(q), part.of_v(x), factor, self._join), x
        )

    def _each(self, made: Callable[[Part], Any], flat: Any) -> Any:
        return flat if self.flat else self._join([made(part) for part in self._parts])


def _entries(x: Any, count: int) -> list[Any]:
    return [x[..., k : k + 1] for k in range(count)]


def _unit(kind: str, x: Any, join: Join) -> Any:
    """One joint's entries, normalised."""
    if kind == "vector":
        return x
    first = {"floating": 3, "spherical": 0, "planar": 2}[kind]
    turning = x[..., first:]
    squares = sum(entry * entry for entry in _entries(turning, 2 if kind == "planar" else 4))
    return join([x[..., :first], turning / squares**0.5])


def _to_tangent(kind: str, x: Any, dx: Any, factor: float, join: Join) -> Any:
    """One joint's entries as of q to those as of its velocity, in the body's axes, linear part first;
    quaternions by `factor`.
    """
    if kind == "vector":
        return dx
    if kind == "planar":
        _, _, c, s = _entries(x, 4)
        across, along, dc, ds = _entries(dx, 4)
        return join([c * across + s * along, c * along - s * across, c * ds - s * dc])
    first = 3 if kind == "floating" else 0
    u, w = _entries(x[..., first:], 3), x[..., first + 3 :]
    d, dw = _entries(dx[..., first:], 3), dx[..., first + 3 :]
    turned = [factor * (w * a - dw * b - c) for a, b, c in zip(d, u, _cross(u, d), strict=True)]
    linear = _rotated([-a for a in u], w, _entries(dx, 3)) if first else []
    return join([*linear, *turned])


def _to_entries(kind: str, x: Any, g: Any, factor: float, join: Join) -> Any:
    """The transpose of `_to_tangent`."""
    if kind == "vector":
        return g
    if kind == "planar":
        _, _, c, s = _entries(x, 4)
        across, along, turning = _entries(g, 3)
        return join([c * across - s * along, s * across + c * along, -s * turning, c * turning])
    first = 3 if kind == "floating" else 0
    u, w = _entries(x[..., first:], 3), x[..., first + 3 :]
    turning = _entries(g[..., first:], 3)
    imaginary = [factor * (w * a + b) for a, b in zip(turning, _cross(u, turning), strict=True)]
    real = -factor * sum(a * b for a, b in zip(u, turning, strict=True))
    linear = _rotated(u, w, _entries(g, 3)) if first else []
    return join([*linear, *imaginary, real])


def _cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3)]


def _rotated(u: Sequence[Any], w: Any, x: Sequence[Any]) -> list[Any]:
    """x turned by the unit quaternion with imaginary part u and real part w."""
    t = [2.0 * entry for entry in _cross(u, x)]
    return [a + w * b + c for a, b, c in zip(x, t, _cross(u, t), strict=True)]
