"""The form `paths` of second derivatives: loops over the degrees of freedom on the path from the root to each
joint.

Symbols are those of `rbdc.algorithms.derivatives.second_order`. A direction is the motion s of a degree of
freedom, with psidot, psiddot and sigma = psidot + ds/dt; u and w are the linear and angular part of s, u(x)
and w(x) those of another motion x. The operators of a direction s and the inertia I of its subtree are (f, n)
= I s, L, b, A0, A1, A3, B(I, s), u8, u9, u11, and the derivatives fq and fv of the subtree's force by q and
v. A world-fixed force is an external force that is constant in the world.
"""
