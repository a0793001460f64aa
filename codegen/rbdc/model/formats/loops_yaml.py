"""Closed loops as the public set of parallel robots declares them, in a YAML file beside the URDF:
`closed_loop`, pairs of links whose frames coincide, `type`, '3d' or '6d' of each, and `name_mot`, the motors.

The last says nothing about the robot's motion: every joint has its entry in tau. `joint_name` and
`joint_type` put other joints in place of the URDF's, which rbdc refuses: it belongs in the URDF.
"""

from __future__ import annotations

from pathlib import Path

from rbdc.model.attachments import ContactKind
from rbdc.model.formats.located import Fields, Node, Source
from rbdc.model.xml import shown

KINDS = {"3d": ContactKind.POINT, "6d": ContactKind.WELD}


def pairs_of(path: Path) -> list[tuple[ContactKind, str, str]]:
    """The loops of a file, in its order: kinds, and pairs of links whose frames are held together. Raises
    OSError where it cannot be read, DescriptionError, with file and line, where it does not say loops.
    """
    fields = Fields(source := Source(str(path), path.read_bytes()), source.root, "the file")
    pairs = _list(fields, "closed_loop", fields.required("closed_loop"))
    kinds = _list(fields, "type", fields.required("type"))
    motors = fields.get("name_mot")
    for motor in [] if motors is None else _list(fields, "name_mot", motors):
        _text(fields, "name_mot", motor)
    if len(kinds) != len(pairs):
        problem = f"{len(pairs)} pairs in closed_loop, {len(kinds)} kinds in type"
        fields.fail(problem, "give one '3d' or '6d' for each pair", fields.required("type"))
    for name in ("joint_name", "joint_type"):
        node = fields.get(name)
        if node is not None and node.value:
            fields.fail(f"{name} changes joints of the URDF", "write these joints so in the URDF", node)
    if others := fields.unused():
        fields.fail(f'"{shown(others[0])}" is not known', "remove it", fields.members[others[0]])
    return [_pair(fields, pair, kind) for pair, kind in zip(pairs, kinds, strict=True)]


def _pair(fields: Fields, pair: Node, kind: Node) -> tuple[ContactKind, str, str]:
    links = _list(fields, "an entry of closed_loop", pair)
    if len(links) != 2:
        fields.fail("an entry of closed_loop is no pair", "write two links, [one, other]", pair)
    one, two = (_text(fields, "closed_loop", link) for link in links)
    word = _text(fields, "type", kind)
    if word.lower() not in KINDS:
        fields.fail(f'"{shown(word)}" is no kind of a loop', "write '3d' or '6d'", kind)
    return KINDS[word.lower()], one, two


def _list(fields: Fields, name: str, node: Node) -> list[Node]:
    if not isinstance(node.value, list):
        fields.fail(f"{name} is no list", "write it in brackets", node)
    return node.value


def _text(fields: Fields, name: str, node: Node) -> str:
    if not isinstance(node.value, str) or not node.value or not node.value.isprintable():
        fields.fail(f"{name} has an entry that is no name", "write a word in quotes", node)
    return node.value
