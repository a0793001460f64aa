"""The form `windows`: kernels in model-specific C of a few tens of KB with constant trip counts, for robots
whose straight-line code exceeds the instruction caches.

Everything is computed in one instantaneous frame: the frame of a free root's body, otherwise the world's axes
about the first joint. A kernel has two kinds of loops:

- Loops over *rows* of bodies (`rbdc.reduction.schedules.Schedule`), root to leaves, then leaves to root. A
  row has one body of each of four limbs, one per SIMD lane; a chain of bodies stays in its lane from row to
  row. The loop bodies are programs in lanes. `LimbRows` (`machine.py`) traces them from recursions of
  `rbdc.algorithms`, so constant zeros vanish and costs are counted. `rows.py` has the loops around them. In
  M^-1 a joint with several degrees of freedom takes that many rows of one lane (`Node`).
- Loops over *windows* of columns (`rbdc.reduction.schedules.Window`): a window is a register of consecutive
  degrees of freedom. For each window the loops visit only rows of the matrices that are not zero there.
  Degrees of freedom are numbered depth first, so a subtree is consecutive. Before these loops, results of the
  first loops are transposed into arrays over the degrees of freedom, four rows at a time.

Kernels that solve with M take its factors from articulated bodies: with D_i = s_i . U_i and K_i = U_i / D_i,
all in the same frame, M = L^T D L with L_ij = s_j . K_i for j above i. M^-1 is computed from the root to the
leaves, the rows and columns of one supernode (a small dense block of L) at a time (`widths.py`,
`inverse.py`). Derivatives are M^-1 times a window of columns, row by row (`tiles.py`, `products.py`); a free
root is treated separately (`root.py`).

A kernel is a nest of loops (`nests.py`), one for each width of registers: its operations are counted,
`rbdc.emit.c.loops` prints it, and the tests run it without C.

To add a kernel, write its recursion in `bodies.py`. Its rows write s, 2 psidot, psiddot, F_q, F_v, F_a and t
of every degree of freedom; the tiles compute derivatives of any order from these. Write its statements in
`nests.py`, enter it in `KERNELS` (`kernels.py`), name it as `windows` in the policy of the function's record,
and add its times to those of `planning.calibration`.
"""
