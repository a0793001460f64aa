"""Second derivatives of inverse and of forward dynamics through their recursions, over numbers of four parts:
a value, its rates along two directions, and the mixed second rate.

Hyper-dual numbers apply the chain rule twice, line by line (Lee, Kim, Park, Kim and Bobrow, 2005). The
bicomplex step (Lantoine, Russell and Dargent, 2012) is the other scheme. Singh, Russell and Wensing compare
both in section V-A. Symmetric entries are computed once: those for two directions of q that belong to
different joints, and those for two directions of v.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from rbdc.algorithms.reference.aba import aba, forward_dynamics
from rbdc.algorithms.reference.dual_numbers import stepped
from rbdc.algorithms.reference.rnea import inverse_dynamics, rnea
from rbdc.algorithms.tools.composed import ComposedMachine, Scheme
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.tools.machine import Array, Index, Machine
from rbdc.model import Problem
from rbdc.spatial import Forces, Scalar, Scalars
from rbdc.spatial.scalars import is_zero
from rbdc.spatial.tangent import OuterTangent, Tangent, rate_of


class Complex(Tangent):
    """Complex numbers with an imaginary part so small that its sine equals it and its cosine is 1."""

    __slots__ = ()

    def __mul__(self, other: Any) -> Any:
        if type(other) is not type(self):
            return super().__mul__(other)
        value = self.value * other.value - self.rate * other.rate
        return type(self)(value, self.value * other.rate + self.rate * other.value)

    __rmul__ = __mul__


class NestedComplex(Complex, OuterTangent):
    """Complex numbers whose parts are `Complex`, with a second imaginary unit."""

    __slots__ = ()


class FourParts(NamedTuple):
    """A `Scheme` that uses dual numbers of dual numbers.

    first, then: types of the numbers for the two directions.
    length: length of the steps.
    """

    first: type[OuterTangent]
    then: type[Tangent]
    length: float = 1.0

    def last(self, x: Scalar) -> Scalar:
        """Return the mixed second rate, divided by the lengths of both steps."""
        part = rate_of(rate_of(x, self.first), self.then)
        return part if self.length == 1.0 else part * (1.0 / self.length) * (1.0 / self.length)


CHAIN_RULE = FourParts(OuterTangent, Tangent)
BICOMPLEX = FourParts(NestedComplex, Complex, 1e-20)
"""The bicomplex step: the result is Im12 / h^2, with the coefficient Im12 of i1 i2 after steps h i1 and h i2.
"""


def second_derivatives(
    m: ComposedMachine,
    text: Callable[..., Array[Scalar]],
    scheme: Scheme,
    names: tuple[str, str, str, str],
    *inputs: str,
) -> tuple[Array[Scalar], ...]:
    """Return the second derivatives of `text`, a recursion, over all degrees of freedom: qq, vv, qv, and
    those with respect to q and the last input (default: a).

    inputs: inputs of the text besides q, v and a.
    """
    qq, vv, qv, last = map(m.tensor, names)
    by = inputs[-1] if inputs else "a"
    for j in m.repeated("the first direction"):
        for k in m.earlier_joints(j):
            for tensor, x in ((qq, "q"), (vv, "v")):
                mixed = m.mixed(text, (x, j), (x, k), scheme, *inputs)
                m.put(tensor, "ijk", (mixed, "i"), j=j, k=k)
                m.put(tensor, "ikj", (mixed, "i"), j=j, k=k)
        for k in m.same_joint(j):
            for tensor, x in ((qq, "q"), (vv, "v")):
                m.put(tensor, "ijk", (m.mixed(text, (x, j), (x, k), scheme, *inputs), "i"), j=j, k=k)
        for k in m.repeated():
            m.put(qv, "ijk", (m.mixed(text, ("q", j), ("v", k), scheme, *inputs), "i"), j=j, k=k)
            _last(m, text, scheme, by, (last, j, k), inputs)
    return qq, vv, qv, last


def _last(
    m: ComposedMachine,
    text: Callable[..., Array[Scalar]],
    scheme: Scheme,
    by: str,
    place: tuple[Array[Scalar], Index, Index],
    inputs: tuple[str, ...],
) -> None:
    """Set dM_ij/dq_k of inverse dynamics, or dM^-1_ik/dq_j of forward dynamics."""
    tensor, j, k = place
    first, then = (("a", j), ("q", k)) if by == "a" else (("q", j), (by, k))
    m.put(tensor, "ijk", (m.mixed(text, first, then, scheme, *inputs), "i"), j=j, k=k)


def of_inverse_dynamics(m: ComposedMachine, *, scheme: Scheme) -> tuple[Array[Scalar], ...]:
    """Return d2tau_dqdq, d2tau_dvdv, d2tau_dqdv and dM_dq, which do not depend on damping and armature."""
    names = ("d2tau_dqdq", "d2tau_dvdv", "d2tau_dqdv", "dM_dq")
    return second_derivatives(m, inverse_dynamics, scheme, names)


def of_forward_dynamics(m: ComposedMachine, _: Array[Scalar], *, scheme: Scheme) -> tuple[Array[Scalar], ...]:
    """Return d2ddq_dqdq, d2ddq_dvdv, d2ddq_dqdv and d2ddq_dqdtau at the input tau."""
    names = ("d2ddq_dqdq", "d2ddq_dvdv", "d2ddq_dqdv", "d2ddq_dqdtau")
    return second_derivatives(m, damped_forward_dynamics, scheme, names, "tau")


def damped_forward_dynamics(m: Machine, tau: Array[Scalar]) -> Array[Scalar]:
    """Return the accelerations under the torques tau minus damping."""
    moving: Array[Scalar] = m.array("moving", float)
    for b in m.down():
        for k, damping, rate in zip(b.columns(), b.damping(), b.rates(), strict=True):
            moving[k] = tau[k] if is_zero(damping) else tau[k] - damping * rate
    return forward_dynamics(m, moving)


def _pair_by_pair(
    method: Callable[..., Scalars], scheme: Scheme, *, inverse: bool
) -> Callable[..., tuple[Matrix, ...]]:
    """Return a reference for the second derivatives of `rnea` or `aba`, each (nv * nv, nv): row nv i + j,
    column k.
    """

    def derivatives(
        model: Problem, q: Scalars, v: Scalars, x: Scalars, fext: Forces | None = None
    ) -> tuple[Matrix, ...]:
        size = range(model.nv)
        joint = [i for i, b in enumerate(model.bodies) if b.coupling is None for _ in range(b.joint.nv)]

        def mixed(first: tuple[int, int], then: tuple[int, int]) -> list[Scalar]:
            inputs = [q, v, x]
            for (number, direction), kind in ((then, scheme.then), (first, scheme.first)):
                unit = [scheme.length if k == direction else 0.0 for k in size]
                inputs[number] = stepped(model, inputs[number], unit, number == 0, kind)
            return [scheme.last(y) for y in method(model, *inputs, fext)]

        def pages(first: int, then: int) -> Matrix:
            entries: dict[tuple[int, int], list[Scalar]] = {}
            for j, k in product(size, size):
                alike = first == then and (k, j) in entries and (first == 1 or joint[j] != joint[k])
                entries[j, k] = entries[k, j] if alike else mixed((first, j), (then, k))
            return [[entries[j, k][i] for k in size] for i in size for j in size]

        last = (2, 0) if inverse else (0, 2)
        return pages(0, 0), pages(1, 1), pages(0, 1), pages(*last)

    return derivatives


rnea_by_chain_rule = _pair_by_pair(rnea, CHAIN_RULE, inverse=True)
rnea_by_bicomplex_step = _pair_by_pair(rnea, BICOMPLEX, inverse=True)
aba_by_chain_rule = _pair_by_pair(aba, CHAIN_RULE, inverse=False)
aba_by_bicomplex_step = _pair_by_pair(aba, BICOMPLEX, inverse=False)
