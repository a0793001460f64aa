"""The form `paths` of second derivatives: loops over the degrees of freedom on the path from the root to each
joint.

Symbols are those of `rbdc.algorithms.derivatives.second_order`. A direction is the motion s = (u, w) of a
degree of freedom, with psidot, psiddot and sigma = psidot + ds/dt. u(x) and w(x) are the linear and the
angular part of a motion x. Operators of the subtree of s are (f, n) = I s, L, b, A0, A1, A3, B(I, s), u8, u9,
u11, and the derivatives fq and fv of its force by q and v. A world-fixed force is an external force that is
constant in the world.
"""
