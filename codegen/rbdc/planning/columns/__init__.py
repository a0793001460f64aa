"""The form `columns`: functions whose results are solutions of one linear system, with one column of the
solutions in each vector lane.
"""
