"""From a model and the names of functions to their programs: tracing, candidates, the choice among them, limb
lanes, fusion.
"""
