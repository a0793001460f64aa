"""Steps of loops: what they store is read as it will be there, in the order of a text around inner loops."""

from __future__ import annotations

import numpy as np
import pytest

from rbdc.errors import UnsupportedError
from rbdc.ir.loops import Loop, LoopNest, Statement
from rbdc.ir.verify import MalformedProgram
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.recording import Scope, StepRecorder
from rbdc.planning.loops.tree import TreeTables
from rbdc.spatial import Placement
from tests.support import Array
from tests.support_loops import run
from tests.support_trees import random_tree

Q = np.array([2.0, 3.0])


def result(*statements: Statement) -> Array:
    """Return x (2) after the statements, for the input q (2)."""
    loop = Loop("i", 0, 2, statements)
    return run(LoopNest((), {}, (loop,)), {"x": 2}, q=Q)["x"]


def test_what_is_added_is_read_with_the_sum() -> None:
    step = StepRecorder("")
    (q,) = step.read("q", 1, i=1)
    step.write("x", [q], i=1)
    step.add("x", [q], i=1)
    (twice,) = step.read("x", 1, i=1)
    step.add("x", [twice * twice], i=1)
    np.testing.assert_array_equal(result(step.step()), 2 * Q + 4 * Q**2)


def test_sums_that_nothing_reads_stay_sums() -> None:
    first, step = StepRecorder(""), StepRecorder("")
    first.write("x", [1.0], i=1)
    for _ in range(2):
        step.add("x", step.read("q", 1, i=1), i=1)
    recorded = step.step()
    assert [array.adds for array in recorded.program.outputs] == [True]
    np.testing.assert_array_equal(result(first.step(), recorded), 1 + 2 * Q)


def test_a_step_stores_a_place_once() -> None:
    """An output by one name has one place: a second store would take the place of the first."""
    step = StepRecorder("")
    step.add("x", [1.0], i=1)
    step.write("x", step.read("q", 1, i=1), i=1)
    with pytest.raises(MalformedProgram, match="stores x_i twice"):
        step.step()


def test_values_outlive_an_inner_loop() -> None:
    """A step after an inner loop reads again what the one before it has read and stored."""
    scope, inner = Scope(), Scope()
    (q,) = scope.read("q", 1, i=1)
    scope.write("x", [q], i=1)
    inner.add("x", [1.0], i=1)
    scope.enclose(Loop("k", 0, 3, inner.statements(dry=False)), inner)
    (x,) = scope.read("x", 1, i=1)
    scope.write("x", [q * x], i=1)
    np.testing.assert_array_equal(result(*scope.statements(dry=False)), Q * (Q + 3))


def test_an_inner_loop_is_given_what_it_uses() -> None:
    outer, inner = Scope(), Scope()
    inner.write("x", outer.read("q", 1, i=1), i=1)
    with pytest.raises(UnsupportedError, match="uses q_i without reading it: pass it to the inner loop"):
        inner.statements(dry=False)


def test_arrays_are_stored_before_they_are_read() -> None:
    m = Loops(TreeTables(random_tree(0)))

    def text(m: Loops) -> None:
        placed = m.array("placed", Placement)
        for b in m.up():
            placed[b] = placed[b]

    with pytest.raises(UnsupportedError, match="read placed before anything is stored there"):
        m.run(text)


def test_columns_are_found_by_a_loop_over_bodies() -> None:
    m = Loops(TreeTables(random_tree(0)))

    def text(m: Loops) -> None:
        total = m.vector("total")
        for k in m.columns():
            total[k] = k.s.angular.z

    with pytest.raises(UnsupportedError, match="read S before anything is stored there"):
        m.run(text)


def test_columns_are_three_deep_at_most() -> None:
    m = Loops(TreeTables(random_tree(0)))

    def text(m: Loops) -> None:
        total = m.vector("total")
        for k in m.columns():
            for j, _ in k.same(0.0):
                for i, _ in j.above(0.0):
                    for h, _ in i.above(0.0):
                        total[h] = 1.0

    with pytest.raises(UnsupportedError, match="at most 2 loops over columns can be nested in a loop"):
        m.run(text)
