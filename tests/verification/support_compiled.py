"""Packages compiled from text that a test has changed, and their verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rbdc.emit.backend import Package as PackageOf
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.library import render_manifest
from rbdc.emit.registry import Generated
from rbdc.errors import VerificationError
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.evaluation import EntryPart
from rbdc.model import Problem
from rbdc.native.build import compile_library, compile_package
from rbdc.native.install import EXTENSION
from rbdc.native.toolchain import Toolchain, find_compiler
from rbdc.native.tunings import Tunings
from rbdc.planning.tuning import Tuning
from rbdc.processes import Helper, HelperEnded
from rbdc.verification.calls import Callee, FunctionCall
from rbdc.verification.package import Finding, verify_package
from rbdc.verification.states import Checked, asked, questions
from tests.support import UNOPTIMISED, Array

ZEROED = (*UNOPTIMISED, "-ftrivial-auto-var-init=zero")
"""What a change leaves unwritten is zero, and not what the stack held: a batch falls back to single samples
where that is large, so that wrong code had right results in one run of eight.
"""


@dataclass(frozen=True)
class Text:
    """The text of a package. tuning: chooses its forms, batches and compilers, where there is one."""

    model: Problem
    robot: str
    generated: Generated
    tuning: Tuning | None = None

    @staticmethod
    def of(
        model: Problem,
        robot: str,
        names: Sequence[str],
        *targets: str,
        style: str = "unrolled",
        tuning: Tuning | None = None,
    ) -> Text:
        """Return the text of some functions for some targets."""
        choices = Tunings(tuning).choices()
        options = GenerationOptions(targets=("c", *targets), style=style, choices=choices)
        return Text(model, robot, generate(model, robot, names, lambda _: None, options), tuning)

    @property
    def files(self) -> dict[str, str]:
        """The files by name."""
        return self.generated.files

    @property
    def code(self) -> dict[str, str]:
        """C files of the package."""
        return {name: text for name, text in self.files.items() if name.endswith((".c", ".h"))}

    @cached_property
    def checked(self) -> list[Checked]:
        """The functions, as a build has them verified."""
        return [
            Checked(s.declaration, (EntryPart(s.declaration.name),), bool(s.batch_files))
            for s in self.generated.sources
        ]

    @property
    def declarations(self) -> list[FunctionDeclaration]:
        """Declarations of the functions."""
        return [c.declaration for c in self.checked]

    @cached_property
    def tools(self) -> Toolchain:
        """The compilers, those of the tuning among them."""
        usual = Toolchain(find_compiler(None), ZEROED)
        tunings = Tunings(self.tuning)
        compilers = tunings.compilers([d.name for d in self.declarations], usual)
        return usual._replace(others=tunings.compilers_of_files(self.generated.sources, compilers))

    def changed(self, file: str, old: str, new: str) -> dict[str, str]:
        """Return the files, with a change to one of them, which must have the old text."""
        assert old in self.files[file], f"{file} has no {old!r}"
        return {**self.files, file: self.files[file].replace(old, new)}

    def installed(self, folder: Path, files: Mapping[str, str] | None = None) -> Path:
        """Return a package of these files, compiled in a folder."""
        folder.mkdir()
        files = self.files if files is None else files
        code = {name: text for name, text in files.items() if name in self.generated.compiled}
        native = compile_package(code, self.robot, self.declarations, self.tools, 1)
        package = PackageOf(self.model, self.robot)
        manifest = render_manifest(package, self.generated.sources, {"key": folder.name})
        for name, text in {**files, "manifest.json": manifest}.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / EXTENSION).write_bytes(native.extension.read_bytes())
        for name, file in self.generated.libraries.items():
            files_of_library = {**code, file: files[file]}
            library = compile_library(name, files_of_library, self.robot, self.tools, 1)
            (folder / name).write_bytes(library.read_bytes())
        return folder

    def verify(self, folder: Path) -> dict[str, Finding]:
        """Verify such a package as a build does."""
        return verify_package(folder, self.model, self.checked)

    def results(self, folder: Path, seed: int) -> list[Array] | None:
        """Return every output of every way of calling each function, at other states than those of the
        verification; None where a call ends the process or is refused.
        """
        outputs: list[Array] = []
        try:
            with Helper(Callee(folder)) as ask:
                for checked in asked(self.checked):
                    ways = ask(checked.declaration)
                    for question in questions(self.model, checked, seed):
                        for way in ways:
                            arrays = question.arrays()
                            outputs += ask(FunctionCall(checked.declaration, way, arrays, question.extra))
        except (HelperEnded, VerificationError):
            return None
        return [np.asarray(x, float) for x in outputs]
