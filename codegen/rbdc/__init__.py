"""rbdc, the rigid-body dynamics compiler: a robot description in, fast dependency-free C and a Python module
out.

The names below are loaded when first used, so that ``import rbdc`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rbdc.analysis.cones import friction_cone, wrench_cone
    from rbdc.errors import (
        DescriptionError,
        LoadError,
        OptionError,
        RbdcError,
        RbdcWarning,
        SingularModelError,
        ToolchainError,
        UnsupportedError,
    )
    from rbdc.model import Joint, Limits, Link, Mimic, Model
    from rbdc.pipeline import build
    from rbdc.runtime.load import load
    from rbdc.spatial import Inertia, Placement, Rotation, Symmetric3, Vector3

__version__ = "0.1.0"

_HOMES = {
    "rbdc.analysis.cones": ("friction_cone", "wrench_cone"),
    "rbdc.errors": (
        "DescriptionError",
        "LoadError",
        "OptionError",
        "RbdcError",
        "RbdcWarning",
        "SingularModelError",
        "ToolchainError",
        "UnsupportedError",
    ),
    "rbdc.model": ("Joint", "Limits", "Link", "Mimic", "Model"),
    "rbdc.pipeline": ("build",),
    "rbdc.runtime.load": ("load",),
    "rbdc.spatial": ("Inertia", "Placement", "Rotation", "Symmetric3", "Vector3"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DescriptionError",
    "Inertia",
    "Joint",
    "Limits",
    "Link",
    "LoadError",
    "Mimic",
    "Model",
    "OptionError",
    "Placement",
    "RbdcError",
    "RbdcWarning",
    "Rotation",
    "SingularModelError",
    "Symmetric3",
    "ToolchainError",
    "UnsupportedError",
    "Vector3",
    "__version__",
    "build",
    "friction_cone",
    "load",
    "wrench_cone",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'rbdc' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
