"""A model as tables: numbers of each body and each degree of freedom, and the path from the root to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdc.algorithms.tools.joint_coordinates import dof_table, first_dofs
from rbdc.ir.loops import ConstantTable
from rbdc.model import WORLD, Contact, Problem
from rbdc.model.contacts import row_slices
from rbdc.model.joints import JointType
from rbdc.planning.loops.ancestors import Ancestors, elimination_parents
from rbdc.reduction.schedules import nodes_of, parent_columns
from rbdc.reduction.z_axes import with_z_axes
from rbdc.spatial import Placement, RigidInertia


def kind_of(contact: Contact) -> tuple[int, tuple[int, ...]]:
    """Return the kind of a contact: the number of components, and which of them are held. One program serves
    all contacts of a kind.
    """
    return contact.kind.components, contact.held


@dataclass(frozen=True)
class BodyKind:
    """Bodies that one program serves.

    joint: joint of all these bodies, in a frame with the joint's axis on z.
    rooted: whether the world is the parent of all these bodies; otherwise the parents are bodies.
    """

    joint: JointType
    rooted: bool

    @property
    def title(self) -> str:
        """The name of the kind for readers of the C."""
        return "joint on the world" if self.rooted else f"{self.joint.kind} joint"


class TreeTables:
    """A model with every joint's axis on z, as tables of numbers by body and by degree of freedom."""

    def __init__(self, model: Problem) -> None:
        self.model = with_z_axes(model)
        self.coupled, self.nv = model.coupled, model.nv
        bodies = self.model.bodies
        self.kind_of = [BodyKind(body.joint, body.parent == WORLD) for body in bodies]
        self.kinds = list(dict.fromkeys(self.kind_of))
        self.paths = Ancestors.of_parents(parent_columns(nodes_of(model)))
        self.rows = Ancestors.of_parents(elimination_parents(model, self.paths))

    @cached_property
    def constants(self) -> dict[str, list[tuple[float, ...]]]:
        """Rows of numbers, by name of the table."""
        bodies, contacts = self.model.bodies, self.model.contacts
        couplings = [b.coupling for b in bodies]
        frames = [x.first for x in contacts if x.first.body != WORLD]
        placed = [bodies[x.body].own_placement(x.placement) for x in frames]
        return {
            "placement": [_numbers(b.placement) for b in bodies],
            "inertia": [_numbers(b.inertia) for b in bodies],
            "chosen": [_numbers(b.chosen) for b in bodies],
            "coupling": [(1.0, 0.0) if x is None else (x.multiplier, x.offset) for x in couplings],
            "contact_frame": [_numbers(placement) for placement in placed],
        }

    def groups(self, table: str) -> Sequence[BodyKind | None]:
        """Return for each row of a table of constants its group: rows of a group share a program."""
        rows = len(self.constants[table])
        return self.kind_of if table != "contact_frame" else [None] * rows

    def differing(self, table: str, group: BodyKind | None) -> list[int]:
        """Return the columns of a table of constants in which rows of a group differ."""
        pairs = zip(self.constants[table], self.groups(table), strict=True)
        columns = zip(*(row for row, group_of_row in pairs if group_of_row == group), strict=True)
        return [k for k, column in enumerate(columns) if len(set(column)) > 1]

    @cached_property
    def kept(self) -> dict[str, list[int]]:
        """The columns of each table of constants that differ within a group: the C stores only these."""
        return {
            name: sorted({k for kind in dict.fromkeys(self.groups(name)) for k in self.differing(name, kind)})
            for name in self.constants
        }

    @cached_property
    def dofs(self) -> list[tuple[int, float, int]]:
        """(entry of v, multiplier of a mimic joint or 1, body) of each degree of freedom."""
        return dof_table(self.model)

    @cached_property
    def turning(self) -> list[int]:
        """The bodies whose joint has an angle."""
        return [k for k, body in enumerate(self.model.bodies) if body.joint.rotation == "angle"]

    @cached_property
    def indices(self) -> dict[str, Sequence[int]]:
        """Tables with one integer in a row, by their names in the C."""
        bodies, starts = self.model.bodies, first_dofs(self.model)
        above, rows = self.paths, self.rows
        return {
            "parent_of": [body.parent for body in bodies],
            "q_of": [body.index_q for body in bodies],
            "v_of": [body.index_v for body in bodies],
            "dof_of": starts,
            "dof_end": [start + body.joint.nv for start, body in zip(starts, bodies, strict=True)],
            "turn_of": [self.turning.index(k) if k in self.turning else 0 for k in range(len(bodies))],
            "kind_of": [self.kinds.index(kind) for kind in self.kind_of],
            "q_of_turning": [bodies[k].index_q for k in self.turning],
            "body_of": [body for _, _, body in self.dofs],
            "column_of": [column for column, _, _ in self.dofs],
            "up": above.entries,
            "up_start": above.start,
            "up_own": above.own,
            "up_end": above.end,
            "row_up": rows.entries,
            "row_start_of": rows.start,
            "row_own_of": rows.own,
            "row_end_of": rows.end,
        }

    @cached_property
    def contact_indices(self) -> dict[str, Sequence[int]]:
        """Tables with one integer in a row, by their names in the C.

        contact_*: one row for each contact with the world.
        held_*: the `Ancestors` of each row in the elimination tree, with rows of contacts numbered before
            rows of M.
        """
        contacts, rows = self.model.contacts, row_slices(self.model)
        bodies = [contact.first.body for contact in contacts]
        ends = [self.indices["dof_end"][body] - 1 for body in bodies]
        last = [end for contact, end in zip(contacts, ends, strict=True) for _ in range(contact.rows)]
        of_contacts = Ancestors.of_parents(elimination_parents(self.model, self.paths, last))
        return {
            "contact_body_of": bodies,
            "contact_root_of": [self.model.support(body)[0] for body in bodies],
            "contact_dof_of": ends,
            "contact_row_of": [rows[contact.name].start for contact in contacts],
            "contact_kind_of": [self.contact_kinds.index(kind_of(contact)) for contact in contacts],
            "held_up": of_contacts.entries,
            "held_start_of": of_contacts.start,
            "held_own_of": of_contacts.own,
            "held_end_of": of_contacts.end,
        }

    @cached_property
    def contact_kinds(self) -> list[tuple[int, tuple[int, ...]]]:
        """The kinds of contacts, see `kind_of`."""
        return list(dict.fromkeys(map(kind_of, self.model.contacts)))

    def table(self, name: str) -> ConstantTable | None:
        """Return the table with this name in the C; None if no table has it."""
        indices = self.contact_indices if name.startswith(("contact_", "held_")) else self.indices
        if name in indices:
            return ConstantTable(name, tuple((x,) for x in indices[name]), integer=True)
        if name in self.constants:
            columns, rows = self.kept[name], self.constants[name]
            owners = self.model.contacts if name == "contact_frame" else self.model.bodies
            names = tuple(owner.name for owner in owners)
            return ConstantTable(name, tuple(tuple(row[k] for k in columns) for row in rows), comments=names)
        if name == "turning_coupling":
            return ConstantTable(name, tuple(self.constants["coupling"][k] for k in self.turning))
        if name in ("armature", "damping"):
            return ConstantTable(name, tuple((float(x),) for x in getattr(self.model, name)))
        return None


def _numbers(x: Placement | RigidInertia) -> tuple[float, ...]:
    return tuple(float(x) + 0.0 for x in x.scalars())
