"""Programs in which identical limbs (legs, arms, fingers) share vectors, one limb in each lane. Functions are
traced with the limbs' constants as inputs; `rbdc.ir.passes.vectorise.lanes` then packs corresponding values
of the limbs into vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from rbdc.algorithms.trace import Trace
from rbdc.functions.declarations import PARAMETERS, FunctionDeclaration, Kind, Parameter
from rbdc.functions.evaluation import InLanes
from rbdc.functions.record import Function
from rbdc.ir.builder import rewrite
from rbdc.ir.from_casadi import Recorder, from_casadi, symbols
from rbdc.ir.nodes import Program
from rbdc.ir.passes.counterparts import Source
from rbdc.ir.passes.rules import order_operands
from rbdc.ir.passes.simplify import optimise, remove_dead_code
from rbdc.ir.passes.vectorise.lanes import Exchange, pack
from rbdc.model import Problem
from rbdc.model.description import DRIVE_NUMBERS
from rbdc.model.joint_space import JointSpaceBody, JointSpaceModel
from rbdc.planning.contact_lanes import contact_moves, contacts_of
from rbdc.planning.lane_signs import signed, signed_output, signs_of
from rbdc.reduction.limb_frames import aligned
from rbdc.reduction.limbs import LimbGroup, constants, groups, united, with_constants
from rbdc.reduction.parameters import NUMBERS, constant_part
from rbdc.reduction.passes import Space, reduced
from rbdc.spatial import Placement, Scalar

CONSTANTS = "limb_constants"
"""Input array of the constants that differ between limbs. Packing replaces its entries by numbers."""

APART = (
    *(Kind.PARAMETERS, Kind.PART, Kind.NOT_NEGATIVE, Kind.POSITIVE, Kind.DURATION),
    *(Kind.PLACEMENTS, Kind.CONTACT_FORCES),
)
"""Kinds of inputs that are not indexed by joints."""


@dataclass(frozen=True)
class LaneBody(JointSpaceBody):
    """A body of a limb whose constants are abstract scalars.

    contacts: for each contact of the body, its frame as described, and the same frame as scalars in the
        body's frame `chosen`.
    """

    contacts: tuple[tuple[Placement, Placement], ...] = ()

    def own_placement(self, placement: Placement) -> Placement:
        """Return the scalar frame of the contact whose described frame is this placement."""
        return next(symbolic for described, symbolic in self.contacts if described == placement)


@dataclass(frozen=True)
class LaneModel:
    """The model with aligned limbs.

    model: the reduced model.
    groups: groups of limbs.
    numbers: for each body of a limb, by its index: the sign of its joint, then its constants.
    slots: index in the array `CONSTANTS` of each constant that differs between limbs, by (body, index in
        `numbers[body]`).
    """

    model: JointSpaceModel
    groups: tuple[LimbGroup, ...]
    numbers: dict[int, tuple[float, ...]]
    slots: dict[tuple[int, int], int]


@lru_cache(maxsize=8)
def lane_model(model: Problem, space: Space = "regrouped") -> LaneModel | None:
    """Return the limbs of a model and the groups within them (fingers of arms), with aligned frames. Return
    None without limbs, if only some of them have run-time inertial parameters, or if one carries a payload.

    space: the passes that reduce the model, as in `reduced`.

    If groups within limbs have lanes, functions take 0.69 to 0.95 of the work on TIAGo, and 0.57 to 1.0 of
    the work on hands with two to four fingers.
    """
    small = reduced(constant_part(model), space)
    whole = groups(small)
    outer = [replace(group, nested=()) for group in whole]
    limbs = next((each for each in (whole, outer) if _take_the_same(model, each)), [])
    if not limbs:
        return None
    alike, signs = aligned(small, limbs)
    numbers: dict[int, tuple[float, ...]] = {}
    differing: list[tuple[int, int]] = []
    for bodies in (bodies for group in limbs for bodies in group.lanes()):
        rows = [_numbers(alike, index, signs[index]) for index in bodies]
        for k, column in enumerate(zip(*rows, strict=False)):  # bodies may differ in their number of contacts
            if max(column) - min(column) > _SAME * max(map(abs, column)):
                differing += [(index, k) for index in bodies]
            else:
                for row in rows:
                    row[k] = column[0]
        numbers |= {index: tuple(row) for index, row in zip(bodies, rows, strict=True)}
    return LaneModel(alike, tuple(limbs), numbers, {pair: slot for slot, pair in enumerate(differing)})


def _take_the_same(model: Problem, groups: Sequence[LimbGroup]) -> bool:
    """Return whether all or none of the corresponding bodies have run-time inertial parameters, and none
    carries a payload.
    """
    for bodies in (bodies for group in groups for bodies in group.lanes()):
        rows = [[row for row in model.parameters if row.body == index] for index in bodies]
        if any(rows) and any(len(rows_of_body) != 1 or rows_of_body[0].added for rows_of_body in rows):
            return False
    return True


def _numbers(model: JointSpaceModel, index: int, sign: float) -> list[float]:
    """Return the sign and the constants of a body of the aligned model, see `LaneModel.numbers`."""
    body = model.bodies[index]
    frames = [body.own_placement(placement) for placement in contacts_of(model, index)]
    # rest position along the joint's own direction
    *drive, rest = (getattr(body, name) for name in DRIVE_NUMBERS)
    of_body = [sign, *constants(body), *body.chosen.scalars(), *drive, sign * rest]
    return [float(x) for x in (*of_body, *(x for frame in frames for x in frame.scalars()))]


_SAME = 4e-15
"""Largest relative difference of constants that count as equal."""


def laned(model: Problem, function: Function, method: str) -> Program | None:
    """Return the program of a function without its optional inputs, with limbs and groups within them in
    lanes. Return None without limbs, or if the function's method has no version for lanes.

    Tested on random trees with identical limbs: values equal those of the scalar program.
    """
    evaluate = function.methods[method]
    if not isinstance(evaluate, InLanes):
        return None
    limbs = lane_model(model, evaluate.space)
    return None if limbs is None else side_by_side(limbs, function.declaration, evaluate)


def side_by_side(limbs: LaneModel, declaration: FunctionDeclaration, evaluate: InLanes) -> Program:
    """Return the program of a function with these limbs in lanes."""
    table = symbols(CONSTANTS, len(limbs.slots))
    inputs = {p.name: symbols(p.name, p.size) for p in declaration.required}
    scalars = {
        index: tuple(
            table[limbs.slots[index, k]] if (index, k) in limbs.slots else x for k, x in enumerate(constants)
        )
        for index, constants in limbs.numbers.items()
    }
    recorder = Recorder()
    outputs = evaluated(limbs, scalars, declaration, evaluate, inputs, recorder.record)
    differing = [(CONSTANTS, table)] if table else []  # all constants of the limbs may be equal
    program = from_casadi(declaration.name, [*inputs.items(), *differing], outputs, recorder)
    # a + b and b + a become one value, so that a value has only one counterpart in another lane
    program = remove_dead_code(rewrite(program, (order_operands,)))
    for size in sorted({len(group.limbs) for group in limbs.groups}, reverse=True):
        program = pack(program, _exchange(limbs, size, declaration.required))
    return optimise(program)


def evaluated(
    limbs: LaneModel,
    scalars: Mapping[int, tuple[Scalar, ...]],
    declaration: FunctionDeclaration,
    evaluate: InLanes,
    arguments: Mapping[str, Sequence[Scalar]],
    trace: Trace,
) -> list[tuple[str, list[Scalar]]]:
    """Return (name, entries) of the outputs of a function, for the joint directions of the description.

    scalars: constants of the bodies of limbs, in the order of `LaneModel.numbers`.

    Tested on random descriptions with noise: with `limbs.numbers` as scalars, outputs equal those of the
    references.
    """
    signs = signs_of(limbs.model.bodies, {index: sign for index, (sign, *_) in scalars.items()})
    inputs = {
        p.name: arguments[p.name]
        if p.kind in APART
        else signed(arguments[p.name], signs["q" if p.configuration else "v"])
        for p in declaration.required
    }
    values = evaluate.for_lanes(_traced_model(limbs, scalars), inputs, trace)
    return [
        (p.name, signed_output(limbs.model, p, x, signs["q" if p.shape == (limbs.model.nq,) else "v"]))
        for p, x in zip(declaration.outputs, values, strict=True)
    ]


def _traced_model(limbs: LaneModel, scalars: Mapping[int, tuple[Scalar, ...]]) -> JointSpaceModel:
    bodies = list(limbs.model.bodies)
    for index, (_, *values) in scalars.items():
        row, described = iter(values), contacts_of(limbs.model, index)
        of_link, chosen, drive, *frames = (
            list(islice(row, count))
            for count in (len(constants(bodies[index])), 12, len(DRIVE_NUMBERS), *[12] * len(described))
        )
        fields = vars(with_constants(bodies[index], of_link)) | dict(zip(DRIVE_NUMBERS, drive, strict=True))
        contacts = tuple(zip(described, map(Placement.of, frames), strict=True))
        bodies[index] = LaneBody(**fields | {"chosen": Placement.of(chosen), "contacts": contacts})
    return replace(limbs.model, bodies=tuple(bodies))


def _exchange(limbs: LaneModel, size: int, inputs: Sequence[Parameter]) -> Exchange:
    chosen = [group for group in limbs.groups if len(group.limbs) == size]
    lanes = [bodies for group in chosen for bodies in group.lanes()]
    within = {index for bodies in lanes for index in bodies}
    steps = [_moves(limbs, step, inputs) for step in united(group.steps() for group in chosen)]
    moves = {
        (CONSTANTS, slot): limbs.numbers[index][which]
        for (index, which), slot in limbs.slots.items()
        if index in within
    }
    return Exchange(steps, sorted({len(bodies) for bodies in lanes}), moves)


def _moves(limbs: LaneModel, step: dict[int, int], inputs: Sequence[Parameter]) -> dict[Source, Source]:
    moves: dict[Source, Source] = {}
    bodies = limbs.model.bodies
    rows = {row.body: NUMBERS * k for k, row in enumerate(limbs.model.parameters)}
    for here, there in step.items():
        for p in (p for p in inputs if p.kind not in APART):
            places = [(b.index_q if p.configuration else b.index_v) for b in (bodies[here], bodies[there])]
            moves[p.name, places[0]] = (p.name, places[1])
        if here in rows:  # both bodies have run-time inertial parameters
            moves |= {(PARAMETERS, rows[here] + k): (PARAMETERS, rows[there] + k) for k in range(NUMBERS)}
    moves |= {
        (CONSTANTS, slot): (CONSTANTS, limbs.slots[step[index], which])
        for (index, which), slot in limbs.slots.items()
        if index in step
    }
    return moves | contact_moves(limbs.model, step, inputs)
