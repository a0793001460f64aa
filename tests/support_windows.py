"""Random trees for kernels of windows, and these kernels compiled for registers of every width."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rbdc import Joint, Link, Mimic
from rbdc.emit.backend import FunctionSource
from rbdc.emit.library import VARIANTS, render_library, variant_flags
from rbdc.emit.printing import printed
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.model import Problem
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS
from rbdc.planning.candidates import over
from rbdc.planning.forms import Subject, windows
from rbdc.reduction.schedules import suits_windows
from tests.support import Array
from tests.support_trees import random_inertia, random_joint

SHAPES = ("deep", "wide", "limbs")
ONE_AXIS = ("revolute", "aligned", "continuous", "prismatic", "revolute")
EVERY_KIND = (*ONE_AXIS, "spherical", "planar", "floating")
FUNCTION = "rnea_derivatives"


def widths() -> list[str]:
    """Return the variants that this processor can run, each with registers of its own width."""
    line = next(x for x in Path("/proc/cpuinfo").read_text().splitlines() if x.startswith("flags"))
    here = {"bmi": "bmi1"}
    return [name for name in VARIANTS if {here.get(x, x) for x in VARIANTS[name]} <= set(line.split())]


def path_tree(
    seed: int, size: int, root: str = "", mimic: str = "independent", kinds: Sequence[str] = ONE_AXIS
) -> Problem:
    """Return a tree of so many joints of these kinds, by default with one degree of freedom: deep, wide, or
    of limbs two of which are mirror images; some joints follow others where `mimic` is "coupled".
    """
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    links, joints = [Link("base", random_inertia(rng))], list[Joint]()
    parents = _parents(rng, shape, size)
    chosen = [kinds[int(rng.integers(len(kinds)))] if seed % 4 else "revolute" for _ in range(size)]
    for k in range(size):
        if shape == "limbs" and k >= size // 2 and k - size // 2 < size // 2:
            chosen[k] = chosen[k - size // 2]
        follow = mimic == "coupled" and k % 7 == 5
        leader = Mimic(f"joint{k - 1:03}", -0.5, 0.2) if follow else None
        links.append(Link(f"link{k}", random_inertia(rng)))
        joints.append(random_joint(rng, f"joint{k:03}", chosen[k], parents[k], f"link{k}", leader))
    root = root or ("free-flyer" if seed % 2 else "fixed")
    return Problem.assemble(f"paths{seed}_{size}", links, joints, root_joint=root, mimic=mimic)


def inputs(model: Problem, seed: int = 0) -> tuple[Array, Array, Array, Array]:
    """Return q, v, accelerations or torques, and external forces; the velocity of a free root counts."""
    rng = np.random.default_rng(seed)
    q = np.zeros(model.nq)
    for k, body in enumerate(model.bodies):
        step = rng.uniform(-2.0, 2.0, body.joint.nv)
        if body.coupling is None:
            q[model.q_slice(k)] = body.joint.integrate(body.joint.neutral(), step.tolist())
    return (
        q,
        rng.standard_normal(model.nv),
        rng.standard_normal(model.nv),
        rng.standard_normal((model.njoints, 6)),
    )


def _parents(rng: np.random.Generator, shape: str, size: int) -> list[str]:
    parents = []
    for k in range(size):
        half = size // 2
        if shape == "deep":
            above = k - 1 if k % 9 else int(rng.integers(-1, max(k - 1, 0) + 1)) if k else -1
        elif shape == "wide":
            above = int(rng.integers(-1, k)) if k else -1
        else:
            above = -1 if k in (0, half) else k - 1
        parents.append("base" if above < 0 else f"link{above}")
    return parents


def chain(size: int) -> Problem:
    """Return a serial chain of revolute joints, light enough that no entry overshadows the others."""
    rng = np.random.default_rng(1)
    links = [Link("base", random_inertia(rng)), *(Link(f"link{k}", random_inertia(rng)) for k in range(size))]
    joints = [
        random_joint(rng, f"joint{k:03}", "revolute", "base" if k == 0 else f"link{k - 1}", f"link{k}")
        for k in range(size)
    ]
    return Problem.assemble(f"chain{size}", links, joints)


def kernel_alone(model: Problem, function: Function, robot: str = "robot") -> FunctionSource:
    """Return the kernel of a function, whatever planning would choose."""
    plan = windows(Subject(model, function))
    assert plan is not None
    return printed(robot, plan)


class WindowsKernel:
    """The kernel of a model compiled for one variant's registers, whatever planning would choose."""

    def __init__(
        self,
        model: Problem,
        variant: str,
        compiler: str,
        folder: Path,
        scalar: ScalarType = DOUBLE,
        function: str = FUNCTION,
    ) -> None:
        """Compile it without a warning."""
        assert suits_windows(model)
        self.model, self.scalar = model, scalar
        record = over(functions_of(model)[function], scalar)
        self.declaration = record.declaration
        source = kernel_alone(model, record)
        files = render_library(model, "robot", [source])
        for name, text in files.items():
            (folder / name).write_text(text)
        library = folder / f"{variant}_{compiler}_{function}.so"
        flags = [
            *STANDARD_FLAGS,
            *WARNING_FLAGS,
            "-Werror",
            "-O1",
            "-ffp-contract=fast",
            *variant_flags(variant),
        ]
        command = [compiler, *flags, "-shared", f"robot_{function}.c", "-lm", "-o", str(library)]
        subprocess.run(command, cwd=folder, check=True)
        self.function = getattr(ctypes.CDLL(str(library)), f"robot_{function}")

    def __call__(self, *inputs: Array | None) -> list[Array]:
        """Return the matrices at the inputs of the function, external forces or None the last."""
        nv, dtype = self.model.nv, np.dtype(self.scalar.dtype)
        arrays = [None if x is None else np.ascontiguousarray(x, dtype) for x in inputs]
        outputs = [np.full((nv, nv), np.nan, dtype) for _ in self.declaration.outputs]
        addresses: Sequence[int | None] = [None if x is None else x.ctypes.data for x in (*arrays, *outputs)]
        self.function(*(ctypes.c_void_p(x) for x in addresses))
        return outputs
