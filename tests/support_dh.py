"""Denavit-Hartenberg descriptions: random trees, and their kinematics in plain NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.support import Array

Table = dict[str, Any]


def random_tree(seed: int, joints: int = 6, convention: str = "distal") -> Table:
    """Return a tree of revolute and prismatic joints, each with a mass, a centre and an inertia of a real
    body.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(1, joints + 1):
        spread = rng.normal(size=(3, 3)) * 0.3
        moments = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        entries = [float(moments[k]) for k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
        row: Table = {
            "i": i,
            "parent": int(rng.integers(max(0, i - 3), i)),
            "type": str(rng.choice(["revolute", "revolute", "prismatic"])),
            "q_sign": int(rng.choice([1, -1])),
            "mass": float(rng.uniform(0.5, 2.0)),
            "com": rng.uniform(-0.3, 0.3, 3).tolist(),
            "inertia_com": entries,
        }
        row |= {name: float(rng.uniform(-1.5, 1.5)) for name in ("theta_offset", "alpha", "a", "d")}
        rows.append(row)
    return {"name": f"tree_{seed}", "convention": convention, "joints": _depth_first(rows)}


def _depth_first(rows: list[Table]) -> list[Table]:
    """Return the rows renumbered so that each is followed by what it carries, as rbdc numbers bodies."""
    order: list[int] = []

    def visit(parent: int) -> None:
        for row in rows:
            if row["parent"] == parent:
                order.append(row["i"])
                visit(row["i"])

    visit(0)
    number = {0: 0, **{old: new for new, old in enumerate(order, 1)}}
    by_number = {row["i"]: row for row in rows}
    return [{**by_number[old], "i": number[old], "parent": number[by_number[old]["parent"]]} for old in order]


def write(table: Table, folder: Path) -> Path:
    """Return the table as a file."""
    path = folder / f"{table['name']}.json"
    path.write_text(json.dumps(table, indent=1))
    return path


def _turn_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def _turn_x(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def _shift(x: float, z: float) -> Array:
    moved = np.eye(4)
    moved[:3, 3] = x, 0.0, z
    return moved


def frames(table: Table, q: Array) -> list[Array]:
    """Return the poses of the frames 1, 2, ... in the world, by the definition of the parameters."""
    world: dict[int, Array] = {0: np.eye(4)}
    for position, (row, value) in enumerate(zip(table["joints"], q, strict=True), 1):
        coordinate = row.get("q_sign", 1) * value
        theta = row.get("theta_offset", 0.0) + (coordinate if row["type"] == "revolute" else 0.0)
        d = row.get("d", 0.0) + (coordinate if row["type"] == "prismatic" else 0.0)
        along_z = _turn_z(theta) @ _shift(0.0, d)
        along_x = _shift(row.get("a", 0.0), 0.0) @ _turn_x(row.get("alpha", 0.0))
        step = along_z @ along_x if table["convention"].startswith("distal") else along_x @ along_z
        world[row.get("i", position)] = world[row["parent"]] @ step
    return [world[row.get("i", position)] for position, row in enumerate(table["joints"], 1)]
