"""Kernels along ancestor paths: model-specific C of a few tens of KB with constant trip counts, for robots whose straight-line code is
larger than the caches of instructions.

All is computed in one instantaneous frame: that of a free root's body, otherwise the world's axes about the first joint. A kernel is two
kinds of loops:

- over *rows* of bodies (`layout.Schedule`): four limbs side by side, one body each, a chain of bodies in one lane from row to row; root to
  leaves (`forward.py`), then leaves to root (`backward.py`), written once over abstract lanes (`lanes.py`);
- over *windows* of columns (`layout.Window`): consecutive degrees of freedom side by side in a register, and for each the rows of the
  matrices that are not zero there. Degrees of freedom are numbered depth first, so that a subtree is consecutive. What the first loops give
  is turned into arrays over the degrees of freedom in between (`Arrays`).

To add a kernel: a module beside `rnea_derivatives.py` that makes its blocks of statements by `Trace`, a template `paths_<kernel>.c.jinja`
that extends `paths.c.jinja`, an entry in `paths.FORMS`, and the entry's name as `paths` in the policy of the function's record. `forward`
and `backward` may be called by kernels of any order of derivatives: they take the list of what is to be kept.
"""
