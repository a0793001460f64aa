"""Packing into lanes: random programs over a trunk, limbs on it and limbs on those compute what they did, in
the lanes meant for each.
"""

from __future__ import annotations

import itertools
from typing import TypeVar

import numpy as np
import pytest

from rbdc.ir.builder import Builder
from rbdc.ir.nodes import ArgumentArray, Program, Section, Value
from rbdc.ir.operations import ADD, COS, GATHER, INPUT, MUL, REDUCE, SIN, SUB, Operation
from rbdc.ir.passes.simplify import optimise, remove_dead_code
from rbdc.ir.passes.vectorise.lanes import Exchange, pack
from rbdc.ir.verify import MalformedProgram, verify
from rbdc.reduction.limbs import LimbGroup
from tests.support_programs import evaluate, finish

T = TypeVar("T")


class Tree:
    """Random expressions over trunk, arms and fingers, the same for all arms and all fingers: trunk[k],
    arms[k][m], fingers[k][m][n]; and products of two fingers' values, pairs.
    """

    def __init__(self, seed: int, arms: int, fingers: int) -> None:
        self.rng, self.builder, self.shape = np.random.default_rng(seed), Builder(), (arms, fingers)
        builder = self.builder
        self.trunk = [builder.input("trunk", 0)]
        self.arms = [[builder.apply(SIN, (builder.input("arm", m),)) for m in range(arms)]]
        places = [[m * fingers + n for n in range(fingers)] for m in range(arms)]
        self.fingers = [
            [[builder.input(name, k) for k in row] for row in places] for name in ("finger", "table")
        ]
        self.pairs: list[int] = []
        for _ in range(12):
            for grow in (self.grow_fingers, self.grow_arms, self.grow_trunk):
                grow()
        self.grow_pairs()

    def one_of(self, items: list[T]) -> T:
        return items[int(self.rng.integers(len(items)))]

    def operation(self) -> Operation:
        return (ADD, SUB, MUL)[int(self.rng.integers(3))]

    def grow_fingers(self) -> None:
        (arms, count), apply, operation = self.shape, self.builder.apply, self.operation()
        x = self.one_of(self.fingers)
        others = (
            self.one_of(self.fingers),
            [[k] * count for k in self.one_of(self.arms)],
            [[self.one_of(self.trunk)] * count] * arms,
        )
        y = others[int(self.rng.integers(3))]
        pairs = [list(zip(*row, strict=True)) for row in zip(x, y, strict=True)]
        self.fingers.append([[apply(COS, (apply(operation, pair),)) for pair in row] for row in pairs])

    def grow_arms(self) -> None:
        apply, operation = self.builder.apply, self.operation()
        x, y = self.one_of(self.arms), self.one_of(self.fingers)
        angles = []
        for entry, above in zip(x, y, strict=True):
            total = apply(SIN, (entry,))  # of its own, so that no partial sum is an accident's counterpart
            for k in above:
                total = apply(SUB if operation is SUB else ADD, (total, k))
            angles.append(apply(SIN, (total,)))
        self.arms.append(angles)
        self.arms.append([apply(operation, (k, self.trunk[-1])) for k in angles])

    def grow_trunk(self) -> None:
        """A sum of some values of all arms or of all fingers, added or subtracted, in some order."""
        rows = [self.one_of(self.arms) for _ in range(3)]
        if self.rng.random() < 0.5:
            rows = [[k for row in self.one_of(self.fingers) for k in row] for _ in range(3)]
        signs = [bool(self.rng.integers(2)) for _ in rows]
        terms = [(k, sign) for row, sign in zip(rows, signs, strict=True) for k in row]
        total = self.builder.apply(SIN, (self.trunk[-1],))
        for place in self.rng.permutation(len(terms)):
            k, subtracted = terms[place]
            total = self.builder.apply(SUB if subtracted else ADD, (total, k))
        self.trunk.append(self.builder.apply(SIN, (total,)))

    def grow_pairs(self) -> None:
        ends = [k for row in self.fingers[-1] for k in row]
        self.pairs = [
            self.builder.apply(MUL, pair) for pair in itertools.combinations_with_replacement(ends, 2)
        ]

    def program(self) -> Program:
        arms, fingers = self.shape
        results = [
            *self.trunk,
            *itertools.chain(*self.arms),
            *(k for x in self.fingers for row in x for k in row),
            *self.pairs,
        ]
        inputs = [
            ArgumentArray("trunk", 1),
            ArgumentArray("arm", arms),
            ArgumentArray("finger", arms * fingers),
            ArgumentArray("table", arms * fingers),
        ]
        return finish(
            "p", inputs, [ArgumentArray("r", len(results))], self.builder, [results], [Section("s", "f")], {}
        )


def exchange(arms: int, fingers: int, numbers: list[float]) -> Exchange:
    """Return bodies: of each arm itself, then its fingers."""
    limbs = tuple(tuple(range(m * (1 + fingers), (m + 1) * (1 + fingers))) for m in range(arms))
    group = LimbGroup(limbs, (LimbGroup(tuple((1 + n,) for n in range(fingers))),))
    assert group.lanes()[1] == tuple(limbs[m][1 + n] for n in range(fingers) for m in range(arms))
    entry: dict[int, list[tuple[str, int]]] = {limb[0]: [("arm", m)] for m, limb in enumerate(limbs)}
    for m, n in itertools.product(range(arms), range(fingers)):
        entry[limbs[m][1 + n]] = [("finger", m * fingers + n), ("table", m * fingers + n)]
    steps = [
        {a: b for k, n in step.items() for a, b in zip(entry[k], entry[n], strict=True)}
        for step in group.steps()
    ]
    return Exchange(steps, [arms, arms * fingers], {("table", k): x for k, x in enumerate(numbers)})


@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (4, 2)])
@pytest.mark.parametrize("seed", range(8))
def test_limbs_on_limbs_compute_the_same_side_by_side(seed: int, shape: tuple[int, int]) -> None:
    arms, fingers = shape
    program = Tree(seed, arms, fingers).program()
    rng = np.random.default_rng(seed)
    inputs = {array.name: rng.normal(size=array.size).tolist() for array in program.inputs}
    packed = pack(program, exchange(arms, fingers, inputs["table"]))
    for in_lanes in (packed, verify(optimise(packed))):
        np.testing.assert_allclose(
            evaluate(in_lanes, **inputs)[0], evaluate(program, **inputs)[0], rtol=0.0, atol=1e-12
        )
    alone = [v for v in remove_dead_code(packed).values if v.width == 1 and v.operation in (MUL, COS)]
    assert not alone, "what belongs to fingers and their pairs is in lanes"
    angles = {value.width for value in packed.values if value.operation is SIN}
    assert {1, arms} == angles, "arms have as many lanes as there are arms"
    assert {value.width for value in packed.values if value.operation is COS} == {arms * fingers}


def test_a_sum_over_limbs_is_one_reduction() -> None:
    """However many terms each limb gives it: they are added in lanes first."""
    builder, limbs = Builder(), range(4)
    first, second = ([builder.input(name, m) for m in limbs] for name in "xy")
    total = builder.input("c", 0)
    for m in limbs:
        total = builder.apply(SUB, (total, builder.apply(MUL, (first[m], second[m]))))
        total = builder.apply(ADD, (total, builder.apply(COS, (first[m],))))
    inputs = [ArgumentArray("x", 4), ArgumentArray("y", 4), ArgumentArray("c", 1)]
    program = finish("p", inputs, [ArgumentArray("r", 1)], builder, [[total]], [Section("s", "f")], {})
    moves = {(name, m): (name, (m + 1) % 4) for name in "xy" for m in limbs}
    packed = remove_dead_code(pack(program, Exchange([moves], [4], {})))
    assert [v.operation for v in packed.values].count(REDUCE) == 1
    numbers = {"x": [0.1, 0.2, 0.3, 0.4], "y": [1.0, 2.0, 3.0, 4.0], "c": [5.0]}
    assert evaluate(packed, **numbers)[0] == pytest.approx(evaluate(program, **numbers)[0], rel=1e-15)


def test_verify_refuses_mixed_widths() -> None:
    x = Value(INPUT, source=("x", 0))
    values = (
        x,
        Value(GATHER, (0, 0), width=2),
        Value(GATHER, (0,) * 4, width=4),
        Value(ADD, (1, 2), width=4),
    )
    program = Program(
        "p", (ArgumentArray("x", 1),), (ArgumentArray("r", 1),), values, ((0,),), (Section("s", "f"),), {}
    )
    with pytest.raises(MalformedProgram, match="different widths"):
        verify(program)
