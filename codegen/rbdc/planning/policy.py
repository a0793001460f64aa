"""Thresholds of planning, each with its measurements."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

WORTH_ROLLING = 16_000
"""The style `auto` writes a function as loops over the bodies (rolled) if its straight-line program has more
operations than this.

With warm caches straight-line code is always faster, by 1.5 to 4 times, but it grows by 8 bytes an operation.
Time of the first call after the caches were emptied (us), on iiwa, HyQ and a humanoid (7 to 35 degrees of
freedom), gcc 12 and clang 19, a core with 32 KiB of instruction cache and a next cache of 1 MiB. In the
middle rows straight-line code has 120 to 180 KB, rolled code 20 KB.

    operations   straight-line   rolled
     7,000             4.7         5.7
    16,000            12.1        10.2
    17,500            25.5        12.1
    76,000            66          31
"""

MAXIMUM_DOF = 128
"""Largest number of degrees of freedom of models whose functions are unrolled. For larger models,
straight-line code of matrices takes minutes to build, and the library is unusable.
"""

MAXIMUM_ROWS = 96
"""Largest number of rows of contacts for functions that solve for contact forces. Operations grow at least
with the square of the rows: `constrained_dynamics` of an arm has 24,000 operations at 30 rows, and 121,000
(0.9 MB of code) at 60 rows.
"""

WORTH_A_KERNEL = 0.03
"""A function gets a second kernel, without its optional inputs, if the second kernel saves more than this
fraction of the operations.
"""

WORTH_A_FORM = 0.05
"""As `WORTH_A_KERNEL`, for the kernels of batches, which take longest to compile."""

STRAIGHT_SECOND_ORDER = 3
"""Largest number of degrees of freedom for which second derivatives are always straight-line code.

The other form, `paths`, loops over the degrees of freedom on each path of the tree. From 4 joints on, the
build with `paths` takes at most half of the time. Time of a call (us) on chains, clang 19, a Zen 4 core:

    joints   straight-line   paths
    2             0.23        0.42
    3             0.58        0.67
    4             1.09        0.86
    6             2.4         1.6
"""

TRIED_SECOND_ORDER = 6
"""Largest number of degrees of freedom for which straight-line code of second derivatives is tried. It is
chosen if it is faster than the form `paths` according to the table of `rbdc.planning.calibration`.

Measured: time and operations of straight-line code, each divided by those of `paths`. Tensors are all second
derivatives, a Hessian those of one weighted sum. UR5's tensors of forward dynamics have 17,500 operations.
The chains have skew axes.

    function                          robot           processor       clang 19   gcc 12   operations
    inverse dynamics, tensors         UR5             Zen 4           0.86       0.79     0.78
                                      UR5             Xeon of 2023    1.32       1.16     0.75
                                      iiwa            Zen 4           1.28                1.40
                                      4-joint chain   Zen 4           1.17                1.53
                                      5-joint chain   Zen 4           1.26                1.55
                                      6-joint chain   Zen 4           1.45                1.72
    forward dynamics, tensors         UR5             Zen 4           0.76                0.88
                                      4-joint chain   Zen 4           1.03                1.34
                                      5-joint chain   Zen 4           0.93                1.12
                                      6-joint chain   Zen 4           1.15                1.47
    weighted torques, Hessian         panda's arm     Xeon, AVX-512   2.95       2.48     2.3
                                      UR5             Xeon of 2023    0.8        0.7      1.02
    weighted accelerations, Hessian   panda's arm     Xeon, AVX-512   1.53       1.37     3.3
"""

SECOND_ORDER_IN_LANES = 8
"""Largest number of degrees of freedom for which second derivatives of several samples are straight-line code
with a sample in each lane, if it has no more than `WORTH_A_BATCH` operations. For other models second
derivatives loop over samples.

Measured with 512 samples, clang 19, a Zen 4 core: time of a sample in the loop, divided by its time in lanes;
in parentheses the operations. The ratio of UR5 reaches 4.7 in single precision. Compiling takes 10 to 30 s.

    function                       UR5            iiwa
    inverse dynamics, tensors      2.7 (5,700)    2.1 (14,700)
    forward dynamics, tensors      2.7 (18,200)   not compiled (42,000)
    Hessian of weighted torques    2.8 (6,500)    1.6 (16,200)
"""

WORTH_TWO_STARTS = 10_000
"""The loops of the form `paths` start after straight-line code. The form has a second version of this code,
without external forces, if the version with external forces has no more operations than this.

For a humanoid with a free root (35 degrees of freedom) the functions of both tensors have 582 KB of code with
the second version and 382 KB without it; it saves less than a hundredth of their time. On smaller robots the
second version is 20 to 39 % of the C, and saves this part of the operations:

    tensors (UR5, iiwa, panda, quadrupeds)       0.3 to 3.5 %
    Hessians of weighted sums (UR5, iiwa, HyQ)   2 to 7 %
"""

STRAIGHT_TENSORS = 16
"""Largest number of degrees of freedom for second derivatives of models with coupled joints or dry friction.
The form `paths` does not support these models; straight-line code of larger ones would have megabytes.
"""

ALWAYS_IN_COLUMNS = 24
"""Number of degrees of freedom plus rows of contacts above which functions that solve with M are always in
the form `columns`: loops that solve for several columns side by side.

Straight-line solves are then not even traced (tracing takes longest), because columns took less time on most
tested robots. A batch is then a loop, because single calls fill the lanes. The exception is straight-line
M^-1 with limbs in lanes, which is still compared: on TIAGo it takes 0.71 of the time of columns (Zen 5).
"""

WORTH_A_BATCH = 40_000
"""Largest number of operations of kernels of several samples: no gain was measured for larger ones.

Measured with clang 19 on a Zen 4 core, batches of 64 to 2048: time of a sample in the loop, divided by its
time in the kernel. TIAGo's limbs run in lanes in a single call. Split into parts, these kernels compile in 3
to 7 s, with gcc 12 too.

    function                              robot             operations   ratio
    rnea_derivatives                      Unitree G1        22,500       1.5 to 2.1
    rnea_derivatives                      human, 43 DoF     23,200       1.6 to 2.9
    rnea_derivatives                      TIAGo             23,400       1.35
    centroidal dynamics                   simple humanoid   23,900       0.9 to 1.7
    Hessian of weighted accelerations     simple humanoid   26,800       1.6 to 2.1
    Hessian of weighted accelerations     Unitree G1        38,500       1.9 to 2.1
"""

ONE_REGISTER_BEYOND: Mapping[int, float] = {16: inf, 32: inf, 64: inf}
"""Number of operations of a sample, by register size (bytes), beyond which a kernel computes one register of
samples side by side instead of a block of eight doubles. The thresholds are infinite because only one maker's
processor was measured. Its measurements suggest 900 for registers of 32 bytes and 0 for 16.

Measured on a Zen 4 core with 64 samples in blocks: the time of a sample in blocks of eight doubles, divided
by its time with one register. Registers of 32 bytes hold four doubles (code for AVX2):

    robot             function            operations   clang 19   gcc 12
    iiwa              rnea                   411         1.03      1.0
                      minverse               527         0.96      0.95
                      aba                    790         0.93      0.91
                      coriolis               902         1.0       1.07
                      rnea_vjp             1,070         1.01      1.09
                      aba_jvp              1,896         1.46      1.47
                      rnea_derivatives     2,075         1.51      1.47
                      aba_derivatives      3,850         1.17      1.41
    HyQ               nle                  1,289         1.44      1.29
    simple humanoid   rnea                 1,983         1.33      1.38

The ratio is 0.94 to 1.04 for HyQ's `gravity_torque`, `com_jacobian` and `crba`, 1.02 to 1.65 for its larger
functions, and 1.16 to 1.38 for those of the humanoid. Kernels of eight doubles have 2.3 times the code; more
than 28 KB do not fit into the first-level instruction cache.

Registers of 16 bytes hold two doubles (code for SSE2): four functions of iiwa take 1.22 to 1.54. Registers of
64 bytes hold eight: kernels of four take 1.08 to 1.19 of the time, and kernels of sixteen 0.98 to 1.38.
"""

WORK_OF_METHODS = {"articulated_bodies": 1.05}
"""Work of an operation in a method, relative to an operation in the other methods, in single calls.
In the articulated-body recursions each body waits for the one before it, up the tree and down again. Samples
side by side hide this latency: when the factor applied to batches too, aba_jvp and aba_vjp of HyQ took 1.16
to 1.21 of the time.

Measured on a Xeon: time and work of the method L^T D L, each divided by those of articulated bodies.

    function   robot        gcc 12   clang 19   work
    aba        panda         0.92      0.82     1.02
               iiwa          0.85      0.80     0.96
               HyQ           1.05      0.93     1.13
               ANYmal        0.98      0.86     1.12
               Unitree G1    1.15      1.13     1.42
    aba_vjp    TIAGo         0.80      0.84     1.01
               HyQ           1.11      0.98     1.05
               ANYmal        1.08      1.03     1.05
               R2D2          1.14      1.02     1.02
               Unitree G1    1.74      1.46     1.19
    aba_jvp    TIAGo         0.77      0.79     0.99
               HyQ           0.95      0.91     1.04
               ANYmal        0.96      0.92     1.04
"""

MOSTLY_COPIED = 2.0
"""Number of operations of a sample per number that the sample reads or writes. Functions below this ratio
and without sines of joint angles spend their time moving numbers. Samples side by side are moved twice more:
they are transposed on input and on output. Examples are `integrate` and `difference` of most robots.

Measured with batches of 64 and 512 on a Zen 3 core (AVX2): time of a sample one by one, divided by its time
side by side.

    robot                                   ops/number   clang 19       gcc 12
    iiwa, UR5, panda                        0.3          0.55 to 0.80   0.11 to 0.48
    cart and pole                                        0.74 to 0.86   0.33 to 0.69
    humanoid with a free root               1.4          0.74 to 0.78   0.18 to 0.34
    HyQ, Solo12 with a free root            2.3 to 2.5   1.00 to 1.13   0.30 to 0.51
    joints with three degrees of freedom    3.7, 4.2     1.25 to 2.0    0.6 to 0.66
    M of a cart and pole (with a cosine)    0.3          1.25 to 2.1    1.0 to 1.1

On a Zen 4 core with AVX-512 the ratio of `integrate` was 0.3 to 0.4 on arms, 0.7 to 1.0 on quadrupeds.
"""
