"""States at which a function is singular to rounding: they hide no error at other states, and are named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc import Inertia, Joint, Link, Symmetric3, Vector3
from rbdc.cli.commands import commands
from rbdc.errors import OptionError, SingularModelError, VerificationError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.evaluation import EntryPart
from rbdc.functions.scalar_types import FLOAT
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package, read
from rbdc.verification.expected import References, telling
from rbdc.verification.package import TOLERANCES, drawn
from rbdc.verification.states import Checked, questions, sampled
from tests.support import UNOPTIMISED, slow_but
from tests.support_trees import random_inertia
from tests.verification.support_compiled import Text

VJP, JVP = "constrained_dynamics_vjp", "constrained_dynamics_jvp"
SINGULAR = {"neutral", "at right angles"}
"""Kinds of states some of which are singular: the arm is stretched out."""


@cache
def arm() -> Problem:
    """Return an arm whose tip, held in a point, cannot move along the arm where that is stretched out."""
    return read("kuka_iiwa", BuildOptions(contacts=("tip=point@lbr_iiwa_link_7:0,0,0.05",)))


@cache
def products() -> Text:
    """Return weighted sums of rows of the derivatives under the contact, and their product with a
    direction.
    """
    return Text.of(arm(), "arm", [VJP, JVP])


def doubled(name: str, output: str, size: int, files: dict[str, str]) -> dict[str, str]:
    """Return the files with twice an output where the function is called without options."""
    file = f"arm_{name}.c"
    call = re.search(rf"^ +arm_{name}_without_options\(.*\);\n", files[file], re.MULTILINE)
    assert call is not None
    loop = f"        for (int k = 0; k < {size}; ++k) {output}[k] *= 2.0;\n"
    return {**files, file: f"{files[file][: call.end()]}{loop}{files[file][call.end() :]}"}


def misplaced(files: dict[str, str]) -> dict[str, str]:
    """Return the files with one intermediate result in the place of the one before."""
    file = f"arm_{VJP}_without_options_part1.c"
    changed = files[file].replace("work[187] = ", "work[186] = ")
    assert changed != files[file]
    return {**files, file: changed}


MUTANTS: dict[str, Callable[[dict[str, str]], dict[str, str]]] = {
    "twice w_dq": partial(doubled, VJP, "w_dq", 7),
    "twice dddq": partial(doubled, JVP, "dddq", 7),
    "an intermediate result in another place": misplaced,
}


@pytest.mark.parametrize("mutant", slow_but(MUTANTS, ("twice w_dq",)))
def test_a_singular_state_hides_no_error_at_others(mutant: str, tmp_path: Path) -> None:
    mutated = products().installed(tmp_path / "changed", MUTANTS[mutant](products().files))
    with pytest.raises(VerificationError, match=r"constrained_dynamics_(vj|jv)p .*, without fext"):
        products().verify(mutated)


def test_singular_states_are_named(tmp_path: Path) -> None:
    findings = products().verify(products().installed(tmp_path / "right"))
    assert all(finding.error < 1.0 and set(finding.left_out) == SINGULAR for finding in findings.values())
    asked = (
        "build", "kuka_iiwa", "--contact", "tip=point@lbr_iiwa_link_7:0,0,0.05", "--functions",
        "crba,constrained_dynamics", "--targets", "c", "--cflags=-O0", "--force", "--out", str(tmp_path),
    )  # fmt: skip
    said = CliRunner().invoke(commands, asked, catch_exceptions=False).stdout
    words = "not compared at ill-conditioned states (neutral, at right angles): constrained_dynamics"
    assert words in " ".join(said.split())
    (result,) = json.loads(CliRunner().invoke(commands, [*asked, "--json"], catch_exceptions=False).stdout)
    assert result["unverified_states"] == {"constrained_dynamics": ["neutral", "at right angles"]}


@pytest.mark.parametrize("name", ["constrained_dynamics", VJP, "aba_derivatives", "crba"])
@pytest.mark.parametrize("state", slow_but([3, 10, 28], (10,)))
def test_tolerances_at_a_state_do_not_depend_on_others(name: str, state: int) -> None:
    """Bit by bit, where one of the states becomes singular, and where one becomes large."""
    declaration = functions_of(arm())[name].declaration
    inputs = {p.name: sampled(arm(), declaration, 5)[p.name] for p in declaration.required}
    references, others = References(arm(), 1e-10), np.arange(len(inputs["q"])) != state
    before = references.expected(declaration, (EntryPart(name),), inputs)
    for factor in (0.0, 1e6):
        changed = {key: x.copy() for key, x in inputs.items()}
        changed["q"][state] *= factor
        # Perturbations are drawn once for a number of states.
        after = References(arm(), 1e-10).expected(declaration, (EntryPart(name),), changed)
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one.tolerances[others], other.tolerances[others])


def light_base(mass: float) -> Problem:
    """Return a free base that carries a heavy link on a hinge: it turns about the hinge with hardly any
    inertia.
    """
    links = [
        Link("base", Inertia.about_com(mass, Vector3.zero(), Symmetric3.diagonal(mass, mass, mass))),
        Link("heavy", random_inertia(np.random.default_rng(0))),
    ]
    hinge = Joint("hinge", "continuous", "base", "heavy", axis=Vector3(0.0, 0.0, 1.0))
    return Problem.assemble("light_base", links, [hinge], root_joint="free-flyer")


def test_a_function_without_a_state_to_compare_it_at_is_refused(tmp_path: Path) -> None:
    """M is singular in single precision; in double precision it is regular."""
    model = light_base(1e-7)
    options = BuildOptions(functions=("aba",), cflags=UNOPTIMISED, jobs=1, out=tmp_path, force=True)
    assert build_package(model, options).unverified_states == {}
    single = replace(options, dtype="float32")
    with pytest.raises(SingularModelError, match=r"light_base.*: aba cannot be verified.*`verify=False`"):
        build_package(model, single)


def test_further_states_are_drawn_until_some_tell() -> None:
    """All states that are drawn first are singular."""
    name = "constrained_dynamics"
    checked = Checked(functions_of(arm())[name].declaration, (EntryPart(name),))
    *_, plain = questions(arm(), checked)
    plain.inputs["q"][:] = 0.0
    asked = list(drawn(References(arm(), 1e-10), plain))
    assert len(asked) == 2
    told = [int(np.sum(telling(outputs))) for _, outputs in asked]
    assert told[0] == 0
    assert told[1] > 8
    assert not np.array_equal(asked[0][0].inputs["v"], asked[1][0].inputs["v"])


def test_regularisations_grow_until_some_states_tell() -> None:
    """A light body under two contacts: in single precision mu of 1 is nothing beside J M^-1 J^T of 1e7."""
    inertia = Inertia.about_com(1e-6, Vector3(0.1, 0.2, 0.3), Symmetric3.diagonal(1e-7, 1e-7, 1e-7))
    hinge = Joint("hinge", "continuous", "base", "light", axis=Vector3(0.0, 0.0, 1.0))
    described = Problem.assemble("light", [Link("base"), Link("light", inertia)], [hinge])
    contacts = ("one=point@light:0.1,0,0.2", "two=surface@light:0,0.2,0.1,0,0,0")
    model = read(described, BuildOptions(contacts=contacts))
    declaration = replace(functions_of(model)["constrained_dynamics"].declaration, scalar=FLOAT)
    assert "mu" in {p.name for p in declaration.required}
    checked = Checked(declaration, (EntryPart(declaration.name),))
    *_, all_active = questions(model, checked)
    asked = list(drawn(References(model, TOLERANCES["float32"]), all_active))
    assert not telling(asked[0][1]).any()
    assert telling(asked[-1][1]).any()


@pytest.mark.parametrize("where", ["0,0,1e300", "-2e6,0,0"])
def test_a_contact_beyond_all_measure_is_refused(where: str) -> None:
    with pytest.raises(OptionError, match=r"tip=.* at most 1e\+06 m from the link"):
        BuildOptions(contacts=(f"tip=point@lbr_iiwa_link_7:{where}",))
