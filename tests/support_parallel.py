"""Parallel robots as URDF trees, and the loops that close them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

Triple = tuple[float, float, float]
ORIGIN: Triple = (0.0, 0.0, 0.0)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass
class Tree:
    """A URDF description that grows joint by joint. planar: bodies have their mass in the plane z = 0."""

    name: str
    planar: bool = False
    joints: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=lambda: ['<link name="base"/>'])

    def add(
        self,
        name: str,
        parent: str,
        at: Triple,
        axis: Triple | None = Z,
        *,
        kind: str = "revolute",
        turned: Triple = ORIGIN,
        mass: float = 1.0,
    ) -> str:
        """Return a link of this name on a joint of this name, `turned` by roll, pitch and yaw."""
        rng = np.random.default_rng(len(self.links))
        com = list(rng.uniform(-0.1, 0.1, 3) * [1.0, 1.0, 0.0 if self.planar else 1.0])
        factor = rng.uniform(-0.1, 0.1, (3, 3))
        inertia = mass * (factor @ factor.T + 0.01 * np.eye(3))
        inertia = np.trace(inertia) * np.eye(3) - inertia
        moments = (
            " ".join(f'i{"xyz"[i]}{"xyz"[j]}="{inertia[i, j]!r}"' for i in range(3) for j in range(i, 3))
            .replace("np.float64(", "")
            .replace(")", "")
        )
        self.links.append(
            f'<link name="{name}"><inertial><origin xyz="{_text(com)}"/><mass value="{mass}"/>'
            f"<inertia {moments}/></inertial></link>"
        )
        limits = "" if kind == "floating" else '<limit lower="-3" upper="3" effort="100" velocity="10"/>'
        axes = "" if axis is None else f'<axis xyz="{_text(axis)}"/>'
        self.joints.append(
            f'<joint name="j_{name}" type="{kind}"><parent link="{parent}"/><child link="{name}"/>'
            f'<origin xyz="{_text(at)}" rpy="{_text(turned)}"/>{axes}{limits}</joint>'
        )
        return name

    def universal(self, name: str, parent: str, at: Triple, axes: tuple[Triple, Triple], mass: float) -> str:
        """Return a link on two revolute joints whose axes cross, and the cross between them."""
        cross = self.add(f"{name}_cross", parent, at, axes[0], mass=0.1)
        return self.add(name, cross, ORIGIN, axes[1], mass=mass)

    def urdf(self) -> str:
        """Return the text of the file."""
        return f'<robot name="{self.name}">\n' + "\n".join([*self.links, *self.joints]) + "\n</robot>\n"


@dataclass(frozen=True)
class Mechanism:
    """urdf: its text. loops: as --loop has them. freedoms: that are left. dropped: rows of loops that depend
    on others.
    """

    urdf: str
    loops: tuple[str, ...]
    freedoms: int
    dropped: int


def _text(numbers: Sequence[float]) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def _loop(number: int, one: str, at: Triple, two: str, there: Triple) -> str:
    places = [
        f"{link}:{','.join(repr(float(x)) for x in where)}" for link, where in ((one, at), (two, there))
    ]
    return f"loop{number}=point@{'='.join(places)}"


def _around(radius: float, angle: float, height: float = 0.0) -> Triple:
    return (radius * math.cos(angle), radius * math.sin(angle), height)


def four_bar() -> Mechanism:
    """Return crank, rod and rocker."""
    tree = Tree("four_bar", planar=True)
    tree.add("crank", "base", ORIGIN)
    tree.add("rod", "crank", (0.15, 0.0, 0.0))
    tree.add("rocker", "base", (0.4, 0.0, 0.0))
    loops = (_loop(0, "rod", (0.4, 0.0, 0.0), "rocker", (0.3, 0.0, 0.0)),)
    return Mechanism(tree.urdf(), loops, 1, 1)


def five_bar() -> Mechanism:
    """Return two arms of two links that hold one point in the plane."""
    tree = Tree("five_bar", planar=True)
    for side, x in (("left", -0.1), ("right", 0.1)):
        tree.add(f"{side}_upper", "base", (x, 0.0, 0.0))
        tree.add(f"{side}_lower", f"{side}_upper", (0.2, 0.0, 0.0))
    loops = (_loop(0, "left_lower", (0.25, 0.0, 0.0), "right_lower", (0.25, 0.0, 0.0)),)
    return Mechanism(tree.urdf(), loops, 2, 1)


def planar_3rrr() -> Mechanism:
    """Return a platform in the plane on three legs of three revolute joints."""
    tree = Tree("planar_3rrr", planar=True)
    angles = [math.radians(90.0 + 120.0 * k) for k in range(3)]
    corners = [_around(0.12, angle) for angle in angles]
    for k, angle in enumerate(angles):
        tree.add(f"upper{k}", "base", _around(0.5, angle))
        tree.add(f"lower{k}", f"upper{k}", (0.35, 0.0, 0.0))
    tree.add("platform", "lower0", (0.35, 0.0, 0.0))
    loops = tuple(
        _loop(k, f"lower{k}", (0.35, 0.0, 0.0), "platform", (x - corners[0][0], y - corners[0][1], 0.0))
        for k, (x, y, _) in enumerate(corners)
        if k
    )
    return Mechanism(tree.urdf(), loops, 3, 2)


def two_rod_ankle() -> Mechanism:
    """Return a foot on a universal joint, pushed by two rods from cranks on the shin."""
    tree = Tree("two_rod_ankle")
    tree.universal("foot", "base", (0.0, 0.0, -0.3), (Y, X), 1.0)
    loops = []
    for k, y in enumerate((-0.05, 0.05)):
        tree.add(f"crank{k}", "base", (0.0, y, -0.05 * (1 + k)), Y, mass=0.3)
        tree.universal(f"rod{k}", f"crank{k}", (-0.06, 0.0, 0.0), (Y, X), 0.2)
        loops.append(_loop(k, f"rod{k}", (0.0, 0.0, -0.25 + 0.05 * k), "foot", (-0.06, y, 0.0)))
    return Mechanism(tree.urdf(), tuple(loops), 2, 0)


def kangaroo_leg() -> Mechanism:
    """Return a leg whose hip two linear actuators move, and its knee another one."""
    tree = Tree("kangaroo_leg")
    tree.universal("thigh", "base", ORIGIN, (X, Y), 3.0)
    tree.add("shin", "thigh", (0.0, 0.0, -0.4), Y, mass=2.0)
    loops = []
    for k, y in enumerate((-0.08, 0.08)):
        tree.universal(f"cylinder{k}", "base", (-0.1, y, 0.05), (X, Y), 0.3)
        tree.add(f"piston{k}", f"cylinder{k}", (0.0, 0.0, -0.2), Z, kind="prismatic", mass=0.2)
        loops.append(_loop(k, f"piston{k}", ORIGIN, "thigh", (-0.06, 0.6 * y, -0.2)))
    tree.universal("cylinder2", "thigh", (0.05, 0.0, -0.1), (Y, X), 0.3)
    tree.add("piston2", "cylinder2", (0.0, 0.0, -0.2), Z, kind="prismatic", mass=0.2)
    loops.append(_loop(2, "piston2", ORIGIN, "shin", (0.05, 0.0, -0.05)))
    return Mechanism(tree.urdf(), tuple(loops), 3, 0)


def delta() -> Mechanism:
    """Return a platform on three arms, each with two parallel rods."""
    tree = Tree("delta")
    tree.add("platform", "base", (0.0, 0.0, -0.35), None, kind="floating")
    loops: list[str] = []
    for k, side in itertools.product(range(3), (-0.04, 0.04)):
        angle = math.radians(120.0 * k)
        arm = f"arm{k}"
        if side < 0.0:
            tree.add(arm, "base", _around(0.15, angle), Y, turned=(0.0, 0.0, angle))
        rod = tree.universal(f"rod{k}{'ab'[side > 0.0]}", arm, (0.2, side, 0.0), (Y, X), 0.2)
        c, s = math.cos(angle), math.sin(angle)
        at = (0.05 * c - side * s, 0.05 * s + side * c, 0.0)
        loops.append(_loop(len(loops), rod, (0.0, 0.0, -0.4), "platform", at))
    return Mechanism(tree.urdf(), tuple(loops), 3, 0)


def stewart_gough() -> Mechanism:
    """Return a platform on six linear actuators."""
    tree = Tree("stewart_gough")
    tree.add("platform", "base", (0.0, 0.0, 0.5), None, kind="floating", mass=3.0)
    loops = []
    for k in range(6):
        pair, which = divmod(k, 2)
        low, high = (math.radians(120.0 * pair + (2 * which - 1) * spread) for spread in (10.0, 50.0))
        tree.universal(f"cylinder{k}", "base", _around(0.3, low), (X, Y), 0.5)
        tree.add(f"piston{k}", f"cylinder{k}", (0.0, 0.0, 0.3), Z, kind="prismatic", mass=0.3)
        loops.append(_loop(k, f"piston{k}", (0.0, 0.0, 0.2), "platform", _around(0.2, high)))
    return Mechanism(tree.urdf(), tuple(loops), 6, 0)


MECHANISMS = {
    made.__name__: made
    for made in (four_bar, five_bar, planar_3rrr, two_rod_ankle, kangaroo_leg, delta, stewart_gough)
}
