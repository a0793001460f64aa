"""From a model and names of functions to programs: tracing, candidates, the choice among them, limb lanes,
fusion.
"""
