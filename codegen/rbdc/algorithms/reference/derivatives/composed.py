"""Texts (recursions over a machine) that run other texts, evaluated over numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import product
from typing import Self

from rbdc.algorithms.reference.derivatives.side_by_side import LaneEntries, SideBySide
from rbdc.algorithms.reference.dual_numbers import stepped
from rbdc.algorithms.tools.composed import ComposedMachine, Factor, Scheme, Step
from rbdc.algorithms.tools.joint_coordinates import full_size
from rbdc.algorithms.tools.machine import Array, Index
from rbdc.algorithms.tools.numbers import Entries, Numbers
from rbdc.model import Problem
from rbdc.spatial import Forces, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import is_zero


class ComposedNumbers(SideBySide, ComposedMachine):
    """A machine on which texts can run other texts. It does not support mimic joints.

    inputs: further inputs by name, for `mixed`.
    """

    def __init__(
        self,
        model: Problem,
        q: Scalars,
        v: Scalars | None = None,
        a: Scalars | None = None,
        fext: Forces = (),
        **inputs: Scalars,
    ) -> None:
        super().__init__(model, q, v, a, fext)
        self.q, self.forces, self.inputs = q, fext, inputs

    @property
    def size(self) -> int:
        """Number of degrees of freedom."""
        return full_size(self.model)

    def repeated(self, about: str = "") -> Iterator[Index]:
        yield from map(Index, range(self.size))

    @contextmanager
    def accelerated(self, a: Array[Scalar]) -> Iterator[Self]:
        yield self._moving(self.rates, self._by_joints(a))

    @contextmanager
    def at_rest(self, a: Array[Scalar] | None = None) -> Iterator[Self]:
        still = [[0.0] * len(rates) for rates in self.rates]
        machine = self._moving(still, still if a is None else self._by_joints(a))
        machine.gravity, machine.fext = Vector3.zero(), ()
        yield machine

    def earlier_joints(self, j: Index) -> Iterator[Index]:
        yield from (k for k in self.repeated() if self._joint(k) < self._joint(j))

    def same_joint(self, j: Index) -> Iterator[Index]:
        yield from (k for k in self.repeated() if self._joint(k) == self._joint(j))

    def _joint(self, k: Index) -> int:
        return next(b.at for b in self.bodies for column in b.columns() if column.at == k.at)

    def mixed(
        self, text: Callable[..., Array[Scalar]], first: Step, then: Step, scheme: Scheme, *names: str
    ) -> Array[Scalar]:
        inputs = {"q": self.q, "v": self.v, "a": self.a} | {name: self.inputs[name] for name in names}
        for (name, direction), kind in ((then, scheme.then), (first, scheme.first)):
            unit = [scheme.length if k == direction.at else 0.0 for k in range(self.size)]
            inputs[name] = stepped(self.model, inputs[name], unit, name == "q", kind)
        m = Numbers(self.model, inputs["q"], inputs["v"], inputs["a"], self.forces)
        change = m.in_order(text(m, *(m.given(inputs[name]) for name in names)))
        return m.given([scheme.last(x) for x in change])

    def _moving(self, rates: list[list[Scalar]], seconds: list[list[Scalar]]) -> Self:
        machine = copy(self)
        machine.bodies = [machine._body(index) for index in range(self.model.njoints)]
        machine.__dict__ |= {"rates": rates, "seconds": seconds}
        return machine

    def _by_joints(self, vector: Array[Scalar]) -> list[list[Scalar]]:
        values = [vector[Index(k)] for k in range(self.size)]
        return [[values[k.at] for k in body.columns()] for body in self.bodies]

    def add_products(
        self, into: Array[Scalar], at: str, *factors: Factor, negative: bool = False, **fixed: Index
    ) -> None:
        for numbers, value in self._products(at, factors, negative=negative, fixed=fixed):
            if not is_zero(value):
                into.add(numbers, value)

    def put(
        self, into: Array[Scalar], at: str, factor: Factor, *, negative: bool = False, **fixed: Index
    ) -> None:
        for numbers, value in self._products(at, (factor,), negative=negative, fixed=fixed):
            into[numbers] = value

    def _products(
        self, at: str, factors: Sequence[Factor], *, negative: bool, fixed: dict[str, Index]
    ) -> Iterator[tuple[Index | tuple[Index, ...], Scalar]]:
        letters = dict.fromkeys(letter for letter in at + "".join(axes for _, axes in factors))
        free = [letter for letter in letters if letter not in fixed]
        for numbers in product(range(self.size), repeat=len(free)):
            bound = fixed | {letter: Index(k) for letter, k in zip(free, numbers, strict=True)}
            value: Scalar = -1.0 if negative else 1.0
            for array, axes in factors:
                value = value * _entry(array, tuple(bound[letter].at for letter in axes))
            places = tuple(bound[letter] for letter in at)
            yield (places if len(places) > 1 else places[0]), value

    def symmetric(self, upper: Array[Scalar]) -> Array[Scalar]:
        for j, k in product(range(self.size), repeat=2):
            if j < k:
                upper[Index(k), Index(j)] = upper[Index(j), Index(k)]
        return upper


def _entry(array: Array[Scalar], at: tuple[int, ...]) -> Scalar:
    known = array.known if isinstance(array, (Entries, LaneEntries)) else {}
    return known.get(at if len(at) > 1 else at[0], 0.0)
