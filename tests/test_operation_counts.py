"""Operations of the generated functions are locked: they may go down, and up only with RBDC_UPDATE=1, which
rewrites the table.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.ir.cost import cost
from rbdc.model import Model
from rbdc.model.options import LIKELY_MEANT
from rbdc.planning.candidates import chosen
from rbdc.resources import resolve
from tests.support import slow_but

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
    """Operations without external forces, function by function."""
    model = Model.from_urdf(resolve(robot), root_joint=ROBOTS[robot], snap=LIKELY_MEANT)
    functions = functions_of(model)
    names = [name for name in FUNCTIONS if robot != "simple_humanoid" or name not in LARGE]
    return {name: cost(chosen(model, functions[name])[1][0]).operations for name in names}


@pytest.mark.parametrize("robot", slow_but(ROBOTS, ("kuka_iiwa",), ("hyq",)))
def test_operations_do_not_grow(robot: str) -> None:
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    found = counts(robot)
    if os.environ.get("RBDC_UPDATE"):
        # Other processes write theirs meanwhile.
        now = json.loads(TABLE.read_text()) if TABLE.exists() else {}
        TABLE.write_text(json.dumps(dict(sorted({**now, robot: found}.items())), indent=1) + "\n")
        return
    grown = {
        name: (table[robot].get(name), n)
        for name, n in found.items()
        if name not in table[robot] or n > table[robot][name]
    }
    assert not grown, f"{robot}: operations (locked, now): {grown}; RBDC_UPDATE=1 accepts them"
