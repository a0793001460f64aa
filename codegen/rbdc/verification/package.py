"""The verification of a compiled package: every function, every way of calling it, every variant that this
processor can run; in a process of its own, which wrong code may end.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.sharing import shared_steps
from rbdc.emit.batch import CACHED
from rbdc.errors import LoadError, VerificationError
from rbdc.functions.declarations import REFERENCES, FunctionDeclaration, Parameter
from rbdc.model import Model
from rbdc.model.xml import shown
from rbdc.processes import Helper, HelperEnded, uncollected
from rbdc.verification.calls import Call, Callee, Difference, Way
from rbdc.verification.expected import Expected, References
from rbdc.verification.external_derivatives import Derivative, derivatives
from rbdc.verification.states import Checked, Question, asked, name_of_state, questions

Array = NDArray[np.floating[Any]]

TOLERANCES = {"float64": 1e-10, "float32": 1e-4}
"""Part of the size of every number of description and inputs; see `rbdc.verification`. Single precision has
6e-8, and some hundred roundings.
"""


def verify_package(
    folder: Path, model: Model, functions: Sequence[Checked], robot: str = ""
) -> dict[str, float]:
    """The largest error of each function of the package in `folder`, in parts of its tolerance, against the
    references on `model`. `robot`: the name of the package, where it has libraries for CasADi to be compared.

    Raises VerificationError where one is beyond its tolerance: with the function, the way it was called, the
    state and the error; and where a call ends the process. Raises LoadError where that cannot be started, or
    cannot load the package.
    """
    references = References(model, TOLERANCES[functions[0].declaration.scalar.dtype])
    try:
        with Helper(Callee(folder), stderr=DEVNULL) as ask, shared_steps():
            compiled = Compiled(ask)
            errors = {
                checked.declaration.name: compiled.verified(references, checked)
                for checked in asked(functions)
            }
            compiled.verify_derivatives(model, robot, [c.declaration for c in functions])
            return errors
    finally:
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)  # of a folder that is about to move


class Compiled:
    """A compiled package, which answers from another process."""

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        self._ask_helper = ask

    def _ask(self, message: object, words: str) -> Any:
        """The answer to a message. Raises VerificationError with the words where there is none."""
        try:
            return self._ask_helper(message)
        except HelperEnded as lost:
            if lost.status >= 0:
                raise LoadError(f"a process to call it ended with status {lost.status}") from lost
            name = signal.Signals(-lost.status).name
            raise VerificationError(f"{words} ends the process that called it, by {name}") from lost

    def verified(self, references: References, checked: Checked) -> float:
        """The largest error of a function, in parts of its tolerance."""
        declaration, worst = checked.declaration, 0.0
        ways: list[Way] = self._ask(declaration, f"{declaration.name}: loading the package")
        asked_past = not checked.batched
        for question in questions(references.model, checked):
            with uncollected():
                outputs = references.expected(declaration, question.parts(), question.inputs)
            for way in ways:
                if _suits(way, question):
                    worst = max(worst, self._error(references.model, question, way, outputs))
            if not asked_past:
                self._verify_past_caches(question, ways)
                asked_past = True
        return worst

    def _error(self, model: Model, question: Question, way: Way, outputs: Sequence[Expected]) -> float:
        """The largest error of a function called in one way. Raises VerificationError beyond 1."""
        worst = 0.0
        for output, result in enumerate(self._answers(question, way)):
            error = outputs[output].error(result) if np.all(result.shape) else np.zeros((1, 1))
            if error.max() > 1.0:
                raise VerificationError(_message(model, question, way.words, output, outputs[output], result))
            worst = max(worst, float(error.max()))
        return worst

    def _answers(self, question: Question, way: Way) -> list[Array]:
        declaration = question.checked.declaration
        call = Call(declaration, way, question.arrays(), question.extra)
        found: list[Array] = self._ask(call, f"{declaration.name}, called with {way.words},")
        return found

    def _verify_past_caches(self, question: Question, ways: Sequence[Way]) -> None:
        """Ways to call functions with batches of their own, in every variant."""
        declaration = question.checked.declaration
        for way in (way for way in ways if way.kind == "batch"):
            past = replace(way, kind="past")
            call = Call(declaration, past, question.arrays(), question.extra, CACHED)
            words = f"{declaration.name}, called with {way.words} whose results go past the caches,"
            found: list[Difference | None] = self._ask(call, words)
            for p, other in zip(declaration.outputs, found, strict=True):
                if other is not None:
                    raise VerificationError(
                        f"{words} of {other.samples} samples: {_entry(p, other.entry)} of sample "
                        f"{other.sample} is {other.got:.17g}, not {other.wanted:.17g} as in a small batch"
                    )

    def verify_derivatives(
        self, model: Model, robot: str, declarations: Sequence[FunctionDeclaration]
    ) -> None:
        """Compare what the library for CasADi has of derivatives, if there is one."""
        ways: list[Way] = self._ask(declarations[0], "loading the package")
        if not any(way.kind == "casadi" for way in ways):
            return
        for derivative in derivatives(model, robot, declarations, self.evaluated):
            symbol = derivative.external.symbol
            found = self._ask(derivative.external, f"{symbol}, called as CasADi does,")
            for output, result in enumerate(found):
                if derivative.error(output, result).max(initial=0.0) > 1.0:
                    raise VerificationError(_derivative_message(derivative, output, result))

    def evaluated(
        self, declaration: FunctionDeclaration, inputs: Mapping[str, Array], extra: tuple[int, ...]
    ) -> list[Array]:
        """A function at states; inputs that are not there are zeros, the optional one is none."""
        states = len(next(iter(inputs.values())))
        arrays = [
            None if p.optional else inputs.get(p.name, np.zeros((states, p.size))).reshape(states, *p.shape)
            for p in declaration.inputs
        ]
        way = Way("single samples", "single")
        call = Call(declaration, way, arrays, extra)
        found = self._ask(call, f"{declaration.name}, called with {way.words},")
        return [x.reshape(states, *p.shape) for p, x in zip(declaration.outputs, found, strict=True)]


def _suits(way: Way, question: Question) -> bool:
    """Whether a question can be asked in a way: CasADi gives no optional inputs."""
    optional = question.checked.declaration.optional
    return way.kind != "casadi" or not any(p.name in question.inputs for p in optional)


def _entry(parameter: Parameter, entry: int) -> str:
    """An output's name, with the indices of one of its entries."""
    index = np.unravel_index(entry, parameter.shape) if parameter.shape else ()
    return f"{parameter.name}{[int(i) for i in index]}" if index else parameter.name


def _derivative_message(derivative: Derivative, output: int, found: Array) -> str:
    error, right = derivative.error(output, found), derivative.expected[output]
    place = np.unravel_index(np.argmax(error), error.shape)
    name, wanted = derivative.external.outputs[output].name, 0.0 if right is None else right.values[place]
    return (
        f"{derivative.external.symbol} does not agree with the functions of the package: "
        f"{name}{[int(k) for k in place[1:]]} is {found[place]:.17g}, not {wanted:.17g}"
    )


def _message(model: Model, question: Question, way: str, output: int, right: Expected, found: Array) -> str:
    declaration = question.checked.declaration
    error = right.error(found)
    state, entry = np.unravel_index(np.argmax(error), error.shape)
    parameter = declaration.outputs[output]
    place = _entry(parameter, int(entry))
    got, wanted = found.reshape(right.values[: len(found)].shape)[state, entry], right.values[state, entry]
    at = (
        f" of frame {shown(model.frames[question.extra[0]].name)}, {REFERENCES[question.extra[-1]]}"
        if question.extra
        else ""
    )
    optional = [p.name for p in declaration.optional]
    word = "with" if any(name in question.inputs for name in optional) else "without"
    given = f", {word} {', '.join(optional)}" if optional else ""
    return (
        f"{declaration.name}{at} does not agree with the description: called with {way}{given}, "
        f"at a state {name_of_state(declaration, int(state))}, "
        f"{place} is {got:.17g}, not {wanted:.17g}, which is {error[state, entry]:.3g} times what may be off"
    )
