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
"""Largest number of degrees of freedom of models whose functions are unrolled. For larger models matrices as
straight-line code take minutes and produce an unusable library.
"""

MAXIMUM_ROWS = 96
"""Largest number of rows of contacts for functions that solve for contact forces. Operations grow at least
with the square of the rows: `constrained_dynamics` of an arm has 24,000 at 30 rows, 121,000 (0.9 MB of code)
at 60.
"""

WORTH_A_KERNEL = 0.03
"""A function gets a second kernel, without its optional input, if this kernel saves more than this fraction
of the operations.
"""

WORTH_A_FORM = 0.05
"""As `WORTH_A_KERNEL`, for batches, whose kernels take longest to compile."""

STRAIGHT_SECOND_ORDER = 3
"""Largest number of degrees of freedom for which second derivatives are always straight-line code.

Measured on chains of 2, 3, 4 and 6 joints, clang 19, a Zen 4 core: straight-line code takes 0.23, 0.58, 1.09
and 2.4 us, the form `paths` 0.42, 0.67, 0.86 and 1.6 us. From 4 joints on `paths` takes at most half of the
build time.
"""

TRIED_SECOND_ORDER = 6
"""Largest number of degrees of freedom for which straight-line code is tried. It is chosen if it is faster
according to the table of `rbdc.planning.calibration`.

Measured with clang 19 on a Zen 4 core, unless stated: the time of straight-line code divided by the time of
the loops (ratio of operations).
Tensors of inverse dynamics: UR5 0.86, with gcc 12 0.79 (0.78), on a Xeon of 2023 1.32 and 1.16 (0.75); chains
of 4, 5 and 6 joints with skew axes 1.17, 1.26 and 1.45 (1.53, 1.55, 1.72); iiwa 1.28 (1.40).
Tensors of forward dynamics: UR5 0.76 (0.88, but 17,500 operations); the chains 1.03, 0.93 and 1.15 (1.34,
1.12, 1.47).
Hessians of weighted sums: panda's arm on a Xeon with AVX-512 2.95 and 1.53, with gcc 2.48 and 1.37 (2.3 and
3.3); UR5 on the Xeon of 2023 0.8, 0.7 (1.02).
"""

SECOND_ORDER_IN_LANES = 8
"""Largest number of degrees of freedom for which second derivatives of several samples are straight-line code
in lanes, if it has no more than `WORTH_A_BATCH` operations; other functions loop over samples. Measured with
512 samples, clang 19, a Zen 4 core: time of a sample in the loop, divided by its time in lanes (operations):
UR5 tensors of inverse dynamics 2.7 (5,700), of forward dynamics 2.7 (18,200), Hessians of weighted torques
2.8 (6,500); iiwa 2.1 (14,700), not compiled (42,000), 1.6 (16,200); UR5 in single precision 4.7. Compiling
takes 10 to 30 s.
"""

WORTH_TWO_STARTS = 10_000
"""The form `paths` starts from a second straight-line program, without external forces, if the program with
external forces has no more operations than this. For a humanoid with a free root (35 degrees of freedom) the
second program is a third of the code of both tensors (582 KB with it, 382 KB without), and saves less than a
hundredth of their time. The forward dynamics that the tensors call then has a second program too (Talos,
whose tensors share both: 437 KB with two programs, 388 KB with one). On smaller robots the second program
saves 0.3 to 3.5 % of the operations of tensors (UR5, iiwa, panda, quadrupeds) and 2 to 7 % of the operations
of Hessians of weighted sums (UR5, iiwa, HyQ), and is 20 to 39 % of their C.
"""

STRAIGHT_TENSORS = 16
"""Largest number of degrees of freedom for tensors of models with coupled joints or dry friction, which the
form `paths` does not support. Straight-line code of larger models would have megabytes.
"""

ALWAYS_IN_COLUMNS = 24
"""Number of degrees of freedom and rows of contacts above which straight-line solves are not compared with
solves in columns. Columns took less time on most tested robots, and straight-line solves take the longest to
trace. A batch is then a loop, because single calls fill the lanes. M^-1 with limbs in lanes is still
compared: on TIAGo it takes 0.71 of the time (Zen 5).
"""

WORTH_A_BATCH = 40_000
"""Largest number of operations of kernels of several samples: no gain was measured for larger ones.

Measured with clang 19 on a Zen 4 core, batches of 64 to 2048: time of a sample in the loop, divided by its
time in the kernel (operations): derivatives of inverse dynamics of Unitree G1 1.5 to 2.1 (22,500), of a human
of 43 degrees of freedom 1.6 to 2.9 (23,200), of TIAGo, whose limbs run in lanes in a single call, 1.35
(23,400); of the simple humanoid's centroidal dynamics 0.9 to 1.7 (23,900); Hessians of weighted accelerations
of the simple humanoid 1.6 to 2.1 (26,800), of Unitree G1 1.9 to 2.1 (38,500). Split into parts, these kernels
compile in 3 to 7 s, with gcc 12 too.
"""

ONE_REGISTER_BEYOND: Mapping[int, float] = {16: inf, 32: inf, 64: inf}
"""Number of operations of a sample, by register size (bytes), beyond which a kernel computes one register of
samples side by side instead of a block. The thresholds are infinite because only one maker's processor was
measured. Its measurements suggest 900 for registers of 32 bytes and 0 for 16.

Measured on a Zen 4 core with 64 samples in blocks: the time of a sample with eight doubles side by side,
divided by its time with four, in code for AVX2 by clang 19 and gcc 12 (additions and multiplications). iiwa:
rnea (411) 1.03 and 1.0, minverse (527) 0.96 and 0.95, aba (790) 0.93 and 0.91, coriolis (902) 1.0 and 1.07,
rnea_vjp (1,070) 1.01 and 1.09, aba_jvp (1,896) 1.46 and 1.47, rnea_derivatives (2,075) 1.51 and 1.47,
aba_derivatives (3,850) 1.17 and 1.41. HyQ: gravity_torque, com_jacobian and crba 0.94 to 1.04, nle (1,289)
1.44 and 1.29, rnea 1.02 and 1.65, minverse 1.24 and 1.32, aba 1.43 and 1.42, rnea_derivatives 1.07 and 1.09,
aba_derivatives 1.18 and 1.18. Simple humanoid: rnea (1,983) 1.33 and 1.38, crba 1.19 and 1.19, aba 1.16 and
1.24. Kernels of eight have 2.3 times the code, which limits them beyond 28 KB: more code does not fit into
the first-level instruction cache.

Eight doubles relative to two, in code for SSE2, iiwa: rnea 1.29 and 1.22, aba 1.54 and 1.46, rnea_derivatives
1.47 and 1.31, aba_derivatives 1.28 and 1.25. With registers of 64 bytes, four doubles take 1.08 to 1.19 of
the time of eight, and sixteen 0.98 to 1.38.
"""

WORK_OF_METHODS = {"articulated_bodies": 1.05}
"""The work of an operation in some methods, relative to an operation in the others, in single calls.
Articulated bodies wait for one another, up the tree and down again. Samples side by side hide this latency:
with the factor in batches too, aba_jvp and aba_vjp of HyQ took 1.16 to 1.21 of the time.

Measured on a Xeon with gcc 12 and clang 19: the time with L^T D L, divided by the time with articulated
bodies (ratio of the work): aba of panda 0.92 and 0.82 (1.02), of iiwa 0.85 and 0.80 (0.96), of HyQ 1.05 and
0.93 (1.13), of ANYmal 0.98 and 0.86 (1.12), of Unitree G1 1.15 and 1.13 (1.42); aba_vjp of TIAGo 0.80 and
0.84 (1.01), of HyQ 1.11 and 0.98 (1.05), of ANYmal 1.08 and 1.03 (1.05), of R2D2 1.14 and 1.02 (1.02), of
Unitree G1 1.74 and 1.46 (1.19); aba_jvp of TIAGo 0.77 and 0.79 (0.99), of HyQ 0.95 and 0.91 (1.04), of ANYmal
0.96 and 0.92 (1.04).
"""

MOSTLY_COPIED = 2.0
"""Number of operations per input and output number of a sample, below which functions without sines of joint
angles spend their time moving numbers. Samples side by side are transposed twice. Examples are `integrate`
and `difference` of most robots.

Measured with clang 19 and with gcc 12, batches of 64 and 512, a Zen 3 core (AVX2): time of a sample one by
one, divided by its time side by side. iiwa, UR5 and panda (0.3 operations) 0.55 to 0.80 and 0.11 to 0.48, a
cart and pole 0.74 to 0.86 and 0.33 to 0.69, a humanoid with a free root (1.4) 0.74 to 0.78 and 0.18 to 0.34;
HyQ and Solo12 with a free root (2.3 to 2.5) 1.00 to 1.13 and 0.30 to 0.51, joints with three degrees of
freedom (3.7 and 4.2) 1.25 to 2.0 and 0.6 to 0.66. On a Zen 4 core with AVX-512 `integrate` took 0.3 to 0.4 on
arms, 0.7 to 1.0 on quadrupeds. A cart and pole's M (0.3 operations, but a cosine) takes 1.25 to 2.1 and 1.0
to 1.1.
"""
