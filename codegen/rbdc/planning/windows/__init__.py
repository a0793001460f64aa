"""The form `windows` of C code: loops with constant trip counts, compiled to a few tens of KB, for robots
whose straight-line code exceeds the instruction caches.

Everything is expressed in one instantaneous frame: the frame of a free root's body or, without a free root,
the world's axes with the origin at the first joint. A kernel (the code of one function) has two kinds of
loops:

- Loops over *rows* of bodies (`rbdc.reduction.schedules.Schedule`), from the root to the leaves, then back. A
  row has one body of each of four limbs (branches), one per SIMD lane; a chain of bodies stays in its lane
  from row to row. `LimbRows` (`machine.py`) records the code inside these loops from recursions of
  `rbdc.algorithms`; `rows.py` adds the loops. Below the root, only the kernel of M^-1 supports joints with
  several degrees of freedom: each degree of freedom takes one row (`Node`).
- Loops over *windows* (`rbdc.reduction.schedules.Window`): a window is a register of consecutive matrix
  columns (degrees of freedom). For each window the loops visit only the matrix rows with nonzero entries in
  these columns. Degrees of freedom are numbered depth first, so those of a subtree are consecutive. Before
  these loops, results of the loops over rows of bodies are transposed into arrays over the degrees of
  freedom, four rows at a time.

Kernels that use M^-1 factorise M = L^T D L by the recursion of articulated bodies. For degree of freedom i,
s_i is its motion at unit velocity, IA_i the articulated inertia, U_i = IA_i s_i, D_i = s_i . U_i + armature
and K_i = U_i / D_i; then L_ij = s_j . K_i for each ancestor j. M^-1 is computed from the root to the leaves,
the rows and columns of one supernode (a small dense block of L) at a time (`widths.py`, `inverse.py`).
Derivatives of inverse dynamics are computed window by window (`tiles.py`) and, for forward dynamics,
multiplied by -M^-1 (`products.py`). A free root is treated separately (`root.py`).

A kernel has one nest of loops for each width of registers (`nests.py`); `rbdc.emit.c.loops` prints it as C.

To add a kernel, write its recursion in `bodies.py`. If the kernel computes derivatives, its loops over rows
must store for every degree of freedom s, 2 psidot, psiddot (`rbdc.algorithms.derivatives.rnea_derivatives`),
the forces F_q, F_v and F_a (`c_q`, `c_v` and `r` of `ClimbingForces`), and t, the angular part of `r_b`.
`tiles.py` computes the derivatives by q, v and a from these quantities. Write the kernel's statements in
`nests.py`, enter it in `KERNELS` (`kernels.py`), name it as `windows` in the policy of the function's record,
and add its times to those of `planning.calibration`.
"""
