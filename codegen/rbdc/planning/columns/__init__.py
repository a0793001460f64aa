"""Functions whose results are solutions of one linear system, with columns side by side in the lanes of
vectors.
"""
