"""Mutation test of the verification: of joint-space models with a fault in one body hardly any is built."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdc.functions.evaluation
import rbdc.planning.limb_lanes
from rbdc.algorithms.trace import silent
from rbdc.errors import VerificationError
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.verification.states import sampled
from tests.support import UNOPTIMISED, Array
from tests.support_imagined import states_of
from tests.verification.support_pass_mutants import pass_mutants
from tests.verification.test_mutants import CHANGED, OTHER_STATES, ROBOTS, SURVIVORS, differs
from tests.verification.test_mutants import MUTANTS as PER_ROBOT

FUNCTIONS = ("rnea", "crba", "aba")
MUTANTS = (
    {"kuka_iiwa": 20, "every_joint_type": 20, "hyq": 10} if PER_ROBOT >= 20 else dict.fromkeys(ROBOTS, 4)
)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Put mutants of passes in place of `reduced`, without caches."""
    _forget()
    yield monkeypatch
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    rbdc.planning.limb_lanes.lane_model.cache_clear()


def results(model: Problem) -> list[Array]:
    """Return every output in floats by every method, with and without external forces, at the test's own
    states.
    """
    outputs: list[Array] = []
    for name in FUNCTIONS:
        function = functions_of(model)[name]
        inputs = sampled(model, function.declaration, OTHER_STATES)
        whole = {p: list(x.T) for p, x in inputs.items()}
        choices: list[Mapping[str, list[Array]]] = [whole, {p: x for p, x in whole.items() if p != "fext"}]
        for chosen, evaluate in itertools.product(choices, function.methods.values()):
            with np.errstate(all="ignore"):
                outputs += [states_of(entries) for entries in evaluate(model, chosen, silent)]
    return outputs


@pytest.mark.slow
@pytest.mark.parametrize("robot", MUTANTS)
def test_mutants_of_model_passes_are_refused(robot: str, tmp_path: Path, passes: pytest.MonkeyPatch) -> None:
    passes.setenv("RBDC_CACHE", str(tmp_path / "cache"))
    model, refused, survivors, tried = ROBOTS[robot](), 0, list[str](), set[str]()
    right, options = results(model), dict[str, Any](functions=FUNCTIONS, targets=("c",), cflags=UNOPTIMISED)
    for mutant in pass_mutants(model, 3):
        if mutant.change in tried:
            continue
        tried.add(mutant.change)
        _forget()
        for user in (rbdc.functions.evaluation, rbdc.planning.limb_lanes):
            passes.setattr(user, "reduced", mutant.reduced)
        if not differs(right, results(model)):
            continue
        try:
            build_package(model, BuildOptions(out=tmp_path / "out", jobs=1, force=True, **options))
            survivors.append(mutant.change)
        except VerificationError:
            refused += 1
        if refused + len(survivors) == MUTANTS[robot]:
            break
    assert len(survivors) <= SURVIVORS * MUTANTS[robot], (
        f"of those that change a result by {CHANGED}: " + ", ".join(survivors)
    )
