"""Mutation test of the verification: of generated C with one constant, sign or term, number of a table, copy
or argument changed hardly any may pass.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rbdc.errors import LoadError, ToolchainError, VerificationError
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.native.toolchain import find_compiler
from rbdc.planning.tuning import TunedWay, Tuning
from rbdc.resources import resolve
from tests.support import COMPILERS, Array, slow_but
from tests.support_trees import random_tree
from tests.support_tuning import tuning
from tests.support_windows import path_tree
from tests.verification.support_compiled import Text
from tests.verification.support_mutants import Mutant, mutants

MUTANTS = int(os.environ.get("RBDC_MUTANTS", "3"))
"""Of each robot. With RBDC_MUTANTS=100 it takes half an hour; fewer show that the net is there."""
CHANGED = 1e-9
"""Of the largest entry of a result at a state: what a mutant has to change to count."""
ROUNDED = 1e-13
"""Of the largest entry of all results: a smaller change is of rounding."""
SURVIVORS = 0.01
OTHER_STATES = 7
"""The seed of the states where a change is looked for, which are not those of the verification."""

ROBOTS = {
    "kuka_iiwa": lambda: Problem.from_urdf(resolve("kuka_iiwa")),
    "hyq": lambda: Problem.from_urdf(resolve("hyq"), root_joint="free-flyer"),
    "every_joint_type": lambda: random_tree(4, size=8),
}
EXTERNAL = (("frame_velocity", "com"), ("rnea", "rnea_vjp"))
"""Functions of packages for CasADi and JAX. Derivatives in the library for CasADi are tested, not verified:
these have none. The first is the smallest, for some mutants are of it however few are asked for.
"""
PATHS = ("rnea_derivatives", "minverse", "aba_derivatives", "rnea_second_derivatives")
"""Functions that a tree of 40 joints has along its paths."""


@dataclass(frozen=True)
class Package:
    """A package whose code is to be changed: the files that are, and its results at `OTHER_STATES`."""

    text: Text
    code: dict[str, str]
    results: list[Array]


def differs(before: Sequence[Array], after: Sequence[Array]) -> bool:
    """Return whether a result, (states, ...), has changed so that it counts: at a state by a part of its
    largest entry there, or of the median at others where that is more, for at rest all entries can be zero;
    and by more than rounding, for all entries can be rounded zeros.
    """
    finite_parts = (x[np.isfinite(x)] for x in before)
    least = ROUNDED * max(float(np.max(np.abs(x), initial=0.0)) for x in finite_parts)
    for x, y in zip(before, after, strict=True):
        if not np.array_equal(np.isfinite(x), np.isfinite(y)):
            return True
        finite = np.isfinite(x)
        flat = (len(x), -1)
        sizes = np.max(np.where(finite, np.abs(x), 0.0).reshape(flat), axis=1, initial=0.0)
        with np.errstate(invalid="ignore"):
            moved = np.max(np.where(finite, np.abs(x - y), 0.0).reshape(flat), axis=1, initial=0.0)
        if np.any(moved > np.maximum(CHANGED * np.maximum(sizes, np.median(sizes)), least)):
            return True
    return False


def texts(robot: str) -> Iterator[Text]:
    """Yield all packages of a robot: each function, with batches; some for frameworks; some of a larger tree
    along its paths; and some by loops.
    """
    model, order = ROBOTS[robot](), random.Random(1)
    names = [
        name for name, record in functions_of(model).items() if not 0 < record.policy.most_dof < model.nv
    ]
    order.shuffle(names)
    others = [
        lambda group=group: Text.of(model, robot, group, "batch", "casadi", "jax") for group in EXTERNAL
    ]
    tree = path_tree(len(robot), 40)
    others += [lambda name=name: Text.of(tree, "tree", [name], "batch") for name in PATHS]
    every = max(1, len(names) // len(others))
    for k, name in enumerate(names):
        yield Text.of(model, robot, [name], "batch")
        if k % every == 0 and others:
            yield others.pop(0)()


def packages(robot: str, folder: Path) -> Iterator[Package]:
    """Yield those packages, again and again."""
    built: list[Package] = []
    for number, text in enumerate(texts(robot)):
        built.append(unchanged(text, folder / f"package{number}"))
        yield built[-1]
    yield from itertools.cycle(built)


def unchanged(text: Text, folder: Path) -> Package:
    """Return a package as compiled and verified without a change."""
    whole = text.installed(folder)
    assert all(finding.error < 1.0 for finding in text.verify(whole).values())
    results = text.results(whole, OTHER_STATES)
    assert results is not None
    libraries = set(text.generated.libraries.values())
    code = {name: x for name, x in text.code.items() if not libraries or name in libraries}
    return Package(text, code, results)


def survives(package: Package, mutant: Mutant, folder: Path) -> bool | None:
    """Return whether the verification lets a mutant pass; None if it cannot be compiled or changes nothing
    that counts.
    """
    text = package.text
    try:
        installed = text.installed(folder, {**text.files, mutant.file: mutant.text})
        text.verify(installed)
    except ToolchainError:
        return None
    except (VerificationError, LoadError):
        return False
    after = text.results(installed, OTHER_STATES)
    return True if after is None or differs(package.results, after) else None


@pytest.mark.parametrize("robot", slow_but(ROBOTS, (), ("hyq", "every_joint_type")))
def test_mutants_of_generated_code_are_refused(robot: str, tmp_path: Path) -> None:
    refused, survivors, number = 0, [], 0
    for number, package in enumerate(packages(robot, tmp_path)):
        passed = None
        for attempt, mutant in zip(range(4), mutants(package.code, number), strict=False):
            passed = survives(package, mutant, tmp_path / f"mutant{number}_{attempt}")
            if passed is not None:
                break
        refused += passed is False
        survivors += [f"{package.text.robot}: {mutant.change}"] if passed else []
        if refused + len(survivors) >= MUTANTS:
            break
    print(f"{robot}: {refused} refused, {len(survivors)} survived: {survivors}")
    assert len(survivors) <= SURVIVORS * MUTANTS, "\n".join(survivors)


FORMS = {"crba": "rolled", "minverse": "columns", "aba_derivatives": "columns"}
"""Forms of a tuned double pendulum; without a tuning all functions are straight-line code."""
TWO = (COMPILERS[0], Path(find_compiler().path).name)
"""A compiler, and that which builds take by default."""


def a_tuning() -> Tuning:
    """Return other forms than the default, batches of 4 and 2 samples, single calls and batches by two
    compilers.
    """
    first, last = TWO
    single = {name: {TunedWay(form, first): 1.0} for name, form in FORMS.items()}
    return tuning(single, {"crba": {TunedWay(4, last): 1.0}, "minverse": {TunedWay(2, last): 1.0}})


@pytest.mark.slow
def test_mutants_of_a_tuned_package_are_refused(tmp_path: Path) -> None:
    """The test changes each C file that the tuning affects once."""
    model = Problem.from_urdf(resolve("double_pendulum"))
    package = unchanged(Text.of(model, "robot", [*FORMS], "batch", tuning=a_tuning()), tmp_path / "package")
    others = package.text.tools.others
    files = sorted(name for _, name in others if name.endswith(".c"))
    assert len(files) == 5 and {tool.path for tool in others.values()} == {find_compiler(c).path for c in TWO}
    for file in files:
        plenty = zip(range(6), mutants({file: package.code[file]}, 1), strict=False)
        tried = ((mutant, survives(package, mutant, tmp_path / f"{file}{k}")) for k, mutant in plenty)
        mutant, passed = next(pair for pair in tried if pair[1] is not None)
        assert not passed, mutant.change
