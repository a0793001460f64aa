"""rbdc, the rigid-body dynamics compiler: it turns a robot description into fast, dependency-free C and a
Python module.

The names below are loaded on first use, so that ``import rbdc`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rbdc.emit import VERSION as __version__

if TYPE_CHECKING:
    from rbdc.analysis.cones import friction_cone as friction_cone
    from rbdc.analysis.cones import wrench_cone as wrench_cone
    from rbdc.analysis.figures.show import show as show
    from rbdc.analysis.identifiability import identifiability as identifiability
    from rbdc.errors import DescriptionError as DescriptionError
    from rbdc.errors import LoadError as LoadError
    from rbdc.errors import OptionError as OptionError
    from rbdc.errors import RbdcError as RbdcError
    from rbdc.errors import RbdcWarning as RbdcWarning
    from rbdc.errors import SingularModelError as SingularModelError
    from rbdc.errors import ToolchainError as ToolchainError
    from rbdc.errors import UnsupportedError as UnsupportedError
    from rbdc.model import Joint as Joint
    from rbdc.model import Limits as Limits
    from rbdc.model import Link as Link
    from rbdc.model import Mimic as Mimic
    from rbdc.model import Model as Model
    from rbdc.resources import path_of as path_of
    from rbdc.runtime.load import load as load
    from rbdc.spatial import Inertia as Inertia
    from rbdc.spatial import Placement as Placement
    from rbdc.spatial import Rotation as Rotation
    from rbdc.spatial import Symmetric3 as Symmetric3
    from rbdc.spatial import Vector3 as Vector3
    from rbdc.tuning.build import build as build

_HOMES = {
    "rbdc.analysis.cones": ("friction_cone", "wrench_cone"),
    "rbdc.analysis.figures.show": ("show",),
    "rbdc.analysis.identifiability": ("identifiability",),
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
    "rbdc.resources": ("path_of",),
    "rbdc.runtime.load": ("load",),
    "rbdc.spatial": ("Inertia", "Placement", "Rotation", "Symmetric3", "Vector3"),
    "rbdc.tuning.build": ("build",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'rbdc' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
