"""Kernels of windows: model-specific C of a few tens of KB with constant trip counts, for robots whose
straight-line code is larger than the caches of instructions.

All is computed in one instantaneous frame: that of a free root's body, otherwise the world's axes about the
first joint. A kernel is two kinds of loops:

- over *rows* of bodies (`rbdc.reduction.schedules.Schedule`): four limbs side by side, one body each, a
  chain of bodies in one lane from row to row; root to leaves, then leaves to root. Their bodies are programs
  in lanes, traced by a machine (`machine.py`) from texts of `rbdc.algorithms`, so that constants that are
  zero throughout leave no trace and costs are counted; `rows.py` has the loops around them. In M^-1 a
  joint with several degrees of freedom is as many rows of one lane (`Node`);
- over *windows* of columns (`Window`, there too): consecutive degrees of freedom side by side in a register,
  and for each the rows of the matrices that are not zero there. Degrees of freedom are numbered depth first,
  so that a subtree is consecutive. What the first loops give is turned into arrays over the degrees of
  freedom in between, as many rows at a time as there are lanes.

Kernels that solve with M take its factors from articulated bodies: with
D_i = s_i . U_i and K_i = U_i / D_i in one frame for all, M = L^T D L with L_ij = s_j . K_i for j above i.
M^-1 grows by the rows and columns of a supernode, a small dense block of L, at a time
(`widths.py`, `inverse.py`), from the root to the leaves. Derivatives are M^-1 times a window of columns, row
by row (`tiles.py`, `products.py`); a free root stands apart (`root.py`).

All of a kernel is a nest of loops (`nests.py`), made once for each width of registers: its operations are
counted, `rbdc.emit.c.loops` prints it, and the tests run it without C.

To add a kernel: its text in `bodies.py`, whose rows write s, 2 psidot, psiddot, F_q, F_v, F_a and t of every
degree of freedom, from which derivatives of any order go over the same tiles; its statements in `nests.py`;
its entry in `KERNELS` (`kernels.py`), its name as `windows` in the policy of the function's record, and its
times beside those of `planning.calibration`.
"""
