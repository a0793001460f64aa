"""Declarations of contacts and closed loops.

`NAME=point@LINK:x,y,z` and `NAME=surface@LINK:x,y,z,roll,pitch,yaw` touch the world;
`NAME=point|weld|revolute@LINK1:...=LINK2:...` closes a loop. A TOML file has a table `[contacts.NAME]` for
each contact or loop, with `kind`, `link` and optionally `origin` (3 or 6 numbers). Loops also have `second`,
the other link, and optionally `second_origin`.

A YAML file lists the loops of one URDF, in the format of a public collection of parallel robots. Its keys are
`closed_loop`: pairs of links whose frames coincide; `type`: '3d' (origins coincide) or '6d' (frames coincide)
for each pair; and `name_mot`: the motors, which are ignored, because every joint has its entry in tau. The
keys `joint_name` and `joint_type`, which replace joints of the URDF, are refused: change the URDF instead. A
loop has the name of its first link.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from rbdc.errors import DescriptionError, OptionError
from rbdc.model.bodies import ContactKind
from rbdc.model.formats.located import Fields, LocatedValue, Source
from rbdc.model.options import Origin, origin
from rbdc.model.xml import shown
from rbdc.option_fields import Reading, asked, entries
from rbdc.runtime._suggestions import suggestion


class Side(NamedTuple):
    """A frame of a contact: fixed to a link."""

    link: str
    origin: Origin


@dataclass(frozen=True)
class ContactOption:
    """A contact with the world or a loop, as declared; a loop has two sides.

    name: name of the contact.
    kind: constrained components.
    sides: one or two frames.
    place: where it was declared, for messages: the option with its value, or a file, line and table.
    """

    name: str
    kind: ContactKind
    sides: tuple[Side, ...]
    place: str = field(default="`contacts`", compare=False, repr=False)


class _DeclarationError(ValueError):
    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.problem, self.remedy = problem, remedy


_FORM = (
    "give NAME=point@LINK[:x,y,z], NAME=surface@LINK[:x,y,z,roll,pitch,yaw], "
    "NAME=point|weld|revolute@LINK[:...]=LINK[:...] for a loop, or a file of TOML or YAML"
)
_FORM_IN_PARTS = "give (name, kind, link) or (name, kind, (link, origin)); for a loop, add a second link"
_FORM_OF_TABLE = (
    "write kind and link as texts, origin if it is not zero; for a loop also second and second_origin"
)
_KINDS = {
    False: (ContactKind.POINT, ContactKind.SURFACE),
    True: (ContactKind.POINT, ContactKind.WELD, ContactKind.REVOLUTE),
}
"""Kinds of contacts with the world (False) and of loops (True)."""
_YAML = (".yaml", ".yml")
_ENDINGS = (".toml", *_YAML)
_KINDS_OF_YAML = {"3d": ContactKind.POINT, "6d": ContactKind.WELD}


def _read(value: Any) -> tuple[ContactOption, ...]:
    value = [value] if isinstance(value, ContactOption) else entries(value)
    contacts = [option for entry in value for option in _options(entry)]
    names = set[str]()
    for option in contacts:
        if option.name in names:
            raise OptionError(f"{option.place}: two contacts are named {shown(option.name)}; rename one")
        names.add(option.name)
    return tuple(contacts)


def _options(entry: Any) -> list[ContactOption]:
    """Return the contacts of one entry: a text, a file, or a sequence of name, kind, and one or two links
    with their origins.
    """
    if isinstance(entry, ContactOption):
        return [entry]
    if isinstance(entry, str) and not _is_file(entry):
        return [_of_text(entry)]
    if isinstance(entry, (str, PathLike)):
        return _of_file(Path(entry))
    try:
        name, kind, *sides = entry
        sides = [(side, ()) if isinstance(side, str) else tuple(side) for side in sides if side]
    except (TypeError, ValueError):
        raise ValueError(_FORM_IN_PARTS) from None
    return [replace(_checked(name, kind, sides, _FORM_IN_PARTS), place=asked("contacts", entry))]


def _is_file(text: str) -> bool:
    return "=" not in text and (Path(text).suffix.lower() in _ENDINGS or Path(text).is_file())


def _of_text(text: str) -> ContactOption:
    name, equals, rest = text.partition("=")
    kind, at, places = rest.partition("@")
    if not equals and "@" in name:
        raise _DeclarationError("the contact has no name", _FORM)
    if not at:
        raise ValueError(_FORM)
    sides = []
    for place in places.split("="):
        link, _, numbers = place.partition(":")
        sides.append((link.strip(), numbers))
    return replace(_checked(name.strip(), kind.strip(), sides, _FORM), place=asked("contacts", text))


def _of_file(path: Path) -> list[ContactOption]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{error.strerror}; {_FORM}") from None
    if path.suffix.lower() in _YAML:
        return _of_yaml(Source(str(path), content))
    return _of_toml(str(path), content)


def _of_toml(file: str, content: bytes) -> list[ContactOption]:
    """Return the contacts of a TOML file. Raises DescriptionError, with file, line and table, if the file
    has other content.
    """
    remedy = "write a table [contacts.NAME] for each contact, and nothing else"
    try:
        text = content.decode()
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        place = re.search(r"at line (\d+)", str(error))
        raise DescriptionError(f"not TOML: {error}", remedy, file, int(place[1]) if place else None) from None
    tables = document.get("contacts")
    if others := [name for name in document if name != "contacts"]:
        raise DescriptionError(f'"{shown(others[0])}" is not a known key', remedy, file)
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise DescriptionError("the file has no tables of contacts", remedy, file)
    lines, options = _lines_of_tables(text), list[ContactOption]()
    for name, table in tables.items():
        try:
            option = _of_table(name, table)
        except _DeclarationError as error:
            problem = f"[contacts.{shown(name)}]: {error.problem}"
            raise DescriptionError(problem, error.remedy, file, lines.get(name)) from None
        line = f":{lines[name]}" if name in lines else ""
        options.append(replace(option, place=f"{file}{line}: [contacts.{shown(name)}]"))
    return options


def _lines_of_tables(text: str) -> dict[str, int]:
    """Return the line of each table [contacts.NAME] by name; tables in other notations are left out."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        with suppress(tomllib.TOMLDecodeError):
            tables = tomllib.loads(line).get("contacts") if line.lstrip().startswith("[") else None
            for name in tables if isinstance(tables, dict) else ():
                lines.setdefault(name, number)
    return lines


def _of_table(name: str, table: Mapping[str, Any]) -> ContactOption:
    known = ("kind", "link", "origin", "second", "second_origin")
    if others := [key for key in table if key not in known]:
        raise _DeclarationError(f'"{shown(others[0])}" is not a known key', suggestion(others[0], known))
    if lacking := [key for key in known[:2] if key not in table]:
        raise _DeclarationError(f"it has no {lacking[0]}", _FORM_OF_TABLE)
    keys = [("link", "origin"), ("second", "second_origin")]
    sides = [(table[link], table.get(origin, ())) for link, origin in keys if link in table]
    return _checked(name, table["kind"], sides, _FORM_OF_TABLE)


def _of_yaml(source: Source) -> list[ContactOption]:
    """Return the loops of a YAML file. Raises DescriptionError, with file and line, for anything else in
    it.
    """
    fields = Fields(source, source.root, "the file")
    pairs = fields.items("closed_loop", fields.required("closed_loop"))
    kinds = fields.items("type", fields.required("type"))
    motors = fields.get("name_mot")
    for motor in [] if motors is None else fields.items("name_mot", motors):
        fields.word("name_mot", motor)
    if len(kinds) != len(pairs):
        problem = f"{len(pairs)} pairs in closed_loop, {len(kinds)} kinds in type"
        fields.fail(problem, "give one '3d' or '6d' for each pair", fields.required("type"))
    for name in ("joint_name", "joint_type"):
        node = fields.get(name)
        if node is not None and node.value:
            fields.fail(f"{name} changes joints of the URDF", "change these joints in the URDF", node)
    if others := fields.unused():
        fields.fail(f'"{shown(others[0])}" is not a known key', "remove it", fields.members[others[0]])
    return [_of_pair(fields, pair, kind) for pair, kind in zip(pairs, kinds, strict=True)]


def _of_pair(fields: Fields, pair: LocatedValue, kind: LocatedValue) -> ContactOption:
    links = fields.items("an entry of closed_loop", pair)
    if len(links) != 2:
        fields.fail("an entry of closed_loop is not a pair", "write two links, [one, other]", pair)
    one, two = (fields.word("closed_loop", link) for link in links)
    word = fields.word("type", kind)
    if word.lower() not in _KINDS_OF_YAML:
        fields.fail(f'"{shown(word)}" is not a kind of loop', "write '3d' or '6d'", kind)
    place = f"{fields.source.file}:{pair.line}: closed_loop"
    sides = (Side(one, origin((), "", 0)), Side(two, origin((), "", 0)))
    return ContactOption(one, _KINDS_OF_YAML[word.lower()], sides, place)


def _checked(name: Any, kind: Any, sides: Sequence[tuple[Any, ...]], form: str) -> ContactOption:
    """Return the contact. Raise _DeclarationError, with the remedy `form`, for a wrong declaration."""
    named = isinstance(name, str) and name
    if not named or len(sides) not in (1, 2) or any(len(side) != 2 for side in sides):
        raise _DeclarationError("it is not a contact", form)
    kinds = _KINDS[len(sides) == 2]
    if kind not in list(kinds):
        what = "a loop" if len(sides) == 2 else "a contact with the world"
        raise _DeclarationError(
            f"{what} cannot have the kind {shown(str(kind))}", suggestion(shown(str(kind)), kinds)
        )
    placed = []
    for link, numbers in sides:
        if not isinstance(link, str) or not link:
            raise _DeclarationError("a link is missing", form)
        try:
            remedy = "give three or six finite numbers (m, rad), or none"
            placed.append(Side(link, origin(numbers, remedy, 0, 3, 6)))
        except ValueError as error:
            raise _DeclarationError(f"bad origin in {shown(link)}", str(error)) from None
    return ContactOption(name, ContactKind(kind), tuple(placed))


def _record(options: tuple[ContactOption, ...]) -> list[list[Any]]:
    return [[o.name, o.kind.value, *([side.link, list(side.origin)] for side in o.sides)] for o in options]


CONTACTS: Reading[tuple[ContactOption, ...]] = Reading(
    _read, "NAME=KIND@LINK[:XYZ[RPY]][=LINK...]|FILE", repeated=True, record=_record
)
"""The reading of contacts and loops."""


def _read_loops(value: Any) -> tuple[str, ...] | None:
    """Return the names of the motors' joints to whose coordinates loops are reduced (empty: the joints with
    actuators); None if loops are constraints.
    """
    if value == "hold":
        return None
    if isinstance(value, str):
        word, _, joints = value.partition(":")
        if word != "reduce":
            raise ValueError("give hold, reduce or reduce:JOINT,...")
        return tuple(joint.strip() for joint in joints.split(",") if joint.strip())
    return tuple(map(str, entries(value)))


LOOPS: Reading[tuple[str, ...] | None] = Reading(_read_loops, "hold|reduce[:JOINT,...]")
"""The reading of the option `loops`."""
