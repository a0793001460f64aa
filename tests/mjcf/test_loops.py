"""Equality constraints of bodies and sites as closed loops: MuJoCo's residuals and Jacobians."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from rbdc.algorithms.reference.contacts import contact_error, contact_jacobian
from rbdc.options import BuildOptions
from rbdc.pipeline import read

mj: Any = mujoco

BODIES = """
<mujoco model="fourbar">
  <option><flag contact="disable"/></option>
  <worldbody>
    <body name="crank">
      <joint name="j1" axis="0 1 0"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0.1 0 0.3"/>
      <site name="tip" pos="0.1 0 0.3" quat="0.9 0 0.2 0"/>
      <body name="rod" pos="0.1 0 0.3">
        <joint name="j2" axis="0 1 0"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0.4 0 0.05"/>
        <site name="end" pos="0.4 0 0.05" quat="0.5 0 0.1 0"/>
      </body>
    </body>
    <body name="rocker" pos="0.45 0 0">
      <joint name="j3" axis="0 1 0"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0.05 0 0.35"/>
      <site name="top" pos="0.05 0 0.35" quat="0.7 0 0.4 0"/>
    </body>
  </worldbody>
  <equality>{equality}</equality>
</mujoco>
"""
KINDS = {
    "connect": '<connect name="pin" body1="rod" body2="rocker" anchor="0.4 0 0.05"/>',
    "to the world": '<connect name="pin" body1="rod" anchor="0.4 0 0.05"/>',
    "sites": '<connect name="pin" site1="end" site2="top"/>',
    "weld": '<weld name="pin" body1="rod" body2="rocker" anchor=".1 0 .03" relpose=".4 0 .2 .9 0 .3 0"/>',
    "welded sites": '<weld name="pin" site1="end" site2="top"/>',
}


@pytest.mark.parametrize("kind", KINDS)
def test_residuals_are_mujocos(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "fourbar.xml"
    file.write_text(BODIES.replace("{equality}", KINDS[kind]))
    model = read(file, BuildOptions())
    (contact,) = model.contacts
    # With all rows, before those that depend on others were left out.
    whole = replace(model, contacts=(_whole(contact),))
    compiled = mj.MjModel.from_xml_path(str(file))
    data = mj.MjData(compiled)
    rng = np.random.default_rng(0)
    for _ in range(3):
        q = rng.uniform(-1.0, 1.0, 3)
        data.qpos[:] = q
        mj.mj_forward(compiled, data)
        error = np.array(contact_error(whole, list(q)), float)
        jacobian = np.array(contact_jacobian(whole, list(q)), float)
        rows = np.zeros((data.nefc, 3))
        rows[:] = data.efc_J.reshape(data.nefc, 3)
        # Points alone are as MuJoCo has them, along the world's axes; orientation is by quaternions there.
        norm = np.linalg.norm(error[:3]) if contact.kind == "point" else None
        if norm is not None:
            assert np.linalg.norm(data.efc_pos[:3]) == pytest.approx(norm, abs=1e-12)
            np.testing.assert_allclose(jacobian.T @ error, rows.T @ data.efc_pos, atol=1e-12)
        assert np.linalg.matrix_rank(jacobian, 1e-9) == np.linalg.matrix_rank(rows, 1e-9)


def test_a_weld_is_closed_where_mujoco_has_it_closed(tmp_path: Path) -> None:
    """A weld without relpose holds the bodies as they are at qpos0."""
    file = tmp_path / "fourbar.xml"
    file.write_text(
        BODIES.replace("{equality}", '<weld name="pin" body1="rod" body2="rocker" anchor="0.1 0 0.2"/>')
    )
    model = read(file, BuildOptions())
    error = np.array(contact_error(model, [0.0, 0.0, 0.0]), float)
    np.testing.assert_allclose(error, np.zeros_like(error), atol=1e-12)


def _whole(contact: Any) -> Any:
    return replace(contact, held=tuple(range(contact.kind.components)))
