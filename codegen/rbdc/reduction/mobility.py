"""Independent rows of contacts and loops, and the remaining degrees of freedom. Both follow from the rank of
the contact Jacobian in random closed configurations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.contacts import contact_error, contact_jacobian
from rbdc.algorithms.reference.manifold import integrate
from rbdc.errors import UnsupportedError
from rbdc.model import Contact, Effect, Note, Problem
from rbdc.model.contacts import loops_of, total_rows
from rbdc.model.xml import shown

Array = NDArray[np.float64]

SAMPLES = 6
"""Number of closed configurations in which the rank is computed."""
ATTEMPTS = 40
"""Largest number of random configurations from which loops are closed."""
STEPS = 60
"""Largest number of Newton steps to close a loop."""
CLOSED = 1e-7
"""Error (m, rad) below which a loop is closed."""
RANK = 1e-6
"""Singular values below this, relative to the largest one, count as zero: descriptions give axes to about six
digits.
"""


def mobility(model: Problem) -> dict[str, int]:
    """Return the degrees of freedom that contacts leave. Raises UnsupportedError for loops that cannot be
    closed.

    rows: number of rows of all contacts.
    rank: number of independent rows.
    freedoms: nv minus rank.
    """
    rank = max(_rank(j) for j in _jacobians(model))
    return {"rows": total_rows(model), "rank": rank, "freedoms": model.nv - rank}


def with_independent_loops(model: Problem) -> Problem:
    """Before: contacts with all rows of their kinds. After: loops without redundant rows, with a note on each
    loop that lost rows. Contacts with the world keep redundant rows, with a note on each such contact.
    """
    if not model.contacts:
        return model
    jacobians = list(_jacobians(model))
    rows = [(number, k) for number, contact in enumerate(model.contacts) for k in range(contact.rows)]
    chosen: list[int] = []
    for row in range(len(rows)):
        if any(_rank(j[[*chosen, row]]) > _rank(j[chosen]) for j in jacobians):
            chosen.append(row)
    independent = {rows[row] for row in chosen}
    contacts, dropped, redundant = [], [], []
    for number, contact in enumerate(model.contacts):
        axes = tuple(x for k, x in enumerate(contact.held) if (number, k) in independent)
        reduced = contact if contact.second is None else replace(contact, held=axes)
        contacts.append(reduced)
        if reduced.rows < contact.rows:
            dropped.append(_dropped_note(model, contact, reduced))
        elif len(axes) < contact.rows:
            redundant.append(_redundant_note(contact))
    notes = (*model.notes, *dropped, *redundant)
    return replace(model, contacts=tuple(contacts), notes=notes, redundant=bool(redundant))


def _dropped_note(model: Problem, before: Contact, after: Contact) -> Note:
    """Return a note on a loop's redundant rows. Raises UnsupportedError if all its rows are redundant."""
    if not after.rows:
        raise UnsupportedError(
            f"{model.place}: all rows of the loop {shown(after.name)} are redundant: leave the loop out"
        )
    gone = before.rows - after.rows
    return Note(
        f'loop "{shown(before.name)}": {gone} of {before.rows} rows are redundant and ignored; '
        f"{after.rows} are held",
        effect=Effect.ASKED,
    )


def _redundant_note(contact: Contact) -> Note:
    return Note(
        f'contact "{shown(contact.name)}": some rows are redundant or hold directions in which nothing can '
        "move, so functions that solve for forces need mu; one surface contact in place of several points of "
        "a body needs no mu",
        effect=Effect.ASKED,
    )


def _rank(jacobian: Array) -> int:
    if not jacobian.size:
        return 0
    values = np.linalg.svd(jacobian, compute_uv=False)
    return int(np.sum(values > RANK * max(values[0], RANK)))


def _jacobians(model: Problem) -> Iterator[Array]:
    rng, count, least = np.random.default_rng(0), 0, np.inf
    for _ in range(ATTEMPTS):
        q = integrate(model, model.neutral(), [float(x) for x in rng.uniform(-1.0, 1.0, model.nv)])
        closed, error = closed_from(model, [float(x) for x in q])
        least = min(least, error)
        if error < CLOSED:
            count += 1
            yield _numbers(contact_jacobian(model, closed), model.nv)
        if count == SAMPLES:
            return
    if not count:
        loops = ", ".join(shown(c.name) for c in model.contacts if c.second is not None)
        raise UnsupportedError(
            f"{model.place}: the loops {loops} cannot be closed: the smallest error reached is {least:.3g} "
            "(m or rad); check the frames of the loops"
        )


def closed_from(model: Problem, q: list[float]) -> tuple[list[float], float]:
    """Return a closed configuration near q, found by least-norm Newton steps, and the remaining error (m,
    rad), 0 if it is below `CLOSED`.
    """
    loops = loops_of(model)
    for _ in range(STEPS):
        error = np.array([float(x) for x in contact_error(loops, q)])
        if not loops.contacts or np.max(np.abs(error)) < CLOSED:
            return q, 0.0
        if not np.all(np.isfinite(error)):
            return q, np.inf
        jacobian = _numbers(contact_jacobian(loops, q), model.nv)
        step = -np.linalg.lstsq(jacobian, error, rcond=RANK)[0]
        step *= min(1.0, 0.5 / max(float(np.max(np.abs(step))), 1e-12))
        q = [float(x) for x in integrate(model, q, [float(x) for x in step])]
    return q, float(np.max(np.abs(error)))


def _numbers(rows: list[list[object]], columns: int) -> Array:
    return np.array(rows, dtype=float).reshape(-1, columns)
