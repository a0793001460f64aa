"""Tables of the loops: joints, paths of the tree, and blocks of a path. The degrees of freedom of a block are
consecutive and lie side by side in vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdc.ir.indices import Index, TableEntry, Variable, plus
from rbdc.ir.loops import ConstantTable, Loop, Statement
from rbdc.planning.loops.ancestors import Ancestors
from rbdc.planning.paths.layout import JointOnPath, PathLayout

DEPTH = 15
"""Number of products in an entry of the tensors of forward dynamics; three fewer in tiles whose columns
contain no ancestor of d and, for derivatives by q twice, not d.
"""
D, E, X, Y, K, B = map(Variable, "dexykb")
"""Loop variables: d degrees of freedom, e entries of lists, x other degrees of freedom of a joint, y rows, k
columns, b blocks.
"""
FIRST, COUNT, ABOVE = (TableEntry(name, B) for name in ("first_of", "count_of", "above_of"))
"""Block b: its first degree of freedom, the number of its degrees of freedom, and the number of those
strictly above the joint of d.
"""

OWN = ("own_at", "own_dof", "own_count", "own_above")


class JointIndices:
    """Index expressions of a joint.

    dof: its first degree of freedom.
    after: first degree of freedom after the joint.
    end: first degree of freedom after its subtree.
    above: index of its parent joint.
    """

    def __init__(self, number: Index) -> None:
        self.dof, self.after = TableEntry("dof_of", number), TableEntry("dof_of", plus(number, 1))
        self.end, self.above = TableEntry("end_dof", number), TableEntry("joint_above", number)

    def loop(self, *body: Statement, variable: str = "d", further: int = 0) -> Loop:
        """Return a loop over the degrees of freedom of the joint without the first `further` ones."""
        return Loop(variable, plus(self.dof, further), self.after, body)


def blocks_of(*body: Statement, stop: str = "") -> Loop:
    """Return a loop over the blocks of the path to d, up to the block in the table `stop`, if any."""
    return Loop(
        "b",
        TableEntry("blocks_of", D),
        TableEntry(stop, D) if stop else TableEntry("blocks_of", plus(D, 1)),
        body,
    )


class PathBlock:
    """Degrees of freedom with consecutive numbers on a path, with their joints.

    position: position of the first one on the path.
    m: position of the first degree of freedom of the joint at the end of the path.
    start: the entry of `up` with which the path begins.
    above: number of degrees of freedom of the block strictly above the joint at the end.
    moving: whether the joint of the block's last degree of freedom is not a root.
    partial: positions above the joint at the end and above some, but not all, joints of the block.
    all, some: entries of `up` where `partial` begins and ends.
    tail: first entry of `up` below all joints of the block.
    """

    def __init__(
        self, path: Sequence[int], position: int, joints: Sequence[JointOnPath], m: int, start: int
    ) -> None:
        self.path, self.first, self.position, self.count = path, path[position], position, len(joints)
        self.begins, self.end = [x.position for x in joints], joints[-1].position + joints[-1].size
        self.above, self.moving = min(max(m - position, 0), self.count), int(self.begins[-1] > 0)
        self.partial = range(min(self.begins[0], m), min(self.begins[-1], m))
        self.all, self.some, self.tail = (
            start + x for x in (self.partial.start, self.partial.stop, self.end)
        )

    def lanes(self, x: int, lanes: int) -> tuple[float, ...]:
        """Return 1 for each lane whose joint begins below position x of the path, and 0 for the others."""
        return tuple(float(lane < self.count and x < self.begins[lane]) for lane in range(lanes))


@dataclass(frozen=True)
class PathTables:
    """The tables of a layout; `columns` has the tables of integers by name."""

    layout: PathLayout

    @cached_property
    def owners(self) -> list[JointOnPath]:
        """The joint of each degree of freedom."""
        return [joint for joint in self.layout.joints for _ in range(joint.size)]

    @cached_property
    def up(self) -> Ancestors:
        """The degrees of freedom on the path to each degree of freedom."""
        joints, parents = self.layout.joints, list[int]()
        for dof, joint in enumerate(self.owners):
            above = joints[joint.above]
            last = -1 if above is joint else above.dof + above.size - 1
            parents.append(last if dof == joint.dof else dof - 1)
        return Ancestors.of_parents(parents)

    def path(self, dof: int) -> tuple[int, ...]:
        """Return the degrees of freedom on the path to `dof`, including all of its joint."""
        last = self.owners[dof].dof + self.owners[dof].size - 1
        return (*self.up.above(last), last)

    @cached_property
    def blocks(self) -> list[list[PathBlock]]:
        """For each degree of freedom, the blocks of its path, without a free root."""
        return [list(self._blocks(dof)) for dof in range(self.layout.size)]

    def _blocks(self, dof: int) -> Iterator[PathBlock]:
        path, position = self.path(dof), self.layout.root
        while position < len(path):
            end = position + 1
            while end < min(position + self.layout.lanes, len(path)) and path[end] == path[end - 1] + 1:
                end += 1
            joints = [self.owners[k] for k in path[position:end]]
            yield PathBlock(path, position, joints, self.owners[dof].position, self.up.start[dof])
            position = end

    @cached_property
    def shapes(self) -> list[tuple[int, int]]:
        """Shapes of blocks: (number of degrees of freedom, number of them above the joint of d)."""
        return sorted({(block.count, block.above) for row in self.blocks for block in row}, reverse=True)

    @cached_property
    def roots(self) -> list[bool]:
        """For each joint, whether it is a root."""
        return [joint.above == number for number, joint in enumerate(self.layout.joints)]

    def tree_rows(self, dof: Index) -> tuple[Index, tuple[str, Index, Index]]:
        """Return the index and the (variable, start, stop) of a loop over the tree of `dof`. Accelerations of
        different trees are not coupled.
        """
        y = Variable("y")
        if sum(self.roots) == 1:
            return y, ("y", 0, self.layout.size)
        return TableEntry("tree", y), ("y", TableEntry("tree_of", dof), TableEntry("tree_of", plus(dof, 1)))

    @cached_property
    def columns(self) -> Mapping[str, Sequence[int]]:
        """The tables of integers, by name."""
        parts = (self._of_blocks, self._of_paths, self._of_joints, self._of_tiles)
        return {name: column for part in parts for name, column in part().items()}

    @property
    def tiles(self) -> int:
        """Number of tiles, two vectors wide, over the columns of a matrix."""
        return self.layout.size // (2 * self.layout.lanes) + 1

    def tables(self) -> list[ConstantTable]:
        """Return all tables. `partial_lanes` has 1 in lanes of directions below a `partial_row`, else 0."""
        tables = [
            ConstantTable(name, tuple((x,) for x in column or [0]), integer=True)
            for name, column in self.columns.items()
        ]
        size, each = self.layout.lanes, (block for row in self.blocks for block in row)
        lanes = [block.lanes(x, size) for block in each for x in block.partial]
        firsts = tuple(tuple(float(x < k) for x in range(size)) for k in range(size + 1))
        return [
            *tables,
            ConstantTable("partial_lanes", tuple(lanes) or firsts[:1]),
            ConstantTable("first_lanes", firsts),
        ]

    def _of_blocks(self) -> dict[str, Sequence[int]]:
        """Return tables of the blocks, of the rows above some of a block's directions (`partial_...`), and of
        the directions j of a block's joints (`own_...`): position of j on the path, its degree of freedom,
        and the numbers of the block's directions not below and above the joint of j.
        """
        each = [block for row in self.blocks for block in row]
        owned = [[self._own_row(block, j) for j in range(block.begins[0], block.end)] for block in each]
        numbers, rows = (
            ("first", "position", "count", "above", "moving", "all", "some", "tail"),
            starts(self.blocks),
        )
        above = [sum(block.above > 0 for block in blocks) for blocks in self.blocks]
        return {
            "blocks_of": rows,
            "above_end": [begin + count for begin, count in zip(rows, above, strict=False)],
            **{f"{name}_of": [getattr(block, name) for block in each] for name in numbers},
            "shape_of": [self.shapes.index((block.count, block.above)) for block in each],
            "partial_of": starts([block.partial for block in each]),
            "partial_row": [block.path[x] for block in each for x in block.partial],
            "own_of": starts(owned),
            **{name: [x[k] for rows in owned for x in rows] for k, name in enumerate(OWN)},
        }

    def _own_row(self, block: PathBlock, j: int) -> tuple[int, int, int, int]:
        dof = block.path[j]
        begin = self.owners[dof].position - block.position
        return j, dof, min(begin + self.owners[dof].size, block.count), min(max(begin, 0), block.count)

    def _of_paths(self) -> dict[str, Sequence[int]]:
        """Return lists for each degree of freedom.

        path_of, joint_of, end_of: entries of `up` where its path below a free root begins, where its joint
            begins, and where its joint ends.
        related: its ancestors, its descendants, and all of its joint.
        tree: all of its tree.
        """
        start, owners, every = self.up.start, self.owners, range(self.layout.size)
        related = [[k for k in every if k in self.path(d) or d in self.path(k)] for d in every]
        trees = [[k for k in every if self.path(k)[0] == self.path(d)[0]] for d in every]
        return {
            "up": self.up.entries,
            "position_up": [owners[dof].position + dof - owners[dof].dof for dof in self.up.entries],
            "path_of": [begin + self.layout.root for begin in start],
            "joint_of": [begin + joint.position for begin, joint in zip(start, owners, strict=True)],
            "end_of": [
                begin + joint.position + joint.size for begin, joint in zip(start, owners, strict=True)
            ],
            "related_of": starts(related),
            "related": [k for path in related for k in path],
            "tree_of": starts(trees),
            "tree": [k for path in trees for k in path],
        }

    def _of_joints(self) -> dict[str, Sequence[int]]:
        """Return tables of joints, and lists of joints.

        merge_of: 0 for a root, 1 for the last child of a joint, 2 for other children.
        lower_of: joints below another joint.
        several_of: joints with several degrees of freedom.
        apart_of: joints whose pairs of directions have extra terms.
        rooted: degrees of freedom of roots; only the first of a free root.
        """
        joints, roots = self.layout.joints, self.roots
        last = [joint.end == joints[joint.above].end for joint in joints]
        each = list(zip(range(len(joints)), joints, roots, strict=True))
        return {
            "dof_of": [*(joint.dof for joint in joints), self.layout.size],
            "end_dof": [joint.end for joint in joints],
            "joint_above": [joint.above for joint in joints],
            "is_root": list(map(int, roots)),
            "is_leaf": [int(joint.end == joint.dof + joint.size) for joint in joints],
            "is_single": [int(joint.size == 1) for joint in joints],
            "merge_of": [0 if root else 1 if end else 2 for root, end in zip(roots, last, strict=True)],
            "lower_of": [k for k, _, root in each if not root],
            "several_of": [k for k, joint, _ in each if joint.size > 1],
            "apart_of": [
                k
                for k, joint, root in each
                if joint.position >= self.layout.root and (root or joint.size > 1)
            ],
            "rooted": [
                k for k, joint in enumerate(self.owners) if not joint.position and k * self.layout.root == 0
            ],
            "nth_of": [dof - joint.dof for dof, joint in enumerate(self.owners)],
        }

    def _of_tiles(self) -> dict[str, Sequence[int]]:
        """Return the number of products of each tile: for each degree of freedom the tiles of derivatives by
        q, then by v; last, the tiles by torques.
        """
        wide, root, depths = 2 * self.layout.lanes, self.layout.root, list[int]()
        for dof, joint in enumerate(self.owners):
            above = self.path(dof)[: joint.position]
            by_q = {(k - root) // wide for k in (dof, *above) if k >= root}
            deep = (by_q, {k // wide for k in above})
            depths += [DEPTH if tile in row else DEPTH - 3 for row in deep for tile in range(self.tiles)]
        return {"depths": [*depths, *[DEPTH - 3] * self.tiles]}


def starts(groups: Iterable[Sequence[object]]) -> list[int]:
    """Return the index at which each group begins if all are concatenated, and the end of the last group."""
    begins = [0]
    for group in groups:
        begins.append(begins[-1] + len(group))
    return begins
