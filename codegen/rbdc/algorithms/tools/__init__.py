"""Tools that both the generated algorithms and the references use: joint coordinates, linear algebra,
kinematics, and the machines that run recursions over numbers.

Comparing a generated algorithm with its reference would not reveal an error in a tool. Each tool is therefore
tested against NumPy alone, in `tests/algorithms/test_tools.py`, and the machines are also compared with each
other, in `test_machines.py`.
"""
