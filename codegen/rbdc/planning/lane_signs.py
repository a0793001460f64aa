"""Signs of joints. Limbs share lanes after the directions of their joints are aligned. A reversed joint has
the sign -1. Entries of inputs and outputs that its coordinate indexes are multiplied by the sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from rbdc.functions.declarations import Parameter
from rbdc.model import Body, Problem
from rbdc.model.contacts import total_rows
from rbdc.spatial import Scalar


def signs_of(bodies: Sequence[Body], signs: Mapping[int, Scalar]) -> dict[str, dict[int, Scalar]]:
    """Return the signs other than +1 of the entries of "q" and of "v", by index of the entry. `signs`: signs
    of joints, by index of the body.
    """
    other = {index: sign for index, sign in signs.items() if not (isinstance(sign, float) and sign == 1.0)}
    return {
        "q": {bodies[index].index_q: sign for index, sign in other.items()},
        "v": {bodies[index].index_v: sign for index, sign in other.items()},
    }


def signed(entries: Sequence[Scalar], signs: Mapping[int, Scalar]) -> list[Scalar]:
    """Return entries indexed by joint coordinates, times the signs of the joints."""
    return [signs[k] * x if k in signs else x for k, x in enumerate(entries)]


def signed_output(
    model: Problem, output: Parameter, entries: Sequence[Scalar], signs: Mapping[int, Scalar]
) -> list[Scalar]:
    """Return the entries of an output, each times the signs of the joints that index it. Along an axis,
    entries of contacts may precede those of joints.
    """
    starts = _joint_axes(model, output)
    result = []
    for x, entry in zip(entries, product(*map(range, output.shape)), strict=True):
        places = [k - start for k, start in zip(entry, starts, strict=True) if start is not None]
        odd = [signs[p] for p in dict.fromkeys(places) if p in signs and places.count(p) % 2]
        result.append(prod(odd) * x if odd else x)  # combine signs first: entries of a block share them
    return result


def _joint_axes(model: Problem, output: Parameter) -> list[int | None]:
    """Return the index at which joint coordinates begin, for each axis of an output; None for axes that joint
    coordinates do not index, such as directions in space.
    """
    last = len(output.shape) - 1
    other_axes = {0, *({1, 2} if last == 2 else ())} if output.in_space else set()
    other_axes |= {last} if output.by_forces else set()
    contacts = total_rows(model)
    starts = {model.nq: 0, model.nv + contacts: contacts, model.nv: 0}
    return [None if k in other_axes else starts.get(count) for k, count in enumerate(output.shape)]
