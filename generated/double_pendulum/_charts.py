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
        return q if self.flat else self._each(lambda part, x: _unit(part.kind, x, self._join), q)

    def velocity(self, q: Any, dq: Any) -> Any:
        """The tangent vector (..., nv) of a change of the entries of a unit q."""
        if self.flat:
            return dq
        made = [
            _velocity(part.kind, _of(q, part.q, part.nq), _of(dq, part.q, part.nq), self._join)
            for part in self._parts
        ]
        return self._join(made)

    def covector(self, q: Any, g: Any) -> Any:
        """The gradient (..., nq) by the entries of a unit q of what has the gradient g by tangent vectors."""
        if self.flat:
            return g
        made = [
            _covector(part.kind, _of(q, part.q, part.nq), _of(g, part.v, part.nv), self._join)
            for part in self._parts
        ]
        return self._join(made)

    def change(self, q: Any, v: Any) -> Any:
        """The change of the entries of a unit q (..., nq) along a tangent vector: quaternions, half of q o v,
        turn by a fourth of `covector`, which has twice that.
        """
        made = self.covector(q, v)
        return made if self.flat else self._quartered(made, [(part.q, part.nq) for part in self._parts])

    def direction(self, q: Any, g: Any) -> Any:
        """The gradient (..., nv) by tangent vectors of what has the gradient g by the entries of a unit q:
        the transpose of `change`.
        """
        made = self.velocity(q, g)
        return made if self.flat else self._quartered(made, [(part.v, part.nv) for part in self._parts])

    def _quartered(self, x: Any, places: Sequence[tuple[int, int]]) -> Any:
        """Entries of quaternions, or of their angular velocities, by four; `places`: of each part in x."""
        made = []
        for part, (start, count) in zip(self._parts, places, strict=True):
            first = {"floating": 3, "spherical": 0}.get(part.kind, count)
            made += [_of(x, start, first), 0.25 * _of(x, start + first, count - first)]
        return self._join(made)

    def _each(self, change: Callable[[Part, Any], Any], q: Any) -> Any:
        return self._join([change(part, _of(q, part.q, part.nq)) for part in self._parts])


def _of(x: Any, start: int, count: int) -> Any:
    return x[..., start : start + count]


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


def _velocity(kind: str, x: Any, dx: Any, join: Join) -> Any:
    """One joint's velocity: in the body's axes, linear part first."""
    if kind == "vector":
        return dx
    if kind == "planar":
        _, _, c, s = _entries(x, 4)
        across, along, dc, ds = _entries(dx, 4)
        return join([c * across + s * along, c * along - s * across, c * ds - s * dc])
    first = 3 if kind == "floating" else 0
    u, w = _entries(x[..., first:], 3), x[..., first + 3 :]
    d, dw = _entries(dx[..., first:], 3), dx[..., first + 3 :]
    turned = [2.0 * (w * a - dw * b - c) for a, b, c in zip(d, u, _cross(u, d), strict=True)]
    linear = _rotated([-a for a in u], w, _entries(dx, 3)) if first else []
    return join([*linear, *turned])


def _covector(kind: str, x: Any, g: Any, join: Join) -> Any:
    """The transpose of `_velocity`."""
    if kind == "vector":
        return g
    if kind == "planar":
        _, _, c, s = _entries(x, 4)
        across, along, turning = _entries(g, 3)
        return join([c * across - s * along, s * across + c * along, -s * turning, c * turning])
    first = 3 if kind == "floating" else 0
    u, w = _entries(x[..., first:], 3), x[..., first + 3 :]
    turning = _entries(g[..., first:], 3)
    imaginary = [2.0 * (w * a + b) for a, b in zip(turning, _cross(u, turning), strict=True)]
    real = -2.0 * sum(a * b for a, b in zip(u, turning, strict=True))
    linear = _rotated(u, w, _entries(g, 3)) if first else []
    return join([*linear, *imaginary, real])


def _cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3)]


def _rotated(u: Sequence[Any], w: Any, x: Sequence[Any]) -> list[Any]:
    """x turned by the unit quaternion with imaginary part u and real part w."""
    t = [2.0 * entry for entry in _cross(u, x)]
    return [a + w * b + c for a, b, c in zip(x, t, _cross(u, t), strict=True)]
