"""The whole way from a description to a compiled package, and its cache."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache as cache_in_process
from importlib.resources import files
from importlib.resources.abc import Traversable
from os import PathLike, cpu_count, fspath
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import rbdc
from rbdc.emit.names import check_module_name, module_name
from rbdc.emit.scalars import SCALARS
from rbdc.errors import OptionError, UnsupportedError
from rbdc.model import Model
from rbdc.native import cache
from rbdc.native.build import EXTENSION
from rbdc.native.install import MANIFEST, install, recorded, refuse_foreign, sweep_beside
from rbdc.native.scratch import sweep_temporary
from rbdc.native.toolchain import MARCHES, Compiler, check_flags, default_flags, find_compiler
from rbdc.resources import resolve
from rbdc.runtime.load import load

if TYPE_CHECKING:
    from rbdc.emit.csource import FunctionSource

LIKELY_MEANT = 1e-11
"""Joint rotations this close to a right angle are taken as one unless --snap says otherwise: 1.57079632679 is meant to be one."""
MAXIMUM_SNAP = 1e-3
STYLES = ("unrolled", "rolled", "auto")
"""Straight-line code; loops over the model's tables where a function has such a form; what `rbdc.generate` finds to suit each."""


@dataclass(frozen=True)
class BuildOptions:
    """Options of a build; product names as on the command line. `functions` None means those of `preset`; `compiler` and `cflags`
    None mean what `rbdc.native.toolchain` chooses. `fuse`: groups of functions that also get one entry
    point together. The package becomes the folder `out`/`name`.
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
    out: Path = Path("generated")
    dtype: str = "float64"
    targets: tuple[str, ...] = ("c", "batch")
    style: str = "unrolled"
    march: str = "native"
    compiler: str | None = None
    cflags: tuple[str, ...] | None = None
    jobs: int | None = None
    force: bool = False


@dataclass(frozen=True)
class FunctionFigures:
    """Deterministic figures of one generated function; those of a rolled one include the files that it shares with others.
    `batch_...`: of what computes several samples at once, nothing where the batch is a loop.
    """

    name: str
    style: str
    operations: int
    additions: int
    multiplications: int
    divisions: int
    calls: int
    statements: int
    code_bytes: int
    stack_bytes: int
    batch_code_bytes: int
    batch_stack_bytes: int


@dataclass(frozen=True)
class VariantFigures:
    """The library as it was compiled for one kind of processor: the extensions that it may use, and the bytes of all its functions."""

    name: str
    extensions: tuple[str, ...]
    code_bytes: int


@dataclass(frozen=True)
class BuildResult:
    """What a build gave. `cached`: nothing had to be generated or compiled."""

    name: str
    directory: Path
    cached: bool
    seconds: float
    generation_seconds: float
    compile_seconds: float
    functions: tuple[FunctionFigures, ...]
    variants: tuple[VariantFigures, ...]
    warnings: tuple[str, ...] = field(default=())


Progress = Callable[[str], None]


def build(description: str | PathLike[str] | Model, **options: Any) -> ModuleType:
    """Build a module and load it: ``rbdc.build("kuka_iiwa").rnea(q, v, a)``.

    Args:
        description: a path, the name of a robot that ships with rbdc, or a `rbdc.Model`.
        options: those of `BuildOptions`.

    Raises:
        RbdcError: with the place, what is wrong and how to mend it.
    """
    if "out" in options:
        options["out"] = Path(options["out"])
    unknown = sorted(set(options) - {f.name for f in fields(BuildOptions)})
    if unknown:
        raise OptionError(f"no option {unknown[0]!r}; there are {', '.join(f.name for f in fields(BuildOptions))}")
    for name in ("functions", "targets", "cflags", "gravity"):
        if options.get(name) is not None:
            options[name] = tuple(options[name])
    options["fuse"] = tuple(tuple(group) for group in options.get("fuse", ()))
    return load(build_package(description, BuildOptions(**options)).directory)


def build_package(
    description: str | PathLike[str] | Model, options: BuildOptions | None = None, progress: Progress | None = None
) -> BuildResult:
    """Build the package of a description into options.out; see `build` for arguments and errors."""
    start, options, progress = time.perf_counter(), options or BuildOptions(), progress or (lambda _: None)
    model = read(description, options)
    robot = _robot_name(description, model, options)
    compiler, flags = toolchain(options)
    key = _key(model, robot, options, compiler, flags)
    destination = options.out / robot
    refuse_foreign(destination)
    sweep_leftovers(options)
    seconds = {"generation": 0.0, "compile": 0.0}

    def make(folder: Path) -> None:
        seconds.update(_make(model, robot, options, compiler, flags, key, folder, progress))

    package = cache.obtain(key, make, anew=options.force)
    cached = seconds["compile"] == 0.0
    about_files = install(package, destination)
    manifest = json.loads((package / MANIFEST).read_text(encoding="utf-8"))
    return BuildResult(
        robot,
        destination,
        cached,
        time.perf_counter() - start,
        seconds["generation"],
        seconds["compile"],
        tuple(_figures(name, entry) for name, entry in manifest["functions"].items()),
        tuple(VariantFigures(v["name"], tuple(v["extensions"]), v["code_bytes"]) for v in manifest["variants"]),
        (*warnings_of(model), *manifest["left_out"], *about_files),
    )


def sweep_leftovers(options: BuildOptions) -> None:
    """Remove what killed processes left in the cache, beside the packages and among the temporary files."""
    cache.sweep_scratch()
    sweep_temporary()
    sweep_beside(options.out)


def read(description: str | PathLike[str] | Model, options: BuildOptions) -> Model:
    """The model of a description under the options that bear on it."""
    _check_options(options)
    if isinstance(description, Model):
        return description
    return Model.from_urdf(
        resolve(description),
        root_joint=options.root_joint,
        mimic=options.mimic,
        joint_order=options.joint_order,
        gravity=options.gravity,
        snap=options.snap,
    )


def _make(
    model: Model,
    robot: str,
    options: BuildOptions,
    compiler: Compiler,
    flags: tuple[str, ...],
    key: str,
    folder: Path,
    progress: Progress,
) -> dict[str, float]:
    """Generate and compile the package into a folder; the seconds that each took."""
    from rbdc.catalogue import select
    from rbdc.emit.library import render_manifest
    from rbdc.generate import generate
    from rbdc.native.build import compile_package
    from rbdc.singularity import buildable

    start = time.perf_counter()
    selected = select(model, options.functions, options.preset)
    fused = [name.split("@")[0] for group in options.fuse for name in group]
    _check_size(model, selected, "unrolled" if fused else options.style)
    names, left_out = buildable(model, selected, options.functions)
    buildable(model, fused, fused)
    batch, portable, scalar = "batch" in options.targets, options.march == "portable", SCALARS[options.dtype]
    version, style, processes = rbdc.__version__, options.style, options.jobs or cpu_count() or 1
    generated = generate(
        *(model, robot, names, version, progress, style, options.fuse), batch=batch, scalar=scalar, portable=portable, processes=processes
    )
    middle = time.perf_counter()
    progress(f"compiling {sum(name.endswith('.c') for name in generated.files)} files ({options.march}) with {compiler.version}")
    declarations = [source.declaration for source in generated.sources]
    native = compile_package(generated.files, robot, declarations, compiler, flags, options.jobs, options.march)
    contents = {name: text.encode() for name, text in generated.files.items()} | {EXTENSION: native.extension.read_bytes()}
    manifest = render_manifest(
        model,
        robot,
        generated.sources,
        rbdc.__version__,
        {"key": key, "left_out": left_out, "options": _recorded(options), "files": recorded(contents)},
        {"version": compiler.version, "flags": list(flags)},
        [{"name": v.name, "extensions": list(v.extensions), "code_bytes": size} for v, size in native.variants.items()],
        {source.declaration.name: _sizes(source, native.code_bytes, native.stack_bytes) for source in generated.sources},
    )
    for name, content in {**contents, MANIFEST: manifest.encode()}.items():
        (folder / name).write_bytes(content)
    return {"generation": middle - start, "compile": time.perf_counter() - middle}


def _check_options(options: BuildOptions) -> None:
    if options.style not in STYLES:
        raise OptionError(f"--style {options.style!a}; there are {', '.join(STYLES)}")
    if options.march not in MARCHES:
        raise OptionError(f"--march {options.march!a}; there are {', '.join(MARCHES)}")
    if options.dtype not in SCALARS:
        raise OptionError(f"--dtype {options.dtype!a}; there are {', '.join(SCALARS)}")
    if sorted(options.targets) not in (["c"], ["batch", "c"]):
        raise UnsupportedError(f"--targets {','.join(options.targets)}: this version generates c, or c,batch")
    if not 0.0 <= options.snap <= MAXIMUM_SNAP:
        raise OptionError(f"--snap {options.snap} is not between 0 and {MAXIMUM_SNAP}")
    if options.jobs is not None and options.jobs < 1:
        raise OptionError(f"--jobs {options.jobs} is less than 1")


def _check_size(model: Model, names: Sequence[str], style: str) -> None:
    """Unrolled matrices grow with the square of nv and more: refuse what would take minutes and end in an unusable library. Rolled
    functions keep some hundred numbers for each body on the stack.
    """
    from rbdc.emit.rolled import MAXIMUM_BODIES, METHODS
    from rbdc.generate import MAXIMUM_DOF

    unrolled = [name for name in names if style == "unrolled" or name not in METHODS]
    place = f"{warnings_place(model)}: {model.nv} degrees of freedom"
    if unrolled and model.nv > MAXIMUM_DOF:
        raise UnsupportedError(
            f"{place}; this version unrolls at most {MAXIMUM_DOF}: fix some joints, or give --style rolled with --functions among "
            f"{', '.join(METHODS)}"
        )
    if model.njoints > MAXIMUM_BODIES:
        raise UnsupportedError(f"{place}; this version takes at most {MAXIMUM_BODIES} moving bodies: fix some joints")


def _robot_name(description: str | PathLike[str] | Model, model: Model, options: BuildOptions) -> str:
    if options.name is not None:
        return check_module_name(options.name)
    return module_name(model.name if isinstance(description, Model) else Path(fspath(description)).stem)


def toolchain(options: BuildOptions) -> tuple[Compiler, tuple[str, ...]]:
    """The compiler and the flags of the options."""
    compiler = find_compiler(options.compiler)
    return compiler, default_flags(compiler, options.march) if options.cflags is None else check_flags(options.cflags)


def _recorded(options: BuildOptions) -> dict[str, Any]:
    """The options that the generated text depends on."""
    return {
        "root_joint": options.root_joint,
        "mimic": options.mimic,
        "joint_order": options.joint_order,
        "gravity": list(options.gravity),
        "snap": options.snap,
        "dtype": options.dtype,
        "targets": list(options.targets),
        "style": options.style,
        "fuse": [list(group) for group in options.fuse],
        "march": options.march,
    }


def _key(model: Model, robot: str, options: BuildOptions, compiler: Compiler, flags: tuple[str, ...]) -> str:
    """What a package depends on: rbdc itself, the model, the options, compiler and interpreter."""
    return cache.key(
        "package",
        own_code(),
        repr((model.bodies, model.frames, model.base_inertia, model.gravity, model.description_hash)),
        robot,
        repr((options.functions, options.preset, _recorded(options))),
        compiler.version,
        compiler.path,
        *flags,
        cache.interpreter_tag(),
    )


@cache_in_process
def own_code() -> str:
    """A hash over rbdc's own source and templates, so that a changed rbdc builds anew. Read once: what a running process has loaded
    does not change with the files.
    """

    def walk(folder: Traversable) -> list[tuple[str, bytes]]:
        found = []
        for entry in sorted(folder.iterdir(), key=lambda e: e.name):
            if entry.is_dir() and entry.name not in ("__pycache__", "robots"):
                found += walk(entry)
            elif entry.name.endswith((".py", ".jinja")):
                found.append((entry.name, entry.read_bytes()))
        return found

    parts = [part for package in ("rbdc", "rbdc.templates") for entry in walk(files(package)) for part in entry]
    return cache.key(*parts)


def _sizes(source: FunctionSource, code: Mapping[str, int], stack: Mapping[str, int]) -> dict[str, int]:
    files = [name for name in source.files if name.endswith(".c")]
    batch = [name for name in source.batch_files if name.endswith(".c")]
    sizes = {"code_bytes": sum(code[n] for n in files), "stack_bytes": max(stack[n] for n in files)}
    return sizes | {"batch_code_bytes": sum(code[n] for n in batch), "batch_stack_bytes": max((stack[n] for n in batch), default=0)}


def _figures(name: str, entry: Mapping[str, Any]) -> FunctionFigures:
    return FunctionFigures(name, **{f.name: entry[f.name] for f in fields(FunctionFigures) if f.name != "name"})


def warnings_of(model: Model) -> list[str]:
    """The notes of a model, each with its place."""
    place = warnings_place(model)
    return [f"{place}{f':{note.line}' if note.line is not None else ''}: {note.message}" for note in model.notes]


def warnings_place(model: Model) -> str:
    """What a message about the model begins with: its file, or the name it was given in code."""
    return model.name if model.file is None else model.file
