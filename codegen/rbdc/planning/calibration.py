"""Nanoseconds that a call takes by the form of its code: the one table by which forms are compared, with the
measurements that it rests on.

Generated text is the same on every machine, so the table is one compromise between processors of both makers
of x86 and both compilers, and its nanoseconds are those of no machine in particular: only which of two forms
takes less is used. `MEASUREMENTS` says what it costs where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """Nanoseconds that an operation takes in one form.

    near: while the code is in caches close to the core. far: where it has more than `NEAR_CODE` bytes, and is
    fetched anew at each call. bytes: of code for an operation; 0 for loops, whose code does not grow so.
    call: nanoseconds of a call beside its operations.
    """

    near: float
    far: float
    bytes: float = 0.0
    call: float = 0.0


NEAR_CODE = 90_000
"""Bytes of code of a kernel up to which operations take `Rate.near`.

On the Xeon the derivatives of forward dynamics of quadrupeds (5,000 to 5,500 operations, some 75 KB) take
0.11 to 0.15 ns an operation, no more than their inverses of M in 20 KB; TIAGo's derivatives of inverse
dynamics (7,750 operations, some 110 KB) 0.25. Nothing in between was measured. TIAGo's inverse of M in
columns, 50 KB, is an exception: 0.26.
"""

STRAIGHT_LINE = "straight line"
COLUMNS = "columns"
KERNEL_ALONG_PATHS = "kernel along paths"
LOOPS_ALONG_PATHS = "loops along paths"
CLIMB = "climb"
ROLLED = "rolled"

RATES: Mapping[str, Rate] = {
    STRAIGHT_LINE: Rate(near=0.15, far=0.25, bytes=14.0),
    COLUMNS: Rate(near=0.15, far=0.25, bytes=14.0, call=5.0),
    KERNEL_ALONG_PATHS: Rate(near=0.2, far=0.2),
    LOOPS_ALONG_PATHS: Rate(near=0.17, far=0.17),
    CLIMB: Rate(near=0.2, far=0.2),
    ROLLED: Rate(near=0.12, far=0.12),
}
"""Rates of straight-line code, solves in columns and kernels along ancestor paths, by `Cost.operations`: one
on a vector or a block counts as one.

On the Xeon straight-line code takes 0.11 to 0.15 ns on quadrupeds (gcc 0.15 to 0.24) and 0.23 to 0.27 on
TIAGo and humanoids; kernels along paths 0.15 to 0.22 (gcc 0.15 to 0.43, the largest for the inverse of M of
quadrupeds). On Zen 3, whose registers hold half as much, straight-line code takes 0.24 to 0.33, kernels along
paths 0.19 to 0.39. On Zen 5 straight-line code takes 0.08 to 0.18, columns in blocks of 32 bytes 0.08 to 0.18
(0.26 for TIAGo's inverse of M by clang), kernels along paths 0.09 to 0.17. Columns of an arm's inverse of M
take no less than straight-line code of as many operations (on Zen 4 by gcc 1.17 of its time): some
nanoseconds go into laying out the blocks. Rolled code takes 0.09 to 0.2 on Zen 4; loops along paths come from
the times at `rbdc.planning.policy.TRIED_SECOND_ORDER`. A climb is compared with nothing.
"""


@dataclass(frozen=True)
class Measurement:
    """Nanoseconds of a call, without external forces, in one form.

    operations: of the form, as `Cost.operations`. xeon, zen3, zen4, zen5: by clang 19 and by gcc 12, on an
    Intel Xeon with AVX-512, on AMD EPYCs of Zen 3 with AVX2 and of Zen 4 and 5 with AVX-512, least of
    interleaved passes; None where it was not measured in its present form (columns had blocks of 64 bytes
    before). Arms and TIAGo have a fixed root, the others a free one.
    """

    robot: str
    function: str
    form: str
    operations: int
    xeon: tuple[int, int] | None = None
    zen3: tuple[int, int] | None = None
    zen4: tuple[int, int] | None = None
    zen5: tuple[int, int] | None = None


_LINE, _COLUMNS, _PATHS = STRAIGHT_LINE, COLUMNS, KERNEL_ALONG_PATHS
_INVERSE, _INVERSE_DYNAMICS, _FORWARD_DYNAMICS = "minverse", "rnea_derivatives", "aba_derivatives"

MEASUREMENTS = (
    Measurement("kuka_iiwa", _INVERSE, _LINE, 542, zen4=(75, 78), zen5=(59, 64)),
    Measurement("kuka_iiwa", _INVERSE, _COLUMNS, 540, zen4=(71, 90), zen5=(56, 67)),
    Measurement("kuka_iiwa", _FORWARD_DYNAMICS, _LINE, 3869, zen4=(443, 422), zen5=(398, 309)),
    Measurement("kuka_iiwa", _FORWARD_DYNAMICS, _COLUMNS, 3007, zen4=(400, 385), zen5=(254, 282)),
    Measurement("panda", _INVERSE, _LINE, 959, zen4=(118, 124), zen5=(92, 103)),
    Measurement("panda", _INVERSE, _COLUMNS, 1031, zen4=(123, 154), zen5=(96, 110)),
    Measurement("panda", _INVERSE, _PATHS, 3108, zen4=(507, 570), zen5=(346, 388)),
    Measurement("panda", _FORWARD_DYNAMICS, _LINE, 6935, zen4=(817, 798), zen5=(772, 897)),
    Measurement("panda", _FORWARD_DYNAMICS, _COLUMNS, 5435, zen4=(794, 743), zen5=(682, 869)),
    Measurement("panda", _FORWARD_DYNAMICS, _PATHS, 10152, zen4=(1675, 1837), zen5=(1083, 1187)),
    Measurement(
        "hyq", _INVERSE, _LINE, 1532, xeon=(227, 312), zen3=(375, 411), zen4=(234, 252), zen5=(172, 175)
    ),
    Measurement("hyq", _INVERSE, _COLUMNS, 1966, zen4=(321, 359), zen5=(207, 243)),
    Measurement(
        "hyq", _INVERSE, _PATHS, 1716, xeon=(356, 707), zen3=(513, 657), zen4=(392, 448), zen5=(234, 276)
    ),
    Measurement(
        "hyq",
        _INVERSE_DYNAMICS,
        _LINE,
        1759,
        xeon=(259, 367),
        zen3=(536, 517),
        zen4=(291, 318),
        zen5=(194, 215),
    ),
    Measurement(
        "hyq",
        _INVERSE_DYNAMICS,
        _PATHS,
        3960,
        xeon=(641, 684),
        zen3=(765, 1044),
        zen4=(592, 729),
        zen5=(362, 426),
    ),
    Measurement(
        "hyq",
        _FORWARD_DYNAMICS,
        _LINE,
        5488,
        xeon=(732, 808),
        zen3=(1460, 1341),
        zen4=(1027, 994),
        zen5=(870, 833),
    ),
    Measurement("hyq", _FORWARD_DYNAMICS, _COLUMNS, 6242, zen4=(1241, 1129), zen5=(947, 706)),
    Measurement(
        "hyq",
        _FORWARD_DYNAMICS,
        _PATHS,
        6396,
        xeon=(1299, 1374),
        zen3=(1917, 2148),
        zen4=(1376, 1607),
        zen5=(891, 948),
    ),
    Measurement(
        "solo12", _INVERSE, _LINE, 1469, xeon=(217, 275), zen3=(356, 394), zen4=(227, 240), zen5=(170, 169)
    ),
    Measurement("solo12", _INVERSE, _COLUMNS, 1913, zen4=(297, 346), zen5=(204, 227)),
    Measurement(
        "solo12", _INVERSE, _PATHS, 1680, xeon=(354, 711), zen3=(516, 624), zen4=(392, 441), zen5=(227, 281)
    ),
    Measurement(
        "solo12",
        _INVERSE_DYNAMICS,
        _LINE,
        1450,
        xeon=(220, 353),
        zen3=(438, 476),
        zen4=(287, 283),
        zen5=(184, 188),
    ),
    Measurement(
        "solo12",
        _INVERSE_DYNAMICS,
        _PATHS,
        3924,
        xeon=(651, 676),
        zen3=(756, 1069),
        zen4=(593, 725),
        zen5=(354, 414),
    ),
    Measurement(
        "solo12",
        _FORWARD_DYNAMICS,
        _LINE,
        5050,
        xeon=(567, 751),
        zen3=(1291, 1236),
        zen4=(909, 858),
        zen5=(784, 757),
    ),
    Measurement("solo12", _FORWARD_DYNAMICS, _COLUMNS, 5854, zen4=(1175, 1057), zen5=(904, 736)),
    Measurement(
        "solo12",
        _FORWARD_DYNAMICS,
        _PATHS,
        6360,
        xeon=(1303, 1370),
        zen3=(1877, 2170),
        zen4=(1366, 1600),
        zen5=(896, 933),
    ),
    Measurement(
        "anymal_b", _INVERSE, _LINE, 1491, xeon=(231, 316), zen3=(386, 443), zen4=(242, 257), zen5=(172, 175)
    ),
    Measurement("anymal_b", _INVERSE, _COLUMNS, 1935, zen4=(336, 394), zen5=(198, 238)),
    Measurement(
        "anymal_b", _INVERSE, _PATHS, 1698, xeon=(356, 622), zen3=(526, 623), zen4=(390, 450), zen5=(228, 274)
    ),
    Measurement(
        "anymal_b",
        _INVERSE_DYNAMICS,
        _LINE,
        1600,
        xeon=(247, 350),
        zen3=(487, 489),
        zen4=(264, 292),
        zen5=(170, 192),
    ),
    Measurement(
        "anymal_b",
        _INVERSE_DYNAMICS,
        _PATHS,
        3942,
        xeon=(637, 595),
        zen3=(790, 1027),
        zen4=(589, 726),
        zen5=(357, 410),
    ),
    Measurement(
        "anymal_b",
        _FORWARD_DYNAMICS,
        _LINE,
        5277,
        xeon=(705, 801),
        zen3=(1400, 1330),
        zen4=(988, 965),
        zen5=(852, 833),
    ),
    Measurement("anymal_b", _FORWARD_DYNAMICS, _COLUMNS, 6081, zen4=(1224, 1096), zen5=(857, 984)),
    Measurement(
        "anymal_b",
        _FORWARD_DYNAMICS,
        _PATHS,
        6378,
        xeon=(1292, 1184),
        zen3=(1909, 2118),
        zen4=(1375, 1623),
        zen5=(882, 944),
    ),
    Measurement("simple_humanoid", _INVERSE, _LINE, 9524, zen4=(1541, 1524), zen5=(1421, 1265)),
    Measurement("simple_humanoid", _INVERSE, _COLUMNS, 9915, zen4=(2097, 1998), zen5=(1654, 1476)),
    Measurement(
        "simple_humanoid",
        _INVERSE,
        _PATHS,
        6196,
        xeon=(1056, 1006),
        zen3=(1768, 1964),
        zen4=(1089, 1247),
        zen5=(724, 775),
    ),
    Measurement(
        "simple_humanoid",
        _INVERSE_DYNAMICS,
        _LINE,
        9389,
        xeon=(2521, 2189),
        zen3=(2891, 2740),
        zen4=(2114, 2002),
        zen5=(1579, 1747),
    ),
    Measurement(
        "simple_humanoid",
        _INVERSE_DYNAMICS,
        _PATHS,
        12318,
        xeon=(2477, 2245),
        zen3=(2690, 2871),
        zen4=(1894, 2042),
        zen5=(1102, 1208),
    ),
    Measurement("simple_humanoid", _FORWARD_DYNAMICS, _LINE, 42687, zen5=(5587, 5375)),
    Measurement("simple_humanoid", _FORWARD_DYNAMICS, _COLUMNS, 33081, zen4=(6997, 5423), zen5=(5373, 4118)),
    Measurement(
        "simple_humanoid",
        _FORWARD_DYNAMICS,
        _PATHS,
        24690,
        xeon=(5318, 4332),
        zen3=(6761, 7237),
        zen4=(4691, 5242),
        zen5=(2723, 3066),
    ),
    Measurement("g1_29dof", _INVERSE, _LINE, 11517, zen4=(1865, 1805), zen5=(1550, 1595)),
    Measurement("g1_29dof", _INVERSE, _COLUMNS, 10379, zen4=(2045, 1896), zen5=(1624, 1664)),
    Measurement(
        "g1_29dof",
        _INVERSE,
        _PATHS,
        6316,
        xeon=(916, 1021),
        zen3=(1798, 1957),
        zen4=(1099, 1267),
        zen5=(737, 785),
    ),
    Measurement(
        "g1_29dof",
        _INVERSE_DYNAMICS,
        _LINE,
        12421,
        xeon=(2949, 3010),
        zen3=(3328, 3258),
        zen4=(2470, 2394),
        zen5=(1864, 1851),
    ),
    Measurement(
        "g1_29dof",
        _INVERSE_DYNAMICS,
        _PATHS,
        12438,
        xeon=(2465, 2593),
        zen3=(2690, 2900),
        zen4=(1931, 2066),
        zen5=(1112, 1228),
    ),
    Measurement("g1_29dof", _FORWARD_DYNAMICS, _LINE, 46403, zen5=(6280, 5996)),
    Measurement("g1_29dof", _FORWARD_DYNAMICS, _COLUMNS, 36576, zen4=(7662, 5954), zen5=(5889, 4657)),
    Measurement(
        "g1_29dof",
        _FORWARD_DYNAMICS,
        _PATHS,
        24810,
        xeon=(5308, 5351),
        zen3=(6659, 7219),
        zen4=(4648, 5258),
        zen5=(2758, 3078),
    ),
    Measurement("tiago_pro", _INVERSE, _LINE, 3312, zen4=(713, 752), zen5=(607, 612)),
    Measurement("tiago_pro", _INVERSE, _COLUMNS, 3991, zen4=(953, 1019), zen5=(1038, 704)),
    Measurement(
        "tiago_pro",
        _INVERSE,
        _PATHS,
        6640,
        xeon=(1117, 1212),
        zen3=(1919, 2111),
        zen4=(1270, 1353),
        zen5=(801, 930),
    ),
    Measurement(
        "tiago_pro",
        _INVERSE_DYNAMICS,
        _LINE,
        7750,
        xeon=(1953, 2026),
        zen3=(2360, 2407),
        zen4=(1683, 1634),
        zen5=(1402, 1205),
    ),
    Measurement(
        "tiago_pro",
        _INVERSE_DYNAMICS,
        _PATHS,
        14183,
        xeon=(2678, 2751),
        zen3=(3142, 3301),
        zen4=(2303, 2422),
        zen5=(1376, 1489),
    ),
    Measurement("tiago_pro", _FORWARD_DYNAMICS, _LINE, 16039, zen5=(2785, 2715)),
    Measurement("tiago_pro", _FORWARD_DYNAMICS, _COLUMNS, 16971, zen4=(3769, 3525), zen5=(2806, 2750)),
    Measurement(
        "tiago_pro",
        _FORWARD_DYNAMICS,
        _PATHS,
        22464,
        xeon=(5224, 5079),
        zen3=(6345, 6501),
        zen4=(4531, 4819),
        zen5=(2796, 2994),
    ),
    Measurement("atlas_v4", _INVERSE_DYNAMICS, _LINE, 10624, xeon=(2431, 2801), zen3=(3052, 2975)),
    Measurement("atlas_v4", _INVERSE_DYNAMICS, _PATHS, 12116, xeon=(2501, 2634), zen3=(2766, 2891)),
)
"""Forms of a function on a robot, side by side."""


def code_bytes(form: str, operations: float) -> float:
    """About how much code a kernel has whose size grows with its operations; 0 for loops."""
    return RATES[form].bytes * operations


def nanoseconds(form: str, operations: float) -> float:
    """The time of a call by the form of its code and its operations."""
    rate = RATES[form]
    return rate.call + operations * (rate.near if code_bytes(form, operations) <= NEAR_CODE else rate.far)
