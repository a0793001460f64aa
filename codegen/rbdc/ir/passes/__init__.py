"""Passes: program -> program with the outputs' values unchanged. Each module says what it removes.

A rule looks at one operation whose arguments are already simplified; `rbdc.ir.passes.simplify.optimise` runs
all rules in one sweep, then removes what nothing uses.
"""
