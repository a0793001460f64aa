"""The interface between planning and the targets of a build: the record of a function that every target
receives, and the protocol of a target.

A target is one object that satisfies `Backend`, and one line in `rbdc.emit.registry`.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.ir.cost import Cost
from rbdc.ir.nodes import Program
from rbdc.model import Problem
from rbdc.planning.plans import BatchPlan, Plan


@dataclass(frozen=True)
class Package:
    """The package for which targets print files.

    model: the problem.
    robot: name of the package.
    known: every function that rbdc can build for the model.
    scalar: type of all numbers.
    portable: whether the C library is compiled in several variants, one of which is chosen at run time.
    warnings: warnings of the build that the package keeps.
    """

    model: Problem
    robot: str
    known: tuple[str, ...] = ()
    scalar: ScalarType = DOUBLE
    portable: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedFunction:
    """A function, as planning passes it to the targets.

    plan: plan of a call for one sample.
    batch: plan of a call for several samples.
    program: one scalar straight-line program over all inputs, if a target `needs_program`.
    """

    plan: Plan
    batch: BatchPlan
    program: Program | None

    @property
    def declaration(self) -> FunctionDeclaration:
        """Declaration of the function."""
        return self.plan.declaration


@dataclass
class FunctionSource:
    """The text that the targets printed for one function.

    declaration: declaration of the function.
    cost: its operations.
    files: C files by name.
    method: name of the algorithm.
    form: form of the C (`rbdc.planning.forms.FORMS`).
    lanes: lanes of its straight-line code (`Plan.lanes`).
    batch_files: C files of its batch by name.
    target_files: files of further targets, by the target's name.
    one_by_one: whether the batch loops over samples although a kernel for blocks in lanes exists.
    """

    declaration: FunctionDeclaration
    cost: Cost
    files: dict[str, str] = field(default_factory=dict)
    method: str = ""
    form: str = ""
    lanes: int = 1
    batch_files: dict[str, str] = field(default_factory=dict)
    target_files: dict[str, dict[str, str]] = field(default_factory=dict)
    one_by_one: bool = False

    @property
    def statements(self) -> int:
        """Number of statements of the C, without the headers that functions share."""
        return sum(text.count(";\n") for name, text in self.files.items() if name.endswith(".c"))


class Backend(Protocol):
    """A target of a build. A class with this base inherits the methods below and overrides those that it
    needs.

    name: name in `--targets`.
    needs_samples: whether the target computes several samples at once; then planning looks for the programs
        of `BatchPlan.samples`.
    needs_program: whether the target prints scalar straight-line programs; then planning sets
        `PlannedFunction.program`.
    compiled: suffixes of its files that are compiled into the package's extension.
    shared: whether its file `<robot>_<name>.c` and the C of the package form a shared library beside the
        extension.
    """

    name: str
    needs_samples: bool = False
    needs_program: bool = False
    compiled: tuple[str, ...] = ()
    shared: bool = False

    def check(self, package: Package, declarations: Sequence[FunctionDeclaration]) -> None:
        """Raise UnsupportedError for a package that this target cannot print. Generation begins with this
        call.
        """
        return

    def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
        """Add the files of this target to `source`, which has the C of a function. Files outside the C
        library go to `target_files[name]`.
        """
        return

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """Return the files of the whole package by name; by default those that `add_function` put into
        `target_files`.
        """
        return {
            file: text for source in sources for file, text in source.target_files.get(self.name, {}).items()
        }

    def fingerprint(self) -> str:
        """Return a text that changes with the target's output, for the key of the package in the cache. The
        default is the source of the target's module, or "" for rbdc's targets, which the hash of rbdc's
        code covers.
        """
        module = inspect.getmodule(type(self))
        return "" if module is None or module.__name__.startswith("rbdc.") else inspect.getsource(module)
