"""A drone on a free root with Euler angles climbs and holds its place."""

import matplotlib.pyplot as plt
import numpy as np

import rbdc

drone = """<robot name="drone"><link name="body"><inertial><mass value="1.2"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
m = rbdc.build(drone, root_joint="free-flyer-rpy", functions="aba,frame_jacobian", out="modules")
assert m.joint_names == ("root_x", "root_y", "root_z", "root_roll", "root_pitch", "root_yaw")

q, v, step, path = np.array([0, 0, 0, 0.3, -0.2, 0.5]), m.v_zero, 0.005, []
for _ in range(2000):
    x, y, z, *angles = q
    thrust = 1.2 * 9.81 + 4 * (1.0 - z) - 4 * v[2]  # to a height of 1 m
    tilt = [0.1 * y + 0.2 * v[1], -0.1 * x - 0.2 * v[0], 0]  # tilts that bring x and y back
    wrench = [0, 0, thrust, *(np.subtract(tilt, angles) - 0.2 * v[3:])]  # on the body, in its axes
    v = v + step * m.aba(q, v, m.frame_jacobian(q, "body").T @ wrench)
    q = q + step * v
    path.append(q)
assert np.allclose(q, [0, 0, 1, 0, 0, 0], atol=1e-2)

figure, (above, below) = plt.subplots(2, sharex=True, layout="constrained")
times, path = step * np.arange(1, 2001), np.array(path)
above.plot(times, path[:, :3], label=["x", "y", "z"])
above.set(ylabel="position (m)", title="the drone climbs to 1 m and comes back above its start")
below.plot(times, path[:, 3:], label=["roll", "pitch", "yaw"])
below.set(xlabel="time (s)", ylabel="angle (rad)")
above.legend(ncols=3)
below.legend(ncols=3)
figure.savefig("drone.svg")
