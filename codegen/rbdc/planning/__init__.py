"""Planning turns a model and names of functions into programs: tracing, candidates, the choice of a
candidate, limb lanes, fusion.
"""
