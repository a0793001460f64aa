"""The ways of computing many samples of one function: C with one entry point for n samples, each around a method of the comparison."""

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
from rbdc.report.ad import casadi_maps, of_casadi
from rbdc.report.implementation import ROBOT, Implementation, arguments, without_optional
from rbdc.report.literature import deepest_frame

BATCH, LOOP = "rbdc_batch", "rbdc_loop"
"""Entry points: void rbdc_batch(void *context, size_t n, const double *const *in, double *const *out), n samples one after the
other, or with floats.
"""

_ADAPTER = "batch_adapter.c"


@dataclass(frozen=True)
class Generated:
    """What is generated: its batch function and a loop over its function for one sample; how many samples its batch computes side by
    side, None where that is a loop as well.
    """

    made: Implementation
    lanes: int | None


def generated(model: Model, function: Function, scalar: ScalarType = DOUBLE) -> Generated:
    """`BATCH` calls the batch function that `rbdc build` makes, `LOOP` the function for one sample again and again."""
    name = function.declaration.name
    made = generate(model, ROBOT, [name], rbdc.__version__, lambda _: None, GenerationOptions(targets=("c", "batch"), scalar=scalar))
    (source,) = made.sources
    files = {file: text for file, text in made.files.items() if file.endswith((".c", ".h"))}
    frame = deepest_frame(model)
    batch = f"{ROBOT}_{name}_batch({', '.join(['n', *arguments(source.declaration, frame)])});"
    single = f"{ROBOT}_{name}({', '.join(arguments(source.declaration, frame, 'i'))});"
    files[_ADAPTER] = _adapter({BATCH: [batch], LOOP: _each([single])}, scalar)
    lanes = source.declaration.scalar.lanes if source.batch_files else None
    return Generated(Implementation(name, "generated-batch", "generated", source.method, files), lanes)


def loop_over_peer(declaration: FunctionDeclaration) -> Implementation:
    """`LOOP` over a function behind the signature of every method; its context is a struct rbdc_peer."""
    inputs = ", ".join(f"in[{k}] + {p.size} * i" for k, p in enumerate(without_optional(declaration).inputs))
    lines = [
        "const struct rbdc_peer *peer = context;",
        *_each([f"const double *const sample[] = {{{inputs}}};", "peer->call(peer->context, sample, out);"]),
    ]
    files = {f"{ROBOT}.h": render("peer_call.h.jinja"), _ADAPTER: _adapter({LOOP: lines})}
    return Implementation(declaration.name, "peer-loop", "peer", "", files)


def casadi_map(model: Model, function: Function, method: str, sizes: Sequence[int]) -> Implementation:
    """`BATCH` calls CasADi's map of what a method of CasADi computes; there is one map for each of the sizes."""
    text, maps = casadi_maps(of_casadi(model, function, method), sizes)
    bare = without_optional(function.declaration)
    lines = [
        f"const double *arg[{max(m.arguments for m in maps)}] = {{{', '.join(f'in[{k}]' for k in range(len(bare.inputs)))}}};",
        f"double *res[{max(m.results for m in maps)}] = {{{', '.join(f'out[{k}]' for k in range(len(bare.outputs)))}}};",
        f"long long iw[{max(1, *(m.integers for m in maps))}];",
        f"double w[{max(1, *(m.numbers for m in maps))}];",
        "switch (n) {",
        *(f"case {m.samples}: {m.name}(arg, res, iw, w, 0); break;" for m in maps),
        "default: break; /* there is no other size */",
        "}",
    ]
    prototypes = [f"int {m.name}(const double **arg, double **res, long long *iw, double *w, int mem);\n" for m in maps]
    files = {"casadi_function.c": text, f"{ROBOT}.h": "".join(prototypes), _ADAPTER: _adapter({BATCH: lines})}
    return Implementation(function.declaration.name, "casadi-map", "ad", "", files)


def _adapter(entries: dict[str, list[str]], scalar: ScalarType = DOUBLE) -> str:
    views = [{"name": name, "lines": lines} for name, lines in entries.items()]
    return render("batch_adapter.c.jinja", robot=ROBOT, entries=views, **scalar.words)


def _each(lines: Sequence[str]) -> list[str]:
    """The statements for every sample i."""
    return ["for (size_t i = 0; i < n; ++i) {", *(f"    {line}" for line in lines), "}"]
