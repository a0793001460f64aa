"""Who takes part in a comparison: every wanted method of every function, generated and compiled."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import OptionError
from rbdc.functions.availability import buildable
from rbdc.functions.catalogue import functions_of, select
from rbdc.functions.record import Function
from rbdc.model import Model
from rbdc.native.toolchain import Compiler
from rbdc.options import Progress
from rbdc.report.accuracy import Errors
from rbdc.report.batches import Batches
from rbdc.report.contenders import Contender, compiled, known_methods, methods_of
from rbdc.report.implementation import Absent, Implementation
from rbdc.report.options import CompareOptions
from rbdc.report.toolchains import Toolchains


@dataclass
class Measured:
    """One function: who took part and who was absent; by method what was measured: times, outputs of the checked samples, errors; and
    the same of its batches where they are asked for.
    """

    function: Function
    contenders: list[Contender] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    times: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, list[NDArray[np.float64]]] = field(default_factory=dict)
    errors: dict[str, Errors] = field(default_factory=dict)
    batches: Batches | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.declaration.name


def assemble(model: Model, options: CompareOptions, tools: Toolchains, progress: Progress) -> list[Measured]:
    """Generate and compile every method that is ours; some compile while the next is generated.

    Raises OptionError for a method that no function has, and ToolchainError with the compiler's output.
    """
    catalogue = functions_of(model)
    names, _ = buildable(model, select(model, options.functions, "full"), options.functions)
    measured = [Measured(catalogue[name]) for name in names]
    pending: list[tuple[Measured, Future[Contender]]] = []
    _refuse_unknown(options, ["pinocchio", *(name for one in measured for name in known_methods(model, one.function))])
    with ThreadPoolExecutor(options.build.jobs or cpu_count() or 1) as pool:
        for one in measured:
            for method, family, make in methods_of(model, one.function):
                if not options.wants(method, family):
                    continue
                progress(f"{one.name}: {method}")
                made = make()
                if isinstance(made, Absent):
                    one.absent.append(made)
                else:
                    pending.append((one, pool.submit(compiled, made, tools.compiler, tools.flags)))
                    pending += [(one, pool.submit(compiled, *again)) for again in _again(made, tools)]
            one.absent += [Absent(one.name, f"generated-{name}", "generated", reason) for name, reason in tools.absent.items()]
        progress(f"compiling with {tools.compiler.version}")
        for one, future in pending:
            one.contenders.append(future.result())
    return measured


def _again(made: Implementation, tools: Toolchains) -> list[tuple[Implementation, Compiler, tuple[str, ...]]]:
    """What is generated, for the other compilers."""
    if made.method != "generated":
        return []
    return [(replace(made, method=f"generated-{other.name}"), other.compiler, other.flags) for other in tools.others]


def _refuse_unknown(options: CompareOptions, known: list[str]) -> None:
    for name in options.methods or ():
        if name not in known:
            raise OptionError(f"--methods: no method or family {name!a}; there are {', '.join(dict.fromkeys(known))}")
