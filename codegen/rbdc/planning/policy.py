"""Thresholds of planning, each with its measurements."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

WORTH_ROLLING = 16_000
"""`auto` rolls a function whose straight-line program has more operations than this.

Measured on iiwa, HyQ and a humanoid (7 to 35 degrees of freedom), gcc 12 and clang 19, a core with 32 KiB of
instruction cache and 1 MiB behind it. With warm caches straight-line code is always faster, by 1.5 to 4
times, but its code grows by 8 bytes an operation. The first call after the caches were emptied took, with
7000 operations, 4.7 us (5.7 us rolled); with 16000 and 17500 (120 to 180 KB) 12.1 and 25.5 us (10.2 and 12.1
us rolled, in 20 KB); with 76000 66 us (31 us rolled).
"""

MAXIMUM_DOF = 128
"""Largest number of degrees of freedom that is unrolled. Beyond it straight-line matrices take minutes and
produce an unusable library.
"""

MAXIMUM_ROWS = 96
"""Largest number of rows of contacts for functions that solve for their forces. Operations grow at least with
the square of the rows: `constrained_dynamics` of an arm has 24,000 at 30 rows, 121,000 (0.9 MB of code) at
60.
"""

WORTH_A_KERNEL = 0.03
"""A function gets a second kernel, without its optional input, if that saves more than this part of the
operations.
"""

WORTH_A_FORM = 0.05
"""As `WORTH_A_KERNEL`, for batches, whose kernels take longest to compile."""

STRAIGHT_SECOND_ORDER = 3
"""Largest number of degrees of freedom for which second derivatives are always straight-line code.

Measured on chains of 2, 3, 4 and 6 joints, clang 19, a Zen 4 core: straight-line code takes 0.23, 0.58, 1.09
and 2.4 us, the form `paths` 0.42, 0.67, 0.86 and 1.6 us, with half of the build time and less from 4 on.
"""

TRIED_SECOND_ORDER = 6
"""Largest number of degrees of freedom for which straight-line code is tried, and chosen if it is faster by
the table.

Measured, clang 19, a Zen 4 core, its time over that of the loops (ratio of operations). Tensors of inverse
dynamics: UR5 0.86, by gcc 12 0.79 (0.78), on a Xeon of 2023 1.32 and 1.16 (0.75), chains of 4, 5 and 6 joints
with skew axes 1.17, 1.26 and 1.45 (1.53, 1.55, 1.72), iiwa 1.28 (1.40); of forward dynamics: UR5 0.76 (0.88,
but 17,500), the chains 1.03, 0.93 and 1.15 (1.34, 1.12, 1.47). Hessians of weighted sums, on a Xeon with
AVX-512: panda's arm 2.95 and 1.53, by gcc 2.48 and 1.37 (2.3 and 3.3); UR5 on that of 2023 0.8, 0.7 (1.02).
"""

SECOND_ORDER_IN_LANES = 8
"""Largest number of degrees of freedom for which second derivatives of several
samples are straight-line code in lanes, if it has no more than `WORTH_A_BATCH` operations; others loop over
samples.

Measured, 512 samples, clang 19, a Zen 4 core, time of a sample in the loop over that in lanes (operations):
UR5 tensors of inverse dynamics 2.7 (5,700), of forward dynamics 2.7 (18,200), Hessians of weighted torques
2.8 (6,500); iiwa 2.1 (14,700), not compiled (42,000), 1.6 (16,200); UR5 in single precision 4.7. Compiling
takes 10 to 30 s.
"""

WORTH_TWO_STARTS = 10_000
"""The form `paths` starts from a second straight-line program, without external forces, where the one with
them has no more operations: of a humanoid with a free root (35 degrees of freedom) the second is a third of
the code of both tensors (582 KB with it, 382 KB without), and saves less than a hundredth of their time. The
forward dynamics that they call has one then too (Talos, which shares both: 437 KB with two, 388 with one).

On smaller robots it saves 0.3 to 3.5 % of the operations of tensors (UR5, iiwa, panda, quadrupeds) and 2 to
7 % of those of Hessians of weighted sums (UR5, iiwa, HyQ), and is 20 to 39 % of their C.
"""

STRAIGHT_TENSORS = 16
"""Largest number of degrees of freedom of models with coupled joints or world-frame forces, whose tensors the
form `paths` does not support: larger straight-line code would be megabytes.
"""

ALWAYS_IN_COLUMNS = 24
"""Number of degrees of freedom and rows of contacts above which solves are not written
out for comparison: columns side by side took less time on most robots tried, and tracing the other form takes
longest. A batch is then a loop, since single calls fill the lanes. M^-1 with limbs in lanes is still
compared: TIAGo's takes 0.71 of the time (Zen 5).
"""

WORTH_A_BATCH = 40_000
"""Largest number of operations of kernels of several samples: larger ones were not measured to pay.

Measured, clang 19, a Zen 4 core, batches of 64 to 2048, time of a sample in the loop over that in the kernel
(operations): derivatives of inverse dynamics of Unitree G1 1.5 to 2.1 (22,500), of a human of 43 degrees of
freedom 1.6 to 2.9 (23,200), of TIAGo, whose limbs run in lanes in a single call, 1.35 (23,400); of the simple
humanoid's centroidal dynamics 0.9 to 1.7 (23,900); Hessians of weighted accelerations of the simple humanoid
1.6 to 2.1 (26,800), of Unitree G1 1.9 to 2.1 (38,500). In parts these compile in 3 to 7 s, by gcc 12 too.
"""

ONE_REGISTER_BEYOND: Mapping[int, float] = {16: inf, 32: inf, 64: inf}
"""Operations of a sample beyond which kernels for several samples have those that a register holds side by
side, in place of those of a block, by the bytes of the processor's registers. Nowhere yet: only one maker's
processor was measured, by which it would be 900 for registers of 32 bytes, and 0 for 16.

Measured on a Zen 4 core, 64 samples in blocks, the time of a sample of eight doubles side by side over that
of four, in code for AVX2 by clang 19 and gcc 12 (additions and multiplications). iiwa: rnea (411) 1.03 and
1.0, minverse (527) 0.96 and 0.95, aba (790) 0.93 and 0.91, coriolis (902) 1.0 and 1.07, rnea_vjp (1,070) 1.01
and 1.09, aba_jvp (1,896) 1.46 and 1.47, rnea_derivatives (2,075) 1.51 and 1.47, aba_derivatives (3,850) 1.17
and 1.41. HyQ: gravity_torque, com_jacobian and crba 0.94 to 1.04, nle (1,289) 1.44 and 1.29, rnea 1.02 and
1.65, minverse 1.24 and 1.32, aba 1.43 and 1.42, rnea_derivatives 1.07 and 1.09, aba_derivatives 1.18 and
1.18. Simple humanoid: rnea (1,983) 1.33 and 1.38, crba 1.19 and 1.19, aba 1.16 and 1.24. Kernels of eight
have 2.3 times the code, which limits them beyond 28 KB, where it leaves the first cache of instructions.

Over that of two, in code for SSE2, iiwa: rnea 1.29 and 1.22, aba 1.54 and 1.46, rnea_derivatives 1.47 and
1.31, aba_derivatives 1.28 and 1.25. With registers of 64 bytes four take 1.08 to 1.19 of the time of eight,
and sixteen 0.98 to 1.38.
"""

WORK_OF_METHODS = {"articulated_bodies": 1.05}
"""The work of operations of methods by that of others in single calls: articulated bodies wait, up the tree
and down again, for one after the other. Samples side by side hide that: chosen so too, batches of aba_jvp and
aba_vjp of HyQ took 1.16 to 1.21 of the time.

Measured, a Xeon, gcc 12 and clang 19, the time by L^T D L in that by articulated bodies (its work in theirs):
aba of panda 0.92 and 0.82 (1.02), of iiwa 0.85 and 0.80 (0.96), of HyQ 1.05 and 0.93 (1.13), of ANYmal 0.98
and 0.86 (1.12), of Unitree G1 1.15 and 1.13 (1.42); aba_vjp of TIAGo 0.80 and 0.84 (1.01), of HyQ 1.11 and
0.98 (1.05), of ANYmal 1.08 and 1.03 (1.05), of R2D2 1.14 and 1.02 (1.02), of Unitree G1 1.74 and 1.46 (1.19);
aba_jvp of TIAGo 0.77 and 0.79 (0.99), of HyQ 0.95 and 0.91 (1.04), of ANYmal 0.96 and 0.92 (1.04).
"""

MOSTLY_COPIED = 2.0
"""Functions without sines of joint angles, and with fewer operations than this per number of a sample that
comes in or goes out, spend their time moving numbers. Side by side these are transposed twice. Examples are
`integrate` and `difference` of most robots.

Measured, time of a sample one by one over that side by side, by clang 19 and by gcc 12, batches of 64 and
512, a Zen 3 core (AVX2): iiwa, UR5 and panda (0.3 operations) 0.55 to 0.80 and 0.11 to 0.48, a cart and pole
0.74 to 0.86 and 0.33 to 0.69, a humanoid with a free root (1.4) 0.74 to 0.78 and 0.18 to 0.34; HyQ and Solo12
with one (2.3 to 2.5) 1.00 to 1.13 and 0.30 to 0.51, joints of three freedoms (3.7 and 4.2) 1.25 to 2.0 and
0.6 to 0.66. On a Zen 4 core with AVX-512 `integrate` took 0.3 to 0.4 on arms, 0.7 to 1.0 on quadrupeds. A
cart and pole's M (0.3 operations, but a cosine) takes 1.25 to 2.1 and 1.0 to 1.1.
"""
