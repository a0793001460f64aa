"""Options of a build."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rbdc.errors import OptionError, UnsupportedError
from rbdc.functions.declarations import LAYOUTS
from rbdc.functions.scalar_types import SCALARS
from rbdc.model.options import FrameOption, JointNumbers
from rbdc.native.toolchain import MARCHES

Progress = Callable[[str], None]
"""Is told in words what a build is doing."""

LIKELY_MEANT = 1e-11
"""Joint rotations this close to a right angle are taken as one unless --snap says otherwise: 1.57079632679 is
meant to be one.
"""
MAXIMUM_SNAP = 1e-3
FEXT_FRAMES = ("local", "world")
"""External forces are given in the frames of the bodies; in that of the world."""
STYLES = ("unrolled", "rolled", "auto")
"""Straight-line code; loops over the model's tables where a function has such a form; whichever suits each
function.
"""


@dataclass(frozen=True)
class BuildOptions:
    """Options of a build; product names as on the command line. `functions` None means those of `preset`;
    `compiler` and `cflags` None mean what `rbdc.native.toolchain` chooses. `fuse`: groups of functions that
    also get one entry point together. The package becomes the folder `out`/`name`. `verify`: compare what was
    compiled with the recursions of the literature before it is installed.
    """

    name: str | None = None
    functions: tuple[str, ...] | None = None
    preset: str = "control"
    fuse: tuple[tuple[str, ...], ...] = ()
    root_joint: str = "fixed"
    mimic: str = "independent"
    joint_order: str = "name"
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    snap: float = LIKELY_MEANT
    allow_invalid_inertia: bool = False
    armature: JointNumbers = ()
    damping: str = "report"
    springs: str = "refuse"
    xacro_arguments: tuple[tuple[str, str], ...] = ()
    lock: JointNumbers = ()
    base: str | None = None
    frames: tuple[tuple[str, str, FrameOption], ...] = ()
    parameters: tuple[str, ...] | None = None
    payloads: tuple[str, ...] = ()
    fext_frame: str = FEXT_FRAMES[0]
    out: Path = Path("generated")
    dtype: str = "float64"
    targets: tuple[str, ...] = ("c", "batch")
    style: str = "unrolled"
    tensor_layout: str = "dense"
    march: str = "native"
    compiler: str | None = None
    cflags: tuple[str, ...] | None = None
    jobs: int | None = None
    force: bool = False
    verify: bool = True


def check_options(options: BuildOptions) -> None:
    """Raise OptionError or UnsupportedError for a value that no build takes."""
    from rbdc.emit.registry import backends_of

    if options.style not in STYLES:
        raise OptionError(f"--style {options.style!a}; there are {', '.join(STYLES)}")
    if options.tensor_layout not in LAYOUTS:
        raise OptionError(f"--tensor-layout {options.tensor_layout!a}; there are {', '.join(LAYOUTS)}")
    if options.tensor_layout != LAYOUTS[0] and set(options.targets) - {"c", "batch"}:
        raise UnsupportedError("--tensor-layout sparse: only the targets c and batch have it")
    if options.fext_frame not in FEXT_FRAMES:
        raise OptionError(f"--fext-frame {options.fext_frame!a}; there are {', '.join(FEXT_FRAMES)}")
    if options.march not in MARCHES:
        raise OptionError(f"--march {options.march!a}; there are {', '.join(MARCHES)}")
    if options.dtype not in SCALARS:
        raise OptionError(f"--dtype {options.dtype!a}; there are {', '.join(SCALARS)}")
    backends_of(options.targets)
    if not 0.0 <= options.snap <= MAXIMUM_SNAP:
        raise OptionError(f"--snap {options.snap} is not between 0 and {MAXIMUM_SNAP}")
    if options.jobs is not None and options.jobs < 1:
        raise OptionError(f"--jobs {options.jobs} is less than 1")


def _where_given(options: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that are not their defaults: manifests of builds without them stay as they are."""
    return {
        name: value
        for name, value in options.items()
        if value not in ({}, [], None, getattr(BuildOptions, name))
    }


def recorded_options(options: BuildOptions) -> dict[str, Any]:
    """The options that a package depends on, as its manifest has them."""
    return {
        "root_joint": options.root_joint,
        "mimic": options.mimic,
        "joint_order": options.joint_order,
        "gravity": list(options.gravity),
        "snap": options.snap,
        "allow_invalid_inertia": options.allow_invalid_inertia,
        **_where_given(
            {
                "armature": dict(options.armature),
                "damping": options.damping,
                "springs": options.springs,
                "xacro_arguments": dict(options.xacro_arguments),
                "lock": dict(options.lock),
                "base": options.base,
                "parameters": None if options.parameters is None else list(options.parameters or ["all"]),
                "payloads": list(options.payloads),
                "fext_frame": options.fext_frame,
                "tensor_layout": options.tensor_layout,
                "frames": [[name, link, list(numbers)] for name, link, numbers in options.frames],
            }
        ),
        "dtype": options.dtype,
        "targets": list(options.targets),
        "style": options.style,
        "fuse": [list(group) for group in options.fuse],
        "march": options.march,
        "verify": options.verify,
    }
