"""Quantities of Singh, Russell and Wensing on a tree, by the reference's texts in the world's frame, and
their derivatives by dual numbers in the tangent space, which know no identity of the article.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from rbdc.algorithms.reference.derivatives.idsva import BodyCoriolis, in_motion
from rbdc.algorithms.reference.dual_numbers import differentiated
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.rnea import body_forces, forward_pass, rnea
from rbdc.algorithms.tools.linear import flat
from rbdc.algorithms.tools.one_frame import OneFrame
from rbdc.model import Problem
from rbdc.spatial import Motion, RigidInertia, Scalar, Scalars
from rbdc.spatial.tangent import OuterTangent
from tests.support import Array
from tests.support_tensors import coriolis
from tests.support_trees import random_tree

UNITS = [Motion.of(row) for row in np.eye(6).tolist()]
COLUMNS = ("S", "Sdot", "SqxS", "Psidot", "Psiddot")
"""Quantities of degrees of freedom; Sdot = v_i x S_i, SqxS = (S_i qdot_i) x S_i."""
BODIES = ("v", "a", "Ia", "f", "fC")
MATRICES = ("I", "IC", "B", "BC")
"""Quantities of bodies; those with a C are of their subtrees."""


def quantities(model: Problem, q: Scalars, v: Scalars, a: Scalars) -> tuple[list[Scalar], ...]:
    """Return all quantities, each as a list of its entries."""
    m = OneFrame(model, q, v, a)
    vs, accelerations = forward_pass(m)
    forces, (rates, subtrees), by_name = body_forces(m, vs, accelerations), in_motion(m), _empty()
    for b in m.down():
        inertia, subtree = b.inertia(), subtrees[b]
        for k in b.columns():
            of_column = (
                k.s,
                vs[b].cross(k.s),
                b.motion(b.rates()).cross(k.s),
                rates[k].psi_rate,
                rates[k].psi_second,
            )
            for name, x in zip(COLUMNS, of_column, strict=True):
                by_name[name] += x.scalars()
        bodily = vs[b], accelerations[b], inertia @ accelerations[b], forces[b], subtree.force
        for name, y in zip(BODIES, bodily, strict=True):
            by_name[name] += y.scalars()
        factors = (BodyCoriolis.of_body(inertia, vs[b]), subtree.factor)
        for name, which in zip(("I", "IC"), (inertia, subtree.inertia), strict=True):
            by_name[name] += flat([(which @ e).scalars() for e in UNITS])
        for name, factor in zip(("B", "BC"), factors, strict=True):
            by_name[name] += [0.5 * x for e in UNITS for x in factor.apply(e).scalars()]
    return tuple(by_name.values())


def _empty() -> dict[str, list[Scalar]]:
    return {name: [] for name in (*COLUMNS, *BODIES, *MATRICES)}


class Tree:
    """A random tree in a random state: `x["S"]` (nv, 6), `x["IC"]` (bodies, 6, 6); their derivatives by q
    and v have the direction last; `body` of each degree of freedom, `inertias` of subtrees.
    """

    def __init__(self, seed: int) -> None:
        self.model, rng = random_tree(seed), np.random.default_rng(seed)
        model = self.model
        self.q = [float(x) for x in integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())]
        self.v, self.a = rng.normal(size=(2, model.nv)).tolist()
        self.body = [i for i, b in enumerate(model.bodies) for _ in range(b.joint.nv)]
        self.x = self._named(quantities(model, self.q, self.v, self.a), 1)
        m = OneFrame(model, self.q, self.v, self.a)
        self.inertias: list[RigidInertia] = [s.inertia for s in m.in_order(in_motion(m)[1])]

    def _named(self, lists: Sequence[Sequence[Scalar]], directions: int) -> dict[str, Array]:
        arrays = {}
        for name, values in zip(_empty(), lists, strict=True):
            shape = (6, 6) if name in MATRICES else (6,)
            array = np.array(values, dtype=float).reshape(-1, *shape, directions)
            array = array.swapaxes(1, 2) if name in MATRICES else array  # they come column by column
            arrays[name] = array[..., 0] if directions == 1 else array
        return arrays

    @cached_property
    def slopes(self) -> dict[str, dict[str, Array]]:
        """The derivatives of all quantities by q and by v."""
        both = differentiated(
            self.model, self.q, self.v, self.a, method=quantities, configurations=(True, False)
        )
        return {by: self._named(both[k::2], self.model.nv) for k, by in enumerate("qv")}

    def at_or_above(self, j: int, i: int) -> bool:
        """Whether body j is body i or carries it."""
        return j in self.model.support(i)

    def coriolis(self, body: int, motion: Array) -> Array:
        """B(I_i^C, s)."""
        return coriolis(self.inertias[body], motion)

    @cached_property
    def first(self) -> dict[str, Array]:
        """dtau/dq, dtau/dv and M by dual numbers through RNEA (nv, nv), [i, j]: of tau_i by j."""
        n = self.model.nv
        slopes = _slopes(self.model, self.q, self.v, self.a)
        return {by: np.array(x, dtype=float).reshape(n, n) for by, x in zip("qva", slopes, strict=True)}

    @cached_property
    def second(self) -> dict[str, Array]:
        """L_k (L_j tau_i) by dual numbers twice (nv, nv, nv), [i, j, k]: qq, vv, qv, vq, and aq, M by q."""
        n = self.model.nv
        rates = differentiated(
            self.model, self.q, self.v, self.a, method=_inner_slopes, configurations=(True, False)
        )
        names = [first + then for first in "qva" for then in "qv"]
        return {name: np.array(x, dtype=float).reshape(n, n, n) for name, x in zip(names, rates, strict=True)}


def _slopes(model: Problem, *inputs: Any, **named: Any) -> tuple[list[Scalar], ...]:
    return differentiated(model, *inputs, method=rnea, configurations=(True, False, False), **named)


def _inner_slopes(model: Problem, *inputs: Any) -> tuple[list[Scalar], ...]:
    return _slopes(model, *inputs, kind=OuterTangent)


@cache
def tree(seed: int) -> Tree:
    """Return the tree of all tests."""
    return Tree(seed)
