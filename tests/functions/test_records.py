"""A function's name and its inputs' names stand in its record alone: no other file of rbdc asks for them by
strings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from inspect import unwrap
from pathlib import Path

import pytest

from rbdc.algorithms.reference.derivatives import carpentier_mansard
from rbdc.functions.catalogue import functions_of, known
from rbdc.functions.declarations import Kind
from rbdc.functions.record import ALONE, PRESETS, SECOND, Requirement
from rbdc.functions.references import reference_of, references_of
from rbdc.model import Problem
from rbdc.planning.loops.rolled import RECURSIONS
from rbdc.resources import resolve
from tests.laws.test_curved_mimic import curved_tree
from tests.support_contacts import on_feet

SOURCE = Path(__file__).parents[2] / "codegen" / "rbdc"
RECORDS = {
    SOURCE / "functions" / f"{name}.py"
    for name in ("dynamics", "derivatives", "kinematics", "momentum", "manifold")
}
FUNCTIONS = set(known())
INPUTS = {p.name for function in known().values() for p in function.declaration.inputs} - {"rows", "snap"}
"""Names of inputs, but for a common word and an option."""

NAMING: dict[str, set[str]] = {
    "algorithms/manifold.py": {"step"},
    "algorithms/projection.py": {"step"},
    "model/formats/dh.py": {"com"},
    "planning/climb/motions.py": {"step"},
    "planning/columns/loops.py": {"step"},
    "planning/loops/places.py": {"step"},
    "planning/loops/recording.py": {"step"},
    "report/methods/differentiation.py": {"step"},
    "report/methods/contenders.py": {"rnea", "aba", "rnea_derivatives", "aba_derivatives"},
    "report/studies/first_order.py": {"rnea", "minverse", "aba", "rnea_derivatives", "aba_derivatives"},
    "report/studies/first_order_peers.py": {"rnea_derivatives", "aba_derivatives"},
    "report/studies/precision.py": {"rnea_derivatives", "aba_derivatives"},
    "report/studies/inertia_inverse.py": {"minverse"},
    "report/studies/recursion.py": {"rnea"},
    "report/studies/second_order.py": {"rnea", "step"},
    "report/studies/second_order_claims.py": {
        "aba_derivatives",
        "aba_second_derivatives",
        "rnea_derivatives",
        "rnea_second_derivatives",
    },
    "report/studies/sensitivity.py": {"rnea", "rnea_derivatives"},
    "runtime/_casadi.py": {
        "frame_placement",
        "frame_position",
        "frame_error",
        "frame_jacobian",
        "frame_velocity",
        "frame_acceleration",
        "frame_classical_acceleration",
    },
}
"""Files that may quote functions, and which: a member of descriptions, symbols of C, a column of a page, what
experiments of papers measure, the function that a refusal of derivatives by parameters advises to build,
functions that CasADi's operations move by an offset.
"""

KEYING: dict[str, set[str]] = {
    "algorithms/reference/derivatives/composed.py": {"q", "v", "a"},
    "algorithms/reference/derivatives/hyper_dual.py": {"a"},
    "algorithms/trace.py": {"a", "v"},
    "analysis/model_summary.py": {"q", "v"},
    "model/formats/urdf.py": {"offset"},
    "planning/columns/loops.py": {"q"},
    "planning/forms.py": {"mu"},
    "planning/lane_signs.py": {"q", "v"},
    "planning/windows/inverse.py": {"a"},
    "planning/windows/nests.py": {"q", "v", "a"},
    "planning/windows/products.py": {"q", "v"},
    "planning/windows/root.py": {"w"},
    "planning/windows/rows.py": {"q", "pose"},
    "report/studies/recursion.py": {"v"},
    "report/studies/methods/forward_terms.py": {"q"},
    "report/studies/sensitivity_claims.py": {"q"},
    "runtime/_frameworks.py": {"w"},
    "verification/expected.py": {"q", "mu"},
}
"""Files that may use names of inputs as keys, and which: entries of q and v in the manifest and in `info`,
components of motions, signs of joints by entry of q and of v, arguments of steps by their places, right-hand
sides by q and by v, the errors of differences by the configuration, where the contacts' matrix is
conditioned, inputs of a text that are stepped, and an attribute of URDF.
"""


def strings(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every string constant that is not a docstring, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno


def keys(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield strings that select: subscripts, keys of dictionaries, sides of comparisons and arguments of
    `get`.
    """
    for node in ast.walk(tree):
        candidates: list[ast.AST | None] = []
        if isinstance(node, ast.Subscript):
            candidates = [node.slice]
        elif isinstance(node, ast.Dict):
            candidates = [*node.keys]
        elif isinstance(node, ast.Compare):
            candidates = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            candidates = [*node.args[:1]]
        for candidate in candidates:
            members = candidate.elts if isinstance(candidate, (ast.Tuple, ast.List, ast.Set)) else [candidate]
            yield from (
                pair for member in members if isinstance(member, ast.Constant) for pair in strings(member)
            )


def others() -> list[Path]:
    """Return files of rbdc that are no records."""
    return [path for path in sorted(SOURCE.rglob("*.py")) if path not in RECORDS]


def test_functions_are_named_in_their_records_alone() -> None:
    naming = {
        (name, value)
        for path in others()
        for name in [str(path.relative_to(SOURCE))]
        for value, _ in strings(ast.parse(path.read_text(encoding="utf-8")))
        if value in FUNCTIONS
    }
    assert not naming - {(name, value) for name, values in NAMING.items() for value in values}
    assert {name for name, _ in naming} == set(NAMING), "an allowance that nothing needs"


def test_inputs_are_told_apart_by_their_kinds() -> None:
    keying = {
        (name, value)
        for path in others()
        for name in [str(path.relative_to(SOURCE))]
        for value, _ in keys(ast.parse(path.read_text(encoding="utf-8")))
        if value in INPUTS
    }
    assert keying == {(name, value) for name, values in KEYING.items() for value in values}


def test_the_search_finds_what_it_is_to_find() -> None:
    tree = ast.parse('x["q"]; {"v": 1}; name == "a"; name in ("tau", "w"); d.get("fext"); f("dq")')
    assert {value for value, _ in keys(tree)} == {"q", "v", "a", "tau", "w", "fext"}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_record_is_whole(name: str) -> None:
    function = known()[name]
    assert function.preset in (*PRESETS, SECOND, ALONE)
    assert (function.at_frame is not None) == function.declaration.framed == (not function.methods)
    assert set(function.policy.rolled.values()) <= set(RECURSIONS)
    assert all(callable(method) for method in references_of(function).values())
    assert callable(reference_of(function))
    inputs = {
        Kind.CONFIGURATION,
        Kind.VELOCITY,
        Kind.ACCELERATION,
        Kind.TANGENT,
        Kind.FORCE,
        Kind.WEIGHTS,
        Kind.WRENCHES,
        Kind.VECTORS,
        Kind.PLACEMENTS,
        Kind.MOTION,
        Kind.DURATION,
        Kind.NOT_NEGATIVE,
        Kind.TASK,
    }
    optional = {Kind.WRENCHES, Kind.PLACEMENTS, Kind.NOT_NEGATIVE, Kind.TASK}
    assert {p.kind for p in function.declaration.inputs} <= inputs
    assert {p.kind for p in function.declaration.optional} <= optional
    assert {p.kind for p in function.declaration.outputs} <= {Kind.JOINT_ROWS, Kind.INVERSE, Kind.SPACE_ROWS}


def test_another_reference_does_not_become_the_oracle() -> None:
    """Functions that are derived from one with several references keep their oracle, too."""
    function = known()["rnea_derivatives"]
    more = {**function.references, "another": "rnea:rnea"}
    many = replace(function, references=more)
    assert unwrap(reference_of(many)) is unwrap(reference_of(function)) is carpentier_mansard.rnea_derivatives
    second = known()["rnea_second_derivatives"]
    assert second.chain is not None
    arm, values = Problem.from_urdf(resolve("double_pendulum")), []
    for source in (function, many):
        derived = replace(second, references={}, oracle="", chain=replace(second.chain, source=source))
        values.append(reference_of(derived)(arm, [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]))
    assert values[0] == values[1]


@pytest.mark.parametrize("oracle", ["", "nobody"])
def test_an_oracle_is_one_of_several_references(oracle: str) -> None:
    message = f"rnea_derivatives: oracle={oracle!r} is not one of its references, .*carpentier-mansard"
    with pytest.raises(ValueError, match=message):
        replace(known()["rnea_derivatives"], oracle=oracle)


OF_USERS = ("own_algorithm.md", "test_own_references.py")
"""Files that name methods of a user's own file."""


def test_names_of_methods_are_of_records() -> None:
    """Reports, tests and pages find results by these names: `unrolled-` and the name of a method."""
    root, named = SOURCE.parents[1], set[str]()
    for folder in ("codegen", "tests", "docs", "generated", "robots", "templates", "README.md"):
        for path in (root / folder).rglob("*") if (root / folder).is_dir() else [root / folder]:
            if path.suffix in (".py", ".md") and path.name not in OF_USERS:
                named |= set(re.findall(r"\bunrolled-(\w[\w-]*\w)", path.read_text(encoding="utf-8")))
    functions = [*known().values(), *functions_of(Problem.from_urdf(resolve("double_pendulum"))).values()]
    methods = {name for f in functions for name in (*f.methods, *references_of(f))}
    methods |= {f.comparison.through_passes for f in functions}
    assert {"cholesky", "direct", "carpentier"} <= named <= methods


def test_every_recursion_as_loops_is_of_a_record() -> None:
    functions = {**known(), **functions_of(on_feet())}.values()
    named = {name for function in functions for name in function.policy.rolled.values()}
    assert named == set(RECURSIONS)


def test_each_requirement_is_that_of_a_function() -> None:
    functions = {**known(), **functions_of(on_feet()), **functions_of(curved_tree("coupled"))}
    for requirement in Requirement:
        assert any(requirement in function.requires for function in functions.values()), requirement
