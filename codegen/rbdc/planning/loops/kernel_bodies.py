"""The bodies of each kernel along ancestor paths, by its name in `rbdc.emit.paths.kernels`."""

from __future__ import annotations

from collections.abc import Iterator

from rbdc.emit.paths.constants import constants_of
from rbdc.emit.paths.layout import scheduled
from rbdc.emit.paths.row_loops import Bodies
from rbdc.ir.lanes import LaneProgram
from rbdc.model import Model
from rbdc.planning.loops import limb_bodies, root_bodies


def kernel_bodies(model: Model, kernel: str) -> Bodies:
    """The bodies of loops over rows of limbs, of a free root, and of the frames of joints with several
    degrees of freedom.
    """
    return {body.program.name: body for body in _bodies(model, kernel)}


def _bodies(model: Model, kernel: str) -> Iterator[LaneProgram]:
    schedule = scheduled(model)
    constants, several = constants_of(schedule), schedule.several
    massive = constants.place("mass") is not None
    if kernel == "inverse_dynamics_derivatives":
        yield limb_bodies.forward(constants, coupled=model.coupled)
        yield limb_bodies.backward(massive=massive, several=several)
    else:
        moving = kernel == "forward_dynamics_derivatives"
        yield limb_bodies.forward(constants, solved=True) if moving else limb_bodies.placed(constants)
        yield limb_bodies.articulated()
        if moving:
            yield limb_bodies.corrected(massive=massive, several=several)
            yield limb_bodies.backward(massive=massive, several=several)
        if schedule.free:
            yield root_bodies.root_inertia(constants)
            if moving:
                yield root_bodies.root_force(constants)
    if schedule.free and kernel != "inverse_inertia":
        yield root_bodies.root_motion(constants)
        yield root_bodies.root_columns(constants)
    for k in schedule.first_of_several:
        yield root_bodies.pose(constants, schedule.nodes[k])
