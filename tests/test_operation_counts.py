"""Operations of the generated functions are locked: a change in either direction is an error until
RBDC_UPDATE=1 has rewritten the table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.ir.cost import cost
from rbdc.model import Problem
from rbdc.model.options import LIKELY_MEANT
from rbdc.planning.candidates import chosen
from rbdc.resources import resolve
from tests.support import slow_but

STORING = "RBDC_UPDATE=1 pytest tests/test_operation_counts.py -m 'slow or not slow' -k grow"
TABLE = Path(__file__).parent / "operation_counts.json"
ROBOTS = {
    "ur5": "fixed",
    "kuka_iiwa": "fixed",
    "panda": "fixed",
    "hyq": "free-flyer",
    "solo12": "free-flyer",
    "simple_humanoid": "free-flyer",
}
FUNCTIONS = (
    *(
        "rnea",
        "nle",
        "gravity_torque",
        "crba",
        "minverse",
        "aba",
        "rnea_derivatives",
        "aba_derivatives",
        "rnea_vjp",
        "rnea_jvp",
    ),
    *("com", "com_jacobian", "centroidal_momentum_matrix", "kinetic_energy", "potential_energy"),
)
LARGE = ("minverse", "aba_derivatives")
"""Left out for the humanoid: tracing them takes longer than all others together."""


def counts(robot: str) -> dict[str, int]:
    """Return operations without external forces, function by function."""
    model = Problem.from_urdf(resolve(robot), root_joint=ROBOTS[robot], snap=LIKELY_MEANT)
    functions = functions_of(model)
    names = [name for name in FUNCTIONS if robot != "simple_humanoid" or name not in LARGE]
    return {name: cost(chosen(model, functions[name])[1][0]).operations for name in names}


@pytest.mark.parametrize("robot", slow_but(ROBOTS, ("kuka_iiwa",), ("hyq",)))
def test_operations_grow_only_on_purpose(robot: str) -> None:
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    counted = counts(robot)
    if os.environ.get("RBDC_UPDATE"):
        # Other processes write theirs meanwhile.
        now = json.loads(TABLE.read_text()) if TABLE.exists() else {}
        TABLE.write_text(json.dumps(dict(sorted({**now, robot: counted}.items())), indent=1) + "\n")
        return
    assert (problem := disagreement(table[robot], counted)) == "", f"{robot}: {problem}"


def disagreement(stored: Mapping[str, int], counted: Mapping[str, int]) -> str:
    """Return the difference and how to store the new figures; "" without a difference."""
    changes = {name: (stored.get(name), n) for name, n in counted.items() if n != stored.get(name)}
    fewer = [name for name, (before, now) in changes.items() if before is not None and now < before]
    if not changes:
        return ""
    what = "fewer operations" if len(fewer) == len(changes) else "other operations"
    return f"{what} than stored (stored, now): {changes}; store them with: {STORING}"


def test_fewer_operations_are_an_error_too() -> None:
    assert disagreement({"rnea": 7, "aba": 9}, {"rnea": 7, "aba": 9}) == ""
    assert disagreement({"rnea": 7, "aba": 9}, {"rnea": 7, "aba": 8}).startswith("fewer operations")
    for counted in ({"rnea": 8, "aba": 8}, {"rnea": 7, "aba": 9, "crba": 1}):
        assert STORING in disagreement({"rnea": 7, "aba": 9}, counted)
