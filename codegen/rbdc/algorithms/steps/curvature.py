"""Second derivatives of time steps by Euler's rules, without the terms of second derivatives of
accelerations.

The step leads to q' and v'. For a joint that turns, let e = dt v' (semi-implicit) or dt v (explicit). Along a
direction a, q changes by dq_a, e by e_a, and q' by

    x_a = dq_a + J(e) (e_a - ad(e) dq_a)

with the right Jacobian J of SE(3) (`rbdc.algorithms.steps.rules`). For weights w, w^T x_a = g^T dq_a + p^T
e_a with p = J^T w and g = w - ad(e)^T p. In the tangent space at q', the second derivative of w^T q' along a,
then along b, is

    (dg/de e_b)^T dq_a + (dp/de e_b)^T e_a + w^T [x_b, x_a] / 2 + p^T e_ab

with the second derivative e_ab of e. The last term contains second derivatives of accelerations. The other
terms are computed here, joint by joint.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.logarithm import rate_of_exponential, transposed_rate_of_exponential
from rbdc.algorithms.steps.rules import joints_of
from rbdc.algorithms.tools.linear import Matrix, Vector, identity, plus, product, transposed, zeros
from rbdc.model import Problem
from rbdc.model.joints import JointType
from rbdc.spatial import Force, Motion, Scalars
from rbdc.spatial.tangent import rate_of, tangents

PAIRS = ((0, 0), (1, 1), (0, 1), (0, 2), (1, 2), (2, 2))
"""The two variables of each block of a Hessian: 0 is q, 1 is v, 2 is tau."""


def implicit(model: Problem) -> bool:
    """Return whether the configuration moves with the velocity after the step."""
    return model.integrator == "semi-implicit"


def weights_of_accelerations(model: Problem, e: Scalars, dt: Scalars, w_q: Scalars, w_v: Scalars) -> Vector:
    """Return the gradient of w_q^T q' + w_v^T v' with respect to ddq (nv)."""
    (h,) = dt
    weights = list(w_v)
    for body, entries in joints_of(model) if implicit(model) else ():
        pulled = _pulled(body.joint, e[entries], w_q[entries])
        weights[entries] = [x + h * y for x, y in zip(weights[entries], pulled, strict=True)]
    return [h * x for x in weights]


def _pulled(joint: JointType, e: Scalars, w: Scalars) -> Vector:
    """Return p = J(e)^T w of a joint."""
    if joint.euclidean:
        return list(w)
    return joint.project(transposed_rate_of_exponential(joint.motion(e), _as_force(joint.motion(w))))


def _as_force(motion: Motion) -> Force:
    return Force(motion.linear, motion.angular)


def add_curvature(
    model: Problem, e: Scalars, w_q: Scalars, steps: Sequence[Matrix], blocks: Sequence[Matrix]
) -> None:
    """Add the terms of joints that turn to the blocks of `PAIRS` (nv, nv each). steps: derivatives of e with
    respect to q, v and tau (nv, nv each). Checked against nested dual numbers through the reference.
    """
    for body, entries in joints_of(model):
        if body.joint.euclidean:
            continue
        form, still = _form(body.joint, e[entries], w_q[entries]), zeros(body.joint.nv, model.nv)
        ways = [[*(still if k else identity(model.nv)[entries]), *x[entries]] for k, x in enumerate(steps)]
        turned = [product(form, way) for way in ways]
        for block, (a, b) in zip(blocks, PAIRS, strict=True):
            block[:] = plus(block, product(transposed(ways[a]), turned[b]))


def turns_of(model: Problem, w_q: Scalars, first: Matrix, second: Matrix) -> Matrix:
    """Return w_q^T [x_b, x_a] / 2 in row a and column b, for the columns x_a of `first` and x_b of `second`,
    which are derivatives of q'.
    """
    result = zeros(len(first[0]), len(second[0]))
    for body, entries in joints_of(model):
        if body.joint.euclidean:
            continue
        half, columns = _as_force(body.joint.motion(w_q[entries]).scaled(-0.5)), transposed(second[entries])
        turned = [body.joint.project(body.joint.motion(x).cross_force(half)) for x in columns]
        result = plus(result, product(transposed(first[entries]), transposed(turned)))
    return result


def _form(joint: JointType, e: Scalars, w: Scalars) -> Matrix:
    """Return the matrix of a joint's bilinear form in (dq_a, e_a) and (dq_b, e_b), the terms without e_ab."""
    size, half = joint.nv, _as_force(joint.motion(w).scaled(0.5))
    motions = [
        step - rate_of_exponential(joint.motion(e), joint.motion(e).cross(step)) for step in joint.subspace()
    ]
    motions += [rate_of_exponential(joint.motion(e), step) for step in joint.subspace()]
    form = [[x.dot(y.cross_force(half)) for x in motions] for y in motions]
    for k, unit in enumerate(identity(size), size):
        rates = [rate_of(x) for x in _gradient(joint, tangents(e, unit), w)]
        for row, rate in zip(form, rates, strict=True):
            row[k] = row[k] + rate
    return form


def _gradient(joint: JointType, e: Scalars, w: Scalars) -> Vector:
    """Return g and p."""
    turn, weight = joint.motion(e), _as_force(joint.motion(w))
    pulled = transposed_rate_of_exponential(turn, weight)
    return [*joint.project(weight + turn.cross_force(pulled)), *joint.project(pulled)]
