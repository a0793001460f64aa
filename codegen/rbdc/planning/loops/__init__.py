"""The recursions as loops over tables of the model (`--style rolled`).

The loops take a tenth of the code of unrolled functions, and are the only form for robots that are too large
to unroll.

`machine.py` runs the recursions of `rbdc.algorithms` with the constants of a body as symbols (`bodies.py`,
`tree.py`), once for each kind of joint. Arrays pass quantities from loop to loop (`arrays.py`). The result is
a `rbdc.ir.loops.LoopNest`, which is counted and printed like every program. All functions except inverse
dynamics work in one frame, which has the axes of the world and the origin of the root body. Their quantities
are not transformed from frame to frame, and do not depend on the robot's position in the world.
"""
