"""The tables of docs/robots.md on files of JSON, YAML and TOML: their members, and what becomes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from rbdc.errors import RbdcError
from rbdc.model.formats.contacts import CONTACTS
from rbdc.model.formats.located import Fields
from tests.support_tables import DOCS, OTHERS, Read, check_complete, reader, row_of, table

PAGE = (DOCS / "robots.md").read_text(encoding="utf-8")
TEXT = ("text for people", "text; other inertias")
"""How the meanings of members that count nowhere begin."""


def members(heading: str) -> dict[str, str]:
    """Return members and their meanings in the table of that heading."""
    lines = PAGE.split(f"\n| {heading} | ", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    rows = [line.strip().strip("|").split(" | ") for line in lines]
    return {name: row[1].strip() for row in rows for name in re.findall("`(.*?)`", row[0])}


OF_FILE, OF_JOINT = members("member of the file"), members("member of a joint")
JOINT = {"theta_offset": 0.1, "d": 0.2, "a": 0.3, "mass": 1.0, "inertia_com": [0.1, 0, 0, 0.1, 0, 0.1]}
BASE: dict[str, Any] = {"convention": "distal", "joints": [dict(JOINT) for _ in range(3)]}
VALUES: dict[str, Any] = {
    "convention": "proximal",
    "joints": BASE["joints"][:2],
    "name": "another",
    "gravity": [0, 0, -1],
    "base": {"xyz": [1, 0, 0], "rpy": [0, 1, 0]},
    "inertia": "inertia_rod",
    "source": "a book",
    "comment": "a word",
}
VALUES_OF_JOINT: dict[str, Any] = {
    "i": {"i": 7, "parent": 2},
    "parent": 1,
    "type": "prismatic",
    "pitch": {"type": "helical", "pitch": 1},
    "theta_offset": 1,
    "d": 1,
    "a": 1,
    "alpha": 1,
    "q_sign": -1,
    "mass": 2,
    "com": [0, 0, 1],
    "inertia_com": [0.2, 0, 0, 0.2, 0, 0.2],
    "name": "another",
    "link_name": "another",
    "limits": [-1, 1],
    "velocity_limit": 1,
    "effort_limit": 1,
    "armature": 1,
    "damping": 1,
    "friction": 1,
    "comment": "a word",
    "inertia_...": {"inertia_rod": [0.2, 0, 0, 0.2, 0, 0.2]},
}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    return reader(tmp_path_factory.mktemp("every_member") / "scene.json")


def descriptions() -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yield each member with its meaning, and descriptions without and with it."""
    for name, value in VALUES.items():
        before = deepcopy(BASE)
        if name == "inertia":
            for joint in before["joints"]:
                joint["inertia_rod"] = [0.2, 0, 0, 0.2, 0, 0.2]
        yield name, OF_FILE[name], before, before | {name: value}
    for name, value in VALUES_OF_JOINT.items():
        after = deepcopy(BASE)
        after["joints"][2] |= value if isinstance(value, dict) else {name: value}
        yield f"joint {name}", OF_JOINT[name], BASE, after


@pytest.mark.parametrize(
    ("meaning", "before", "after"), [pytest.param(*rest, id=name) for name, *rest in descriptions()]
)
def test_members_of_tables(meaning: str, before: dict[str, Any], after: dict[str, Any], read: Read) -> None:
    counted = {"damping": "include", "friction": "include"}
    (model, notes), (without, noted) = (read(json.dumps(table), **counted) for table in (after, before))
    assert model is not None and without is not None
    assert (model == without) == meaning.startswith(TEXT)
    assert notes <= noted or after.get("gravity")


def test_the_tables_have_all_members(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every member that the reader asks for is in a table, and has been tried."""
    readers: list[Fields] = []
    begin = Fields.__init__

    def noted(self: Fields, *arguments: Any) -> None:
        begin(self, *arguments)
        readers.append(self)

    monkeypatch.setattr(Fields, "__init__", noted)
    read(json.dumps(BASE | {"base": {}, "name": "asked"}))
    asked = {what: fields.asked for fields in readers for what in [fields.what]}
    assert asked["the description"] == set(OF_FILE) == set(VALUES)
    assert asked["joint 3"] == set(OF_JOINT) - {"comment", "inertia_..."}
    assert set(VALUES_OF_JOINT) == set(OF_JOINT)
    assert asked["base"] == {"xyz", "rpy"} <= set(re.findall(r"\w+", OF_FILE["base"]))


def test_other_members_are_named(read: Read) -> None:
    described = deepcopy(BASE) | {"colour": "red", "base": {"scale": 2}}
    described["joints"][1] |= {"gear": 3}
    described["joints"][2] |= {"type": "fixed", "damping": 1, "limits": [0, 1]}
    model, notes = read(json.dumps(described))
    assert model is not None
    assert "ignored members: colour, scale, gear, limits of a fixed joint, damping of a fixed joint" in notes


ROWS = table("robots.md", "Files of [contacts and loops](contacts.md), a TOML file or the YAML "
             "file beside a parallel robot:")  # fmt: skip
TOML = '[contacts.held]\nkind = "point"\nlink = "a"\nsecond = "b"\n'
YAML = "closed_loop: [['a', 'b']]\ntype: ['3d']\n"
CHANGED = {
    ("contacts.NAME", "kind"): TOML.replace("point", "weld"),
    ("contacts.NAME", "link"): TOML.replace('"a"', '"c"'),
    ("contacts.NAME", "origin"): f"{TOML}origin = [1, 0, 0]\n",
    ("contacts.NAME", "second"): TOML.replace('"b"', '"c"'),
    ("contacts.NAME", "second_origin"): f"{TOML}second_origin = [1, 0, 0]\n",
    ("contacts.NAME", OTHERS): f'{TOML}colour = "red"\n',
    ("YAML", "closed_loop"): YAML.replace("'b'", "'c'"),
    ("YAML", "type"): YAML.replace("3d", "6d"),
    ("YAML", "name_mot"): f"{YAML}name_mot: ['j']\n",
    ("YAML", "joint_name"): f"{YAML}joint_name: ['j']\n",
    ("YAML", "joint_type"): f"{YAML}joint_type: ['SPHERICAL']\n",
    ("YAML", OTHERS): f"{YAML}colour: red\n",
}


def test_the_table_of_contacts_is_walked() -> None:
    schema: dict[str, list[str]] = {}
    for kind, member in CHANGED:
        schema.setdefault(kind, []).append(member)
    check_complete(ROWS, schema)


@pytest.mark.parametrize(("kind", "member"), list(CHANGED))
def test_members_of_contacts(kind: str, member: str, tmp_path: Path) -> None:
    file = tmp_path / ("scene.yaml" if kind == "YAML" else "scene.toml")
    file.write_text(YAML if kind == "YAML" else TOML)
    plain, row = CONTACTS.read(file), row_of(ROWS, kind, member)
    file.write_text(CHANGED[kind, member])
    if row.fate == "refused":
        with pytest.raises((RbdcError, ValueError), match="colour|takes kind and link|changes joints"):
            CONTACTS.read(file)
    else:
        assert (CONTACTS.read(file) == plain) == (row.fate == "no effect")
