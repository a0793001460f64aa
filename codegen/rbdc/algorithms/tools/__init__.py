"""Tools that the generated algorithms and the references both need: joint coordinates, linear algebra,
kinematics, and the machines that run recursions over numbers.

A comparison of the two would not see an error in here, so each tool is tested against NumPy alone, in
`tests/algorithms/test_tools.py`, machines also against each other, in `test_machines.py`; and nothing else is
shared.
"""
