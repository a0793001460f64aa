"""Times of a call (ns) by form: the table by which forms are compared, with its measurements.

Generated text is the same on every machine. The table is therefore a compromise between x86 processors of
both makers and both compilers. Its times belong to no particular machine: only the comparison of two forms is
used. Measured times of forms, by processor, are in `tests/emit/support_measurements.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """Times of an operation in one form (ns).

    near: time while the code is in caches close to the core.
    far: time if the code has more than `NEAR_CODE` bytes and is fetched again at each call.
    bytes: code per operation (bytes); 0 for loops, whose code does not grow.
    call: time of a call without operations.
    looped: time of an operation in a loop that solves in columns or multiplies matrices.
    moved: time of an entry of the columns, which is cleared first and copied to the results at the end.
    """

    near: float
    far: float
    bytes: float = 0.0
    call: float = 0.0
    looped: float = 0.0
    moved: float = 0.0


NEAR_CODE = 60_000
"""Bytes of code of a kernel up to which operations take `Rate.near`.

Derivatives of forward dynamics of an arm (54 KB) and of quadrupeds (67 to 72 KB) take, in ns an operation,
0.10 to 0.14 and 0.24 to 0.27 on a Xeon of 2023 (Emerald Rapids), 0.11 and 0.16 to 0.18 on Zen 4, 0.08 to 0.1
and 0.16 to 0.17 on Zen 5, but 0.08 and 0.11 to 0.12 on the Xeon of the other figures. On the latter,
derivatives of HyQ under contact forces take 0.11 to 0.13 with 89 KB, 0.17 to 0.21 with 96 KB. TIAGo's
derivatives of inverse dynamics (7,750 operations, some 110 KB) take 0.25. TIAGo's inverse of M in the form
`columns` is an exception: 0.26 with 50 KB. For quadrupeds this form takes 0.62 to 0.9 of the time of
straight-line code on the Xeon of 2023, 0.89 on Zen 4 with clang, 1.3 on the other Xeon.
"""

STRAIGHT_LINE = "straight line"
COLUMNS = "columns"
WINDOWS = "windows"
PATHS = "paths"
CLIMB = "climb"
ROLLED = "rolled"

RATES: Mapping[str, Rate] = {
    STRAIGHT_LINE: Rate(near=0.15, far=0.25, bytes=14.0),
    COLUMNS: Rate(near=0.15, far=0.21, bytes=14.0, call=5.0, looped=0.07, moved=0.1),
    WINDOWS: Rate(near=0.2, far=0.2, looped=0.1),
    PATHS: Rate(near=0.185, far=0.185),
    CLIMB: Rate(near=0.2, far=0.2),
    ROLLED: Rate(near=0.12, far=0.12),
}
"""Rates of all forms, by `Cost.operations`: an operation on a vector or a block counts as one. Times are in
ns per operation.

Straight-line code, windows: on the Xeon straight-line code takes 0.11 to 0.15 on quadrupeds (gcc 0.15 to
0.24) and 0.23 to 0.27 on TIAGo and humanoids; windows 0.15 to 0.22 (gcc 0.15 to 0.43, the largest for the
inverse of M of quadrupeds). On Zen 3, whose registers are half as long, straight-line code takes 0.24 to
0.33, windows 0.19 to 0.39. On Zen 5 straight-line code takes 0.08 to 0.18, columns in blocks of 32 bytes 0.08
to 0.18 (0.26 for TIAGo's inverse of M with clang), windows 0.09 to 0.17.

Columns: an arm's inverse of M takes no less time in columns than straight-line code of as many operations (on
Zen 4 with gcc 1.17 of its time): some nanoseconds go into laying out the blocks. Columns whose code is in far
caches take less time than straight-line code does: derivatives of forward dynamics of panda on a free root
0.1 on the Xeon and 0.16 on Zen 4, of humanoids on a fixed root 0.18 to 0.2 on both. Besides the operations,
large systems of columns take 0.1 to 0.38 ns for each number on Zen 3, to 0.4 on Zen 4, to 0.14 on Zen 5:
inverses of M of humanoids with a fixed root took 1.4 to 1.6 times as long as straight-line code of as many
operations. Their loop takes 0.09 on Zen 3 (two multiply-adds a cycle), 0.055 on a Xeon; products with M^-1 in
windows take 0.08 to 0.1 there.

Rolled code takes 0.09 to 0.2 on Zen 4. A climb is compared with no other form.

Paths: the rate comes from the times at `rbdc.planning.policy.TRIED_SECOND_ORDER`. An operation of
straight-line code takes 0.76 to 0.91 of the time of an operation of paths if the code is near the core. If
the code is far, it takes 1.01 and 1.1 on Zen 4, 1.54 and 1.75 on the Xeon of 2023. In these measurements, and
in those at `TRIED_SECOND_ORDER`, operations were counted without sums along the tree and added results, which
are 3 to 13 % of the executed operations; the rate applies to all operations.
"""


def nanoseconds(form: str, operations: float, looped: float = 0.0, moved: float = 0.0) -> float:
    """Return the time of a call (ns) from its form, its operations, the operations of loops, and the
    number of entries of the columns.
    """
    rate = RATES[form]
    is_near = rate.bytes * operations <= NEAR_CODE
    written = operations * (rate.near if is_near else rate.far)
    return rate.call + written + looped * rate.looped + moved * rate.moved
