"""The system of accelerations and forces of contacts, by its factors:

    [-E  -J ] [f     ]   [gamma  ]
    [-J^T M ] [qddot ] = [tau - h],     E = mu + 1 - s on the diagonal

Factors L^T D L of the whole keep the zeros of M between branches, and rows of J have entries only along the
bodies that carry their contact; what is left for the contacts is -(J M^-1 J^T + E). Contacts that are not
active have zeros for their rows of J and gamma, s = 0, and forces of zero. Where rows depend on others there
is a second, proximal step, with gamma - mu f on the right, which leaves an error of the square of mu. Each
step is a solution of its own equations of motion, and derivatives are those of what the steps compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.contacts.motion import ContactMotion
from rbdc.algorithms.tools.linear import Factorisation, Matrix, transposed
from rbdc.model import Model
from rbdc.model.contacts import ContactOptions
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero

Vector = list[Scalar]
Step = tuple[Vector, Vector]
"""Accelerations (nv) and forces (nc) of one step, or changes and weights of them."""

SOLUTION = "solution"
"""Symbol of the forces of all contacts and what the joints' velocities change by, in one row."""

WEIGHTS = "z"
"""Symbol of the weights of the residuals of all contacts and of the joints' equations, in one row."""


@dataclass(frozen=True)
class Constraints:
    """The matrix of the module's docstring by its factors, rows of contacts first; switches of the rows, and
    mu of the proximal step, 0 where there is none.
    """

    factors: Factorisation
    switches: Vector
    mu: Scalar

    @staticmethod
    def of(model: Model, inertia: Matrix, jacobian: Matrix, options: ContactOptions) -> Constraints:
        """From M and J (nc, nv)."""
        switches, rows = options.switches(model), range(len(jacobian))
        mu: Scalar = 0.0 if options.mu is None else options.mu[0]
        held = [[-(s * x) for x in row] for s, row in zip(switches, jacobian, strict=True)]
        diagonal = [[-(mu + (1.0 - switches[k])) if k == i else 0.0 for i in rows] for k in rows]
        above = [[*own, *row] for own, row in zip(diagonal, held, strict=True)]
        below = [[*column, *own] for column, own in zip(transposed(held), inertia, strict=True)]
        return Constraints(Factorisation([*above, *below]), switches, mu if model.redundant else 0.0)

    def right_sides(self, by: Matrix, residual: Matrix) -> Matrix:
        """Right-hand sides of derivatives by what inverse dynamics and the residual change by, the rows of
        contacts first, zero where they are switched off.
        """
        held = [[s * x for x in row] for s, row in zip(self.switches, residual, strict=True)]
        return [*held, *([-x for x in row] for row in by)]

    def steps(self, forces: Vector, residual: Vector) -> list[Step]:
        """The solution of each step for generalised forces (nv), and the residual that contacts would have
        without accelerations (nc).
        """
        return self._in_turn([(forces, residual)] * (1 if is_zero(self.mu) else 2))

    def changed(self, *sides: tuple[Vector, Vector]) -> Step:
        """The change of the last step's solution. sides: for each step what its generalised forces and its
        residual change by at its own accelerations and forces.
        """
        return self._in_turn(sides)[-1]

    def _in_turn(self, sides: Sequence[tuple[Vector, Vector]]) -> list[Step]:
        found: list[Step] = []
        for forces, residual in sides:
            rows = self._held(residual)
            if found:
                rows = [x - self.mu * f for x, f in zip(rows, found[-1][1], strict=True)]
            solved = self.factors.solve([*rows, *forces])
            found.append((solved[len(rows) :], solved[: len(rows)]))
        return found

    def weights(self, accelerations: Vector, forces: Vector) -> list[Step]:
        """z of each step for weights of the last step's solution (nv, nc): that is weighted as the step's
        generalised forces and residual are by z.
        """
        (found,) = self._in_turn([(accelerations, forces)])
        if is_zero(self.mu):
            return [found]
        nothing: Vector = [0.0] * len(accelerations)
        (before,) = self._in_turn([(nothing, [-(self.mu * x) for x in found[1]])])
        return [before, found]

    def _held(self, residual: Vector) -> Vector:
        """A residual (nc), zero where contacts are switched off."""
        return [s * x for s, x in zip(self.switches, residual, strict=True)]


def stacked(contacts: Sequence[ContactMotion]) -> Matrix:
    """J (nc, nv) of all contacts."""
    return [row for contact in contacts for row in contact.jacobian()]
