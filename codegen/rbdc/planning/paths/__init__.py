"""The form `paths` of second derivatives: loops over the degrees of freedom on each path of the tree.

Symbols are those of `rbdc.algorithms.derivatives.second_order`. A direction is the motion s of a degree of
freedom; a force of the world is an external force that is fixed in the world.
"""
