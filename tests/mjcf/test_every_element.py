"""The table of robots/mjcf.md: all of MuJoCo's schema is in it, and what it says holds for each attribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import pytest
from lxml import etree

from rbdc import Model
from rbdc.errors import RbdcError
from tests.mjcf.support_every_element import (
    ACTUATORS,
    ATTRIBUTES,
    CHILD,
    INCLUDED,
    PLACES,
    SETUPS,
    SNIPPETS,
    TETRAHEDRON,
    Change,
)
from tests.support_tables import ALL, OTHERS, Row, check_complete, row_of, table

mj: Any = mujoco
ROWS = table("mjcf.md", "## Every element and attribute")
BASE = (Path(__file__).parent / "every_element.xml").read_text(encoding="utf-8")
COUNTED: dict[str, Any] = dict.fromkeys(("damping", "springs", "friction"), "include")


def schema() -> dict[str, list[str]]:
    """Attributes by paths of elements: those that MuJoCo prints, and of those that it replaces before."""
    found: dict[str, list[str]] = {}
    path: list[str] = []
    for line in mj.mj_printSchema(False, False).splitlines()[1:]:
        element, attributes = line[:30], line[30:].split()
        if element.strip():
            depth = (len(element) - len(element.lstrip())) // 3
            path = [*path[: depth - 1], element.split()[0].removeprefix("(world)")]
        found.setdefault("/".join(path), []).extend(attributes)
    meta = {"include": ["file"], "frame": ["pos"], "replicate": ["count"]}
    return {element: attributes for element, attributes in found.items() if attributes} | meta


def test_the_table_has_all_of_the_schema() -> None:
    check_complete(ROWS, schema())


def test_every_row_is_walked() -> None:
    """By all attributes that it names, or by descriptions that have its elements."""
    walked = {row_of(ROWS, path, own) for path, values in ATTRIBUTES.items() for own in values}
    assert walked | {row for row in ROWS for path in SNIPPETS if row.has(path)} == set(ROWS)
    for path, attributes in schema().items():
        if path in ATTRIBUTES:
            assert set(ATTRIBUTES[path]) == set(attributes), path


def changed(text: str, changes: Mapping[str, Change]) -> str:
    """A description with other attributes of some elements, by their XPath; None takes one away."""
    root = etree.fromstring(text)
    for place, attributes in changes.items():
        found: Any = root.xpath(place)
        for name, value in attributes.items():
            if value is None:
                found[0].attrib.pop(name, None)
            else:
                found[0].set(name, value)
    return etree.tostring(root, encoding="unicode")


Read = Callable[..., tuple[Model | None, set[str]]]


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

    @cache
    def reader(text: str, **options: Any) -> tuple[Model | None, set[str]]:
        (folder / "scene.xml").write_text(text)
        try:
            model = Model.from_file(folder / "scene.xml", **options)
        except RbdcError as error:
            return None, {str(error)}
        return replace(model, notes=(), description_hash=None), {note.message for note in model.notes}

    return reader


def uncounted(model: Model) -> Model:
    """The model without what counts only where it is asked for."""
    off: dict[str, Any] = dict.fromkeys(("damping", "stiffness", "spring_rest", "friction"), 0.0)
    return replace(model, bodies=tuple(replace(body, **off) for body in model.bodies))


def check(row: Row, before: str, after: str, read: Read, **options: Any) -> None:
    """What a row says holds where `after` has what `before` has not."""
    if row.fate == "refused":
        assert read(before)[0] is not None
        refused, said = read(after)
        assert refused is None and all("scene.xml" in message for message in said)
        return
    counted = {} if row.fate == "ignored" else COUNTED | options
    model, notes = read(after, **counted)
    without, noted = read(before, **counted)
    if row.fate in ("read", "folded"):
        assert model != without
        assert (model is not None and without is not None) or any(own in after for own in DECIDE)
    elif row.fate == "ignored":
        assert model is not None and without is not None
        assert uncounted(model) == uncounted(without)
        assert any(row.words in note for note in notes), notes
    else:
        assert model is not None and model == without
        assert notes <= noted


DECIDE = ('autolimits="false"', 'balanceinertia="true"')
"""Settings by which MuJoCo refuses what it reads without them, and reads what it refuses."""

CASES = [(path, own) for path, values in ATTRIBUTES.items() for own in values]


@pytest.mark.parametrize(("path", "attribute"), CASES)
def test_attributes(path: str, attribute: str, read: Read) -> None:
    before = changed(BASE, SETUPS.get((path, attribute), {}))
    given = ATTRIBUTES[path][attribute]
    place = PLACES.get((path, attribute)) or PLACES.get((path, "")) or f"/mujoco/{path}"
    change = {attribute: given} if isinstance(given, str) else given
    options = {"mimic": "coupled"} if path == "equality/joint" else {}
    check(row_of(ROWS, path, attribute), before, changed(before, {place: change}), read, **options)


@pytest.mark.parametrize("path", list(SNIPPETS))
def test_elements(path: str, read: Read) -> None:
    for place, text in SNIPPETS[path]:
        before = changed(BASE, SETUPS.get((path, ""), {}))
        root = etree.fromstring(before)
        found: Any = root.xpath(place)
        for element in etree.fromstring(f"<all>{text}</all>"):
            found[0].append(element)
        (row,) = (row for row in ROWS if row.has(path) and row.attributes in ((ALL,), (OTHERS,)))
        check(row, before, etree.tostring(root, encoding="unicode"), read)


KINDS = [
    path.removeprefix("actuator/") for path in schema() if path.count("/") == 1 and path[:9] == "actuator/"
]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"plugin"}))
def test_actuators(kind: str, read: Read) -> None:
    """Each is a column of the actuation matrix, or is named; a plugin says no more than "general"."""
    motor = f"<actuator><{kind} name='new' {ACTUATORS[kind]}/></actuator></mujoco>"
    model, notes = read(BASE.replace("</mujoco>", motor))
    assert model is not None
    assert any(note.startswith("3 actuators: controls, laws and limits are not used") for note in notes)
    left_out = [note for note in notes if "depend on q or are vectors" in note]
    assert [motor.name for motor in model.actuators] == ["mh", "mt", *([] if left_out else ["new"])]
    assert bool(left_out) == (kind in ("orientation", "adhesion"))
