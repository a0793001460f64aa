"""Sizes of models beyond which functions are refused."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.emit.paths.kernels import has_windows
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of, rollable
from rbdc.model import Model
from rbdc.planning.loops.forms import MAXIMUM_BODIES
from rbdc.planning.policy import MAXIMUM_DOF


def check_size(model: Model, names: Sequence[str], style: str, *, fused: bool) -> None:
    """Unrolled matrices grow with the square of nv and more: refuse what would take minutes and end in an
    unusable library, where a function has no loops to fall back on. Rolled functions and those along paths
    keep some hundred numbers for each body on the stack.
    """
    catalogue = functions_of(model)
    unrolled = [name for name in names if fused or not catalogue[name].policy.rolled]
    if style != "rolled":
        unrolled = [name for name in unrolled if fused or not has_windows(model, catalogue[name])]
    place = f"{model.place}: {model.nv} degrees of freedom"
    if unrolled and model.nv > MAXIMUM_DOF:
        frame = "leave out --fext-frame world, " if model.world_forces else ""
        raise UnsupportedError(
            f"{place}; this version unrolls at most {MAXIMUM_DOF}: {frame}fix some joints, "
            f"or give --functions among {', '.join(rollable())}{', without --fuse' if fused else ''}"
        )
    if model.njoints > MAXIMUM_BODIES:
        raise UnsupportedError(
            f"{place}; this version takes at most {MAXIMUM_BODIES} moving bodies: fix some joints"
        )
