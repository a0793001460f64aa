"""Tools that the generated algorithms and the references both need: joint coordinates, linear algebra,
kinematics.

A comparison of the two would not see an error in here, so each tool is tested against NumPy alone, in
`tests/algorithms/test_tools.py`, and nothing else is shared.
"""
