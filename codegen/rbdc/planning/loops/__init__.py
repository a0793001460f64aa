"""The recursions as loops over tables of the model (`--style rolled`). They take a tenth of the code of
unrolled functions, and are the only form for robots that are too large to unroll.

`machine.py` runs the recursions of `rbdc.algorithms` with the constants of a body as symbols (`bodies.py`,
`tree.py`), once for each kind of joint. Quantities pass from loop to loop in arrays (`arrays.py`). The result
is a `rbdc.ir.loops.LoopNest`, which is counted and printed like every program. Everything but inverse
dynamics works in one frame: the axes of the world about the origin of the root body. So nothing is
transformed from frame to frame, and the position of the robot does not matter.
"""
