"""The verification of a compiled package: every function, every kind of call, every variant that this
processor can run. A separate process makes the calls; wrong code may end it.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.sharing import shared_steps
from rbdc.errors import LoadError, SingularModelError, VerificationError
from rbdc.functions.declarations import REFERENCES, Parameter
from rbdc.model import Problem
from rbdc.model.xml import shown
from rbdc.processes import Helper, HelperEnded, uncollected
from rbdc.runtime._arrays import CACHED
from rbdc.verification.calls import Callee, CallKind, FunctionCall, entry_of
from rbdc.verification.expected import Expected, References, telling
from rbdc.verification.states import DRAWS, SEED, Checked, CheckedStates, asked, name_of_state, questions

Array = NDArray[np.floating[Any]]

TOLERANCES = {"float64": 1e-10, "float32": 1e-4}
"""Relative perturbation of every number of description and inputs; see `rbdc.verification`. Single precision
has a roundoff of 6e-8, and results have some hundred roundings.
"""
ENOUGH = 8
"""Number of states at which results must be comparable, or half of a function's states if that is smaller; if
fewer are comparable, further states are drawn.
"""


@dataclass(frozen=True)
class Finding:
    """The result of verifying a function.

    error: largest ratio of an error to its tolerance.
    left_out: words for the states at which nothing could be compared, because the function is
        undefined or ill-conditioned there.
    """

    error: float
    left_out: tuple[str, ...]


def verify_package(
    folder: Path, model: Problem, functions: Sequence[Checked], done: Callable[[str], None] = lambda _: None
) -> dict[str, Finding]:
    """Compare each function of the package in `folder` with the references on `model`; `done` is called with
    each name.

    Raises:
        VerificationError: a function exceeds its tolerance (with the function, the kind of call, the state
            and the error), or a call ends the process.
        SingularModelError: no state has results that can be compared.
        LoadError: the process cannot be started, or cannot load the package.
    """
    references = References(model, TOLERANCES[functions[0].declaration.scalar.dtype])
    findings: dict[str, Finding] = {}
    try:
        with CompiledPackage(Callee(folder, CACHED), stderr=DEVNULL) as compiled, shared_steps():
            for checked in asked(functions):
                findings[checked.declaration.name] = compiled.verified(references, checked)
                done(checked.declaration.name)
            return findings
    finally:
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)  # the folder is about to move


class CompiledPackage(Helper[Any, Any]):
    """A compiled package that another process calls."""

    def answer(self, message: object, words: str) -> Any:
        """Return the answer to a message. Raises VerificationError, whose text begins with `words`, if the
        process ends or the call overwrites its inputs.
        """
        try:
            return self(message)
        except ValueError as error:  # code that writes to its inputs changes those of the next call
            raise VerificationError(f"{words} overwrites its inputs: {error}") from error
        except HelperEnded as lost:
            if lost.status >= 0:
                raise LoadError(
                    f"the process that calls the package ended with status {lost.status}"
                ) from lost
            name = signal.Signals(-lost.status).name
            raise VerificationError(f"{words} ends the process that called it, by {name}") from lost

    def verified(self, references: References, checked: Checked) -> Finding:
        """Compare a function at all its states, and at further ones if too few are usable."""
        declaration, worst, left_out = checked.declaration, 0.0, dict[str, None]()
        name_of = partial(name_of_state, declaration)
        ways: list[CallKind] = self.answer(declaration, f"{declaration.name}: loading the package")
        for number, first in enumerate(questions(references.model, checked)):
            for question, outputs in drawn(references, first):
                for way in (way for way in ways if _suits(way, question, first=number == 0)):
                    call = FunctionCall(declaration, way, question.arrays(), question.extra)
                    answers = self.answer(call, f"{declaration.name}, called with {way.words},")
                    words = (
                        f"{_asked_of(references.model, question)} does not agree with the reference "
                        f"algorithm: called with {way.words}{_options(question)}"
                    )
                    worst = max(worst, _compared(words, name_of, declaration.outputs, outputs, answers))
                left_out |= dict.fromkeys(name_of(int(k)) for k in np.flatnonzero(~telling(outputs)))
        return Finding(worst, tuple(left_out))


def drawn(references: References, first: CheckedStates) -> Iterator[tuple[CheckedStates, list[Expected]]]:
    """Yield a question and its expected answers, then the same question at further states until enough can be
    compared. Raises SingularModelError if there is no usable state.
    """
    declaration, told, states = first.checked.declaration, 0, 0
    for seed in range(SEED, SEED + DRAWS):
        question = first.drawn(references.model, seed) if seed != SEED else first
        with uncollected():
            outputs = references.expected(declaration, question.parts(), question.inputs)
        yield question, outputs
        tells = telling(outputs)
        told, states = told + int(np.sum(tells)), states + len(tells)
        if told >= min(ENOUGH, len(tells) // 2):
            return
    if told == 0:
        raise SingularModelError(
            f"{_asked_of(references.model, first)} cannot be verified{_options(first)}: at all {states} "
            "states the function is undefined, or too ill-conditioned for one correct digit; "
            "leave the function out, or install the package unverified with `verify=False`"
        )


def _suits(way: CallKind, question: CheckedStates, *, first: bool) -> bool:
    """Return whether a question is asked by a kind of call. CasADi takes no optional inputs. A batch beyond
    the caches is made once, for functions with code for batches.
    """
    if way.kind == "past":
        return first and question.checked.batched
    optional = question.checked.declaration.optional
    return way.kind != "casadi" or not any(p.name in question.inputs for p in optional)


def _asked_of(model: Problem, question: CheckedStates) -> str:
    name = question.checked.declaration.name
    if not question.extra:
        return name
    return f"{name} of frame {shown(model.frames[question.extra[0]].name)}, {REFERENCES[question.extra[-1]]}"


def _options(question: CheckedStates) -> str:
    optional = [p.name for p in question.checked.declaration.optional]
    word = "with" if any(name in question.inputs for name in optional) else "without"
    return f", {word} {', '.join(optional)}" if optional else ""


def _compared(
    words: str,
    name_of_state: Callable[[int], str],
    outputs: Sequence[Parameter],
    expected: Sequence[Expected],
    results: Sequence[Array],
) -> float:
    """Return the largest ratio of an error to its tolerance. Raises VerificationError if it exceeds 1."""
    worst = 0.0
    for output, right, result in zip(outputs, expected, results, strict=True):
        error = right.error(result)
        worst = max(worst, float(error.max(initial=0.0)))
        if worst > 1.0:
            state, entry = (int(k) for k in np.unravel_index(np.argmax(error), error.shape))
            got, wanted = result.reshape(error.shape)[state, entry], right.values[state, entry]
            raise VerificationError(
                f"{words} (state: {name_of_state(state)}), {entry_of(output, entry)} is {got:.17g}, "
                f"not {wanted:.17g}, an error of {error[state, entry]:.3g} times the tolerance"
            )
    return worst
