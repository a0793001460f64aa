"""The recursions as loops over tables of the model: `--style rolled`, a tenth of the code of the unrolled
functions, and the only form of functions of robots that are too large to unroll.

`machine.py` runs the recursions of `rbdc.algorithms` with the constants of a body as symbols (`bodies.py`,
`tree.py`), once for each kind of joint; quantities pass from loop to loop in arrays (`arrays.py`). What
results is a `rbdc.ir.loops.LoopNest`, which is counted and printed like every program. All but inverse
dynamics works in one frame: the axes of the world about the origin of the root body, where nothing has to be
carried from frame to frame, and where the robot stands makes no difference.
"""
