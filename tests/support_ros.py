"""ROS packages in the manner of franka_description (FR3) and of Universal Robots' ur_description: xacro files
that include others by $(find ...) and take limits, inertias and kinematics from YAML. The text is our own.
"""

from __future__ import annotations

from pathlib import Path

_NS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


def write_package(folder: Path, name: str, files: dict[str, str]) -> Path:
    """Write a package, with its package.xml, and return its folder."""
    for path, text in {"package.xml": f"<package><name>{name}</name></package>", **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


FR3_TOP = f"""<?xml version='1.0' encoding='utf-8'?>
<robot {_NS} name="fr3">
  <xacro:arg name="arm_id" default="fr3"/>
  <xacro:arg name="hand" default="false"/>
  <xacro:arg name="xyz" default="0 0 0"/>
  <xacro:include filename="$(find franka_description)/robots/common/arm.xacro"/>
  <xacro:franka_arm arm_id="$(arg arm_id)" xyz="$(arg xyz)"
    joint_limits="${{xacro.load_yaml('$(find franka_description)/robots/fr3/joint_limits.yaml')}}"
    inertials="${{xacro.load_yaml('$(find franka_description)/robots/fr3/inertials.yaml')}}"
    kinematics="${{xacro.load_yaml('$(find franka_description)/robots/fr3/kinematics.yaml')}}"/>
  <xacro:if value="$(arg hand)">
    <xacro:include filename="$(find franka_description)/end_effectors/hand.xacro"/>
    <xacro:hand arm_id="$(arg arm_id)" connected_to="$(arg arm_id)_link2"/>
  </xacro:if>
</robot>
"""
_FR3_COMMON = f"""<robot {_NS}>
  <xacro:macro name="link_with_sc" params="name prefix inertials">
    <link name="${{prefix}}_${{name}}">
      <visual><geometry>
        <mesh filename="package://franka_description/meshes/visual/${{name}}.dae"/>
      </geometry></visual>
      <xacro:franka_inertials name="${{name}}" inertials="${{inertials}}"/>
    </link>
  </xacro:macro>
  <xacro:macro name="franka_inertials" params="name inertials:=^">
    <xacro:unless value="${{name not in inertials}}">
      <xacro:property name="own" value="${{inertials[name]}}" lazy_eval="false"/>
      <inertial>
        <origin rpy="${{own.origin.rpy}}" xyz="${{own.origin.xyz}}"/>
        <mass value="${{own.mass}}"/>
        <xacro:property name="I" value="${{own.inertia}}"/>
        <inertia ixx="${{I.xx}}" ixy="${{I.xy}}" ixz="${{I.xz}}" iyy="${{I.yy}}" iyz="${{I.yz}}"
          izz="${{I.zz}}"/>
      </inertial>
    </xacro:unless>
  </xacro:macro>
  <xacro:macro name="franka_limits" params="name config">
    <xacro:property name="limits" value="${{config[name]['limit']}}" lazy_eval="false"/>
    <limit lower="${{limits.lower}}" upper="${{limits.upper}}" effort="${{limits.effort}}"
      velocity="${{limits.velocity}}"/>
  </xacro:macro>
  <xacro:macro name="franka_kinematics" params="name config">
    <xacro:property name="kinematic" value="${{config[name]['kinematic']}}" lazy_eval="false"/>
    <origin rpy="${{kinematic.roll}} ${{kinematic.pitch}} ${{kinematic.yaw}}"
      xyz="${{kinematic.x}} ${{kinematic.y}} ${{kinematic.z}}"/>
  </xacro:macro>
</robot>
"""
_FR3_ARM = f"""<robot {_NS} name="franka_arm">
  <xacro:include filename="utils.xacro"/>
  <xacro:macro name="franka_arm" params="arm_id xyz joint_limits inertials kinematics parent:='base'">
    <link name="${{parent}}"/>
    <joint name="${{arm_id}}_mount" type="fixed">
      <parent link="${{parent}}"/><child link="${{arm_id}}_link0"/><origin xyz="${{xyz}}"/>
    </joint>
    <xacro:link_with_sc name="link0" prefix="${{arm_id}}" inertials="${{inertials}}"/>
    <xacro:macro name="carried" params="number">
      <xacro:link_with_sc name="link${{number}}" prefix="${{arm_id}}" inertials="${{inertials}}"/>
      <joint name="${{arm_id}}_joint${{number}}" type="revolute">
        <xacro:franka_kinematics name="joint${{number}}" config="${{kinematics}}"/>
        <parent link="${{arm_id}}_link${{number - 1}}"/><child link="${{arm_id}}_link${{number}}"/>
        <axis xyz="0 0 1"/>
        <xacro:franka_limits name="joint${{number}}" config="${{joint_limits}}"/>
        <dynamics D="1" damping="0.003" friction="0.2"/>
      </joint>
    </xacro:macro>
    <xacro:carried number="${{1}}"/>
    <xacro:carried number="${{2}}"/>
  </xacro:macro>
</robot>
"""
_FR3_HAND = f"""<robot {_NS}>
  <xacro:macro name="hand" params="connected_to arm_id">
    <link name="${{arm_id}}_hand"><inertial><mass value="0.5"/></inertial></link>
    <joint name="${{arm_id}}_hand_joint" type="fixed">
      <parent link="${{connected_to}}"/><child link="${{arm_id}}_hand"/>
    </joint>
  </xacro:macro>
</robot>
"""
FRANKA = {
    "robots/fr3/fr3.urdf.xacro": FR3_TOP,
    "robots/common/arm.xacro": _FR3_ARM,
    "robots/common/utils.xacro": _FR3_COMMON,
    "end_effectors/hand.xacro": _FR3_HAND,
    "robots/fr3/joint_limits.yaml": """
joint1: {limit: {lower: -2.5, upper: 2.5, velocity: 2.0, effort: 87.0}}
joint2: {limit: {lower: -1.5, upper: 1.75, velocity: 2.0, effort: 12.0}}
""",
    "robots/fr3/kinematics.yaml": """
joint1: {kinematic: {x: 0, y: 0, z: 0.333, roll: 0, pitch: 0, yaw: 0}}
joint2: {kinematic: {x: 0, y: -0.25, z: 0, roll: 1.5, pitch: 0, yaw: 0}}
""",
    "robots/fr3/inertials.yaml": """
link1: &one
  origin: {xyz: 0.0 0.1 0.2, rpy: 0 0 0}
  mass: 2.5
  inertia: {xx: 0.3, yy: 0.3, zz: 0.1, xy: 0.0, xz: 0.0, yz: 0.01}
link2: *one
""",
}

UR_TOP = f"""<?xml version="1.0"?>
<robot {_NS} name="$(arg name)">
  <xacro:arg name="name" default="ur"/>
  <xacro:arg name="ur_type" default="ur5x"/>
  <xacro:arg name="tf_prefix" default=""/>
  <xacro:arg name="joint_limit_params"
    default="$(find ur_description)/config/$(arg ur_type)/joint_limits.yaml"/>
  <xacro:arg name="physical_params" default="$(find ur_description)/config/$(arg ur_type)/physical.yaml"/>
  <xacro:include filename="$(find ur_description)/urdf/ur_macro.xacro"/>
  <link name="world"/>
  <xacro:ur_robot name="$(arg name)" tf_prefix="$(arg tf_prefix)" parent="world"
    joint_limits_parameters_file="$(arg joint_limit_params)"
    physical_parameters_file="$(arg physical_params)">
    <origin xyz="0 0 0.5" rpy="0 0 0"/>
  </xacro:ur_robot>
</robot>
"""
_UR_MACRO = f"""<robot {_NS}>
  <xacro:include filename="$(find ur_description)/urdf/inc/ur_common.xacro"/>
  <xacro:macro name="ur_robot"
    params="name tf_prefix parent *origin joint_limits_parameters_file physical_parameters_file
      safety:=${{0.15}}">
    <xacro:read_model_data limits_file="${{joint_limits_parameters_file}}"
      physical_file="${{physical_parameters_file}}"/>
    <joint name="${{tf_prefix}}base_joint" type="fixed">
      <xacro:insert_block name="origin"/>
      <parent link="${{parent}}"/><child link="${{tf_prefix}}base_link"/>
    </joint>
    <link name="${{tf_prefix}}base_link"/>
    <link name="${{tf_prefix}}shoulder_link">
      <visual><geometry><mesh filename="package://ur_description/meshes/shoulder.dae"/></geometry></visual>
      <xacro:cylinder_inertial radius="${{shoulder_radius}}" length="${{shoulder_length}}"
        mass="${{shoulder_mass}}">
        <origin xyz="0 0 ${{-0.5 * shoulder_length}}" rpy="0 0 0"/>
      </xacro:cylinder_inertial>
    </link>
    <joint name="${{tf_prefix}}shoulder_pan_joint" type="revolute">
      <parent link="${{tf_prefix}}base_link"/><child link="${{tf_prefix}}shoulder_link"/>
      <origin xyz="0 0 0.1" rpy="0 0 0"/><axis xyz="0 0 1"/>
      <limit lower="${{shoulder_lower}}" upper="${{shoulder_upper}}" effort="150.0" velocity="3.0"/>
    </joint>
  </xacro:macro>
</robot>
"""
_UR_COMMON = f"""<robot {_NS}>
  <xacro:macro name="cylinder_inertial" params="radius length mass *origin">
    <inertial>
      <mass value="${{mass}}"/>
      <xacro:insert_block name="origin"/>
      <inertia ixx="${{mass * (3 * radius ** 2 + length ** 2) / 12}}" ixy="0.0" ixz="0.0"
        iyy="${{mass * (3 * radius ** 2 + length ** 2) / 12}}" iyz="0.0" izz="${{0.5 * mass * radius ** 2}}"/>
    </inertial>
  </xacro:macro>
  <xacro:macro name="read_model_data" params="limits_file physical_file">
    <xacro:property name="limits" value="${{xacro.load_yaml(limits_file)['joint_limits']}}"/>
    <xacro:property name="physical" value="${{xacro.load_yaml(physical_file)}}"/>
    <xacro:property name="shoulder_lower" value="${{limits['shoulder_pan']['min_position']}}" scope="parent"/>
    <xacro:property name="shoulder_upper" value="${{limits['shoulder_pan']['max_position']}}" scope="parent"/>
    <xacro:property name="inertias" value="${{physical['inertia_parameters']}}"/>
    <xacro:property name="shoulder_mass" value="${{inertias['shoulder_mass']}}" scope="parent"/>
    <xacro:property name="cylinder" value="${{inertias['links']['shoulder']}}"/>
    <xacro:property name="shoulder_radius" value="${{cylinder['radius']}}" scope="parent"/>
    <xacro:property name="shoulder_length" value="${{cylinder['length']}}" scope="parent"/>
  </xacro:macro>
</robot>
"""
UR = {
    "urdf/ur.urdf.xacro": UR_TOP,
    "urdf/ur_macro.xacro": _UR_MACRO,
    "urdf/inc/ur_common.xacro": _UR_COMMON,
    "config/ur5x/joint_limits.yaml": """
joint_limits:
  shoulder_pan: {max_position: !degrees 360.0, min_position: !degrees -180.0}
""",
    "config/ur5x/physical.yaml": """
inertia_parameters:
  shoulder_mass: 3.0
  links: {shoulder: {radius: 0.06, length: 0.178}}
""",
}
