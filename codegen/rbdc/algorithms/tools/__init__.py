"""Tools that both the generated algorithms and the references use: joint coordinates, linear algebra,
kinematics, and the machines that run recursions over numbers.

A comparison of the two would not reveal an error here. Each tool is therefore tested against NumPy alone, in
`tests/algorithms/test_tools.py`, and machines also against each other, in `test_machines.py`. Nothing else is
shared.
"""
