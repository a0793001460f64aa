"""Measured times of forms of a function on a robot, side by side: what the table of calibration rests on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rbdc.planning.calibration import RATES, Rate


@dataclass(frozen=True)
class Measurement:
    """Nanoseconds of a call, without external forces, in one form.

    operations: of the form, as `Cost.operations`, but those of loops that solve in columns or multiply
    matrices, `looped`; `moved` numbers lie among columns. times: by processor, by clang 19 and by gcc 12,
    least of interleaved passes; without those on which it was not measured in its present form.
    """

    robot: str
    function: str
    form: str
    operations: int
    looped: int
    moved: int
    times: dict[str, tuple[int, int]]


PROCESSORS = ("xeon", "zen3", "zen4", "zen5", "emerald")
"""An Intel Xeon with AVX-512, AMD EPYCs of Zen 3 with AVX2 and of Zen 4 and 5 with AVX-512, a Xeon of 2023
(Emerald Rapids).
"""

_TABLE = """
kuka_iiwa         minverse  straight  542               67 75      100 111    74 76      59 64      92 94
kuka_iiwa         minverse  columns   468 0 56          55 78      91 117     73 84      -          68 98
kuka_iiwa         aba'      straight  3869              299 315    -          443 408    398 309    395 404
kuka_iiwa         aba'      columns   2894 0 168        271 282    -          361 341    254 282    333 365
panda             minverse  straight  959               106 113    160 182    118 124    92 103     -
panda             minverse  columns   923 0 108         99 144     151 185    117 142    -          -
panda             minverse  windows   3036              446 545    718 776    553 579    -          -
panda             aba'      straight  6935              505 536    -          849 807    772 897    -
panda             aba'      columns   5346 0 252        464 471    -          756 737    682 869    -
panda             aba'      windows   9496 648          1429 1530  -          1630 1670  -          -
hyq               minverse  straight  1384              161 207    -          206 211    -          214 269
hyq               minverse  columns   1502 0 360        182 227    -          270 311    -          250 296
hyq               minverse  windows   1701              444 399    513 657    408 425    234 276    396 480
hyq               rnea'     straight  1681              238 295    536 517    271 305    194 215    296 383
hyq               rnea'     windows   4055              580 609    765 1044   584 731    362 426    705 782
hyq               aba'      straight  5121              549 598    -          920 812    -          1389 1259
hyq               aba'      columns   2239 5280 1008    -          -          -          -          891 947
hyq               aba'      windows   4975 2160         1073 1464  -          1410 1540  -          1346 1554
solo12            minverse  straight  1343              158 204    -          193 205    -          201 263
solo12            minverse  columns   1468 0 360        173 227    -          220 275    -          240 321
solo12            minverse  windows   1656              442 413    516 624    404 422    227 281    390 499
solo12            rnea'     straight  1450              210 281    438 476    259 285    184 188    283 359
solo12            rnea'     windows   3980              585 608    756 1069   580 721    354 414    693 772
solo12            aba'      straight  4780              520 532    1115 1021  850 749    -          1287 1173
solo12            aba'      columns   1933 5280 1008    -          1338 1368  -          -          809 1030
solo12            aba'      windows   4826 2160         1067 1512  -          1390 1540  -          1287 1556
anymal_b          minverse  straight  1361              160 205    -          193 211    -          205 261
anymal_b          minverse  columns   1486 0 360        175 230    -          226 311    -          228 288
anymal_b          minverse  windows   1683              601 409    526 623    408 424    228 274    393 487
anymal_b          rnea'     straight  1600              215 289    487 489    292 294    170 192    282 373
anymal_b          rnea'     windows   4037              588 610    790 1027   580 727    357 410    700 783
anymal_b          aba'      straight  5004              528 557    -          869 806    -          1328 1218
anymal_b          aba'      columns   2157 5280 1008    -          -          -          -          944 876
anymal_b          aba'      windows   4957 2160         1068 1324  -          1380 1560  -          1339 1551
simple_humanoid   minverse  straight  10647             1985 1783  -          1750 1580  -          -
simple_humanoid   minverse  columns   7332 0 1260       1066 1026  -          1510 1460  -          -
simple_humanoid   minverse  windows   6104              939 1118   1768 1964  1170 1210  724 775    -
simple_humanoid   rnea'     straight  9389              2218 2082  2891 2740  2100 2050  1579 1747  -
simple_humanoid   rnea'     windows   12358             2174 2164  2690 2871  1900 2060  1102 1208  -
simple_humanoid   aba'      columns   12133 32028 3920  5378 5348  7273 7378  5590 5650  -          -
simple_humanoid   aba'      windows   16570 13020       3968 4326  -          5130 5550  -          -
g1_29dof          minverse  straight  11045             1915 1790  -          1680 1650  1550 1595  -
g1_29dof          minverse  columns   7709 0 1260       1090 1175  -          1510 1510  -          -
g1_29dof          minverse  windows   6225              943 1052   1798 1957  1190 1200  737 785    -
g1_29dof          rnea'     straight  12063             2520 2427  3328 3258  2420 2320  1864 1851  -
g1_29dof          rnea'     windows   12486             2149 2181  2690 2900  1950 2090  1112 1228  -
g1_29dof          aba'      columns   15145 30456 3920  5818 5669  7675 7588  5860 5960  -          -
g1_29dof          aba'      windows   16708 13020       4019 4315  -          5180 5420  -          -
tiago_pro         minverse  straight  3221              424 488    -          696 708    607 612    1044 1072
tiago_pro         minverse  columns   4045 0 1188       637 798    -          930 942    1038 704   958 1161
tiago_pro         minverse  windows   6541              1111 1544  1919 2111  1310 1320  801 930    1444 1348
tiago_pro         rnea'     straight  7723              1697 1687  2360 2407  1670 1620  1402 1205  2375 2405
tiago_pro         rnea'     windows   14128             2409 2489  3142 3301  2280 2420  1376 1489  3410 3466
tiago_pro         aba'      columns   9323 16392 3432   4270 4391  5050 4925  3810 3800  -          5096 5203
tiago_pro         aba'      windows   17660 12012       4765 4899  -          5510 5730  -          5771 5891
atlas_v4          rnea'     straight  10624             2431 2801  3052 2975  -          -          -
atlas_v4          rnea'     windows   12116             2501 2634  2766 2891  -          -          -
panda:free-flyer  aba'      columns   7063 5292 720     980 1040   -          1580 1530  -          -
panda:free-flyer  aba'      windows   9990 1800         1830 1950  -          2140 2210  -          -
g1_29dof:fixed    aba'      columns   14985 0 2552      -          -          2830 2780  -          -
g1_29dof:fixed    aba'      windows   14522 8004        -          -          3710 3750  -          -
human43           minverse  straight  12914             -          -          2170 1970  -          -
human43           minverse  columns   9491 0 1892       -          -          1970 1930  -          -
human43           minverse  windows   10790             -          -          2080 2050  -          -
human43           aba'      columns   16196 45468 5848  -          -          8060 7860  -          -
human43           aba'      windows   27462 26832       -          -          9320 9530  -          -
"""
"""Columns: robot, function (': its derivatives), first word of the form, operations (also of loops, numbers
among columns), times by processor. A robot's root stands behind its name; of arms, TIAGo and human43 it is
fixed, else free, where none does. On Zen 3 the straight line of Solo12's derivatives of forward dynamics is
from the times of columns and their ratios to it, 1.20 and 1.34.
"""

ENTRIES: Mapping[str, str] = {}
"""Times of further processors, by clang 19 and gcc 12: the lines `measurements` of what
`rbdc benchmark ROBOT... --forms --json` prints. A robot's root always stands behind its name there.
"""

FIXED = ("human43", "kuka_iiwa", "panda", "tiago_pro")
"""Robots that have a fixed root where the table names none."""

FROZEN: Mapping[str, Rate] = {
    "straight line": Rate(near=0.15, far=0.25, bytes=14.0),
    "columns": Rate(near=0.15, far=0.21, bytes=14.0, call=5.0, looped=0.07, moved=0.1),
    "windows": Rate(near=0.2, far=0.2, looped=0.1),
    "paths": Rate(near=0.185, far=0.185),
    "climb": Rate(near=0.2, far=0.2),
    "rolled": Rate(near=0.12, far=0.12),
}
"""The rates of the table as they were last judged. Others take their place where the worst ratio over all
processors falls, and stand here then: what is best on one machine alone is what `--tune` is for. That of
paths was 0.19 of an operation while sums along the tree and added results, 3 to 13 %, were not counted.
"""


def measurements(table: str = _TABLE, entries: Mapping[str, str] = ENTRIES) -> list[Measurement]:
    """Return the rows of the table, with the times of further processors."""
    rows = {(m.robot, m.function, m.form): m for m in (_measurement(*row) for row in _cells(table))}
    for processor, text in entries.items():
        for robot, *words, times in _cells(text):
            clang, gcc = map(int, times.split())
            new = _measurement(_usual(robot), *words, *["-"] * len(PROCESSORS))
            stored = rows.setdefault((new.robot, new.function, new.form), new)
            stored.times[processor] = (clang, gcc)
    return [*rows.values()]


def processors() -> tuple[str, ...]:
    """Return all that times are there of."""
    return (*PROCESSORS, *ENTRIES)


def _cells(text: str) -> list[list[str]]:
    return [re.split(r"\s{2,}", row) for row in text.splitlines() if row]


def _usual(robot: str) -> str:
    """Return the name of a robot without its root where that goes without saying."""
    name, _, root = robot.partition(":")
    return name if root == ("fixed" if name in FIXED else "free-flyer") else robot


def _measurement(robot: str, function: str, form: str, operations: str, *columns: str) -> Measurement:
    times = {}
    for processor, column in zip(PROCESSORS, columns, strict=True):
        if column != "-":
            clang, gcc = map(int, column.split())
            times[processor] = (clang, gcc)
    written, looped, moved = (*map(int, operations.split()), 0, 0)[:3]
    whole = next(name for name in RATES if name.startswith(form))
    return Measurement(robot, function.replace("'", "_derivatives"), whole, written, looped, moved, times)
