"""Measured times of forms of a function on a robot, side by side: what the table of calibration rests on."""

from __future__ import annotations

import re
from dataclasses import dataclass


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


PROCESSORS = ("xeon", "zen3", "zen4", "zen5")
"""An Intel Xeon with AVX-512, AMD EPYCs of Zen 3 with AVX2 and of Zen 4 and 5 with AVX-512."""

_TABLE = """
kuka_iiwa        minverse          straight line       542          67 75      100 111    75 78      59 64
kuka_iiwa        minverse          columns             468 0 56     55 78      91 117     -          -
kuka_iiwa        aba_derivatives   straight line       3869         299 315    -          443 422    398 309
kuka_iiwa        aba_derivatives   columns             2894 0 168   271 282    -          400 385    254 282
panda            minverse          straight line       959          106 113    160 182    118 124    92 103
panda            minverse          columns             923 0 108    99 144     151 185    -          -
panda            minverse          kernel along paths  3036         446 545    718 776    -          -
panda            aba_derivatives   straight line       6935         505 536    -          817 798    772 897
panda            aba_derivatives   columns             5346 0 252   464 471    -          794 743    682 869
panda            aba_derivatives   kernel along paths  9496 648     1429 1530  -          -          -
hyq              minverse          straight line       1384         161 207    -          -          -
hyq              minverse          columns             1502 0 360   182 227    -          -          -
hyq              minverse          kernel along paths  1701         444 399    513 657    392 448    234 276
hyq              rnea_derivatives  straight line       1681         238 295    536 517    291 318    194 215
hyq              rnea_derivatives  kernel along paths  4055         580 609    765 1044   592 729    362 426
hyq              aba_derivatives   straight line       5121         549 598    -          -          -
hyq              aba_derivatives   columns             2239 6300 1008  753 856    1570 1641  -          -
hyq              aba_derivatives   kernel along paths  4975 2160    1073 1464  -          -          -
solo12           minverse          straight line       1343         158 204    -          -          -
solo12           minverse          columns             1468 0 360   173 227    -          -          -
solo12           minverse          kernel along paths  1656         442 413    516 624    392 441    227 281
solo12           rnea_derivatives  straight line       1450         210 281    438 476    287 283    184 188
solo12           rnea_derivatives  kernel along paths  3980         585 608    756 1069   593 725    354 414
solo12           aba_derivatives   straight line       4780         520 532    -          -          -
solo12           aba_derivatives   columns             1933 6300 1008  741 841    1496 1514  -          -
solo12           aba_derivatives   kernel along paths  4826 2160    1067 1512  -          -          -
anymal_b         minverse          straight line       1361         160 205    -          -          -
anymal_b         minverse          columns             1486 0 360   175 230    -          -          -
anymal_b         minverse          kernel along paths  1683         601 409    526 623    390 450    228 274
anymal_b         rnea_derivatives  straight line       1600         215 289    487 489    264 292    170 192
anymal_b         rnea_derivatives  kernel along paths  4037         588 610    790 1027   589 726    357 410
anymal_b         aba_derivatives   straight line       5004         528 557    -          -          -
anymal_b         aba_derivatives   columns             2157 6300 1008  768 801    1521 1631  -          -
anymal_b         aba_derivatives   kernel along paths  4957 2160    1068 1324  -          -          -
simple_humanoid  minverse          straight line       10647        1985 1783  -          -          -
simple_humanoid  minverse          columns             7332 0 1260  1066 1026  -          -          -
simple_humanoid  minverse          kernel along paths  6104         939 1118   1768 1964  1089 1247  724 775
simple_humanoid  rnea_derivatives  straight line       9389         2218 2082  2891 2740  2114 2002  1579 1747
simple_humanoid  rnea_derivatives  kernel along paths  12358        2174 2164  2690 2871  1894 2042  1102 1208
simple_humanoid  aba_derivatives   columns             12133 32028 3920  5378 5348  7273 7378  -          -
simple_humanoid  aba_derivatives   kernel along paths  16570 13020  3968 4326  -          -          -
g1_29dof         minverse          straight line       11045        1915 1790  -          1865 1805  1550 1595
g1_29dof         minverse          columns             7709 0 1260  1090 1175  -          -          -
g1_29dof         minverse          kernel along paths  6225         943 1052   1798 1957  1099 1267  737 785
g1_29dof         rnea_derivatives  straight line       12063        2520 2427  3328 3258  2470 2394  1864 1851
g1_29dof         rnea_derivatives  kernel along paths  12486        2149 2181  2690 2900  1931 2066  1112 1228
g1_29dof         aba_derivatives   columns             15145 30456 3920  5818 5669  7675 7588  -          -
g1_29dof         aba_derivatives   kernel along paths  16708 13020  4019 4315  -          -          -
tiago_pro        minverse          straight line       3221         424 488    -          713 752    607 612
tiago_pro        minverse          columns             4045 0 1188  637 798    -          953 1019   1038 704
tiago_pro        minverse          kernel along paths  6541         1111 1544  1919 2111  1270 1353  801 930
tiago_pro        rnea_derivatives  straight line       7723         1697 1687  2360 2407  1683 1634  1402 1205
tiago_pro        rnea_derivatives  kernel along paths  14128        2409 2489  3142 3301  2303 2422  1376 1489
tiago_pro        aba_derivatives   columns             9323 16392 3432  4270 4391  5050 4925  -          -
tiago_pro        aba_derivatives   kernel along paths  17660 12012  4765 4899  -          -          -
atlas_v4         rnea_derivatives  straight line       10624        2431 2801  3052 2975  -          -
atlas_v4         rnea_derivatives  kernel along paths  12116        2501 2634  2766 2891  -          -
"""
"""Columns: robot, function, form, operations (also of loops, numbers among columns), times by processor. Arms
and TIAGo have a fixed root, the others a free one.
"""


def measurements() -> list[Measurement]:
    """The rows of the table."""
    return [_measurement(*re.split(r"\s{2,}", row)) for row in _TABLE.strip().splitlines()]


def _measurement(robot: str, function: str, form: str, operations: str, *columns: str) -> Measurement:
    times = {}
    for processor, column in zip(PROCESSORS, columns, strict=True):
        if column != "-":
            clang, gcc = map(int, column.split())
            times[processor] = (clang, gcc)
    written, looped, moved = (*map(int, operations.split()), 0, 0)[:3]
    return Measurement(robot, function, form, written, looped, moved, times)
