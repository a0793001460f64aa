"""Views of a model for the templates of rolled functions: tables of numbers, joints by kind, places in arrays
as C expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rbdc.algorithms.joint_coordinates import dof_table, first_dofs
from rbdc.emit.c import trigonometry
from rbdc.emit.names import comment
from rbdc.emit.rolled.cost import blocks_of
from rbdc.emit.rolled.joints import Forms, JointForm, column_of_body
from rbdc.emit.rolled.tables import Paths, RolledModel
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import WORLD, Model
from rbdc.spatial import Inertia, Placement, RigidInertia


@dataclass(frozen=True)
class BodyRow:
    """A row of the table of bodies: a comment, the integers, the placement and the inertia as C."""

    comment: str
    integers: str
    placement: str
    inertia: str


@dataclass(frozen=True)
class Tables:
    """The numbers of the tables, separated by commas; heading: what a body's row has beside what every
    model's has.
    """

    heading: str
    body_rows: list[BodyRow]
    path: str
    paths: str
    row_path: str
    row_paths: str
    column: str
    turns: list[str]


@dataclass(frozen=True)
class Has:
    """Which optional parts of the shared C a model needs: frames that are not as described, turns about z and
    by quaternions, axes that translate and that turn.
    """

    turned: bool
    turns_about_z: bool
    quaternions: bool
    linear: bool
    angular: bool


@dataclass(frozen=True)
class Angles:
    """The angles of revolute joints: how many with those that fill the last vector, how many at a time, and
    whether that takes a loop.
    """

    count: int
    lanes: int
    loop: bool


@dataclass(frozen=True)
class Block:
    """Columns that a row operation takes at a time, and their numbers."""

    width: int
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Blocks:
    """How a row is taken: blocks of the usual width in its first `whole` columns, then the rest, if any;
    several: it is not one block.
    """

    all: list[Block]
    usual: Block
    rest: Block | None
    whole: int
    several: bool


@dataclass(frozen=True)
class Expressions:
    """Where things are, as C. Of degree of freedom k, or of the first of body b: its entry in v. Of rows i
    and k of M: where its path is. Of entries of M: that of a row and itself, of a body's own row, of a row
    above, of the column above. Coupled joints add to entries that others have written, and move with a
    multiplier.
    """

    column_k: str
    column_b: str
    row_of_i: str
    row_of_k: str
    rows: str
    scale: str
    assign: str
    other: str
    above_d: str
    diagonal: str
    own_row: str
    above_row: str
    above_column: str
    position: str


@dataclass(frozen=True)
class RolledView:
    """The view that every template of rolled functions lays out. armature, damping: numbers for each entry of
    v, empty where all are 0.
    """

    robot: str
    p: str
    version: str
    guard: str
    bodies: int
    dofs: int
    nv: int
    kind_names: str
    switched: bool
    indent: str
    coupled: bool
    gravity: str
    joints: list[JointForm]
    joints_of_one: list[JointForm]
    joints_of_several: list[JointForm]
    constants: list[str]
    is_angle: str
    has: Has
    angles: Angles | None
    blocks: Blocks
    tables: Tables
    at: Expressions
    scalar: ScalarType
    armature: str
    damping: str

    @property
    def context(self) -> dict[str, Any]:
        """The view by names, with what templates call the scalar type."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | self.scalar.words


def rolled_view(
    robot: str, rolled: RolledModel, forms: Forms, version: str, scalar: ScalarType
) -> RolledView:
    """The view of a model whose types of joint have these forms."""
    model, joints = rolled.model, list(forms.values())
    switched = len(joints) > 1
    return RolledView(
        robot=robot,
        p=f"{robot}_rolled",
        version=version,
        guard=f"RBDC_{robot.upper()}_ROLLED_H",
        bodies=model.njoints,
        dofs=len(dof_table(model)),
        nv=model.nv,
        kind_names=", ".join(joint.enumerator for joint in joints),
        switched=switched,
        indent="    " if switched else "",
        coupled=model.coupled,
        gravity=", ".join(scalar.literal(0.0 - x) for x in model.gravity.scalars()),
        joints=joints,
        joints_of_one=[joint for joint in joints if not joint.several],
        joints_of_several=[joint for joint in joints if joint.several],
        constants=_constants(forms),
        is_angle=" || ".join(f"b->kind == {joint.enumerator}" for joint in joints if joint.c.angle),
        has=_has(rolled, forms),
        angles=_angles(rolled, forms, scalar),
        blocks=_blocks(model.nv),
        tables=_tables(rolled, forms, scalar),
        at=_expressions(f"{robot}_rolled", model),
        scalar=scalar,
        armature=_numbers(model.armature, scalar),
        damping=_numbers(model.damping, scalar),
    )


def _has(rolled: RolledModel, forms: Forms) -> Has:
    helpers = frozenset[str]().union(*(form.c.helpers for form in forms.values()))
    return Has(
        turned=rolled.turned,
        turns_about_z="turn_about_z" in helpers,
        quaternions="turn_by_quaternion" in helpers,
        linear="translation" in helpers,
        angular="rotation" in helpers,
    )


def _angles(rolled: RolledModel, forms: Forms, scalar: ScalarType) -> Angles | None:
    """Those of joints that turn by an angle; None where there are none."""
    turning = sum(forms[type(body.joint)].c.angle for body in rolled.model.bodies)
    widths = trigonometry.widths(scalar)
    lanes = next((width for width in widths if width >= turning), widths[-1])
    count = -(-turning // lanes) * lanes
    return Angles(count, lanes, count > lanes) if count else None


def _blocks(columns: int) -> Blocks:
    blocks = [Block(width, tuple(range(width))) for width in blocks_of(columns)]
    usual, rest = blocks[0], blocks[1] if len(blocks) > 1 else None
    whole = columns - columns % usual.width
    return Blocks(blocks, usual, rest, whole, several=rest is not None or columns // usual.width > 1)


def _expressions(prefix: str, model: Model) -> Expressions:
    """Coupled joints have their columns and rows in tables; else degrees of freedom are entries of v."""
    coupled, b = model.coupled, column_of_body(prefix, model)
    if coupled:
        k, j = (f"{prefix}_column[{index}]" for index in ("k", "j"))
        row, other, path = "column", "other", f"{prefix}_row"
    else:
        k, j, row, other, path = "k", "j", "k", "j", f"{prefix}_path"
    return Expressions(
        column_k=k,
        column_b=b,
        row_of_i=f"{path}[i]",
        row_of_k=f"{path}[k]",
        rows=f"{path}s",
        scale="b->multiplier * " if coupled else "",
        assign="+=" if coupled else "=",
        other=other,
        above_d=f"{prefix}_column[up[d]]" if coupled else "up[d]",
        diagonal=f"COLUMNS * {row} + {row}",
        own_row=f"COLUMNS * {j} + {row}",
        above_row=f"COLUMNS * {other} + {row}",
        above_column=f"COLUMNS * {row} + {other}",
        position="b->multiplier * q[b->q] + b->offset" if coupled else "q[b->q]",
    )


def _tables(rolled: RolledModel, forms: Forms, scalar: ScalarType) -> Tables:
    turns = (Placement.identity(), *(body.turn for body in rolled.bodies))
    return Tables(
        heading="".join(f", {name}" for name in _heading(rolled, forms)),
        body_rows=_body_rows(rolled, forms, scalar),
        path=_pairs(rolled.paths),
        paths=_integers(rolled.paths.entries),
        row_path=_pairs(rolled.rows),
        row_paths=_integers(rolled.rows.entries),
        column=_integers(entry for entry, _, _ in dof_table(rolled.model)),
        turns=[_placement(turn, scalar) for turn in turns],
    )


def _constants(forms: Forms) -> list[str]:
    """The members of the table that only some types of joint have."""
    return list(dict.fromkeys(name for form in forms.values() for name in form.c.constants))


def _heading(rolled: RolledModel, forms: Forms) -> list[str]:
    coupled = ["multiplier", "offset"] if rolled.model.coupled else []
    return [*(["kind"] if len(forms) > 1 else []), *coupled, *_constants(forms)]


def _body_rows(rolled: RolledModel, forms: Forms, scalar: ScalarType) -> list[BodyRow]:
    """The world, then the bodies."""
    model = rolled.model
    starts = first_dofs(model)
    kinds = {own: f", {form.enumerator}" if len(forms) > 1 else "" for own, form in forms.items()}
    names = _constants(forms)
    kind, zeros = next(iter(kinds.values())), "".join(f", {scalar.literal(0.0)}" for _ in names)
    free = f", {scalar.literal(1.0)}, {scalar.literal(0.0)}" if model.coupled else ""
    world = f"0, 0, 0, 0{kind}{free}{zeros}"
    rows = [_body_row("the world", world, Placement.identity(), Inertia.zero(), scalar)]
    for index, (body, own) in enumerate(zip(model.bodies, rolled.bodies, strict=True)):
        parent = 0 if body.parent == WORLD else body.parent + 1
        values = dict(zip(forms[type(body.joint)].c.constants, body.joint.rolled_constants(), strict=True))
        constants = "".join(f", {scalar.literal(values.get(name, 0.0))}" for name in names)
        follow = free
        if body.coupling is not None:
            follow = f", {scalar.literal(body.coupling.multiplier)}, {scalar.literal(body.coupling.offset)}"
        kind = kinds[type(body.joint)]
        integers = f"{parent}, {body.index_q}, {starts[index]}, {body.joint.nv}{kind}{follow}{constants}"
        rows.append(
            _body_row(f"{index + 1}: {comment(body.name)}", integers, own.placement, own.inertia, scalar)
        )
    return rows


def _body_row(
    title: str, integers: str, placement: Placement, inertia: RigidInertia, scalar: ScalarType
) -> BodyRow:
    j = ", ".join(_literal(x, scalar) for x in inertia.about_origin.scalars())
    h = ", ".join(_literal(x, scalar) for x in inertia.first_moment.scalars())
    mass = f"{_literal(inertia.mass, scalar)}, {{{h}}}, {{{j}}}"
    return BodyRow(title, integers, _placement(placement, scalar), mass)


def _placement(placement: Placement, scalar: ScalarType) -> str:
    """Axes and origin."""
    vectors = (placement.rotation.x, placement.rotation.y, placement.rotation.z, placement.translation)
    return ", ".join(
        "{" + ", ".join(_literal(x, scalar) for x in vector.scalars()) + "}" for vector in vectors
    )


def _literal(number: float, scalar: ScalarType) -> str:
    return scalar.literal(number + 0.0)  # no -0.0, which turning frames leaves


def _numbers(numbers: Sequence[float], scalar: ScalarType) -> str:
    return ", ".join(_literal(x, scalar) for x in numbers) if any(numbers) else ""


def _pairs(paths: Paths) -> str:
    return ", ".join(
        f"{{{place[0]}, {place[1]}, {place[2]}}}"
        for place in zip(paths.start, paths.depth, paths.end, strict=True)
    )


def _integers(numbers: Iterable[int]) -> str:
    return ", ".join(str(number) for number in numbers)
