"""Steps that references have in common: remembered for the same objects, and made once for all frames."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from rbdc.algorithms.reference import frames
from rbdc.algorithms.reference.rnea import tree_motions
from rbdc.algorithms.reference.sharing import MOST, once, shared_steps
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import REFERENCES
from rbdc.functions.references import reference_of
from tests.support_trees import random_tree


def collected(*arguments: Any) -> list[Any]:
    return list(arguments)


def test_a_step_is_remembered_for_the_same_objects() -> None:
    x, equal = [1.0], [1.0]
    with shared_steps():
        first = once(collected, x, 2)
        assert once(collected, x, 2) is first
        assert once(collected, equal, 2) is not first and once(collected, x) is not first
        for k in range(MOST):
            once(collected, k)
        assert once(collected, x, 2) is not first, "the oldest are forgotten"
    assert once(collected, x, 2) is not once(collected, x, 2), "elsewhere nothing is"


@pytest.mark.parametrize(("name", "inputs"), [("frame_velocity", 1), ("frame_acceleration_derivatives", 3)])
def test_frames_share_the_motion_of_the_tree(name: str, inputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivatives share one motion along all directions of an input."""
    model, counted = random_tree(1), Mock(wraps=tree_motions)
    monkeypatch.setattr(frames, "tree_motions", counted)
    reference = reference_of(functions_of(model)[name])
    arguments = [[*model.neutral()], *([0.1] * model.nv for _ in range(2 if "acceleration" in name else 1))]
    with shared_steps():
        for frame in range(len(model.frames)):
            for seen in REFERENCES:
                reference(model, *arguments, frame, seen)
    assert len(model.frames) > 2 and counted.call_count == inputs
