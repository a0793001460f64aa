"""Measured times of forms of a function on a robot, side by side: what the table of calibration rests on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Measurement:
    """Nanoseconds of a call, without external forces, in one form.

    operations: of the form, as `Cost.operations`, but those of a loop over blocks of columns, `looped`;
    `moved` numbers lie among these. times: by processor, by clang 19 and by gcc 12, least of interleaved
    passes; without those on which it was not measured in its present form (columns had blocks of 64 bytes
    before, large solves no loop).
    """

    robot: str
    function: str
    form: str
    operations: int
    looped: int
    moved: int
    times: dict[str, tuple[int, int]]


PROCESSORS = ("xeon", "zen3", "zen4", "zen5")
"""An Intel Xeon with AVX-512, AMD EPYCs of Zen 3 with AVX2 and of Zen 4 and 5 with AVX-512."""

_TABLE = """
kuka_iiwa        minverse          straight line       542          -          100 111    75 78      59 64
kuka_iiwa        minverse          columns             468          -          91 117     -          -
kuka_iiwa        aba_derivatives   straight line       3869         -          -          443 422    398 309
kuka_iiwa        aba_derivatives   columns             3007         -          -          400 385    254 282
panda            minverse          straight line       959          -          160 182    118 124    92 103
panda            minverse          columns             923          -          151 185    -          -
panda            minverse          kernel along paths  3036         -          718 776    -          -
panda            aba_derivatives   straight line       6935         -          -          817 798    772 897
panda            aba_derivatives   columns             5435         -          -          794 743    682 869
panda            aba_derivatives   kernel along paths  10152        -          -          1675 1837  1083 1187
hyq              minverse          straight line       1532         227 312    375 411    234 252    172 175
hyq              minverse          columns             1966         -          -          321 359    207 243
hyq              minverse          kernel along paths  1716         356 707    513 657    392 448    234 276
hyq              rnea_derivatives  straight line       1759         259 367    536 517    291 318    194 215
hyq              rnea_derivatives  kernel along paths  3960         641 684    765 1044   592 729    362 426
hyq              aba_derivatives   straight line       5488         732 808    1460 1341  1027 994   870 833
hyq              aba_derivatives   columns             2483         -          1570 1641  -          -
hyq              aba_derivatives   kernel along paths  6396         1299 1374  1917 2148  1376 1607  891 948
solo12           minverse          straight line       1469         217 275    356 394    227 240    170 169
solo12           minverse          columns             1913         -          -          297 346    204 227
solo12           minverse          kernel along paths  1680         354 711    516 624    392 441    227 281
solo12           rnea_derivatives  straight line       1450         220 353    438 476    287 283    184 188
solo12           rnea_derivatives  kernel along paths  3924         651 676    756 1069   593 725    354 414
solo12           aba_derivatives   straight line       5050         567 751    1291 1236  909 858    784 757
solo12           aba_derivatives   columns             2095         -          1496 1514  -          -
solo12           aba_derivatives   kernel along paths  6360         1303 1370  1877 2170  1366 1600  896 933
anymal_b         minverse          straight line       1491         231 316    386 443    242 257    172 175
anymal_b         minverse          columns             1935         -          -          336 394    198 238
anymal_b         minverse          kernel along paths  1698         356 622    526 623    390 450    228 274
anymal_b         rnea_derivatives  straight line       1600         247 350    487 489    264 292    170 192
anymal_b         rnea_derivatives  kernel along paths  3942         637 595    790 1027   589 726    357 410
anymal_b         aba_derivatives   straight line       5277         705 801    1400 1330  988 965    852 833
anymal_b         aba_derivatives   columns             2322         -          1521 1631  -          -
anymal_b         aba_derivatives   kernel along paths  6378         1292 1184  1909 2118  1375 1623  882 944
simple_humanoid  minverse          straight line       9524         -          -          1541 1524  1421 1265
simple_humanoid  minverse          columns             9915         -          -          2097 1998  1654 1476
simple_humanoid  minverse          kernel along paths  6196         1056 1006  1768 1964  1089 1247  724 775
simple_humanoid  rnea_derivatives  straight line       9389         2521 2189  2891 2740  2114 2002  1579 1747
simple_humanoid  rnea_derivatives  kernel along paths  12318        2477 2245  2690 2871  1894 2042  1102 1208
simple_humanoid  aba_derivatives   columns             12592        -          7273 7378  -          -
simple_humanoid  aba_derivatives   kernel along paths  24690        5318 4332  6761 7237  4691 5242  2723 3066
g1_29dof         minverse          straight line       11517        -          -          1865 1805  1550 1595
g1_29dof         minverse          columns             10379        -          -          2045 1896  1624 1664
g1_29dof         minverse          kernel along paths  6316         916 1021   1798 1957  1099 1267  737 785
g1_29dof         rnea_derivatives  straight line       12421        2949 3010  3328 3258  2470 2394  1864 1851
g1_29dof         rnea_derivatives  kernel along paths  12438        2465 2593  2690 2900  1931 2066  1112 1228
g1_29dof         aba_derivatives   columns             15951        -          7675 7588  -          -
g1_29dof         aba_derivatives   kernel along paths  24810        5308 5351  6659 7219  4648 5258  2758 3078
tiago_pro        minverse          straight line       3312         -          -          713 752    607 612
tiago_pro        minverse          columns             3991         -          -          953 1019   1038 704
tiago_pro        minverse          kernel along paths  6640         1117 1212  1919 2111  1270 1353  801 930
tiago_pro        rnea_derivatives  straight line       7750         1953 2026  2360 2407  1683 1634  1402 1205
tiago_pro        rnea_derivatives  kernel along paths  14183        2678 2751  3142 3301  2303 2422  1376 1489
tiago_pro        aba_derivatives   columns             9464         -          5050 4925  -          -
tiago_pro        aba_derivatives   kernel along paths  22464        5224 5079  6345 6501  4531 4819  2796 2994
atlas_v4         rnea_derivatives  straight line       10624        2431 2801  3052 2975  -          -
atlas_v4         rnea_derivatives  kernel along paths  12116        2501 2634  2766 2891  -          -
"""
"""Columns: robot, function, form, operations, then times by processor. Arms and TIAGo have a fixed root, the
others a free one.
"""

_OF_COLUMNS = """
kuka_iiwa        minverse          0      56
kuka_iiwa        aba_derivatives   0      168
panda            minverse          0      96
panda            aba_derivatives   0      192
hyq              minverse          0      360
hyq              aba_derivatives   6300   1008
solo12           minverse          0      360
solo12           aba_derivatives   6300   1008
anymal_b         minverse          0      360
anymal_b         aba_derivatives   6300   1008
simple_humanoid  minverse          0      1260
simple_humanoid  aba_derivatives   32028  3780
g1_29dof         minverse          0      1260
g1_29dof         aba_derivatives   30456  3780
tiago_pro        minverse          0      1188
tiago_pro        aba_derivatives   16392  3300
"""
"""By robot and function operations of the loop over blocks of columns, and the numbers among these."""


def measurements() -> list[Measurement]:
    """The rows of the table."""
    return [_measurement(*re.split(r"\s{2,}", row)) for row in _TABLE.strip().splitlines()]


@cache
def _of_columns() -> dict[tuple[str, str], tuple[int, int]]:
    rows = map(str.split, _OF_COLUMNS.strip().splitlines())
    return {(robot, function): (int(looped), int(moved)) for robot, function, looped, moved in rows}


def _measurement(robot: str, function: str, form: str, operations: str, *columns: str) -> Measurement:
    times = {}
    for processor, column in zip(PROCESSORS, columns, strict=True):
        if column != "-":
            clang, gcc = map(int, column.split())
            times[processor] = (clang, gcc)
    looped, moved = _of_columns()[robot, function] if form == "columns" else (0, 0)
    return Measurement(robot, function, form, int(operations), looped, moved, times)
