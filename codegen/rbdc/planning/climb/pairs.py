"""The loops of a frame's Jacobian relative to another frame, and of a frame's manipulability with its
gradient.
"""

from __future__ import annotations

from rbdc.algorithms.frame_pairs import SINGULAR, factorised
from rbdc.algorithms.tools.linear import Factorisation
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.ir.indices import TableEntry, Variable
from rbdc.ir.loops import Clear, Loop, Statement
from rbdc.model import Problem
from rbdc.planning.climb.steps import PathStep, by_reference, down, of_joint, once, up
from rbdc.spatial import Force, Motion, Placement
from rbdc.spatial.scalars import sqrt


def relative_jacobian(model: Problem) -> list[Statement]:
    """Return the loops over the columns of the joints that carry only one of the two frames."""

    def column(m: PathStep) -> None:
        m.put("J", m.seen(m.column).scalars())

    def other(m: PathStep) -> None:
        s = Placement.of(m.read("other_world", 12)).act(m.motion("other_columns", k=6))
        if m.reference == "LOCAL":
            s = m.world.act_inverse(s)
        elif m.reference != "WORLD":
            s = Motion(s.linear + s.angular.cross(m.world.translation), s.angular)
        m.put("J", (-s).scalars())

    others = of_joint(model, by_reference(model, other), at=TableEntry("other_path", Variable("i")))
    return [
        up(of_joint(model, by_reference(model, column)), stop=Variable("own_length")),
        up(others, stop=Variable("other_length"), about="columns of joints that carry only the other frame"),
    ]


def manipulability_gradient(model: Problem, scalar: ScalarType) -> list[Statement]:
    """Return the loops of w = sqrt(det(A)), A = J J^T, and of its gradient. Gradient entry k is w times the
    sum of s_k . (-s_i x* y_i) over the joints i above joint k, with the columns y_i of Y = A^-1 J.
    """
    singular = SINGULAR * 2.0 ** (DOUBLE.bits - scalar.bits)

    def column(m: PathStep) -> None:
        m.add("jacobian", m.column.scaled(m.factor()).scalars(), column=6)

    def products(m: PathStep) -> None:
        s = m.read("jacobian", 6, k=6)
        m.add("products", [s[i] * s[j] for i in range(6) for j in range(i + 1)])

    def factors(m: PathStep) -> None:
        read = iter(m.read("products", 21))
        rows = [[next(read) for _ in range(i + 1)] for i in range(6)]
        a = [[rows[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)]
        determinant, factorisation = factorised(a, m.read("enough_of", 1, frame=1)[0], singular)
        lower = [x for i, row in enumerate(factorisation.factors.entries) for x in row[: i + 1]]
        m.label("A = L^T D L: L and the inverse pivots, 1 in place of singular pivots", "lower", lower)
        m.write("factors", lower)
        m.write("manipulability", [sqrt(determinant)])

    def solve(m: PathStep) -> None:
        read = iter(m.read("factors", 21))
        rows = [[next(read) if j <= i else 0.0 for j in range(6)] for i in range(6)]
        m.write("solutions", Factorisation.of_factors(rows).solve(m.read("jacobian", 6, k=6)), k=6)

    def along(m: PathStep) -> None:
        w = m.read("manipulability", 1)[0]
        m.put("gradient", [w * m.column.dot(Force.of(m.read("above", 6)))])

    def bend(m: PathStep) -> None:
        w, y = m.read("manipulability", 1)[0], Force.of(m.read("solutions", 6, column=6))
        m.put_plain("gradient", [w * m.column.dot(y)])

    def force(m: PathStep) -> None:
        y = Force.of(m.read("solutions", 6, column=6))
        above = Force.of(m.read("above", 6)) - m.column.cross_force(y).scaled(m.factor())
        m.write("above", above.scalars())

    return [
        Clear("jacobian", 6 * model.nv),
        up(of_joint(model, once(model, column))),
        Clear("products", 21),
        Loop("k", 0, model.nv, (once(model, products),), "A = J J^T"),
        once(model, factors),
        Loop("k", 0, model.nv, (once(model, solve),), "Y = A^-1 J"),
        Clear("above", 6),
        down(
            of_joint(model, once(model, along), once(model, bend)),
            of_joint(model, once(model, force)),
            about="root to frame: s . (sum of -s_i x* y_i over the joints i above) = tr(A^-1 dA/dq) / 2",
        ),
    ]
