"""Values of MJCF's attributes, and elements, for `test_every_element.py`."""

from __future__ import annotations

from tests.support_tables import Change, values

TETRAHEDRON = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
INCLUDED = '<mujoco><worldbody><body name="i"><joint name="i"/><geom size=".1"/></body></worldbody></mujoco>'
CHILD = INCLUDED.replace("<mujoco>", '<mujoco model="child">')


_TURNED = values(
    'axisangle="0 0 1 30" euler="10 20 30" pos=".1 .2 .4" quat=".5 .5 .5 .5" '
    'xyaxes="0 1 0 0 0 1" zaxis="1 0 1"'
)
_SOFT = values('solimp=".8 .9 .01" solref=".1 .5"')
_TENDON: dict[str, str | Change] = {
    **values(
        'actuatorfrcrange="-1 1" armature="1" class="c" damping="1" frictionloss="1" group="2" '
        'margin=".1" range="0 1" solimpfriction=".8 .9 .01" solimplimit=".8 .9 .01" '
        'solreffriction=".1 .5" solreflimit=".1 .5" stiffness="2" user="1"'
    ),
    "actuatorfrclimited": {"actuatorfrclimited": "true", "actuatorfrcrange": "-1 1"},
    "limited": {"limited": "true", "range": "0 1"},
    "springlength": {"springlength": ".1", "stiffness": "2"},
    "springyield": {"springyield": ".1", "stiffness": "2"},
}
_BODIES = {"body1": None, "body2": None, "anchor": None}
_SITES: Change = {"site1": "sf", "site2": "sd", **_BODIES}

ATTRIBUTES: dict[str, dict[str, str | Change]] = {
    "compiler": {
        **values(
            'alignfree="true" angle="radian" assetdir="sub" autolimits="false" balanceinertia="true" '
            'boundinertia="1" boundmass="5" conflict="merge" coordinate="global" discardvisual="true" '
            'eulerseq="zyx" fitaabb="true" fusestatic="true" inertiafromgeom="true" '
            'inertiagrouprange="0 2" meshdir="sub" passthrough="textures" savecanonical="true" '
            'savecompiled="true" saveinertial="true" settotalmass="9" strippath="true" '
            'texturedir="sub" usethread="false"'
        )
    },
    "option": {
        **values(
            'actuatorgroupdisable="1" ccd_iterations="10" ccd_tolerance="1e-5" cone="elliptic" '
            'density="1" gravity="0 0 -2" impratio="2" integrator="RK4" iterations="3" '
            'jacobian="dense" ls_iterations="3" ls_tolerance=".1" magnetic="1 0 0" '
            'noslip_iterations="3" noslip_tolerance=".1" o_friction="1 1 .1 .1 .1" o_margin=".1" '
            'o_solimp=".8 .9 .01" o_solref=".1 .5" sdf_initpoints="10" sdf_iterations="3" '
            'sleep_tolerance=".1" solver="CG" timestep=".01" tolerance=".1" viscosity="1"'
        ),
        "wind": {"wind": "1 0 0", "density": "1"},
    },
    "option/flag": {
        **values(
            'actuation="disable" autoreset="disable" clampctrl="disable" constraint="disable" '
            'contact="disable" damper="disable" equality="disable" eulerdamp="disable" '
            'filterparent="disable" frictionloss="disable" gravity="disable" island="disable" '
            'limit="disable" midphase="disable" multiccd="disable" nativeccd="disable" '
            'refsafe="disable" sensor="disable" spring="disable" warmstart="disable" '
            'diagexact="enable" energy="enable" fwdinv="enable" invdiscrete="enable" ipc="enable" '
            'override="enable" sleep="enable" speculative="enable"'
        )
    },
    "asset/mesh": {
        **values(
            'class="c" content_type="model/obj" face="0 2 1 0 1 3 0 3 2 1 2 3" inertia="shell" '
            'material="mat" maxhullvert="4" name="m" normal="0 0 1 0 0 1 0 0 1 0 0 1 0 0 1" '
            'refpos=".1 0 0" refquat=".5 .5 .5 .5" scale="2 2 2" smoothnormal="true" '
            'texcoord="0 1 0 1 0 1 0 1 0 1" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .3"'
        ),
        "builtin": {"builtin": "sphere", "params": "2", "vertex": None},
        "file": {"file": "m.obj", "vertex": None},
        "params": {"builtin": "sphere", "params": "2", "vertex": None},
    },
    "body": {
        **_TURNED,
        **values(
            'childclass="c" fuse="false" gravcomp="1" mocap="true" name="another" simple="false" '
            'sleep="never" user="1"'
        ),
    },
    "body/inertial": {
        **_TURNED,
        **values('diaginertia=".2 .2 .3" mass="2"'),
        "fullinertia": {"fullinertia": ".1 .2 .25 .01 0 0", "diaginertia": None},
    },
    "body/joint": {
        **values(
            'actuatorfrcrange="-1 1" actuatorgravcomp="true" armature="1" axis="1 0 0" class="c" '
            'damping="1" frictionloss="1" group="2" limited="false" margin=".1" name="another" '
            'pos="0 0 .1" range="-1 1" ref="10" solimpfriction=".8 .9 .01" solimplimit=".8 .9 .01" '
            'solreffriction=".1 .5" solreflimit=".1 .5" springdamper=".1 1" springyield="1" '
            'stiffness="2" type="slide" user="1"'
        ),
        "actuatorfrclimited": {"actuatorfrclimited": "true", "actuatorfrcrange": "-1 1"},
        "springref": {"springref": "10", "stiffness": "2"},
    },
    "body/freejoint": {**values('align="true" group="2" name="another"')},
    "body/geom": {
        **_TURNED,
        **_SOFT,
        **values(
            'adhesion="1" castshadow="false" class="c" conaffinity="2" condim="1" contype="2" '
            'density="500" fitscale="2" fluidcoef="1 1 1 1 1" fluidshape="ellipsoid" '
            'friction=".5 .1 .1" gap=".1" group="3" margin=".1" mass="2" material="mat" '
            'name="another" priority="1" rgba="1 0 0 1" shellinertia="true" size=".2 .2 .3" '
            'solmix="2" surfacevel="1 0 0" type="ellipsoid" user="1"'
        ),
        "fromto": {"fromto": "0 0 0 0 0 1", "type": "capsule", "size": ".1", "pos": None},
        "hfield": {"hfield": "hf", "type": "hfield", "size": None},
        "mesh": {"mesh": "v", "type": "mesh", "size": None},
    },
    "body/site": {
        **_TURNED,
        **values('group="2" material="mat" name="another" rgba="1 0 0 1" size=".1" type="box" user="1"'),
        "class": {"class": "c", "pos": None},
        "fromto": {"fromto": "0 0 0 0 0 1", "type": "capsule", "size": ".1", "pos": None},
        "mesh": {"mesh": "v", "type": "mesh"},
    },
    "tendon/fixed": {**_TENDON, **values('name="t"')},
    "tendon/spatial": {**_TENDON, **values('material="mat" name="another" rgba="1 0 0 1" width=".1"')},
    "tendon/fixed/joint": {**values('coef="3" joint="k"')},
    "equality/connect": {
        **_SOFT,
        **values('active="false" anchor=".3 .2 .1" body1="e" body2="world" class="c" name="another"'),
        "site1": _SITES,
        "site2": _SITES,
    },
    "equality/weld": {
        **_SOFT,
        **values(
            'active="false" anchor=".3 .2 .1" body1="e" body2="d" class="c" name="another" '
            'relpose="0 0 1 1 0 0 0" torquescale="2"'
        ),
        "site1": _SITES,
        "site2": _SITES,
    },
    "actuator/motor": {
        **values(
            'armature="1" class="c" cranklength=".4" cranksite="sd" ctrlrange="-1 1" damping="1" '
            'forcerange="-1 1" gear="3" group="2" joint="k" lengthrange="0 1" name="another" '
            'refsite="sf" site="s" slidersite="sf" user="1"'
        ),
        "ctrllimited": {"ctrllimited": "true", "ctrlrange": "-1 1"},
        "delay": {"delay": ".1", "nsample": "100"},
        "forcelimited": {"forcelimited": "true", "forcerange": "-1 1"},
        "interp": {"interp": "linear", "nsample": "100", "delay": ".1"},
        "jointinparent": {"jointinparent": "k", "joint": None},
        "nsample": {"nsample": "100", "delay": ".1"},
        "tendon": {"tendon": "t", "joint": None},
    },
    "equality/joint": {
        **_SOFT,
        **values('active="false" class="c" name="another" polycoef="0 2"'),
        "joint1": {"joint1": "h", "joint2": "k"},
        "joint2": {"joint2": None},
    },
}
"""By elements' paths the values of their attributes, or those of several attributes that go together."""

PLACES: dict[tuple[str, str], str] = {
    ("asset/mesh", ""): "//mesh[@name='v']",
    ("asset/mesh", "content_type"): "//mesh[@file]",
    ("asset/mesh", "name"): "//mesh[@file]",
    ("body", ""): "//body[@name='b']",
    ("body", "fuse"): "//body[@name='e']",
    ("body", "mocap"): "//body[@name='still']",
    ("body", "sleep"): "//body[@name='a']",
    ("body/inertial", ""): "//inertial",
    ("body/joint", ""): "//joint[@name='k']",
    ("body/joint", "name"): "//joint[@name='l']",
    ("body/joint", "springyield"): "//joint[@name='h']",
    ("body/freejoint", ""): "//freejoint",
    ("body/geom", ""): "//geom[@name='g']",
    ("body/geom", "fitscale"): "//geom[@name='fit']",
    ("body/geom", "hfield"): "//geom[@name='ground']",
    ("body/site", ""): "//site[@name='s']",
    ("body/site", "name"): "//site[@name='free']",
}
"""XPaths of elements: by path, and for attributes that are tried at another one."""

_MEDIUM: dict[str, Change] = {"//option": {"density": "1"}}
_AT_SITE: dict[str, Change] = {"//motor[@name='mh']": {"site": "o", "joint": None}}
_CRANK: dict[str, Change] = {
    "//motor[@name='mh']": {"cranklength": ".3", "cranksite": "s", "slidersite": "o", "joint": None}
}
SETUPS: dict[tuple[str, str], dict[str, Change]] = {
    ("compiler", "balanceinertia"): {"//inertial": {"diaginertia": ".1 .1 .5"}},
    ("option/flag", "ipc"): {"//option": {"integrator": "discrete"}},
    ("body", "fuse"): {"//compiler": {"fusestatic": "true"}},
    ("body/joint", "actuatorgravcomp"): {"//body[@name='b']": {"gravcomp": "1"}},
    ("body/geom", "group"): {"//compiler": {"inertiagrouprange": "0 2"}},
    ("body/geom", "fluidcoef"): _MEDIUM,
    ("body/geom", "fluidshape"): _MEDIUM,
    **{("actuator/motor", own): _AT_SITE for own in ("site", "refsite")},
    **{("actuator/motor", own): _CRANK for own in ("cranklength", "cranksite", "slidersite")},
    ("contact/pair", ""): {"//option/flag": {"contact": "enable"}, "//default/geom": {"contype": "0"}},
}
"""What is changed before an attribute or an element is tried."""

_BODY = '<body name="new"><joint name="new"/><geom size=".1"/></body>'
_SPATIAL = '<spatial name="new">{}</spatial>'
_SDF = '<plugin plugin="mujoco.sdf.bolt"/>'
_DRIVEN = '<tendon>{}</tendon><actuator><motor name="pull" tendon="new"/></actuator>'
ACTUATORS = {
    "general": 'joint="h"',
    "motor": 'joint="h"',
    "position": 'joint="h" kp="2"',
    "velocity": 'joint="h" kv="2"',
    "intvelocity": 'joint="h" kp="2" actrange="-1 1"',
    "pid": 'joint="h" kp="2"',
    "damper": 'joint="h" kv="2" ctrlrange="0 1"',
    "cylinder": 'joint="h"',
    "muscle": 'joint="h" lengthrange="0 1"',
    "dcmotor": 'joint="h" motorconst="1 1" resistance="1"',
    "orientation": 'joint="l" kp="2"',
    "adhesion": 'body="f" ctrlrange="0 1"',
}
SNIPPETS: dict[str, list[tuple[str, str]]] = {
    "extension/plugin": [
        ("/mujoco", '<extension><plugin plugin="mujoco.sdf.bolt"><instance name="i"/></plugin></extension>'),
        (
            "/mujoco",
            f"<extension>{_SDF}</extension><asset><mesh name='bolt'>{_SDF}</mesh></asset><worldbody>"
            f"<geom type='sdf' mesh='bolt'>{_SDF}</geom></worldbody>",
        ),
    ],
    "compiler/lengthrange": [("//compiler", '<lengthrange mode="none" accel="10" interval="1"/>')],
    "size": [("/mujoco", '<size memory="1M" nkey="2" nuser_body="3"/>')],
    "statistic": [("/mujoco", '<statistic center="1 0 0" extent="3" meanmass="2"/>')],
    "visual": [("/mujoco", '<visual><global azimuth="3"/><map force="2"/><rgba com="1 0 0 1"/></visual>')],
    "sensor": [("/mujoco", '<sensor><jointpos joint="h"/><accelerometer site="s"/><clock/></sensor>')],
    "keyframe": [("/mujoco", '<keyframe><key name="home" time="1"/></keyframe>')],
    "custom": [("/mujoco", '<custom><numeric name="n" data="1 2"/><text name="x" data="y"/></custom>')],
    "default": [
        ("/mujoco", f"<default><{own}/></default>") for own in ('joint pos="0 0 1"', 'geom density="2"')
    ],
    "include": [("/mujoco", '<include file="included.xml"/>')],
    "frame": [("//worldbody", f'<frame pos="1 0 0">{_BODY}</frame>')],
    "replicate": [("//worldbody", f'<replicate count="2" offset="1 0 0">{_BODY}</replicate>')],
    "body/attach": [
        (
            "/mujoco",
            '<asset><model name="child" file="child.xml"/></asset><worldbody>'
            '<frame><attach model="child" body="i" prefix="p_"/></frame></worldbody>',
        )
    ],
    "asset/hfield": [("//asset", '<hfield name="new" nrow="2" ncol="2" size="1 1 1 1"/>')],
    "asset/texture": [("//asset", '<texture name="new" type="2d" builtin="flat" width="2" height="2"/>')],
    "asset/material": [("//asset", '<material name="new" texture="tex" rgba="1 0 0 1"/>')],
    "deformable/skin": [
        (
            "/mujoco",
            '<deformable><skin name="new" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="a" '
            'bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin></deformable>',
        )
    ],
    "body/camera": [("//body[@name='a']", '<camera name="new" pos="1 0 0" fovy="30"/>')],
    "body/light": [("//body[@name='a']", '<light name="new" pos="1 0 0"/>')],
    "body/flexcomp": [
        ("//worldbody", f'<flexcomp name="new" type="grid" count="2 2 2" spacing=".1 .1 .1" dim="3" {own}/>')
        for own in ('mass="1"', 'rigid="true"')
    ],
    "deformable/flex": [
        (
            "/mujoco",
            '<deformable><flex name="new" dim="1" body="b e" vertex="0 0 0 0 0 0" '
            'element="0 1"/></deformable>',
        )
    ],
    "contact/pair": [("/mujoco", '<contact><pair geom1="g" geom2="ground"/></contact>')],
    "contact/exclude": [("/mujoco", '<contact><exclude body1="a" body2="f"/></contact>')],
    "tendon/spatial/site": [
        ("/mujoco", _DRIVEN.format(_SPATIAL.format('<site site="o"/><site site="sd"/>')))
    ],
    "tendon/spatial/geom": [
        ("/mujoco", _DRIVEN.format(_SPATIAL.format('<site site="o"/><geom geom="w"/><site site="sd"/>')))
    ],
    "tendon/spatial/pulley": [
        (
            "/mujoco",
            _DRIVEN.format(
                _SPATIAL.format(
                    '<site site="o"/><site site="sd"/><pulley divisor="2"/><site site="o"/><site site="s"/>'
                )
            ),
        )
    ],
    "equality/tendon": [("//equality", '<tendon name="new" tendon1="t" polycoef="1"/>')],
}
"""By paths of elements, where descriptions have them and as what."""
