"""Ways of computing n samples of one function: C with one entry point for n samples, around a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import rbdc
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.model import Model
from rbdc.planning.generation import GenerationOptions, generate
from rbdc.report.accuracy.inputs import deepest_frame
from rbdc.report.methods.casadi_methods import casadi_maps, of_casadi
from rbdc.report.methods.implementation import ROBOT, Implementation, arguments, without_optional

BATCH, LOOP = "rbdc_batch", "rbdc_loop"
"""Entry points: void rbdc_batch(void *context, size_t n, const double *const *in, double *const *out).

Inputs and outputs are floats in single precision; the n samples lie one after the other.
"""

_ADAPTER = "batch_adapter.c"


@dataclass(frozen=True)
class _EntryPoint:
    """An entry point of the batch adapter: its symbol and the statements of its body."""

    name: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Generated:
    """The generated batch function, and a loop over the generated function for one sample.

    lanes: samples that the batch function computes side by side, None where it is a loop. chosen: it is a
    loop because that was taken to be faster.
    """

    made: Implementation
    lanes: int | None
    chosen: bool = False


def generated(
    model: Model, function: Function, scalar: ScalarType = DOUBLE, *, side_by_side: bool = False
) -> Generated:
    """C whose `BATCH` calls the generated batch function, and `LOOP` the one for one sample, n times.
    side_by_side: where samples one by one are taken to be faster too.
    """
    name = function.declaration.name
    options = GenerationOptions(targets=("c", "batch"), scalar=scalar, side_by_side=side_by_side)
    made = generate(model, ROBOT, [name], rbdc.__version__, lambda _: None, options)
    (source,) = made.sources
    files = {file: text for file, text in made.files.items() if file.endswith((".c", ".h"))}
    frame = deepest_frame(model)
    batch = f"{ROBOT}_{name}_batch({', '.join(['n', *arguments(source.declaration, frame)])});"
    single = f"{ROBOT}_{name}({', '.join(arguments(source.declaration, frame, 'i'))});"
    files[_ADAPTER] = _adapter([_EntryPoint(BATCH, [batch]), _EntryPoint(LOOP, _each([single]))], scalar)
    loop = source.one_by_one or not source.declaration.lanes
    made_of = Implementation(name, "generated-batch", "generated", source.method, files)
    return Generated(made_of, None if loop else source.declaration.scalar.lanes, source.one_by_one)


def loop_over_peer(declaration: FunctionDeclaration) -> Implementation:
    """C whose `LOOP` calls a peer's function n times; its context is a struct rbdc_peer."""
    inputs = ", ".join(f"in[{k}] + {p.size} * i" for k, p in enumerate(without_optional(declaration).inputs))
    lines = [
        "const struct rbdc_peer *peer = context;",
        *_each([f"const double *const sample[] = {{{inputs}}};", "peer->call(peer->context, sample, out);"]),
    ]
    files = {f"{ROBOT}.h": render("peer_call.h.jinja"), _ADAPTER: _adapter([_EntryPoint(LOOP, lines)])}
    return Implementation(declaration.name, "peer-loop", "peer", "", files)


def casadi_map(model: Model, function: Function, method: str, sizes: Sequence[int]) -> Implementation:
    """C whose `BATCH` calls CasADi's map of a method of CasADi; there is one map for each of the sizes."""
    text, maps = casadi_maps(of_casadi(model, function, method).expressions, sizes)
    bare = without_optional(function.declaration)
    inputs = ", ".join(f"in[{k}]" for k in range(len(bare.inputs)))
    outputs = ", ".join(f"out[{k}]" for k in range(len(bare.outputs)))
    lines = [
        f"const double *arg[{max(m.arguments for m in maps)}] = {{{inputs}}};",
        f"double *res[{max(m.results for m in maps)}] = {{{outputs}}};",
        f"long long iw[{max(1, *(m.integers for m in maps))}];",
        f"double w[{max(1, *(m.numbers for m in maps))}];",
        "switch (n) {",
        *(f"case {m.samples}: {m.name}(arg, res, iw, w, 0); break;" for m in maps),
        "default: break; /* there is no other size */",
        "}",
    ]
    signature = "(const double **arg, double **res, long long *iw, double *w, int mem)"
    prototypes = [f"int {m.name}{signature};\n" for m in maps]
    batch = _adapter([_EntryPoint(BATCH, lines)])
    files = {"casadi_function.c": text, f"{ROBOT}.h": "".join(prototypes), _ADAPTER: batch}
    return Implementation(function.declaration.name, "casadi-map", "ad", "", files)


def _adapter(entries: Sequence[_EntryPoint], scalar: ScalarType = DOUBLE) -> str:
    return render("batch_adapter.c.jinja", robot=ROBOT, entries=entries, **scalar.words)


def _each(lines: Sequence[str]) -> list[str]:
    """The statements for every sample i."""
    return ["for (size_t i = 0; i < n; ++i) {", *(f"    {line}" for line in lines), "}"]
