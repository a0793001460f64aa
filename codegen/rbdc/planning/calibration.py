"""Nanoseconds that a call takes by the form of its code: the one table by which forms are compared, with the
measurements that it rests on.

Generated text is the same on every machine, so the table is one compromise between processors of both makers
of x86 and both compilers, and its nanoseconds are those of no machine in particular: only which of two forms
takes less is used. `MEASUREMENTS` says what it costs where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rbdc.emit.backend import Form


@dataclass(frozen=True)
class Rate:
    """Nanoseconds that an operation takes in one form.

    near: while the code is in caches close to the core. far: where it has more than `NEAR_CODE` bytes, and is
    fetched anew at each call. bytes: of code for an operation; 0 for loops, whose code does not grow so.
    """

    near: float
    far: float
    bytes: float = 0.0


NEAR_CODE = 90_000
"""Bytes of code of a kernel up to which operations take `Rate.near`.

On the Xeon the derivatives of forward dynamics of quadrupeds (5,000 to 5,500 operations, some 75 KB) take
0.11 to 0.15 ns an operation, no more than their inverses of M in 20 KB; TIAGo's derivatives of inverse
dynamics (7,750 operations, some 110 KB) 0.25. Nothing in between was measured. TIAGo's inverse of M in
columns, 50 KB, is an exception: 0.26.
"""

RATES: Mapping[Form, Rate] = {
    Form.STRAIGHT_LINE: Rate(near=0.15, far=0.25, bytes=14.0),
    Form.COLUMNS: Rate(near=0.15, far=0.25, bytes=14.0),
    Form.WINDOWS: Rate(near=0.2, far=0.2),
}
"""Of straight-line code, solves in columns and kernels along ancestor paths, by `Cost.operations`: one on a
vector or a block counts as one.

On the Xeon straight-line code takes 0.11 to 0.15 ns on quadrupeds (gcc 0.15 to 0.24) and 0.23 to 0.27 on
TIAGo and humanoids; columns 0.25 to 0.38 (gcc 0.21 to 0.28); kernels along paths 0.15 to 0.22 (gcc 0.15 to
0.43, the largest for the inverse of M of quadrupeds). On the EPYC, whose registers hold half as much,
straight-line code takes 0.24 to 0.33, columns 0.37 to 0.53 (gcc, which takes blocks of 64 bytes through
memory there, 0.75 to 1.3), kernels along paths 0.19 to 0.39.
"""


@dataclass(frozen=True)
class Measurement:
    """Nanoseconds of a call, without external forces, in one form.

    operations: of the form, as `Cost.operations`. xeon, epyc: by clang 19 and by gcc 12, on an Intel Xeon
    with AVX-512 and on an AMD EPYC of Zen 3 with AVX2, least of interleaved passes. TIAGo has a fixed root,
    the others a free one.
    """

    robot: str
    function: str
    form: Form
    operations: int
    xeon: tuple[int, int]
    epyc: tuple[int, int]


_LINE, _COLUMNS, _PATHS = Form.STRAIGHT_LINE, Form.COLUMNS, Form.WINDOWS
_INVERSE, _INVERSE_DYNAMICS, _FORWARD_DYNAMICS = "minverse", "rnea_derivatives", "aba_derivatives"

MEASUREMENTS = (
    Measurement("hyq", _INVERSE, _LINE, 1532, (227, 312), (375, 411)),
    Measurement("hyq", _INVERSE, _PATHS, 1683, (356, 707), (513, 657)),
    Measurement("hyq", _INVERSE_DYNAMICS, _LINE, 1759, (259, 367), (536, 517)),
    Measurement("hyq", _INVERSE_DYNAMICS, _PATHS, 3936, (641, 684), (765, 1044)),
    Measurement("hyq", _FORWARD_DYNAMICS, _LINE, 5488, (732, 808), (1460, 1341)),
    Measurement("hyq", _FORWARD_DYNAMICS, _PATHS, 6363, (1299, 1374), (1917, 2148)),
    Measurement("solo12", _INVERSE, _LINE, 1469, (217, 275), (356, 394)),
    Measurement("solo12", _INVERSE, _PATHS, 1647, (354, 711), (516, 624)),
    Measurement("solo12", _INVERSE_DYNAMICS, _LINE, 1450, (220, 353), (438, 476)),
    Measurement("solo12", _INVERSE_DYNAMICS, _PATHS, 3900, (651, 676), (756, 1069)),
    Measurement("solo12", _FORWARD_DYNAMICS, _LINE, 5050, (567, 751), (1291, 1236)),
    Measurement("solo12", _FORWARD_DYNAMICS, _PATHS, 6327, (1303, 1370), (1877, 2170)),
    Measurement("anymal_b", _INVERSE, _LINE, 1491, (231, 316), (386, 443)),
    Measurement("anymal_b", _INVERSE, _PATHS, 1665, (356, 622), (526, 623)),
    Measurement("anymal_b", _INVERSE_DYNAMICS, _LINE, 1600, (247, 350), (487, 489)),
    Measurement("anymal_b", _INVERSE_DYNAMICS, _PATHS, 3918, (637, 595), (790, 1027)),
    Measurement("anymal_b", _FORWARD_DYNAMICS, _LINE, 5277, (705, 801), (1400, 1330)),
    Measurement("anymal_b", _FORWARD_DYNAMICS, _PATHS, 6345, (1292, 1184), (1909, 2118)),
    Measurement("simple_humanoid", _INVERSE, _COLUMNS, 8342, (2634, 2011), (3328, 9124)),
    Measurement("simple_humanoid", _INVERSE, _PATHS, 6122, (1056, 1006), (1768, 1964)),
    Measurement("simple_humanoid", _INVERSE_DYNAMICS, _LINE, 9389, (2521, 2189), (2891, 2740)),
    Measurement("simple_humanoid", _INVERSE_DYNAMICS, _PATHS, 12260, (2477, 2245), (2690, 2871)),
    Measurement("simple_humanoid", _FORWARD_DYNAMICS, _COLUMNS, 25859, (9736, 5430), (13809, 21644)),
    Measurement("simple_humanoid", _FORWARD_DYNAMICS, _PATHS, 24616, (5318, 4332), (6761, 7237)),
    Measurement("g1_29dof", _INVERSE, _COLUMNS, 8806, (2252, 2150), (3256, 9356)),
    Measurement("g1_29dof", _INVERSE, _PATHS, 6242, (916, 1021), (1798, 1957)),
    Measurement("g1_29dof", _INVERSE_DYNAMICS, _LINE, 12421, (2949, 3010), (3328, 3258)),
    Measurement("g1_29dof", _INVERSE_DYNAMICS, _PATHS, 12380, (2465, 2593), (2690, 2900)),
    Measurement("g1_29dof", _FORWARD_DYNAMICS, _COLUMNS, 29311, (8916, 6903), (14393, 22054)),
    Measurement("g1_29dof", _FORWARD_DYNAMICS, _PATHS, 24736, (5308, 5351), (6659, 7219)),
    Measurement("tiago_pro", _INVERSE, _COLUMNS, 3506, (915, 879), (1699, 4533)),
    Measurement("tiago_pro", _INVERSE, _PATHS, 6565, (1117, 1212), (1919, 2111)),
    Measurement("tiago_pro", _INVERSE_DYNAMICS, _LINE, 7750, (1953, 2026), (2360, 2407)),
    Measurement("tiago_pro", _INVERSE_DYNAMICS, _PATHS, 14119, (2678, 2751), (3142, 3301)),
    Measurement("tiago_pro", _FORWARD_DYNAMICS, _COLUMNS, 14401, (5066, 4038), (6347, 11723)),
    Measurement("tiago_pro", _FORWARD_DYNAMICS, _PATHS, 22389, (5224, 5079), (6345, 6501)),
    Measurement("atlas_v4", _INVERSE, _COLUMNS, 8349, (2299, 2023), (3198, 8605)),
    Measurement("atlas_v4", _INVERSE, _PATHS, 6114, (930, 1171), (1840, 2033)),
    Measurement("atlas_v4", _INVERSE_DYNAMICS, _LINE, 10624, (2431, 2801), (3052, 2975)),
    Measurement("atlas_v4", _INVERSE_DYNAMICS, _PATHS, 12116, (2501, 2634), (2766, 2891)),
    Measurement("atlas_v4", _FORWARD_DYNAMICS, _COLUMNS, 27262, (8897, 6756), (13749, 21539)),
    Measurement("atlas_v4", _FORWARD_DYNAMICS, _PATHS, 24066, (5358, 4539), (6837, 7334)),
)
"""What the table costs: by the geometric mean of the four times it chooses a form that takes at most 1.09
times as long as the other. On one processor by one compiler it is wrong by more for TIAGo's inverse of M and
derivatives of forward dynamics on the EPYC by gcc, which take 2.1 and 1.8 times as long in columns as along
paths.
"""


def code_bytes(form: Form, operations: float) -> float:
    """About how much code a kernel has whose size grows with its operations; 0 for loops."""
    return RATES[form].bytes * operations


def nanoseconds(form: Form, operations: float) -> float:
    """The time of a call by the form of its code and its operations."""
    rate = RATES[form]
    return operations * (rate.near if code_bytes(form, operations) <= NEAR_CODE else rate.far)
