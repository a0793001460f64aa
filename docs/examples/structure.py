"""The structure of HyQ's matrices: entries that are zero in every configuration, and legs of the others."""

import matplotlib.pyplot as plt
import numpy as np

import rbdc

functions = "crba,frame_jacobian,rnea_derivatives"
m = rbdc.build("hyq", root_joint="free-flyer", functions=functions, targets="c", out="modules")
rng = np.random.default_rng(0)
q, (v, a) = m.random_configuration(rng), rng.standard_normal((2, m.nv))
matrices = {
    "M": m.crba(q),
    "J of rf_foot": m.frame_jacobian(q, "rf_foot"),
    "dtau/dq": m.rnea_derivatives(q, v, a)[0],
}
leg = np.concatenate(
    [np.zeros(6, int), np.repeat(np.arange(1, 5), 3)]
)  # of each degree of freedom; 0: the trunk
colours = np.array(
    [[0.55, 0.55, 0.55], [0.12, 0.47, 0.71], [1.0, 0.5, 0.05], [0.17, 0.63, 0.17], [0.84, 0.15, 0.16]]
)
figure, axes = plt.subplots(1, 3, figsize=(8, 3.2), layout="constrained")
for axis, (name, matrix) in zip(axes, matrices.items(), strict=True):
    rows = leg if len(matrix) == m.nv else np.zeros(6, int)
    of = np.maximum(rows[:, None], leg[None, :])
    image = np.where((matrix != 0)[..., None], colours[of], 1.0)
    axis.imshow(image, interpolation="nearest")
    axis.set_title(f"{name}: {np.count_nonzero(matrix)} of {matrix.size}", fontsize="medium")
    axis.set(xticks=[], yticks=[])
assert np.count_nonzero(matrices["M"]) < 0.7 * m.nv**2
figure.savefig("structure.svg")
