"""Loops of functions whose results are solutions of one system A X = B, A = L^T D L, with one column of X in
each vector lane.

Straight-line code computes the right-hand sides B, known parts of X and the factors of A. The rest is the
same arithmetic for every column, L^T Y = B and L X = D^-1 Y, row by row over blocks of columns
(`rbdc.planning.columns.plan`). A is M, or M bordered by rows of contacts, which come first. The solutions in
the rows of contacts are the function's outputs over contacts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.ir.indices import Multiple, TableEntry, Variable, plus
from rbdc.ir.loops import (
    Call,
    Clear,
    ConstantTable,
    Copy,
    Loop,
    LoopNest,
    Place,
    Routine,
    Statement,
    Step,
    Straight,
    WhereGiven,
)
from rbdc.ir.nodes import Program
from rbdc.planning.columns.plan import (
    ColumnPlan,
    RowPair,
    SolveRow,
    kernel,
    plan_of,
    row_pairs,
    solve,
    strips,
)
from rbdc.planning.loops.places import PlaceRecorder
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.spatial import Scalar

WORTH_A_LOOP, MORE_IN_A_LOOP = 1_200, 2.2
"""A solve with more than `WORTH_A_LOOP` operations becomes a loop if the loop has less than `MORE_IN_A_LOOP`
times as many. Only code that is written out omits blocks of zeros, and one triangle of an inverse.

Time of a call with the loop divided by the time with rows written out, on a Zen 4 core (AVX-512); operations
of the solve written out, and operations of the loop divided by these:

    function, robot                                       gcc 12  clang 19  operations  ratio
    derivatives of forward dynamics, HyQ                    1.01      0.98       3,217   1.64
    derivatives of forward dynamics, TIAGo                  1.08      1.06       8,441   2.15
    derivatives of forward dynamics, iiwa                   1.06      1.14         420   1.71
    M^-1, a humanoid                                        1.16      1.13       3,737   2.48
    M^-1, TIAGo                                             1.22      1.23       1,970   2.87
    derivatives of constrained dynamics, HyQ on one point   0.98      0.95       4,900   1.48
    derivatives of constrained dynamics, iiwa on a surface  0.98      0.98       1,583   1.46

The operations of constrained dynamics include copies to results. On a Zen 3 core (AVX2), with a loop over
three rows of four blocks, the derivatives of forward dynamics of a humanoid, TIAGo and quadrupeds take 0.63
to 0.86 of the time with clang 14, and 0.81 to 0.97 with gcc 12.
"""

PART = 600
"""Target number of block products in one C function."""

TOGETHER = 4
"""Number of other rows that are subtracted at once from all blocks of a row: registers hold the sums and the
entries of L. With all rows at once, M^-1 of a humanoid takes 1.07 times as long (gcc 12, Zen 4).
"""

K, T = Variable("k"), Variable("t")


def column_loops(
    programs: Sequence[Program], declaration: FunctionDeclaration
) -> tuple[ColumnPlan, tuple[LoopNest, ...], int]:
    """Return the layout of a function whose outputs are solutions of its `System`; its loops, first for
    registers of 64 bytes; and the operations of the solve, 0 if it is written out. programs: the programs of
    `preparation`; if there are two, the first omits the optional inputs.
    """
    plan, early = worth_a_loop(plan_of(programs, declaration))
    start = Straight(tuple(kernel(program, plan) for program in programs))
    options = tuple(p.name for p in declaration.optional)
    lanes = (2 * plan.lanes, plan.lanes) if plan.looped else (plan.lanes,)
    nests = tuple(_nest(plan, start, options, width) for width in lanes)
    return plan, nests, early.cost().operations if plan.looped else 0


def _nest(plan: ColumnPlan, start: Straight, options: tuple[str, ...], lanes: int) -> LoopNest:
    early = solves(plan, plan.early_blocks, lanes=lanes)
    late = solves(plan, plan.late_blocks, "late_", lanes)
    optional = [WhereGiven(options, late.statements)] if late.statements else []
    statements = (*_beginning(plan), start, *early.statements, *optional, *_results(plan))
    rows = plan.size + plan.looped
    sizes = {"columns": rows * plan.row, "factor": len(plan.factor) + plan.looped, "pivots": rows}
    arrays = {name: size for name, size in {**sizes, "known": len(plan.known)}.items() if size}
    tables = (*early.tables, *late.tables)
    return LoopNest(tables, arrays, statements, widths={"columns": plan.lanes})


def worth_a_loop(plan: ColumnPlan) -> tuple[ColumnPlan, LoopNest]:
    """Return the plan, `looped` if a loop is better, and its solve without optional inputs."""
    written = solves(plan, plan.early_blocks)
    operations = written.cost().vectors
    if operations > WORTH_A_LOOP:
        looped = replace(plan, looped=True)
        loops = solves(looped, looped.early_blocks)
        if loops.cost().vectors < MORE_IN_A_LOOP * operations:
            return looped, loops
    return plan, written


def _beginning(plan: ColumnPlan) -> Iterator[Statement]:
    """Store zeros, the identity for M^-1, and factors of a dummy row. Loops take two rows at a time, and pair
    an odd last row with the dummy.
    """
    yield Clear("columns", (plan.size + plan.looped) * plan.row)
    if plan.system.inverse:
        first = plan.place(len(plan.system.sides), plan.system.contacts, 0)
        ones = _numbers({Place("columns", ((K, plan.row + 1),), first): 1.0})
        yield Loop("k", 0, plan.system.joints, (ones,), "right-hand sides of M^-1: the identity")
    if plan.looped:
        yield _numbers({Place("factor", (), len(plan.factor)): 0.0, Place("pivots", (), plan.size): 1.0})


def _numbers(values: Mapping[Place, float]) -> Step:
    m = PlaceRecorder()
    for place, x in values.items():
        m.store([x], place)
    return m.step()


def _results(plan: ColumnPlan) -> Iterator[Statement]:
    """Copy columns to the outputs and one triangle of M^-1 to the other, and add known entries."""
    system, n = plan.system, plan.system.joints
    for rows, parameters, first in (
        (n, system.solutions, system.contacts),
        (system.contacts, system.of_contacts, 0),
    ):
        copies = tuple(copy for side, p in enumerate(parameters) for copy in _copies(plan, side, p, first))
        if rows:
            yield Loop("k", 0, rows, copies, "copy solutions to results")

    if system.inverse:
        m, name = PlaceRecorder(), system.inverse.name
        m.store([m.number(Place(name, ((T, n), (K, 1))))], Place(name, ((K, n), (T, 1))))
        yield Loop("k", 1, n, (Loop("t", 0, K, (m.step(),)),))
    if plan.known:
        yield _known(plan)


def _copies(plan: ColumnPlan, side: int, p: Parameter, row: int) -> Iterator[Statement]:
    """Yield a copy for each run of neighbouring columns of an output. row: its first row in the system."""
    width = p.shape[1]
    position = [plan.position(side, column) for column in range(width)]
    starts = [c for c in range(width) if c == 0 or position[c] != position[c - 1] + 1]
    for first, end in pairwise([*starts, width]):
        source = Place("columns", ((K, plan.row),), plan.place(side, row, first))
        yield Copy(source, Place(p.name, ((K, width),), first), end - first)


def _known(plan: ColumnPlan) -> Step:
    m, contacts, by_output = PlaceRecorder(), plan.system.contacts, dict[str, dict[int, Scalar]]()
    for value, (side, row, column) in zip(
        m.numbers(len(plan.known), Place("known")), plan.known, strict=True
    ):
        below = row >= contacts
        p = (plan.system.solutions if below else plan.system.of_contacts)[side]
        by_output.setdefault(p.name, {})[(row - contacts if below else row) * p.shape[1] + column] = value
    for name, entries in by_output.items():
        m.add_scattered(entries, Place(name))
    return m.step()


def solves(plan: ColumnPlan, blocks: range, prefix: str = "", lanes: int = 0) -> LoopNest:
    """Return the solve for some blocks of columns: routines with rows written out, or loops over strips of
    blocks, which may contain zero blocks.
    """
    tables, routines = list[ConstantTable](), list[Routine]()
    if plan.looped:
        cut = [(strip, row_pairs(plan, strip)) for strip in strips(blocks)]
        for width in sorted({len(strip) for strip, pairs in cut if pairs}):
            of_width, name = [part for part in cut if len(part[0]) == width], f"{prefix}by{width}"
            pairs, terms = _tables(plan, name, of_width)
            tables += [pairs, terms]
            routines.append(_loop(plan, name, width, len(pairs.rows) - 1, lanes or plan.lanes))
    else:
        parts = enumerate(_parts(solve(plan, blocks)), 1)
        routines += [_rows(plan, f"{prefix}solve{number}", rows) for number, rows in parts]
    calls = (
        Call(routine, {name: Place({"y": "columns"}.get(name, name)) for name in routine.arguments})
        for routine in routines
    )
    return LoopNest(tuple(tables), {}, tuple(calls))


def _parts(rows: Sequence[SolveRow]) -> list[list[SolveRow]]:
    parts: list[list[SolveRow]] = []
    for row in rows:
        if not parts or sum(r.products for r in parts[-1]) + row.products > PART:
            parts.append([])
        parts[-1].append(row)
    return parts


def _rows(plan: ColumnPlan, name: str, rows: Sequence[SolveRow]) -> Routine:
    used = {"factor": any(row.terms for row in rows), "pivots": any(row.scaled for row in rows), "y": True}
    about = f"Rows of the solve. y[{plan.blocks} k + b] is block b of row k: {plan.lanes} columns."
    arguments = tuple(argument for argument, is_used in used.items() if is_used)
    steps = tuple(_row(plan, row) for row in rows)
    return Routine(name, about, arguments, steps, widths={"y": plan.lanes})


def _row(plan: ColumnPlan, row: SolveRow) -> Step:
    m = LaneRecorder("row", _NUMBERS, plan.lanes)
    m.begin(f"row {row.number} of {'L X = D^-1 Y' if row.scaled else 'L^T Y = B'}")
    sums: dict[int, Scalar] = dict.fromkeys(row.blocks, 0.0)
    for b in row.blocks:
        if b in row.filled:
            pivot = m.read("pivots", row.number) if row.scaled else 1.0
            sums[b] = pivot * m.read("y", row.number * plan.blocks + b)
    for place, (number, other, blocks) in enumerate(row.terms, 1):
        for b in blocks:
            sums[b] = sums[b] - m.read("factor", number) * m.read("y", other * plan.blocks + b)
        if place % TOGETHER == 0:
            m.let("", list(sums.values()))
            m.begin("")
    for b in row.blocks:
        m.store("y", row.number * plan.blocks + b, [sums[b]])
    return _at(m, {})


def _tables(plan: ColumnPlan, name: str, cut: Sequence[tuple[range, list[RowPair]]]) -> list[ConstantTable]:
    """Return the tables of pairs of rows and of their terms.

    A pair has the offsets of both rows in units of two blocks, their pivots, the entry of L between them, and
    their first term; the last pair has the end of the terms. A term has the entries of L for both rows, and
    the offset of the other row.
    """
    pairs, terms = list[tuple[int, ...]](), list[tuple[int, ...]]()
    for strip, pairs_of_strip in cut:
        for first, second, others, within in pairs_of_strip:
            begin = [(i * plan.blocks + strip.start) // 2 for i in (first.number, second.number)]
            pivots = [row.number if row.scaled else plan.size for row in (first, second)]
            pairs.append((*begin, *pivots, within, len(terms)))
            terms += [(x, y, (i * plan.blocks + strip.start) // 2) for x, y, i in others]
    tables = {f"pairs_{name}": [*pairs, (0, 0, 0, 0, 0, len(terms))], f"terms_{name}": terms or [(0, 0, 0)]}
    return [ConstantTable(key, tuple(rows), integer=True) for key, rows in tables.items()]


def _loop(plan: ColumnPlan, name: str, width: int, count: int, lanes: int) -> Routine:
    pairs, terms = (
        [TableEntry(f"{table}_{name}", plus(Multiple(size, variable), number)) for number in range(2 * size)]
        for table, size, variable in (("pairs", 6, K), ("terms", 3, T))
    )
    vectors, pair = width * plan.lanes // lanes, 2 * plan.lanes
    places = {
        "first": Place("y", ((pairs[0], pair),)),
        "second": Place("y", ((pairs[1], pair),)),
        "p": Place("pivots", ((pairs[2], 1),)),
        "q": Place("pivots", ((pairs[3], 1),)),
        "within": Place("factor", ((pairs[4], 1),)),
        "l": Place("factor", ((terms[0], 1),)),
        "m": Place("factor", ((terms[1], 1),)),
        "x": Place("y", ((terms[2], pair),), once=True),
    }

    begin, end, *takes = (LaneRecorder("step", _NUMBERS, lanes) for _ in range(vectors + 2))
    for sums, pivot, row in (("a", "p", "first"), ("b", "q", "second")):
        begin.store(sums, 0, [begin.read(pivot) * x for x in begin.entries(row, 0, vectors)])
    for k, m in enumerate(takes):
        for sums, factor in (("a", "l"), ("b", "m")):
            m.store(sums, k, [m.read(sums, k) - m.read(factor) * m.read("x", k)])
    a, b = (end.entries(sums, 0, vectors) for sums in "ab")
    end.store("first", 0, a)
    end.store("second", 0, [y - end.read("within") * x for x, y in zip(a, b, strict=True)])
    first, last, *inner = (_at(m, places) for m in (begin, end, *takes))
    about = (
        "Two rows at once, in strips of blocks: from the last row up for L^T Y = B, then from the first row "
        "down for L X = D^-1 Y. Multiples of other rows are subtracted from both, then of the first from the "
        "second."
    )
    loop = Loop("k", 0, count, (first, Loop("t", pairs[5], pairs[11], tuple(inner)), last))
    sizes, widths = dict.fromkeys("ab", vectors * lanes), dict.fromkeys("ab", lanes)
    return Routine(name, about, ("factor", "pivots", "y"), (loop,), arrays=sizes, widths=widths)


_NUMBERS = ("factor", "pivots", "p", "q", "l", "m", "within")


def _at(m: LaneRecorder, places: Mapping[str, Place]) -> Step:
    program = m.program()
    names = [array.name for array in (*program.inputs, *program.outputs)]
    return Step(program, {name: places.get(name, Place(name)) for name in names})
