"""Mutation test of the verification: of generated C with one constant, sign or term changed hardly any may
pass.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rbdc import Model, load
from rbdc.emit.backend import Package as PackageOf
from rbdc.emit.library import render_manifest
from rbdc.errors import ToolchainError, VerificationError
from rbdc.functions.catalogue import select
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.evaluation import Part
from rbdc.native.build import compile_package
from rbdc.native.install import EXTENSION
from rbdc.native.toolchain import find_compiler
from rbdc.planning.generation import Generated, GenerationOptions, generate
from rbdc.resources import resolve
from rbdc.verification.package import Checked, Question, answers, questions, verify_package
from tests.support import UNOPTIMISED, Array
from tests.support_trees import random_tree
from tests.verification.support_mutants import Mutant, mutants

MUTANTS = int(os.environ.get("RBDC_MUTANTS", "8"))
"""Of each robot. With RBDC_MUTANTS=100 it takes a quarter of an hour; fewer show that the net is there."""
CHANGED = 1e-9
"""Of the largest entry of a result: what a mutant has to change to count."""
SURVIVORS = 0.01
OTHER_STATES = 7
"""The seed of the states where a change is looked for, which are not those of the verification."""

ROBOTS = {
    "kuka_iiwa": lambda: Model.from_urdf(resolve("kuka_iiwa")),
    "hyq": lambda: Model.from_urdf(resolve("hyq"), root_joint="free-flyer"),
    "every_joint_type": lambda: random_tree(3, size=8),
}


@dataclass(frozen=True)
class Package:
    """One function of a robot: its text, its declaration, and its results at `OTHER_STATES`."""

    model: Model
    robot: str
    generated: Generated
    results: list[Array]

    @property
    def checked(self) -> Checked:
        declaration = self.generated.sources[0].declaration
        return Checked(declaration, (Part(declaration.name),))


def installed(folder: Path, model: Model, robot: str, generated: Generated, files: dict[str, str]) -> Path:
    """A package of these files, compiled in a folder."""
    folder.mkdir()
    declarations: list[FunctionDeclaration] = [source.declaration for source in generated.sources]
    native = compile_package(files, robot, declarations, find_compiler(None), UNOPTIMISED, 1)
    manifest = render_manifest(PackageOf(model, robot, "0"), generated.sources, {"key": folder.name})
    for name, text in {**files, "manifest.json": manifest}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / EXTENSION).write_bytes(native.extension.read_bytes())
    return folder


def results(folder: Path, model: Model, checked: Checked) -> list[Array]:
    """Every output of every way of calling the function, at states of the test's own."""
    module = load(folder)
    asked: list[Question] = list(questions(model, checked, OTHER_STATES))
    with np.errstate(all="ignore"):
        return [
            np.asarray(x, dtype=float)
            for question in asked
            for _, outputs in answers(module, question)
            for x in outputs
        ]


def differs(before: list[Array], after: list[Array]) -> bool:
    """Whether a result has changed so that it counts."""
    pairs = ((x, y) for x, y in zip(before, after, strict=True) if x.size)
    return any(not np.max(np.abs(x - y)) <= CHANGED * np.max(np.abs(x)) for x, y in pairs)


def packages(robot: str, preset: str, folder: Path) -> Iterator[Package]:
    """A package for each function of a preset, again and again, in an order of the seed."""
    model = ROBOTS[robot]()
    names = select(model, None, preset)
    random.Random(1).shuffle(names)
    made = {}
    for name in itertools.cycle(names):
        if name not in made:
            generated = generate(
                model, robot, [name], "0", lambda _: None, GenerationOptions(targets=("c", "batch"))
            )
            declaration = generated.sources[0].declaration
            whole = installed(folder / name, model, robot, generated, generated.files)
            checked = Checked(declaration, (Part(name),))
            assert verify_package(whole, model, [checked])[name] < 1.0
            made[name] = Package(model, robot, generated, results(whole, model, checked))
        yield made[name]


def survives(package: Package, mutant: Mutant, folder: Path) -> bool | None:
    """Whether the verification lets a mutant pass; None if it cannot be compiled or changes nothing that
    counts.
    """
    files = {**package.generated.files, mutant.file: mutant.text}
    try:
        made = installed(folder, package.model, package.robot, package.generated, files)
    except ToolchainError:
        return None
    if not differs(package.results, results(made, package.model, package.checked)):
        return None
    try:
        verify_package(made, package.model, [package.checked])
    except VerificationError:
        return False
    return True


@pytest.mark.parametrize(
    ("robot", "preset"),
    [
        *(pytest.param(robot, "full", marks=pytest.mark.slow) for robot in ROBOTS),
        *(pytest.param(robot, "second", marks=pytest.mark.exhaustive) for robot in ROBOTS),
    ],
)
def test_mutants_of_generated_code_are_refused(robot: str, preset: str, tmp_path: Path) -> None:
    refused, survivors = 0, []
    streams: dict[int, Iterator[Mutant]] = {}
    for number, package in enumerate(packages(robot, preset, tmp_path)):
        code = {name: text for name, text in package.generated.files.items() if name.endswith((".c", ".h"))}
        stream = streams.setdefault(id(package), mutants(code, number))
        mutant = next(stream)
        passed = survives(package, mutant, tmp_path / f"mutant{number}")
        refused += passed is False
        survivors += [mutant.change] if passed else []
        if refused + len(survivors) == MUTANTS:
            break
    assert len(survivors) <= SURVIVORS * MUTANTS, "\n".join(survivors)
