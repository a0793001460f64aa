"""The seam between planning and the targets of a build: the record of a function that every target gets, and
what a target is.

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
    """The package that targets print files for.

    known: every function that rbdc can build for the model. scalar: the type that all
    functions compute with. portable: the C library is compiled in several variants, one of which is chosen at
    run time. warnings: those of the build that the package keeps.
    """

    model: Problem
    robot: str
    known: tuple[str, ...] = ()
    scalar: ScalarType = DOUBLE
    portable: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedFunction:
    """One function as planning hands it to the targets.

    plan: of a call for one sample. batch: of a call for several. program: one scalar straight-line program
    over all inputs, there if a target `needs_program`.
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
    """The text that the targets made of one function: C files by name, those of its batch apart, and the
    files of further targets by the target's name; its cost, and how it was made: the algorithm, the form of
    the C (`rbdc.planning.forms.FORMS`), and the lanes of its straight-line code (`Plan.lanes`).

    one_by_one: the batch is a loop although there is a kernel for blocks in lanes.
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
        """Statements of the C, one a line, but for headers, which functions share."""
        return sum(text.count(";\n") for name, text in self.files.items() if name.endswith(".c"))


class Backend(Protocol):
    """A target of a build. A class that names it as its base inherits the methods below, and overrides what
    it needs.

    name: as `--targets` spells it. needs_samples: it runs several samples at once, so that planning looks for
    the programs of `BatchPlan.samples`. needs_program: it prints scalar straight-line programs, so that
    planning gives `PlannedFunction.program`. compiled: endings of those of its files that go into the
    extension of the package. shared: its file `<robot>_<name>.c` and the C of the package make a shared
    library beside the extension.
    """

    name: str
    needs_samples: bool = False
    needs_program: bool = False
    compiled: tuple[str, ...] = ()
    shared: bool = False

    def check(self, package: Package, declarations: Sequence[FunctionDeclaration]) -> None:
        """Raise UnsupportedError for a package that this target cannot print; called before anything is
        generated.
        """
        return

    def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
        """Add to `source`, which has the C of a function, the files of this target; those that are no part of
        the C library to `target_files[name]`.
        """
        return

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """Return the files of the whole package by name; by default those that `add_function` left in
        `target_files`.
        """
        return {
            file: text for source in sources for file, text in source.target_files.get(self.name, {}).items()
        }

    def fingerprint(self) -> str:
        """Return a text that changes whenever what the target prints does, for the key of the package in the
        cache: by default the source of the target's module. Those within rbdc are covered by the hash of
        rbdc's own code.
        """
        module = inspect.getmodule(type(self))
        return "" if module is None or module.__name__.startswith("rbdc.") else inspect.getsource(module)
