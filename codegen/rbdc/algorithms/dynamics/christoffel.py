"""Christoffel symbols of the first kind of M, from composite inertias alone.

They are the coefficients of the Coriolis matrix, C(q, v)_ij = sum_k G_ijk v_k (`dynamics.coriolis`).
Take three degrees of freedom l, u and t with the directions s_l, s_u and s_t in one frame. l belongs to the
deepest joint, u to the same joint or an ancestor, and t to the joint of u or an ancestor of that joint. I is
the composite inertia of the body of l. With

    a = s_t . (s_u x* I s_l) / 2                        (antisymmetric in u and t)
    b = s_t . (s_l x* I s_u - I (s_l x s_u)) / 2        (symmetric in u and t)

the entries are

    G_tlu = b + a,  G_ult = b - a,  G_lut = a - b

If j and k belong to different joints, G_ijk = G_ikj. The entries follow from C = sum of J^T (I dJ/dt + B J)
over bodies, with B(I, v) of Echeandia and Wensing (2021).
"""

from __future__ import annotations

from itertools import chain

from rbdc.algorithms.dynamics.coriolis import coriolis
from rbdc.algorithms.dynamics.crba import composite_inertias
from rbdc.algorithms.tools.joint_coordinates import full_size, reduce_tensor
from rbdc.algorithms.tools.linear import Matrix, flat, identity, zeros
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.one_frame import RootFrame
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import Scalars


def christoffel(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return the symbols G (nv * nv, nv; row nv * i + j, column k; kg m^2, kg m, kg). Checked: sum_k G_ijk
    v_k = C(q, v)_ij, and G_ijk + G_jik = dM_ij/dq_k.
    """
    if model.curves:
        columns = [flat(coriolis(model, q, unit, trace)) for unit in identity(model.nv)]
        return [list(row) for row in zip(*columns, strict=True)]
    m = RootFrame(model, q, trace=trace)
    return flat(reduce_tensor(model, _symbols(m)))


def _symbols(m: Numbers) -> list[Matrix]:
    size, composite = full_size(m.model), composite_inertias(m)
    symbols = [zeros(size, size) for _ in range(size)]
    for low in m.columns():
        inertia = composite[low.body]
        momentum = inertia @ low.s
        for u in chain(low.body.columns(), low.body.above()):
            turned = u.s.cross_force(momentum).scaled(0.5)
            bent = (low.s.cross_force(inertia @ u.s) - inertia @ low.s.cross(u.s)).scaled(0.5)
            for t in chain(u.body.columns(), u.body.above()):
                a, b = t.s.dot(turned), t.s.dot(bent)
                for i, j, k, x in ((t, low, u, b + a), (u, low, t, b - a), (low, u, t, a - b)):
                    symbols[i.at][j.at][k.at] = x
                    if j.body is not k.body:
                        symbols[i.at][k.at][j.at] = x
    return symbols
