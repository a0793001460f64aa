"""Derivatives in the library for CasADi, against differences of the functions that they are derivatives of:
of the values, which have been compared with the references, and in turn of first derivatives. What is of
unit length in q, a quaternion or a cosine and a sine, is longer here: CasADi takes it as if it were divided
by its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import SingularModelError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import REFERENCES, FunctionDeclaration, Parameter
from rbdc.functions.evaluation import Part
from rbdc.functions.record import Differential
from rbdc.model import Problem
from rbdc.verification.casadi_calls import External
from rbdc.verification.expected import Expected, References, telling
from rbdc.verification.states import Checked, Question, covering, name_of_number, sampled

Array = NDArray[np.float64]

CANDIDATES, SEED = (0, *range(10, 16), *range(1, 10)), 3
"""Numbers of states, of those whose functions have digits there the first are taken: at rest, where inputs
are zeros, then at random.
"""
LENGTHS = np.array([[2.0], [0.5], [3.0]])
"""Lengths that vectors of unit length have instead, at each of the states that are taken."""

STEP = 1e-3
BESIDE = (-3, -2, -1, 1, 2, 3)
"""The steps along a direction between whose ends differences are taken."""
SLOPES = np.array([(-1, 9, -45, 45, -9, 1), (0, 5, -40, 40, -5, 0)]) / (60.0 * STEP)
"""Factors of the values there whose sum is the slope, to the sixth and to the fourth order."""

ROUNDING = 1e-9
"""Part of the largest value and the largest slope of an output at a state that each of its slopes there may
be off by.
"""
SMALL = 1e-6
"""Size from which it counts: what is less can be what rounding leaves of zeros, by inputs of some units."""
ORDERS = 100.0
"""Times the difference of both orders that slopes may be off by: rounding shows in it by a seventh."""


@dataclass(frozen=True)
class Derivative:
    """An external function of derivatives at some states, and the one that they are derivatives of beside
    them, along a direction for each of the inputs that it is differentiated by, (states, size). weights: of
    its output, (states, size), where the derivatives are products with them. states: their numbers.
    """

    declaration: FunctionDeclaration
    states: Sequence[int]
    external: External
    of: External
    directions: Mapping[str, Array]
    weights: Array | None = None

    def name_of_state(self, state: int) -> str:
        """Words for the kind of one of the states."""
        return name_of_number(self.declaration, self.states[state])

    @property
    def beside(self) -> External:
        """The function that is differentiated, at the ends of all steps, of one input after the other."""
        names, arrays = list(self.directions), list[Array | None]()
        for x, values in zip(self.of.inputs, self.of.arrays, strict=True):
            if values is None:
                arrays.append(None)
                continue
            ends: Array = np.tile(values, (len(names), len(BESIDE), 1, 1))
            if x.name in names:
                ends[names.index(x.name)] += STEP * np.multiply.outer(BESIDE, self.directions[x.name])
            arrays.append(ends.reshape(-1, values.shape[1]))
        return replace(self.of, arrays=tuple(arrays))

    def along(
        self, found: Sequence[Array], beside: Sequence[Array]
    ) -> Iterator[tuple[Parameter, Expected, Array]]:
        """Each derivative along the direction of its input: its name, what it should be and what it is; by
        inputs that have none all entries are zero. found, beside: outputs of `external` and of `beside`.
        """
        values = [
            x.swapaxes(1, 2).reshape(len(self.directions), len(BESIDE), len(self.states), -1) for x in beside
        ]
        if self.weights is not None:
            values = [np.sum(values[0] * self.weights, axis=-1, keepdims=True)]
            found = [x.swapaxes(1, 2) for x in found]
        by = product(map(self._slopes, values), (x.name for x in self.of.inputs))
        for y, x, (slopes, name) in zip(self.external.outputs, found, by, strict=True):
            none = np.zeros(x.shape[:2])
            right, result = Expected(none, none), np.sum(np.abs(x), axis=2)
            if name in slopes:
                right, result = slopes[name], np.einsum("sij,sj->si", x, self.directions[name])
            yield Parameter(f"{y.name} in a direction", x.shape[1:2], ""), right, result

    def _slopes(self, values: Array) -> dict[str, Expected]:
        """The slopes of an output along the direction of each input by its name."""
        sixth, fourth = np.einsum("op,ipsn->oisn", SLOPES, values)
        sizes = np.maximum(np.max(np.abs(sixth), axis=(0, 2)), np.max(np.abs(values), axis=(0, 1, 3)))
        largest = np.maximum(np.where(np.isfinite(sizes), sizes, 0.0), SMALL)
        off = ROUNDING * largest + ORDERS * np.max(np.abs(sixth - fourth), axis=2)
        off = np.where(np.isfinite(off), off, np.nan)[..., None]
        made = zip(self.directions, sixth, np.broadcast_to(off, sixth.shape), strict=True)
        return {name: Expected(slopes, tolerances) for name, slopes, tolerances in made}


def derivatives(
    references: References, robot: str, declarations: Sequence[FunctionDeclaration], seed: int = SEED
) -> Iterator[Derivative]:
    """All that the library should have of these functions, at states of the seed. Raises SingularModelError
    where none of them will do.
    """
    model = references.model
    catalogue, built = functions_of(model), {d.name for d in declarations}

    def differential(name: str) -> Differential | None:
        own = catalogue[name].differential if name in catalogue else None
        return own if own is not None and own.first in built else None

    for declaration in declarations:
        d, rng = differential(declaration.name), np.random.default_rng(seed)
        if d is None:
            continue
        states = _states(references, declaration, seed)
        inputs = _inputs(model, declaration, seed, states)
        directions = {name: rng.normal(size=x.shape) for name, x in inputs.items()}
        for place in _places(model, declaration):
            arrays = [inputs.get(p.name) for p in declaration.inputs]
            values = External.of(f"{robot}_casadi_{declaration.name}", declaration, arrays, place)
            first = values.jacobian()
            yield Derivative(declaration, states, first, values, directions)
            if d.second in built or differential(d.first):
                yield Derivative(declaration, states, first.jacobian(), first, directions)
        if d.weighted in built:
            (y,) = values.outputs
            weights = rng.normal(size=(len(states), y.rows * y.columns))
            products = values.products(weights)
            yield Derivative(declaration, states, products, values, directions, weights)
            if d.second in built or differential(d.weighted):
                by = {**directions, f"adj_{y.name}": rng.normal(size=weights.shape)}
                yield Derivative(declaration, states, products.jacobian(), products, by)


def _states(references: References, declaration: FunctionDeclaration, seed: int) -> list[int]:
    """The numbers of the states that are taken: at the others derivatives may have no digit either."""
    drawn = sampled(references.model, declaration, seed, CANDIDATES)
    inputs = {p.name: drawn[p.name] for p in declaration.required}
    place, *_ = _places(references.model, declaration)
    question = Question(Checked(declaration, (Part(declaration.name),)), inputs, place)
    told = telling(references.expected(declaration, question.parts(), inputs))
    taken = [number for number, tells in zip(CANDIDATES, told, strict=True) if tells]
    if not taken:
        raise SingularModelError(
            f"{declaration.name}: its derivatives in the library for CasADi cannot be verified, for at none "
            f"of {len(told)} states it is defined and well-conditioned; leave casadi out of the targets, or "
            "install it unverified with `verify=False`"
        )
    return taken[: len(LENGTHS)]


def _inputs(
    model: Problem, declaration: FunctionDeclaration, seed: int, states: Sequence[int]
) -> dict[str, Array]:
    """The required inputs, (states, size) each, configurations with vectors that are not of unit length."""
    drawn = sampled(model, declaration, seed, states)
    inputs = {p.name: drawn[p.name] for p in declaration.required}
    joints = [(body.joint, body.index_q) for body in model.bodies if body.coupling is None]
    for q in (inputs[p.name] for p in declaration.required if p.configuration):
        for joint, first in joints:
            if not joint.euclidean:
                q[:, first + joint.lengths : first + joint.nq] *= LENGTHS[: len(states)]
    return inputs


def _places(model: Problem, declaration: FunctionDeclaration) -> list[tuple[int, ...]]:
    """The place of the function, if it has one: of the deepest frame, in every reference."""
    if not declaration.framed:
        return [()]
    frame = max(covering(model), key=lambda k: len(model.support(model.frames[k].body)))
    return [(frame, reference) for reference in range(len(REFERENCES))]
