"""Random descriptions as hypothesis strategies: what designers, exporters and roundings write, and what
hardly anybody would.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from lxml import etree

from rbdc import Inertia, Joint, Limits, Link, Mimic, Placement, Rotation, Symmetric3, Vector3
from rbdc.model import Problem
from rbdc.model.options import LIKELY_MEANT
from rbdc.resources import resolve
from tests.support import NO_FREE_FLYER, ROOTS, Array

Random = np.random.Generator

NOISES = [0.0, *(10.0**-k for k in range(2, 17))]
"""Sizes of noise on numbers."""

randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)
roots = st.sampled_from(ROOTS)
noises = st.sampled_from(NOISES)


def written(x: float, digits: int) -> float:
    """Return a number as it is read back from so many digits."""
    return float(f"{x:.{digits}g}")


def vector(values: Sequence[float] | Array) -> Vector3:
    """Return a Vector3 of floats."""
    return Vector3.of([float(x) for x in values])


@st.composite
def noisy_robots(draw: st.DrawFn, names: Sequence[str]) -> Problem:
    """Return a robot that ships with rbdc, with noise on every number of axes and origins: of one size, or of
    a size relative to each.
    """
    name, size, relative, rng = draw(st.sampled_from(names)), draw(noises), draw(st.booleans()), draw(randoms)
    root = "fixed" if name in NO_FREE_FLYER else draw(roots)
    text = with_noise(resolve(name).read_text(encoding="utf-8"), size, rng, relative=relative)
    return read(text, root, draw(st.sampled_from([0.0, LIKELY_MEANT])))


def with_noise(text: str, size: float, rng: Random, *, relative: bool = False) -> str:
    """Return a description with noise on the numbers of axes and origins."""
    tree = etree.fromstring(text.encode())
    for element in tree.iter("origin", "axis"):
        for key in (key for key in ("rpy", "xyz") if key in element.attrib):
            numbers = [float(x) for x in element.attrib[key].split()]
            noise = [size * (x if relative else 1.0) * rng.normal() for x in numbers]
            element.set(key, " ".join(repr(float(x + n)) for x, n in zip(numbers, noise, strict=True)))
    return etree.tostring(tree).decode()


def read(text: str, root: str, snap: float = 0.0) -> Problem:
    """Return the model of a description's text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "noisy.urdf"
        path.write_text(text, encoding="utf-8")
        return Problem.from_urdf(path, root_joint=root, snap=snap)


DECADES = 2.0


@dataclass(frozen=True)
class Scales:
    """Orders of magnitude (least, most) of masses (kg) and lengths (m), and the chance that a link has no
    mass.

    Masses of all orders are side by side; the lengths of one description differ by at most `DECADES`.
    """

    masses: tuple[float, float] = (-1.0, 1.0)
    lengths: tuple[float, float] = (-1.0, 0.0)
    massless: float = 0.0

    def of_one(self, rng: Random) -> Scales:
        """Return those of one description."""
        least, most = self.lengths
        start = rng.uniform(least, max(least, most - DECADES))
        return replace(self, lengths=(start, min(most, start + DECADES)))

    def length(self, rng: Random) -> float:
        """Return any of these."""
        return float(10.0 ** rng.uniform(*self.lengths))

    def inertia(self, rng: Random) -> Inertia | None:
        """Return the inertia of a body of any density and shape, anywhere within its length."""
        if rng.random() < self.massless:
            return None
        mass, length = float(10.0 ** rng.uniform(*self.masses)), self.length(rng)
        centre, squares = length * rng.normal(size=3), length * length * rng.uniform(0.01, 1.0, 3)
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        about = (
            turn @ np.diag(squares.sum() - squares) @ turn.T
            + centre @ centre * np.eye(3)
            - np.outer(centre, centre)
        )
        rows = mass * about
        j = [float(rows[i, k]) for i, k in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
        return Inertia(mass, vector(mass * centre), Symmetric3(*j))


USUAL = Scales()


def right_or_any(rng: Random, tilt: float, digits: int, right: float) -> Rotation:
    """Return a rotation by angles with some digits, each a right angle with the chance `right`, plus noise of
    the size `tilt`.
    """
    angles = [
        rng.integers(-2, 3) * (math.pi / 2.0) if rng.random() < right else rng.uniform(-3.0, 3.0)
        for _ in range(3)
    ]
    return Rotation.from_rpy(*(written(float(x + tilt * rng.normal()), digits) for x in angles))


def axis(rng: Random, tilt: float, digits: int, right: float) -> Vector3:
    """Along a coordinate axis, with the chance `right`, or anywhere, plus noise of the size `tilt`, of any
    length.
    """
    along = (
        np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]) if rng.random() < right else rng.normal(size=3)
    )
    numbers = (along + tilt * rng.normal(size=3)) * 10.0 ** rng.integers(-3, 4)
    return vector([written(float(x), digits) for x in numbers])


def limited(kind: str) -> Limits:
    """Return some limits for the joints that have them."""
    return Limits(-2.0, 2.0, 5.0, 50.0) if kind in ("revolute", "prismatic") else Limits()


@st.composite
def chains(draw: st.DrawFn, scales: Scales = USUAL) -> Problem:
    """Return axes that are parallel, antiparallel or at right angles but for rounding and noise, branching
    once in a while.
    """
    rng, tilt, digits = draw(randoms), draw(noises), draw(st.integers(1, 17))
    scales = scales.of_one(rng)
    size, slides = draw(st.integers(1, 7)), draw(st.booleans())
    links, joints = [Link("base", scales.inertia(rng))], []
    for k in range(size):
        kind = "prismatic" if slides and rng.random() < 0.3 else "revolute"
        parent = "base" if k == 0 else f"link{k - 1 if rng.random() < 0.85 else rng.integers(k)}"
        offset = scales.length(rng) * rng.choice([0.0, 0.3, -1.0, rng.normal()], 3)
        placement = Placement(
            right_or_any(rng, tilt, digits, 0.9), vector([written(float(x), digits) for x in offset])
        )
        links.append(Link(f"link{k}", scales.inertia(rng)))
        joints.append(
            Joint(
                f"joint{k}", kind, parent, f"link{k}", placement, axis(rng, tilt, digits, 0.9), limited(kind)
            )
        )
    return Problem.assemble("chain", links, joints, root_joint=draw(roots))


KINDS = ("revolute", "continuous", "prismatic", "spherical", "planar", "floating", "revolute", "fixed")
COUPLED_KINDS = tuple(kind for kind in KINDS if kind != "floating")
"""For bodies of very different masses. Below a floating joint a heavy body does not feel a light one above
it, but M has the mass of both: what solves with M by elimination loses as many digits as the masses differ
by, which articulated bodies do not.
"""


@st.composite
def trees(draw: st.DrawFn, scales: Scales = USUAL) -> Problem:
    """Return every type of joint in any order, followers among them, normals and axes next to z and against
    it.
    """
    rng, tilt = draw(randoms), draw(noises)
    known = KINDS if scales.masses[1] - scales.masses[0] <= DECADES else COUPLED_KINDS
    kinds = draw(
        st.lists(st.sampled_from(known), min_size=1, max_size=6).filter(lambda names: set(names) != {"fixed"})
    )
    scales = scales.of_one(rng)
    links, joints, leaders = [Link("base", scales.inertia(rng))], [], list[str]()
    for k, kind in enumerate(kinds):
        parent = "base" if k == 0 else f"link{rng.integers(k)}"
        placement = Placement(
            right_or_any(rng, tilt, 17, 0.5), vector(scales.length(rng) * rng.normal(size=3))
        )
        direction = (
            vector([*(tilt * rng.normal(size=2)), rng.choice([-1.0, 1.0])])
            if rng.random() < 0.5
            else axis(rng, tilt, 17, 0.5)
        )
        mimic = None
        if kind in ("revolute", "continuous", "prismatic"):
            if leaders and rng.random() < 0.3:
                mimic = Mimic(leaders[rng.integers(len(leaders))], float(rng.normal()), float(rng.normal()))
            leaders.append(f"joint{k}")
        links.append(Link(f"link{k}", scales.inertia(rng)))
        joints.append(
            Joint(f"joint{k}", kind, parent, f"link{k}", placement, direction, limited(kind), mimic=mimic)
        )
    return Problem.assemble(
        "tree", links, joints, root_joint=draw(roots), mimic=draw(st.sampled_from(["independent", "coupled"]))
    )


@st.composite
def mirrored(draw: st.DrawFn) -> Problem:
    """Return two or four limbs, the others mirror images or copies of the first but for noise, some with two
    fingers.
    """
    rng, noise, digits = draw(randoms), draw(noises), draw(st.integers(3, 17))
    limbs, length, fingers = draw(st.sampled_from([2, 4])), draw(st.integers(2, 4)), draw(st.booleans())
    joints, links = [], [Link("base", USUAL.inertia(rng))]
    limb_joints = [(k, f"{k - 1}", "revolute" if rng.random() < 0.8 else "prismatic") for k in range(length)]
    limb_joints += [(length + k, f"{length - 1}", "revolute") for k in range(2)] if fingers else []
    drawn = [
        (_rpy(rng, digits), rng.normal(size=3) * rng.choice([0.0, 1.0], 3), _along(rng, digits), _masses(rng))
        for _ in limb_joints
    ]
    for limb in range(limbs):
        sign = np.array([1.0, -1.0 if limb % 2 else 1.0, 1.0])
        for (k, before, kind), (rpy, offset, direction, (masses, places)) in zip(
            limb_joints, drawn, strict=True
        ):
            moved = [
                written(float(x), digits) + noise * rng.normal()
                for x in sign * offset * (1.0 if limb < 2 else 0.7)
            ]
            image = rpy * np.array([-1.0, 1.0, -1.0]) if limb % 2 else rpy
            turned = [float(x) for x in image + (noise * rng.normal(size=3) if limb else 0.0)]
            along = direction * (sign if kind == "prismatic" else -sign * sign[1]) + noise * rng.normal(
                size=3
            )
            parent = "base" if k == 0 else f"link{limb}_{before}"
            links.append(Link(f"link{limb}_{k}", _of_points(masses, places * sign)))
            placement = Placement(Rotation.from_rpy(*turned), vector(moved))
            joints.append(
                Joint(
                    f"joint{limb}_{k}",
                    kind,
                    parent,
                    f"link{limb}_{k}",
                    placement,
                    vector(along),
                    limited(kind),
                )
            )
    return Problem.assemble("mirrored", links, joints, root_joint=draw(roots))


def _rpy(rng: Random, digits: int) -> Array:
    return np.array(
        [
            written(float(x), digits)
            for x in rng.integers(-1, 3, 3) * (math.pi / 2.0) + rng.choice([0.0, 0.3], 3)
        ]
    )


def _along(rng: Random, digits: int) -> Array:
    return np.array(axis(rng, 0.0, digits, 0.8).scalars())


def _masses(rng: Random) -> tuple[Array, Array]:
    return rng.uniform(0.1, 1.0, 5), rng.uniform(-0.3, 0.3, (5, 3))


def _of_points(masses: Array, places: Array) -> Inertia:
    rows = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, places, strict=True))
    j = [float(rows[i, k]) for i, k in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    return Inertia(float(masses.sum()), vector(masses @ places), Symmetric3(*j))
