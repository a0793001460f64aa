"""Table of times from which the time of a call in each form (way to write a function in C) is estimated.

Generated text is the same on every machine. The table is therefore a compromise between x86 processors of
Intel and AMD and between clang and gcc. Its times belong to no machine: only the comparison of two forms is
used. Measured times of forms, by processor, are in `tests/emit/support_measurements.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """Times of one form (ns).

    near: time of an operation if the code has at most `NEAR_CODE` bytes, and stays in near caches.
    far: time of an operation if the code is larger, and is fetched again at each call.
    bytes: code per operation (bytes); 0 for loops, whose code does not grow.
    call: time of a call without operations.
    looped: time of an operation in a loop that solves M X = B by columns or multiplies matrices.
    moved: time for each entry of X, which is cleared before the loops and copied to the results after them.
    """

    near: float
    far: float
    bytes: float = 0.0
    call: float = 0.0
    looped: float = 0.0
    moved: float = 0.0


NEAR_CODE = 60_000
"""Bytes of code of a kernel up to which operations take `Rate.near`.

Derivatives of forward dynamics in straight-line code, in ns an operation:

    processor                       arm (54 KB)    quadrupeds (67 to 72 KB)
    Xeon of 2023 (Emerald Rapids)   0.10 to 0.14   0.24 to 0.27
    Zen 4                           0.11           0.16 to 0.18
    Zen 5                           0.08 to 0.1    0.16 to 0.17
    other Xeon (as in `RATES`)      0.08           0.11 to 0.12

On the other Xeon HyQ's derivatives under contact forces take 0.11 to 0.13 ns with 89 KB of code, 0.17 to 0.21
ns with 96 KB. TIAGo's derivatives of inverse dynamics (7,750 operations, some 110 KB) take 0.25 ns. TIAGo's
inverse of M in the form `columns` is an exception: 0.26 ns with 50 KB. For the derivatives of quadrupeds the
form `columns` takes 0.62 to 0.9 of the time of straight-line code on the Xeon of 2023, 0.89 on Zen 4 with
clang, 1.3 on the other Xeon.
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
"""Rates of all forms. An operation on a vector or a block counts as one (`Cost.operations`).

Measured times of an operation (ns). The Xeon has AVX-512; registers of Zen 3 are half as long.

    form            processor      time           exceptions
    straight line   Xeon           0.11 to 0.15   0.15 to 0.24 with gcc; TIAGo, humanoids 0.23 to 0.27
                    Zen 3          0.24 to 0.33
                    Zen 5          0.08 to 0.18
    columns         Zen 5          0.08 to 0.18   TIAGo's inverse of M with clang 0.26
    windows         Xeon           0.15 to 0.22   0.15 to 0.43 with gcc (quadrupeds' inverses of M: longest)
                    Zen 3          0.19 to 0.39
                    Zen 5          0.09 to 0.17
    rolled          Zen 4          0.09 to 0.2

In far caches code of the form `columns` takes less time an operation than straight-line code. Derivatives of
forward dynamics of panda on a free root take 0.1 ns on the Xeon and 0.16 ns on Zen 4; those of humanoids on a
fixed root take 0.18 to 0.2 ns on both.

Laying out the blocks of `columns` takes some nanoseconds: an arm's inverse of M takes at least the time of
straight-line code of as many operations (1.17 of it on Zen 4 with gcc). In large systems each entry of the
columns takes 0.1 to 0.38 ns on Zen 3, up to 0.4 on Zen 4, up to 0.14 on Zen 5: inverses of M of humanoids
with a fixed root took 1.4 to 1.6 times as long as straight-line code of as many operations.

An operation of the loop that solves for the columns takes 0.09 ns on Zen 3 (two multiply-adds a cycle), 0.055
ns on a Xeon. In the form `windows` an operation of products with M^-1 takes 0.08 to 0.1 ns on the Xeon.

The form `climb` is compared with no other form.

The rate of `paths` comes from the times at `rbdc.planning.policy.TRIED_SECOND_ORDER`. Time of an operation of
straight-line code, divided by that of an operation of `paths`:

    code near the core   0.76 to 0.91
    far, Zen 4           1.01 and 1.1
    far, Xeon of 2023    1.54 and 1.75

These ratios, and those at `TRIED_SECOND_ORDER`, count the operations of `paths` without sums along the tree
and added results, which are 3 to 13 % of the executed operations. The rate applies to all operations.
"""


def nanoseconds(form: str, operations: float, looped: float = 0.0, moved: float = 0.0) -> float:
    """Return the time of a call (ns).

    operations: operations outside the loops of `looped`.
    looped: operations of loops that solve in columns or multiply matrices.
    moved: number of entries of the columns.
    """
    rate = RATES[form]
    is_near = rate.bytes * operations <= NEAR_CODE
    written = operations * (rate.near if is_near else rate.far)
    return rate.call + written + looped * rate.looped + moved * rate.moved
