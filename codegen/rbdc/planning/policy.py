"""Thresholds of planning, each with the measurements that it rests on."""

from __future__ import annotations

from collections.abc import Mapping

WORTH_ROLLING = 16_000
"""`auto` rolls a function whose straight-line program has more operations than this.

Measured on iiwa, HyQ and a humanoid (7 to 35 degrees of freedom), gcc 12 and clang 19, a core with 32 KiB of
instruction cache and 1 MiB behind it: with warm caches straight-line code is faster throughout, 1.5 to 4
times, but its code grows by 8 bytes an operation. The first call after the caches were emptied took with 7000
operations 4.7 us (5.7 us rolled), with 16000 and 17500 (120 to 180 KB) 12.1 and 25.5 us (10.2 and 12.1 us
rolled, in 20 KB), with 76000 66 us (31 us rolled).
"""

MAXIMUM_DOF = 128
"""The most degrees of freedom that are unrolled: beyond it straight-line matrices take minutes and end in an
unusable library.
"""

WORTH_A_KERNEL = 0.03
"""A function gets a second kernel, without its optional input, if that saves more than this part of the
operations.
"""

WORTH_A_FORM = 0.05
"""Likewise for batches, whose kernels take longest to compile."""

STRAIGHT_SECOND_ORDER = 3
"""Up to so many degrees of freedom second derivatives are straight-line code.

Measured on chains of 2, 3, 4 and 6 joints, clang 19, a Zen 4 core: straight-line code takes 0.23, 0.58, 1.09
and 2.4 us, loops along paths 0.42, 0.67, 0.86 and 1.6 us, in half of the time to build and less from 4 on.
"""

TRIED_SECOND_ORDER = 6
"""From there up to so many straight-line code is tried, and taken where it has no more operations than the
loops and no more than `WORTH_ROLLING`.

Measured, clang 19, a Zen 4 core, its time in that of the loops (its operations in theirs). Tensors of inverse
dynamics: UR5 0.86, by gcc 12 0.79 (0.78), chains of 4, 5 and 6 joints with skew axes 1.17, 1.26 and 1.45
(1.53, 1.55, 1.72), iiwa 1.28 (1.40); of forward dynamics: UR5 0.76 (0.88, but 17,500), the chains 1.03, 0.93
and 1.15 (1.34, 1.12, 1.47). Hessians of weighted sums: UR5 1.04 (1.9) and 1.49 (4.3).
"""

SECOND_ORDER_IN_LANES = 8
"""Up to so many degrees of freedom second derivatives of several samples are straight-line code side by side,
if it has no more than `WORTH_A_BATCH` operations; others loop over samples.

Measured, 512 samples, clang 19, a Zen 4 core, time of a sample in the loop over that in lanes (operations):
UR5 tensors of inverse dynamics 2.7 (5,700), of forward dynamics 2.7 (18,200), Hessians of weighted torques
2.8 (6,500); iiwa 2.1 (14,700), not compiled (42,000), 1.6 (16,200); UR5 in single precision 4.7. Compiling
takes 10 to 30 s.
"""

WORTH_TWO_STARTS = 10_000
"""Loops along paths start from a second straight-line program, without external forces, where the one with
them has no more operations: of a humanoid with a free root (35 degrees of freedom) the second is a third of
the code of both tensors (582 KB with it, 382 KB without), and saves less than a hundredth of their time. The
forward dynamics that they call has one then too (Talos, which shares both: 437 KB with two, 388 with one).
"""

STRAIGHT_TENSORS = 16
"""Up to so many with coupled joints, or external forces in the world's frame, whose tensors the loops along
paths do not have: straight-line code of more would be megabytes.
"""

ALWAYS_IN_COLUMNS = 24
"""Beyond so many degrees of freedom solves are not written out to compare: columns side by side took less on
every robot tried, and tracing the other form takes longest of all. A batch is a loop then: lanes are full as
it is.
"""

DERIVATIVES_IN_COLUMNS = 12
"""The same for solves with dense right-hand sides without a batch where no limbs are alike: on robots and
random trees of 13 to 21 degrees of freedom the derivatives of forward dynamics take 0.67 to 0.92 of the work
of the other form.
"""

WORTH_A_BATCH = 40_000
"""Kernels of several samples up to so many operations: more was not measured to pay.

Measured, clang 19, a Zen 4 core, batches of 64 to 2048, time of a sample in the loop over that in the kernel
(operations): derivatives of inverse dynamics of Unitree G1 1.5 to 2.1 (22,500), of a human of 43 degrees of
freedom 1.6 to 2.9 (23,200), of TIAGo, whose limbs run in lanes in a single call, 1.35 (23,400); of the simple
humanoid's centroidal dynamics 0.9 to 1.7 (23,900); Hessians of weighted accelerations of the simple humanoid
1.6 to 2.1 (26,800), of Unitree G1 1.9 to 2.1 (38,500). In parts these compile in 3 to 7 s, by gcc 12 too.
"""

WORTH_FOLLOWING = 0.9
"""Functions that follow another's method take its first if that takes less than this part of the work of its
last. The products of derivatives so take articulated bodies if aba by them takes less than this part of its
work by L^T D L: what they solve with M beside aba costs more so, while aba itself goes up the tree once for
both.
"""

WORTH_LANES = 0.8
"""Limbs run in lanes if that takes less than this part of the work."""

WORTH_WINDOWS: Mapping[str, float] = {
    "inverse_dynamics_derivatives": 1.15,
    "forward_dynamics_derivatives": 1.0,
    "inverse_inertia": 1.05,
}
"""A function that has a kernel along ancestor paths takes it if that has no more than this many operations on
registers for each of straight-line code, or of the work of the form in columns.

Measured for the derivatives of inverse dynamics, gcc 12 and clang 19, AVX-512: along paths 0.155 to 0.165 ns
an operation on every robot, in straight-line code 0.155 on a quadruped (HyQ, 30 KB) and 0.18 to 0.2 on
humanoids, whose 130 to 310 KB must be fetched. Times along paths in parts of those of straight-line code:
Atlas 0.86 (clang) and 0.94 (gcc) at a ratio of operations of 1.07, Unitree G1 0.81 and 0.88 at 0.95, the
simple humanoid 0.92 and 1.04 at 1.21, TIAGo 1.45 and 1.5 at 1.68, HyQ 1.9 and 2.2 at 2.

Of forward dynamics, in parts of the form in columns: Atlas 0.74 (clang) and 0.97 (gcc) at 0.90, Unitree G1
0.71 and 0.89 at 0.86, the simple humanoid 0.76 and 0.94 at 0.97, a human of 43 joints 0.89 and 1.10 at 1.19,
HyQ 1.34 and 1.68 at 1.16; from emptied caches the humanoids 0.32 to 0.43. The inverse of M: Atlas 0.61 and
0.71 at 0.73, Talos 0.64 and 0.69 at 0.71, Unitree G1 0.56 and 0.59 at 0.71, the human 0.73 and 0.82 at 1.03,
HyQ 1.49 and 1.64 at 1.10, TIAGo 1.28 at 1.87; from emptied caches the first four 0.34 to 0.47.
"""

BLOCK_OPERATION = 2.0
"""What a block of samples side by side takes for each operation of the program of a sample, in operations of
a single call; with the six figures below it says where samples go one by one.

Measured on 324 functions of iiwa, UR5, panda, HyQ, Solo12, a humanoid and three robots of two to ten joints,
clang 19 and gcc 12, eight doubles in a register of AVX-512, batches of 64 and 2048. Arms run side by side 1.1
to 3.9 times as fast as one by one, but for `integrate` (0.3 to 0.4). Robots whose limbs run in lanes in a
single call do so 1.0 to 2.5 times, but for the derivatives of inverse dynamics (Solo12 0.56 to 1.0, HyQ 0.87
to 1.1), `coriolis` (0.8 to 1.1), rnea_vjp of Solo12 (0.8 and 1.04) and `integrate` (0.7 to 1.0); a cart and
pole 0.6 to 1.9 times. To the time of the faster way the choice adds 1.4 % on average of the fastest of all
passes, where side by side throughout adds 6.5; on all but the cart at most 1.25 times (`coriolis` of HyQ by
clang, 1.0 by gcc).

Blocks in lanes are not transposed: there one by one, which would be, is never faster (coriolis of HyQ, 181 ns
and some 50 for the transposition against 210).
"""

BLOCK_LIMBS = 1.0
"""The same for each operation that it has more than a single call with limbs in lanes."""

BLOCK_ENTRY = 12.0
"""The same for each number of a sample that comes in or goes out."""

BLOCK_START = 300.0
"""The same for each block."""

CALL_ENTRY = 1.4
"""What a single call takes for each result, in operations."""

CALL_ELEMENTARY = 6.0
"""The same for each sine or cosine of the joint angles. Those of `integrate` and `difference`, of other
angles, wait in one chain whatever else there is: calls of two humanoids take the 21 ns of HyQ's, side by side
28 to 34 in place of 17 to 26.
"""

CALL_ELEMENTARIES = 40.0
"""The same for the first of them."""

WORTH_PAST_CACHES = 0.2
"""With so many results for each operation a loop over samples writes them past the caches where a call has
more of them than these hold. Measured on two humanoids, 2048 samples, ns a sample: the derivatives of inverse
dynamics (0.3) 2915 in place of 4747 (clang) and 3167 in place of 4850 (gcc), where 2125 and 2264 are in the
caches; those of forward dynamics (0.13) 7160 in place of 6714 and 7550 in place of 6909: there the caches
write while the processor computes.
"""
