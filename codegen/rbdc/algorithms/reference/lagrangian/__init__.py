"""Recursive Lagrangian inverse dynamics with homogeneous matrices, and its sensitivities: Zhakatayev,
Rogovchenko and Paetzold (2023).

Frames are rbdc's own, so that the joint's matrix is A_i = X_i J(q_i) with a constant X_i, and its derivative
B_i = A_i W_i with the joint's constant twist W_i in the frame of body i; the paper's Denavit-Hartenberg
frames are the case B_i = Z A_i with the twist Z of the parent's z. Joints have one degree of freedom.
"""
