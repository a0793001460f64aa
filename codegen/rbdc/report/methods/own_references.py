"""A user's references for functions of the catalogue: functions of a Python file as methods of a comparison.

A text over a machine (a recursion that an abstract machine runs, `rbdc.algorithms.tools.machine`) becomes
loops and straight-line code. A plain function (model, *inputs) becomes straight-line code. Results are still
checked against the reference in the function's record.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter as Argument
from inspect import signature
from math import inf
from pathlib import Path
from typing import Any

from rbdc.algorithms.reference.couplings import bound
from rbdc.algorithms.reference.rnea import following
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import Numbers, Rows
from rbdc.algorithms.trace import Trace
from rbdc.errors import OptionError, RbdcError, UnsupportedError
from rbdc.functions.declarations import REFERENCES, FunctionDeclaration, Kind, Parameter
from rbdc.functions.evaluation import Inputs, arrays
from rbdc.functions.record import Function
from rbdc.model import Problem
from rbdc.planning.loops.arrays import LoopResult
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.renamed import Renamed
from rbdc.report.accuracy import deepest_frame
from rbdc.report.methods.contenders import by_method, of_nest
from rbdc.report.methods.implementation import Implementation, Method, NotTried, without_optional
from rbdc.report.methods.reference_loops import (
    Text,
    by_columns,
    declared,
    has_texts,
    loops_of,
    texts_of,
    unknown,
)
from rbdc.report.options import LOOPS, UserReference
from rbdc.runtime._suggestions import suggestion
from rbdc.spatial import Force, Scalar

FAMILY = "analytical"


@dataclass(frozen=True)
class Loaded:
    """A user's reference (see `UserReference`), and the Python function that it names."""

    of: UserReference
    call: Callable[..., Any]

    @property
    def words(self) -> str:
        """Name of the reference on pages."""
        return f"{self.of.name} of {self.of.file.name}"

    @contextmanager
    def running(self) -> Iterator[None]:
        """Raise OptionError with the line for any error in the user's file."""
        try:
            yield
        except (NotTried, OptionError, UnsupportedError):
            raise
        except Exception as error:
            raise OptionError(_message(self.of.file, error)) from error


def refuse_other_functions(references: Sequence[UserReference], catalogue: Mapping[str, Function]) -> None:
    """Raise OptionError for a reference of a function that the catalogue does not have."""
    for reference in references:
        if reference.function not in catalogue:
            known = suggestion(reference.function, catalogue)
            remedy = f"{known}; give NAME={reference.file}:{reference.name}"
            raise OptionError(f"--reference: {reference.function} is no function of rbdc; {remedy}")


def load(references: Sequence[UserReference]) -> list[Loaded]:
    """Return references with the Python functions that they name.

    Raises OptionError for a missing file, for a file that raises an error, and for a name that the file does
    not define.
    """
    return [Loaded(reference, _function(reference)) for reference in references]


def _function(reference: UserReference) -> Callable[..., Any]:
    if not reference.file.is_file():
        raise OptionError(f"--reference: no file {str(reference.file)!a}; give [NAME=]FILE:FUNCTION")
    name = f"rbdc_reference_{reference.file.stem}"
    spec = importlib.util.spec_from_file_location(name, reference.file)
    if spec is None or spec.loader is None:
        raise OptionError(f"--reference: {reference.file} is no Python file; its name must end with .py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise OptionError(_message(reference.file, error)) from error
    there = {key: x for key, x in vars(module).items() if callable(x) and not isinstance(x, type)}
    if reference.name not in there:
        raise OptionError(
            f"--reference: {reference.file} has no function {reference.name!a}; "
            f"{suggestion(reference.name, there)}"
        )
    named: Callable[..., Any] = there[reference.name]
    return named


def _message(file: Path, error: BaseException) -> str:
    paths = {str(file), str(file.resolve())}
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in paths]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    where = f"{file}:{line}" if line else str(file)
    kind = "" if isinstance(error, RbdcError) else f"{type(error).__name__}: "
    return f"--reference: {where}: {kind}{error}"


def user_methods(
    model: Problem, function: Function, loaded: Sequence[Loaded], known: Sequence[str]
) -> list[Method]:
    """Return the methods of a function from the user's references for it. known: names of the function's
    other methods.

    Raises OptionError for a name that another method has, and for arguments that fit neither a text nor a
    plain function.
    """
    methods: list[Method] = []
    for reference in loaded:
        if reference.of.function != function.name:
            continue
        if _is_text(reference, function.declaration):
            text = _text(reference, function)
            makers = {LOOPS: partial(_as_loops, text=text), "unrolled": partial(_unrolled, text=text)}
        else:
            makers = {"unrolled": partial(_unrolled, text=None)}
        for prefix, make in makers.items():
            name = f"{prefix}-{reference.of.name}"
            if name in (*known, *(method.name for method in methods)):
                raise OptionError(
                    f"--reference: {function.name} already has a method {name}; rename {reference.words}"
                )
            methods.append(Method(name, FAMILY, partial(make, model, function, reference)))
    return methods


def _is_text(reference: Loaded, declaration: FunctionDeclaration) -> bool:
    """Return whether a function is a text over a machine; its number of arguments decides."""
    kinds = (Argument.POSITIONAL_ONLY, Argument.POSITIONAL_OR_KEYWORD)
    try:
        every = signature(reference.call).parameters.values()
    except (TypeError, ValueError) as error:
        raise OptionError(_message(reference.of.file, error)) from error
    least = sum(p.kind in kinds and p.default is Argument.empty for p in every)
    any_number = any(p.kind is Argument.VAR_POSITIONAL for p in every)
    most = inf if any_number else sum(p.kind in kinds for p in every)
    plain = ["model", *(p.name for p in declaration.required), *declaration.place]
    text = ["m", *(p.name for p in by_columns(declaration))]
    if least <= len(plain) <= most:
        return False
    if least <= len(text) <= most and has_texts(declaration):
        return True
    either = f"a recursion over a machine ({', '.join(text)}) or " if has_texts(declaration) else ""
    needed = f"{declaration.name} needs {either}a plain function ({', '.join(plain)})"
    raise OptionError(f"--reference: {reference.words} takes ({', '.join(p.name for p in every)}); {needed}")


def _text(reference: Loaded, function: Function) -> Text:
    """Return the user's text, with armature and damping as in rbdc's texts of the function."""
    known = [*texts_of(function).values()]
    like = max(known, key=lambda text: text.loaded, default=Text(reference.call))

    def run(m: Machine, *arguments: Any) -> Any:
        with reference.running():
            returned = reference.call(Renamed(m), *arguments)
            results = returned if isinstance(returned, tuple) else (returned,)
            _check_results(reference, m, function.declaration.outputs, results)
            return results

    return like._replace(text=run, following=bool(known) and all(text.following for text in known))


def _check_results(
    reference: Loaded, m: Machine, outputs: Sequence[Parameter], results: Sequence[Any]
) -> None:
    """Raise TypeError unless the machine has made one result for each output, of the output's size."""
    kind, distinct = LoopResult if isinstance(m, Loops) else Array, len({id(x) for x in results})
    if not (len(results) == distinct == len(outputs) and all(isinstance(x, kind) for x in results)):
        wanted = "results of m.vector, m.matrix or m.tensor"
        raise TypeError(f"{reference.of.name} must return {wanted}, for {_shapes(outputs)}")
    if isinstance(m, Loops):
        sizes = [m.sizes[x.name] for x in results]
        if sizes != [p.size for p in outputs]:
            raise TypeError(f"{reference.of.name} returns arrays of {sizes} entries, for {_shapes(outputs)}")


def _shapes(outputs: Sequence[Parameter]) -> str:
    return ", ".join(f"{p.name}{list(p.shape)}" for p in outputs)


def _refused(model: Problem, function: Function, text: Text) -> None:
    """Raise NotTried for a model that texts do not support, and for a model with armature or damping if no
    text of rbdc shows how to add them to this function.
    """
    if unsupported := unknown(model, function, text):
        raise NotTried(f"recursions over a machine do not support {unsupported}")
    if _driven(model) and not texts_of(function):
        raise NotTried("for this function rbdc adds no armature or damping to a recursion over a machine")


def _driven(model: Problem) -> bool:
    return any(model.armature) or any(model.damping)


def _as_loops(model: Problem, function: Function, reference: Loaded, text: Text) -> Implementation:
    """Return the text as loops, in one frame or in the frames of the bodies, whichever takes fewer
    operations.
    """
    _refused(model, function, text)
    candidates, reasons = list[tuple[int, bool, Implementation]](), list[UnsupportedError]()
    for one_frame in (False, True):
        try:
            nest = loops_of(model, function, reference.of.name, text._replace(one_frame=one_frame))
        except UnsupportedError as error:
            reasons.append(error)
            continue
        implementation = of_nest(model, declared(function, text), nest, reference.of.name)
        candidates.append((nest.cost().operations, one_frame, implementation))
    if not candidates:
        raise OptionError(_message(reference.of.file, reasons[-1]))
    _, one_frame, best = min(candidates, key=lambda entry: entry[0])
    frames = "in one frame" if one_frame else "in the frames of the bodies"
    return replace(best, algorithm=f"{reference.words}, as loops {frames}")


def _unrolled(model: Problem, function: Function, reference: Loaded, text: Text | None) -> Implementation:
    if text is not None:
        _refused(model, function, text)
        if _driven(model):
            raise NotTried("only the loops of a recursion over a machine include armature and damping")
    declaration = replace(without_optional(function.declaration), framed=False, pair=False)
    others = (0,) if function.declaration.pair else ()
    place = (deepest_frame(model), *others, REFERENCES[0]) if function.declaration.framed else ()

    def evaluate(model: Problem, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        del trace
        with reference.running():
            if text is not None:
                returned = _over_numbers(model, declaration, text, inputs)
            else:
                returned = bound(reference.call)(
                    model, *(_argument(p, inputs) for p in declaration.inputs), *place
                )
            return _checked(reference, declaration, returned)

    implementation = by_method(model, replace(function, declaration=declaration), reference.of.name, evaluate)
    return replace(implementation, algorithm=reference.words)


def _argument(p: Parameter, inputs: Inputs) -> list[Any]:
    x = list(inputs[p.name])
    return [Force.of(x[k : k + 6]) for k in range(0, len(x), 6)] if p.kind is Kind.WRENCHES else x


def _over_numbers(model: Problem, declaration: FunctionDeclaration, text: Text, inputs: Inputs) -> Any:
    kinds = {p.kind: inputs[p.name] for p in declaration.inputs}
    q, v, a = (kinds.get(kind) for kind in (Kind.CONFIGURATION, Kind.VELOCITY, Kind.ACCELERATION))
    loads = [force for p in declaration.inputs if p.kind is Kind.WRENCHES for force in _argument(p, inputs)]
    m = Numbers(model, q, v, a, following(model, q or [], loads or None))
    try:
        returned: Any = text.text(m, *(m.given(inputs[p.name]) for p in by_columns(declaration)))
    except UnsupportedError as error:
        raise NotTried(str(error)) from None
    return tuple(m.reduced(x) if isinstance(x, Rows) else m.reduced_vector(x) for x in returned)


def _checked(reference: Loaded, declaration: FunctionDeclaration, returned: Any) -> list[list[Scalar]]:
    results = returned if isinstance(returned, tuple) else (returned,)
    rows = arrays(tuple(x.tolist() if hasattr(x, "tolist") else x for x in results))
    sizes, wanted = [len(row) for row in rows], [p.size for p in declaration.outputs]
    if sizes != wanted:
        raise TypeError(f"{reference.of.name} returns {sizes} entries, for {_shapes(declaration.outputs)}")
    return rows
