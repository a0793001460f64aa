"""A recursion is one text: every machine that runs it gives what the references give, and finds a flipped
sign; and no second text is beside it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import rbdc
from rbdc.algorithms.body_motion import BodyMotion, SpatialMotion
from rbdc.algorithms.contacts.dynamics import compliance, constrained_dynamics, hold
from rbdc.algorithms.contacts.motion import ContactMotion, at
from rbdc.algorithms.derivatives.forward_derivatives import aba_derivatives
from rbdc.algorithms.derivatives.rnea_derivatives import accelerate, rnea_derivatives
from rbdc.algorithms.dynamics.articulated_bodies import articulated_accelerations, released
from rbdc.algorithms.dynamics.coriolis import ClimbingForces, row_of
from rbdc.algorithms.dynamics.crba import crba, inertia_matrix
from rbdc.algorithms.dynamics.forward_dynamics import by_articulated_bodies
from rbdc.algorithms.dynamics.minverse import minverse
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.manifold import integrate
from rbdc.algorithms.reference.contacts import constrained_dynamics as contact_reference
from rbdc.algorithms.tools.elimination import factorise
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.model.contacts import ContactOptions
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.planning.loops.rolled import RECURSIONS as ROLLED
from rbdc.planning.loops.rolled import nest
from rbdc.planning.loops.tree import TreeTables
from rbdc.spatial import Force
from tests.support import COMPILERS, Array, assert_close
from tests.support_loops import run
from tests.support_references import reference_of
from tests.support_trees import mimic_tree, random_tree
from tests.support_windows import WindowsKernel, inputs, path_tree, widths

SOURCE = Path(rbdc.__file__).parent


class Text(NamedTuple):
    """A recursion: the name of its loops, its straight-line form and the inputs of that; a function of its
    text, a piece of it, and the piece with a sign flipped.
    """

    loops: str
    straight: Callable[..., Any]
    inputs: str
    function: Any
    piece: str
    flipped: str


TEXTS = {
    "rnea": Text(
        "inverse_dynamics", newton_euler, "q v a", BodyMotion.moved_by_joint, "alpha + ", "alpha - "
    ),
    "crba": Text("composite_bodies", crba, "q", inertia_matrix, "j.s.dot(f)", "-j.s.dot(f)"),
    "aba": Text(
        "articulated_bodies",
        by_articulated_bodies,
        "q v tau",
        articulated_accelerations,
        "rate = solved - moved",
        "rate = solved + moved",
    ),
    "minverse": Text("inverse_inertia", minverse, "q", factorise, "-(ratio * h[i, j])", "ratio * h[i, j]"),
    "rnea_derivatives": Text(
        "inverse_dynamics_derivatives",
        rnea_derivatives,
        "q v a",
        row_of,
        "apply(d.psi_rate) + ",
        "apply(d.psi_rate) - ",
    ),
}
TREES = (0, 5, "coupled")


@cache
def tree(which: int | str) -> Problem:
    """Return a random tree with every joint type, or one with joints that follow others."""
    return mimic_tree("coupled") if isinstance(which, str) else random_tree(which)


def inputs_of(text: Text, model: Problem) -> dict[str, Array]:
    """Return inputs by name."""
    rng = np.random.default_rng(7)
    q = integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())
    inputs = {name: rng.normal(size=model.nv) for name in text.inputs.split()} | {"q": np.array(q)}
    return inputs | ({"fext": rng.normal(size=6 * model.njoints)} if "v" in inputs else {})


def by_numbers(evaluate: Callable[..., Any], inputs: dict[str, Array]) -> list[Array]:
    """Return the outputs of an algorithm, flat, all in one row."""
    *arguments, last = inputs.items()
    forces = {}
    if last[0] == "fext":
        forces = {"fext": [Force.of(x.tolist()) for x in last[1].reshape(-1, 6)]}
    else:
        arguments.append(last)
    results = evaluate(*(x.tolist() for _, x in arguments), **forces)
    return [np.ravel(x) for x in (results if isinstance(results, tuple) else (results,))]


def by_loops(name: str, model: Problem, inputs: dict[str, Array]) -> list[Array]:
    """Return the outputs of the loops."""
    declaration = functions_of(model)[name].declaration
    loops = nest(TreeTables(model), ROLLED[TEXTS[name].loops], declaration)
    return [*run(loops, {p.name: p.size for p in declaration.outputs}, **inputs).values()]


def results(name: str, machine: str, model: Problem) -> list[Array]:
    """Return the outputs of a function by a machine, or by its reference."""
    text = TEXTS[name]
    inputs = inputs_of(text, model)
    if machine == "Loops":
        return by_loops(name, model, inputs)
    evaluate = text.straight if machine == "Numbers" else reference_of(name)
    return by_numbers(lambda *x, **forces: evaluate(model, *x, **forces), inputs)


CASES = [(name, which) for name in TEXTS for which in TREES if (name, which) != ("aba", "coupled")]
"""Articulated bodies know no joint that follows another."""


@pytest.mark.parametrize("machine", ["Numbers", "Loops"])
@pytest.mark.parametrize(("name", "which"), CASES)
def test_a_machine_gives_what_the_reference_gives(name: str, which: int | str, machine: str) -> None:
    results_of_machine, right = (results(name, by, tree(which)) for by in (machine, "reference"))
    for one, other in zip(results_of_machine, right, strict=True):
        assert_close(one, other, 1e-11, what=name)


@contextmanager
def flipped(text: Text) -> Iterator[None]:
    """The text with one sign flipped, whoever has imported it."""
    source = textwrap.dedent(inspect.getsource(text.function))
    assert source.count(text.piece) == 1
    names, around = dict[str, Any](), dict(vars(inspect.getmodule(text.function)))
    exec("from __future__ import annotations\n" + source.replace(text.piece, text.flipped), around, names)
    changed = names[text.function.__name__]
    whole = text.function.__code__
    text.function.__code__ = changed.__code__
    try:
        yield
    finally:
        text.function.__code__ = whole


@pytest.mark.parametrize("machine", ["Numbers", "Loops"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_flipped_sign_shows_under_every_machine(name: str, machine: str) -> None:
    right = results(name, "reference", tree(0))
    with flipped(TEXTS[name]):
        wrong = results(name, machine, tree(0))
    assert max(np.abs(x - y).max() / np.abs(y).max() for x, y in zip(wrong, right, strict=True)) > 1e-3


HELD = partial(Text, "constrained_dynamics", constrained_dynamics, "q v tau")
CONTACTS = {
    "residual": HELD(ContactMotion._classical, "linear + velocity", "linear - velocity"),
    "Jacobian": HELD(at, "linear + m", "linear - m"),
    "compliance": HELD(compliance, "1.0 - switch", "1.0 + switch"),
    "rows of the matrix": HELD(hold, "-(active * entry)", "active * entry"),
}
"""The texts of contacts."""


def with_contacts(machine: str) -> list[Array]:
    """Return constrained dynamics of a tree with a point that holds and a surface that does not, by a machine
    or the reference.
    """
    contacts = ("sole=surface@link3:0.1,0.2,0.3", "tip=point@link2:0.1,0.2,0.3")
    model = read(random_tree(1, size=4), BuildOptions(contacts=contacts))
    inputs, active = inputs_of(CONTACTS["residual"], model), np.array([0.0, 1.0])
    del inputs["fext"]
    if machine == "Loops":
        declaration = functions_of(model)["constrained_dynamics"].declaration
        loops = nest(TreeTables(model), ROLLED["constrained_dynamics"], declaration)
        outputs = {p.name: p.size for p in declaration.outputs}
        return [*run(loops, outputs, **inputs, active=active).values()]
    evaluate = constrained_dynamics if machine == "Numbers" else contact_reference
    options = ContactOptions(active=active.tolist())
    q, v, tau = (inputs[name].tolist() for name in ("q", "v", "tau"))
    return [np.array(x) for x in evaluate(model, q, v, tau, options=options)]


@pytest.mark.parametrize("machine", ["Numbers", "Loops"])
def test_contacts_are_held_by_every_machine(machine: str) -> None:
    for one, other in zip(with_contacts(machine), with_contacts("reference"), strict=True):
        assert_close(one, other, 1e-10, what="constrained_dynamics")


@pytest.mark.parametrize("machine", ["Numbers", "Loops"])
@pytest.mark.parametrize("name", CONTACTS)
def test_a_flipped_sign_of_contacts_shows_under_every_machine(name: str, machine: str) -> None:
    right = with_contacts("reference")
    with flipped(CONTACTS[name]):
        wrong = with_contacts(machine)
    assert max(np.abs(x - y).max() / np.abs(y).max() for x, y in zip(wrong, right, strict=True)) > 1e-3


ROWS = {
    "motions": Text(
        "rnea_derivatives",
        rnea_derivatives,
        "q v a",
        SpatialMotion.moved_by_joint,
        "(seconds) + self",
        "(seconds) - self",
    ),
    "forces": Text("rnea_derivatives", rnea_derivatives, "q v a", *TEXTS["rnea_derivatives"][3:]),
    "entries": Text(
        "rnea_derivatives",
        rnea_derivatives,
        "q v a",
        ClimbingForces.itself,
        "psi_rate.dot(self.r_b) + ",
        "psi_rate.dot(self.r_b) - ",
    ),
    "articulated bodies": Text(
        "minverse", minverse, "q", released, "u.scaled(inverse)", "u.scaled(-inverse)"
    ),
    "accelerations": Text(
        "aba_derivatives", aba_derivatives, "q v tau", accelerate, "psi_second + ", "psi_second - "
    ),
}
"""The texts of kernels of windows, by the functions that have them (`tests/emit` compares those)."""


@pytest.mark.parametrize("name", ROWS)
def test_a_flipped_sign_shows_in_rows_of_limbs(name: str, tmp_path: Path) -> None:
    text, model = ROWS[name], path_tree(5, 12)
    arguments = inputs(model)[: len(text.inputs.split())]
    right = by_numbers(partial(text.straight, model), dict(zip(text.inputs.split(), arguments, strict=True)))
    changes: list[AbstractContextManager[None]] = [nullcontext(), flipped(text)]
    for flips, change in enumerate(changes):
        (folder := tmp_path / str(flips)).mkdir()
        with change:
            kernel = WindowsKernel(model, widths()[0], COMPILERS[0], folder, function=text.loops)
        wrong = [x.ravel() for x in kernel(*arguments, *[None] * ("v" in text.inputs))]
        error = max(np.abs(x - y).max() / np.abs(y).max() for x, y in zip(wrong, right, strict=True))
        assert error > 1e-3 if flips else error < 1e-12


def calls(node: ast.AST) -> set[str]:
    """Return the names of the functions and methods that are called."""
    called = (x.func for x in ast.walk(node) if isinstance(x, ast.Call))
    return {x.attr if isinstance(x, ast.Attribute) else getattr(x, "id", "") for x in called}


def is_product(node: ast.AST, right: str) -> bool:
    """Return whether this is a matrix times what has such a name."""
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    return product and getattr(node.right, "attr", "") == right  # type: ignore[attr-defined]


def is_inverse_pivot(node: ast.AST) -> bool:
    """Return whether this is one over an entry of a matrix."""
    inverse = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
    inverse = inverse and getattr(node.left, "value", 0.0) == 1.0  # type: ignore[attr-defined]
    return inverse and any(isinstance(x, ast.Subscript) and is_pair(x) for x in ast.walk(node))


def is_pair(entry: ast.Subscript) -> bool:
    """Return whether an entry has a row and a column: h[k, k], h[k][k]."""
    return isinstance(entry.slice, ast.Tuple) or isinstance(entry.value, ast.Subscript)


RECURSIONS: dict[str, tuple[Callable[[ast.FunctionDef], bool], set[str]]] = {
    "pass of Newton and Euler": (
        lambda f: "moved_by_joint" in calls(f) - {f.name},
        {"algorithms/body_motion.py:body_motions"},
    ),
    "composite bodies": (lambda f: "earlier" in calls(f), {"algorithms/dynamics/crba.py:inertia_matrix"}),
    "articulated bodies": (
        lambda f: "minus_product" in calls(f),
        {"algorithms/dynamics/articulated_bodies.py:released"},
    ),
    "derivatives of inverse dynamics": (
        lambda f: any(is_product(x, "psi_second") for x in ast.walk(f)),
        {"algorithms/dynamics/coriolis.py:row_of"},
    ),
    "elimination along the tree": (
        lambda f: any(is_inverse_pivot(x) for x in ast.walk(f)),
        {"algorithms/tools/elimination.py:factorise"},
    ),
    "rows of contacts": (lambda f: "compliance" in calls(f), {"algorithms/contacts/dynamics.py:hold"}),
}
"""By recursion what only its text has, and where that is: one place."""


@pytest.mark.parametrize("recursion", RECURSIONS)
def test_a_recursion_is_one_text(recursion: str) -> None:
    """Generated algorithms have one text for each recursion; references have the texts of their papers."""
    is_text, known = RECURSIONS[recursion]
    rooms = [SOURCE / room for room in ("algorithms", "planning", "emit")]
    paths = [path for room in rooms for path in room.rglob("*.py") if "reference" not in path.parts]
    definitions = {
        f"{path.relative_to(SOURCE)}:{node.name}"
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and is_text(node)
    }
    assert definitions == known
