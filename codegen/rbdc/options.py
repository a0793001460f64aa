"""Options of a build."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import cleandoc
from os import PathLike
from pathlib import Path
from sys import float_info
from typing import Any, Literal, TypedDict, TypeVar

import numpy as np

from rbdc.errors import OptionError, UnsupportedError
from rbdc.functions.scalar_types import SCALARS, Precision
from rbdc.model import Problem
from rbdc.model.formats.contacts import CONTACTS, LOOPS, ContactOption
from rbdc.model.options import (
    REGRESSOR,
    TIME_ORDER,
    DriveMode,
    Integrator,
    JointOrder,
    MimicMode,
    ModelOptions,
    RegressorPart,
    RootJoint,
)
from rbdc.native.surroundings import Earlier
from rbdc.native.toolchain import March
from rbdc.native.tunings import TUNING, Tunings
from rbdc.option_fields import (
    COUNT,
    FOLDER,
    SWITCH,
    TEXT,
    Option,
    Reading,
    asked,
    choice,
    each,
    names,
    options_of,
    within,
)
from rbdc.reduction.model_options import held_options
from rbdc.reduction.parameters import INERTIAL
from rbdc.runtime._suggestions import suggestion

Progress = Callable[[str], None]
"""Receives messages on the progress of a build."""

Numbers = str | PathLike[str] | Mapping[str, float] | Sequence[Any]
"""Numbers for some joints: `joint=value,...`, a file, a mapping, or a sequence of these."""

ForceFrame = Literal["local", "world"]
"""Frames of external forces: the frame of each body, or the world."""
ContactFrame = Literal["local", "local-world-aligned"]
"""Axes of contact forces: those of the contact frames, or those of the world."""
Style = Literal["unrolled", "rolled", "auto"]
"""unrolled: straight-line code. rolled: loops over tables of the model, for functions that have such a form.
auto: the better form for each function.
"""


def _precision(value: Any) -> Any:
    """Return the name of a scalar type from any of NumPy's spellings: "float32", np.float32, np.dtype("f4"),
    float.
    """
    if value == "float":
        raise ValueError("float is double precision in Python and single in C: give float64 or float32")
    if isinstance(value, (str, type, np.dtype)):
        with suppress(TypeError):
            return next((name for name in SCALARS if np.dtype(value) == name), "") or _PRECISION.read(value)
    return _PRECISION.read(value)


TUNING_SECONDS = 30.0
"""Default time for which the option `tune` measures (s)."""


def _seconds(value: Any) -> float | None:
    """Return a time above 0 (s). True stands for the default, False for no tuning."""
    if isinstance(value, bool):
        return TUNING_SECONDS if value else None
    return _TIME.read(value)


_TIME = within(float_info.min, 86400.0, "give seconds, above 0 and up to a day")
_PRECISION = choice(Precision)


@dataclass(frozen=True)
class BuildOptions(ModelOptions):
    """Options of the model and of the package to build. The package is the folder `out`/`name`.

    `functions` None stands for the functions of `preset`. `compiler` and `cflags` None stand for the choices
    of `rbdc.native.toolchain`.

    Raises OptionError for a value that an option does not accept.
    """

    parameters: Option[tuple[str, ...] | None] = Option(
        INERTIAL, None, "Pass the inertial parameters of moving links at run time, 10 numbers each."
    )
    payloads: Option[tuple[str, ...]] = Option(
        each(TEXT, "FRAME"),
        (),
        "Pass the inertial parameters of a payload, fixed to FRAME, at run time.",
        "--payload",
    )
    fext_frame: Option[ForceFrame] = Option(
        choice(ForceFrame),
        "local",
        "Frame of external forces: the body's (local), or the world's with moments about its origin.",
    )
    contacts: Option[tuple[ContactOption, ...]] = Option(
        CONTACTS,
        (),
        "A contact with the world or a closed loop. FILE: TOML, or YAML with the keys closed_loop and type.",
        "--contacts",
        "--contact",
        "--loop",
    )
    loops: Option[tuple[str, ...] | None] = Option(
        LOOPS, None, "hold: forces hold closed loops. reduce: the joints of a loop follow its motor."
    )
    contact_frame: Option[ContactFrame] = Option(
        choice(ContactFrame),
        "local",
        "Axes of contact forces and rows: those of the contact frames (local), or those of the world.",
    )
    integrator: Option[Integrator] = Option(choice(Integrator), "semi-implicit", "Integrator of time steps.")
    regressor: Option[tuple[RegressorPart, ...]] = Option(
        REGRESSOR,
        ("links",),
        "Columns of the torque regressor: of the links, and of terms of the joints' drives.",
    )
    time_order: Option[int] = Option(TIME_ORDER, 2, "Highest order of time derivatives, 1 to 4.")
    name: Option[str | None] = Option(
        TEXT, None, "The module's name; by default derived from the description's.", recorded=False
    )
    functions: Option[tuple[str, ...] | None] = Option(
        names("NAME,..."), None, "Comma-separated functions, instead of a preset.", recorded=False
    )
    preset: Option[str] = Option(
        TEXT,
        "control",
        "control, optimisation, full or second: `rbdc build --help` lists the functions of each.",
        recorded=False,
    )
    out: Option[Path] = Option(FOLDER, Path("generated"), "The folder for packages.", recorded=False)
    dtype: Option[Precision] = Option(
        _PRECISION._replace(read=_precision), "float64", "float32: single precision (about 1e-6) throughout."
    )
    targets: Option[tuple[str, ...]] = Option(
        names("NAME,..."),
        ("c", "batch"),
        "c: single calls. batch: many samples, in vector lanes or a loop. casadi, jax: for these frameworks.",
    )
    style: Option[Style] = Option(
        choice(Style), "unrolled", "Straight-line code, loops (small code), or the better of both."
    )
    fuse: Option[tuple[tuple[str, ...], ...]] = Option(
        each(names(""), "NAME,..."),
        (),
        "Comma-separated functions to fuse into one C function; with a frame: frame_jacobian@LINK.",
    )
    march: Option[March] = Option(
        choice(March), "native", "native: this processor. portable: all processors, in several variants."
    )
    tune: Option[float | None] = Option(
        Reading(_seconds, "SECONDS", bare=str(TUNING_SECONDS)),
        None,
        f"Time every form of every function with every compiler, for SECONDS ({TUNING_SECONDS:.0f} if left "
        "out), and build the fastest.",
        recorded=False,
    )
    tune_compilers: Option[tuple[str, ...] | None] = Option(
        names("NAME,..."),
        None,
        "Compilers that `tune` tries; the first one also links. By default the newest clang and gcc.",
        recorded=False,
    )
    tuning: Option[Tunings | None] = Option(
        TUNING, None, "Use the choices that `tune` stored in this tuning.json, for all variants or for one."
    )
    compiler: Option[str | None] = Option(
        TEXT, None, "The C compiler; by default $CC, the newest clang, gcc or cc.", "--cc", recorded=False
    )
    cflags: Option[tuple[str, ...] | None] = Option(
        names("TEXT", separator=None),
        None,
        "Compiler flags that replace rbdc's, separated by blanks.",
        recorded=False,
    )
    jobs: Option[int | None] = Option(
        COUNT,
        None,
        "Number of processes that generate and compile; by default one per processor.",
        recorded=False,
    )
    add: Option[bool] = Option(
        SWITCH,
        False,
        "Keep the functions and targets of the existing package; the options must be the same.",
        recorded=False,
    )
    force: Option[bool] = Option(
        SWITCH,
        False,
        "Generate and verify even if nothing changed (unchanged C is not compiled again); replace a package "
        "that git tracks.",
        recorded=False,
    )
    verify: Option[bool] = Option(
        SWITCH, True, "Compare the compiled functions with the literature's algorithms before installation."
    )


class BuildArguments(TypedDict, total=False):
    """Options of a build by name, with the types that each accepts."""

    root_joint: RootJoint
    mimic: MimicMode
    joint_order: JointOrder
    gravity: str | Sequence[float] | None
    allow_invalid_inertia: bool
    armature: Numbers
    damping: DriveMode
    springs: DriveMode
    friction: DriveMode
    friction_width: str | float
    xacro_arg: str | Sequence[str] | Mapping[str, str]
    package_path: str | PathLike[str] | Sequence[str | PathLike[str]]
    lock: Numbers
    base: str | None
    frame: str | Sequence[str | tuple[str, str, Sequence[float]]]
    snap: str | float
    parameters: str | Sequence[str] | None
    payload: str | Sequence[str]
    fext_frame: ForceFrame
    contacts: Any
    loops: str | Sequence[str] | None
    contact_frame: ContactFrame
    integrator: Integrator
    regressor: str | Sequence[str]
    time_order: str | int
    name: str | None
    functions: str | Sequence[str] | None
    preset: str
    out: str | PathLike[str]
    dtype: Precision | type[Any] | np.dtype[Any]
    targets: str | Sequence[str]
    style: Style
    fuse: str | Sequence[str | Sequence[str]]
    march: March
    tune: float | str | bool | None
    tune_compilers: str | Sequence[str] | None
    tuning: str | PathLike[str] | Sequence[str] | Mapping[str, str | PathLike[str]] | None
    cc: str | None
    cflags: str | Sequence[str] | None
    jobs: int | str | None
    add: bool
    force: bool
    verify: bool


def check(options: BuildOptions) -> None:
    """Raise OptionError or UnsupportedError for unknown presets and targets, and for options that exclude
    each other.
    """
    from rbdc.emit.registry import backends_of
    from rbdc.functions.catalogue import presets

    if options.preset not in presets():
        raise OptionError(f"no preset {options.preset!a}; {suggestion(options.preset, presets())}")
    backends_of(options.targets)
    _check_tuning(options)
    if options.parameters is None and not options.payloads:
        return
    if options.style == "rolled":
        raise UnsupportedError(
            "`style='rolled'` has constant inertial parameters: leave out `parameters` and `payload`"
        )
    if others := [target for target in options.targets if target not in ("c", "batch", "jax")]:
        raise UnsupportedError(
            f"{asked('targets', others[0])} has no derivatives with respect to inertial parameters: leave "
            "out the target, or use JAX or PyTorch, which have these derivatives of rnea and aba"
        )


def _check_tuning(options: BuildOptions) -> None:
    """Raise OptionError or UnsupportedError for options that exclude a tuning or need one."""
    if options.tuning is not None:
        options.tuning.check(options.march, options.style)
    if options.tune is None:
        if options.tune_compilers is not None:
            raise OptionError("`tune_compilers` needs `tune`: give `tune` too")
        return
    for name in options.tune_compilers or ():
        if Path(name).name != name or " " in name:
            raise OptionError(f"{asked('tune_compilers', name)}: give names of programs on $PATH")
    if options.tuning is not None:
        raise OptionError("`tune` measures a tuning, `tuning` reads one from a file: give one of them")
    if options.tune_compilers is not None and options.compiler is not None:
        raise OptionError("`tune_compilers` replaces `cc`: give one of them")
    if options.add:
        raise OptionError("`add=True` keeps existing functions, `tune` measures all: give one of them")
    if options.fuse:
        raise UnsupportedError("`fuse` is not tuned: build with `tune`, then with `tuning` and `fuse`")
    if options.style != "unrolled":
        raise UnsupportedError(f"{asked('style', options.style)} fixes the form: give it or `tune`, not both")
    if options.parameters is not None or options.payloads:
        raise UnsupportedError(
            "`tune` excludes `parameters` and `payload`: tune without them, then give them with `tuning`"
        )
    if options.march == "portable":
        raise UnsupportedError(
            "`tune` measures this processor, but `march='portable'` builds for all: tune on several "
            "processors, then give `tuning` a file for each variant, or one file from rbdc tune-merge"
        )


def recorded_options(options: BuildOptions, model: Problem) -> dict[str, Any]:
    """Return the options that a package depends on, as its manifest stores them. Values of model options come
    from the model; None stands for a value that is not known from the model.
    """
    of_model = held_options(model) | {
        "fext_frame": "world" if model.world_forces else "local",
        "contact_frame": "local-world-aligned" if model.world_aligned else "local",
        **{name: getattr(model, name) for name in ("integrator", "regressor", "time_order")},
    }
    every = {
        o: of_model.get(o.name, getattr(options, o.name))
        for o in options_of(type(options)).values()
        if o.recorded
    }
    return {o.name: None if value is None else o.reading.record(value) for o, value in every.items()}


def differing(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the Python names of the options whose values differ between two manifests.

    Leave out `verify`, and the options that `add` extends: `targets` and `fuse`.
    """
    current = json.loads(json.dumps(now))
    other = [name for name, value in current.items() if recorded.get(name, value) != value]
    fields = options_of(BuildOptions)
    return [fields[name].names[0] for name in other if name not in ("targets", "fuse", "verify")]


def added(model: Problem, options: BuildOptions, earlier: Earlier) -> tuple[BuildOptions, tuple[str, ...]]:
    """Return the options of a build that keeps the functions of an existing package, and the kept functions
    that were not requested. Without `functions` and `preset`, the build adds no function.
    """
    from rbdc.functions.catalogue import functions_of, select

    targets = dict.fromkeys((*options.targets, *earlier.targets))
    fused = dict.fromkeys((*options.fuse, *earlier.fused))
    options = replace(options, targets=tuple(targets), fuse=tuple(fused))
    there = tuple(name for name in earlier.functions if name in functions_of(model))
    if there and not (options.gives("functions") or options.gives("preset")):
        return replace(options, functions=there), ()
    asked = select(model, options.functions, options.preset)
    return options, tuple(name for name in there if name not in asked)


READING = (*options_of(ModelOptions), "contacts", "loops")
"""Names of the options that affect how a description is read."""
_GROUPS = {
    "Model": (*READING, "contact_frame", "fext_frame", "parameters", "payloads", "regressor"),
    "Functions": ("functions", "preset", "fuse"),
    "C": (),
    "Output": ("name", "out", "add", "jobs", "force", "verify"),
}


def grouped() -> dict[str, list[Option[Any]]]:
    """Return the options by topic, as help shows them. Options that `_GROUPS` does not name are about C."""
    of = {name: title for title, names in _GROUPS.items() for name in names}
    every = options_of(BuildOptions).items()
    return {title: [o for name, o in every if of.get(name, "C") == title] for title in _GROUPS}


Documented = TypeVar("Documented", bound=Callable[..., Any])


def with_options(function: Documented) -> Documented:
    """Append the options of a build, by topic, to a docstring; a decorator."""
    groups = [
        "\n".join([f"{title}:", *(f"    {option.names[0]}: {option.help}" for option in options)])
        for title, options in grouped().items()
    ]
    function.__doc__ = "\n\n".join([cleandoc(function.__doc__ or ""), *groups])
    return function
