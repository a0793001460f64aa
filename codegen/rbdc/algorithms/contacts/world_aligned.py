"""Forces and rows of contacts along the world's axes, from those along the axes of the contacts' frames.

With R the rotations of the frames of body 1 in the world, in blocks of three, w_k the angular velocities that
degrees of freedom give to these bodies, f' = R f and r' = R r

    f'_x = R f_x + w_k x f' (by q),     f = R^T f',     f_q = -R^T (w_k x f')

where forces are an output and an input. Loops that hold less than vectors keep the axes of their frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rbdc.algorithms.contacts.dynamics import constrained_dynamics, contact_inverse_dynamics, impulse_dynamics
from rbdc.algorithms.contacts.motion import ContactMotion, TreeMotion, contact_motions, tree_motion
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.model import Model
from rbdc.spatial import Scalar, Scalars, Vector3

Vector = list[Scalar]
Algorithm = Callable[..., Any]


@dataclass(frozen=True)
class _Axes:
    """The contacts at q, between the axes of their frames and the world's."""

    tree: TreeMotion
    contacts: list[ContactMotion]

    @staticmethod
    def of(model: Model, q: Scalars) -> _Axes:
        tree = tree_motion(model, q)
        return _Axes(tree, contact_motions(tree))

    def _blocks(self, rows: Scalars, turn: Callable[[ContactMotion, Vector3], Vector3]) -> Vector:
        found: Vector = []
        for contact in self.contacts:
            own = list(rows[len(found) : len(found) + contact.contact.rows])
            if contact.contact.whole:
                vectors = [turn(contact, Vector3.of(own[k : k + 3])) for k in range(0, len(own), 3)]
                own = [x for vector in vectors for x in vector.scalars()]
            found += own
        return found

    def world(self, rows: Scalars) -> Vector:
        """R rows."""
        turn = self.tree.frame.rotation
        return self._blocks(rows, lambda c, x: turn.apply(c.first.rotation.apply(x)))

    def own(self, rows: Scalars) -> Vector:
        """R^T rows."""
        turn = self.tree.frame.rotation
        return self._blocks(rows, lambda c, x: c.first.rotation.apply_transposed(turn.apply_transposed(x)))

    def columns(self, matrix: Matrix) -> Matrix:
        """R times a matrix (nc, n)."""
        return transposed([self.world(column) for column in transposed(matrix)])

    def turning(self, rows: Scalars) -> Matrix:
        """w_k x rows (nc, nv), of rows along the world's axes."""
        model, turn = self.tree.model, self.tree.frame.rotation

        def moved(index: int, w: Vector3) -> Callable[[ContactMotion, Vector3], Vector3]:
            zero = Vector3.zero()
            return lambda c, x: w.cross(x) if index in model.support(c.bodies[0]) else zero

        full = [
            self._only_whole(self._blocks(rows, moved(index, turn.apply(s.angular))))
            for index in range(model.njoints)
            for s in self.tree.columns[index]
        ]
        return reduce_columns(model, transposed(full))

    def _only_whole(self, rows: Vector) -> Vector:
        kept = [c.contact.whole for c in self.contacts for _ in range(c.contact.rows)]
        return [x if keep else 0.0 for x, keep in zip(rows, kept, strict=True)]


def _sum(one: Matrix, other: Matrix) -> Matrix:
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(one, other, strict=True)]


def _product(matrix: Matrix, other: Matrix) -> Matrix:
    columns = transposed(other)
    return [[dot(row, column) for column in columns] for row in matrix]


def _rows(algorithm: Algorithm, which: int | None = None) -> Algorithm:
    """A function of which an output, or the only one, is over the rows of contacts."""

    def turned(model: Model, q: Scalars, *rest: Any, **options: Any) -> Any:
        axes, found = _Axes.of(model, q), algorithm(model, q, *rest, **options)
        outputs = [found] if which is None else list(found)
        place = which or 0
        one = outputs[place]
        outputs[place] = axes.columns(one) if isinstance(one[0], list) else axes.world(one)
        return outputs[0] if which is None else tuple(outputs)

    return turned


def _delassus(algorithm: Algorithm) -> Algorithm:
    def turned(model: Model, q: Scalars, **options: Any) -> Matrix:
        axes, found = _Axes.of(model, q), algorithm(model, q, **options)
        return axes.columns(transposed(axes.columns(found)))

    return turned


def _forces_found(values: Algorithm, first: int) -> Callable[[Algorithm], Algorithm]:
    """Derivatives of a function whose second output is forces; theirs, by q at first, from `first` on."""

    def of(algorithm: Algorithm) -> Algorithm:
        def turned(model: Model, q: Scalars, *rest: Any, **options: Any) -> tuple[Matrix, ...]:
            axes, found = _Axes.of(model, q), list(algorithm(model, q, *rest, **options))
            forces = axes.world(values(model, q, *rest, **_silent(options))[1])
            found[first:] = [axes.columns(matrix) for matrix in found[first:]]
            found[first] = _sum(found[first], axes.turning(forces))
            return tuple(found)

        return turned

    return of


def _silent(options: dict[str, Any]) -> dict[str, Any]:
    return {name: x for name, x in options.items() if name != "trace"}


def _forces_given(algorithm: Algorithm) -> Algorithm:
    """A function whose last input is forces."""

    def turned(model: Model, q: Scalars, *rest: Any, **options: Any) -> Any:
        return algorithm(model, q, *rest[:-1], _Axes.of(model, q).own(rest[-1]), **options)

    return turned


def _by_forces(which: int) -> Callable[[Algorithm], Algorithm]:
    """Derivatives of a function whose last input is forces: those by q first, those by forces at `which`."""

    def of(algorithm: Algorithm) -> Algorithm:
        def turned(model: Model, q: Scalars, *rest: Any, **options: Any) -> tuple[Matrix, ...]:
            axes = _Axes.of(model, q)
            found = list(_forces_given(algorithm)(model, q, *rest, **options))
            found[which] = [axes.world(row) for row in found[which]]
            turning = [[-x for x in row] for row in axes.turning(rest[-1])]
            found[0] = _sum(found[0], _product(found[which], turning))
            return tuple(found)

        return turned

    return of


def _of_inverse_dynamics(algorithm: Algorithm) -> Algorithm:
    def turned(model: Model, q: Scalars, *rest: Any, **options: Any) -> tuple[Matrix, ...]:
        axes, found = _Axes.of(model, q), list(_by_forces(3)(algorithm)(model, q, *rest, **options))
        v, a, forces = rest
        residual = contact_inverse_dynamics(model, q, v, a, axes.own(forces), **_silent(options))[1]
        found[4:] = [axes.columns(matrix) for matrix in found[4:]]
        found[4] = _sum(found[4], axes.turning(axes.world(residual)))
        return tuple(found)

    return turned


def _jvp(algorithm: Algorithm) -> Algorithm:
    def turned(model: Model, q: Scalars, *rest: Any, **options: Any) -> tuple[Vector, Vector]:
        axes, (moved, pushed) = _Axes.of(model, q), algorithm(model, q, *rest, **options)
        forces = axes.world(constrained_dynamics(model, q, *rest[:2], **_silent(options))[1])
        turning = [dot(row, rest[2]) for row in axes.turning(forces)]
        return moved, [x + y for x, y in zip(axes.world(pushed), turning, strict=True)]

    return turned


def _vjp(algorithm: Algorithm) -> Algorithm:
    def turned(model: Model, q: Scalars, *rest: Any, **options: Any) -> tuple[Vector, ...]:
        axes, weights = _Axes.of(model, q), rest[-1]
        by_q, *others = algorithm(model, q, *rest[:-1], axes.own(weights), **options)
        forces = axes.world(constrained_dynamics(model, q, *rest[:2], **_silent(options))[1])
        turning = transposed(axes.turning(forces))
        return [x + dot(weights, column) for x, column in zip(by_q, turning, strict=True)], *others

    return turned


TURNED: dict[str, Callable[[Algorithm], Algorithm]] = {
    **dict.fromkeys(("contact_jacobian", "contact_velocity", "contact_error", "contact_drift"), _rows),
    "delassus": _delassus,
    **dict.fromkeys(("constrained_dynamics", "impulse_dynamics"), lambda f: _rows(f, 1)),
    "constrained_dynamics_derivatives": _forces_found(constrained_dynamics, 3),
    "impulse_dynamics_derivatives": _forces_found(impulse_dynamics, 2),
    "constrained_dynamics_jvp": _jvp,
    "constrained_dynamics_vjp": _vjp,
    "contact_inverse_dynamics": lambda f: _rows(_forces_given(f), 1),
    "contact_inverse_dynamics_derivatives": _of_inverse_dynamics,
    "contact_forward_dynamics": _forces_given,
    "contact_forward_dynamics_derivatives": _by_forces(3),
    "centroidal_contact_dynamics": _forces_given,
    "centroidal_contact_dynamics_derivatives": _by_forces(1),
}
"""How functions are turned, by their names."""
