"""Methods of our own generator: straight-line C, loops over the model, and algorithms of the
literature.
"""

from __future__ import annotations

from dataclasses import replace

import rbdc
from rbdc.emit.c.csource import function_source
from rbdc.emit.library import render_library
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import Kind
from rbdc.functions.evaluation import Evaluate, JointSpace, on_model
from rbdc.functions.record import SECOND, Function
from rbdc.functions.references import reference_of, references_of
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.ir.cost import cost
from rbdc.model import Model
from rbdc.model.parameters import NUMBERS
from rbdc.planning.candidates import programs
from rbdc.planning.generation import GenerationOptions, generate
from rbdc.report.methods.implementation import LIMIT, ROBOT, Implementation, of_files, too_large
from rbdc.report.methods.records import Absent

SINGLE = "generated-float32"
"""Name of the method in single precision."""
ZEROED = "generated-zeroed"
"""Name of the method for outputs that hold zeros."""
BY_PARAMETERS = "generated-parameters"
"""Name of the method with inertial parameters at run time."""


def generated(model: Model, function: Function) -> Implementation:
    """The C that `rbdc build` makes of the function."""
    return _built(model, function, "generated", "generated")


def single(model: Model, function: Function) -> Implementation:
    """The C of `rbdc build --dtype float32`."""
    return _built(model, function, SINGLE, "single", scalar=FLOAT)


def zeroed(model: Model, function: Function) -> Implementation:
    """The C of `rbdc build` for outputs that hold zeros, which leaves alone what is always zero."""
    made = _built(model, function, ZEROED, "analytical", zeroed=True)
    return replace(made, algorithm=f"{made.algorithm}, entries that are always zero left alone")


def takes_parameters(taking: Model, function: Function) -> bool:
    """Whether a function of a model with parameters at run time takes them."""
    inputs = functions_of(taking)[function.name].declaration.inputs
    return any(p.kind is Kind.PARAMETERS for p in inputs)


def by_parameters(taking: Model, function: Function) -> Implementation:
    """The C of `rbdc build --parameters` or `--payload`, called with the description's numbers."""
    made = _built(taking, function, BY_PARAMETERS, "analytical")
    count = NUMBERS * len(taking.parameters)
    return replace(made, algorithm=f"{made.algorithm}, {count} inertial parameters at run time")


def rolled(model: Model, function: Function) -> Implementation:
    """The C of `rbdc build --style rolled`: the papers' recursion as loops over the model's tables."""
    return _built(model, function, "rolled", "analytical", style="rolled")


def by_method(model: Model, function: Function, method: str, evaluate: Evaluate) -> Implementation | Absent:
    """The C of another algorithm through the same compiler."""
    name = f"unrolled-{method}"
    if reason := too_large(model, function):
        return Absent(function.name, name, "analytical", reason)
    entry = Function(function.declaration, {method: evaluate})
    made = programs(model, entry, method)
    operations = max(cost(program).operations for program in made)
    if function.preset == SECOND and operations > LIMIT:
        return Absent(function.name, name, "analytical", f"{operations} operations; the limit is {LIMIT}")
    source = function_source(ROBOT, entry.declaration, made, rbdc.__version__, method)
    files = render_library(model, ROBOT, [source], rbdc.__version__)
    return of_files(model, files, source, name, "analytical")


def _built(
    model: Model,
    function: Function,
    method: str,
    family: str,
    *,
    style: str = "unrolled",
    scalar: ScalarType = DOUBLE,
    zeroed: bool = False,
) -> Implementation:
    names = [function.declaration.name]
    options = GenerationOptions(style, scalar=scalar)
    made = generate(model, ROBOT, names, rbdc.__version__, lambda _: None, options)
    return of_files(model, made.files, made.sources[0], method, family, zeroed=zeroed)


def by_the_papers(function: Function) -> dict[str, Evaluate]:
    """The papers' recursions for a function, on the model with the links' frames of the description, and,
    where its record names that, the deciding one on the joint-space model.

    The generated methods where these are the textbook's too: references check their results and are not
    timed.
    """
    if function.comparison.checks_only:
        return dict(function.methods)
    made: dict[str, Evaluate] = {name: on_model(each) for name, each in references_of(function).items()}
    through_passes = function.comparison.through_passes
    return {**made, through_passes: JointSpace(reference_of(function))} if through_passes else made
