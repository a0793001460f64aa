"""The table of docs/mjcf.md: all of MuJoCo's schema is in it, and what it says holds for each attribute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import pytest

from tests.mjcf.support_every_element import (
    ACTUATORS,
    ATTRIBUTES,
    CHILD,
    INCLUDED,
    PLACES,
    SETUPS,
    SNIPPETS,
    TETRAHEDRON,
)
from tests.support_tables import (
    ALL,
    OTHERS,
    Read,
    changed,
    check,
    check_complete,
    extended,
    reader,
    row_of,
    table,
)

mj: Any = mujoco
ROWS = table("mjcf.md", "## Every element and attribute")
BASE = (Path(__file__).parent / "every_element.xml").read_text(encoding="utf-8")


def schema() -> dict[str, list[str]]:
    """Return attributes by paths of elements: those that MuJoCo prints, and of those that it replaces
    before.
    """
    by_path: dict[str, list[str]] = {}
    path: list[str] = []
    for line in mj.mj_printSchema(False, False).splitlines()[1:]:
        element, attributes = line[:30], line[30:].split()
        if element.strip():
            depth = (len(element) - len(element.lstrip())) // 3
            path = [*path[: depth - 1], element.split()[0].removeprefix("(world)")]
        by_path.setdefault("/".join(path), []).extend(attributes)
    meta = {"include": ["file"], "frame": ["pos"], "replicate": ["count"]}
    return {element: attributes for element, attributes in by_path.items() if attributes} | meta


def test_the_table_has_all_of_the_schema() -> None:
    check_complete(ROWS, schema())


def test_every_row_is_walked() -> None:
    """Every row is tested through all attributes that it names, or through descriptions with its elements."""
    walked = {row_of(ROWS, path, attribute) for path, values in ATTRIBUTES.items() for attribute in values}
    assert walked | {row for row in ROWS for path in SNIPPETS if row.has(path)} == set(ROWS)
    for path, attributes in schema().items():
        if path in ATTRIBUTES:
            assert set(ATTRIBUTES[path]) == set(attributes), path


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """A reader of descriptions, in a folder with the files that they name: the model but for its notes, and
    these; None for what is refused.
    """
    folder = tmp_path_factory.mktemp("every_element")
    for size, place in enumerate((".", "sub", "sub/sub"), 1):
        (folder / place).mkdir(exist_ok=True)
        (folder / place / "m.obj").write_text(TETRAHEDRON.format(0.1 * size))
    (folder / "included.xml").write_text(INCLUDED)
    (folder / "child.xml").write_text(CHILD)
    return reader(folder / "scene.xml")


DECIDE = (("compiler", "autolimits"), ("compiler", "balanceinertia"))
"""Settings by which MuJoCo refuses what it reads without them, and reads what it refuses."""
CASES = [(path, own) for path, values in ATTRIBUTES.items() for own in values]


@pytest.mark.parametrize(("path", "attribute"), CASES)
def test_attributes(path: str, attribute: str, read: Read) -> None:
    before = changed(BASE, SETUPS.get((path, attribute), {}))
    value = ATTRIBUTES[path][attribute]
    place = PLACES.get((path, attribute)) or PLACES.get((path, "")) or f"/mujoco/{path}"
    change = {attribute: value} if isinstance(value, str) else value
    options = {"mimic": "coupled"} if path == "equality/joint" else {}
    accepted = (path, attribute) not in DECIDE
    row, after = row_of(ROWS, path, attribute), changed(before, {place: change})
    check(row, before, after, read, accepted=accepted, **options)


@pytest.mark.parametrize("path", list(SNIPPETS))
def test_elements(path: str, read: Read) -> None:
    (row,) = (row for row in ROWS if row.has(path) and row.attributes in ((ALL,), (OTHERS,)))
    before = changed(BASE, SETUPS.get((path, ""), {}))
    for place, text in SNIPPETS[path]:
        check(row, before, extended(before, place, text), read)


KINDS = [
    path.removeprefix("actuator/") for path in schema() if path.count("/") == 1 and path[:9] == "actuator/"
]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"plugin"}))
def test_actuators(kind: str, read: Read) -> None:
    """Each actuator is a column of the actuation matrix, or a warning names it; a plugin is
    called "general".
    """
    motor = f"<actuator><{kind} name='new' {ACTUATORS[kind]}/></actuator></mujoco>"
    model, notes = read(BASE.replace("</mujoco>", motor))
    assert model is not None
    assert any(note.startswith("3 actuators: controls, laws and limits are ignored") for note in notes)
    left_out = [note for note in notes if "forces on joints depend on q" in note]
    assert [motor.name for motor in model.actuators] == ["mh", "mt", *([] if left_out else ["new"])]
    assert bool(left_out) == (kind in ("orientation", "adhesion"))
