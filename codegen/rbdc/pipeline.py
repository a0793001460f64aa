"""A whole build, from a description to an installed package: read, plan, emit, compile, verify, install."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from os import PathLike, cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rbdc.build_result import BuildResult, figures, remarks, sizes
from rbdc.emit.names import robot_name
from rbdc.errors import LoadError, SingularModelError, VerificationError
from rbdc.functions.scalar_types import SCALARS
from rbdc.model import Model, Problem
from rbdc.model.text import is_text
from rbdc.native import cache
from rbdc.native.install import (
    EXTENSION,
    EXTENSION_SOURCE,
    MANIFEST,
    SEAL,
    archive_name,
    install,
    manifest_of,
    recorded,
    refuse_foreign,
    sealed,
    sweep_leftovers,
)
from rbdc.native.machine import processor
from rbdc.native.surroundings import Earlier, namesake_warnings
from rbdc.native.toolchain import Compiler, Toolchain, toolchain
from rbdc.options import BuildOptions, Progress, added, check, differing, recorded_options
from rbdc.progress import FILES, Share, Step, steps_of_build
from rbdc.reduction.clusters import with_reduced_loops
from rbdc.reduction.contacts import with_contacts, with_frames_of_forces
from rbdc.reduction.mobility import with_independent_loops
from rbdc.reduction.model_options import under
from rbdc.reduction.parameters import with_rows
from rbdc.resources import resolve

if TYPE_CHECKING:
    from rbdc.emit.registry import Generated
    from rbdc.native.build import Native
    from rbdc.verification.package import Finding

Description = str | PathLike[str] | Model


def build_package(
    description: Description, options: BuildOptions | None = None, progress: Progress | None = None
) -> BuildResult:
    """Build the package of a description into options.out; see `rbdc.build` for arguments and errors."""
    from rbdc.emit.python import content_hash

    start, options = time.perf_counter(), options or BuildOptions()
    model = read(description, options)
    robot = robot_name(description, model, options.name)
    destination = options.out / robot
    refuse_foreign(destination)
    earlier = Earlier.of(destination)
    obstacle = earlier.obstacle(
        differing(earlier.options, recorded_options(options, model)), content_hash(model)
    )
    present: tuple[str, ...] = ()
    if options.add:
        earlier.refuse_addition(obstacle)
        options, present = added(model, options, earlier)
    tools = toolchain(options.compiler, options.cflags, options.march)
    job = _Job(model, robot, options, tools, progress or (lambda _: None), present)
    key = job.key
    if earlier.manifest.get("key") != key and not options.force:
        earlier.refuse_tracked()
    sweep_leftovers(options.out)
    outcome: dict[str, Any] = {}
    package = cache.obtain(key, lambda folder: outcome.update(_make(job, folder)), anew=options.force)
    about_files = (*namesake_warnings(robot), *install(package, destination))
    manifest = manifest_of(package)
    of_this = (
        *manifest["left_out"],
        *job.tuning_remarks([*manifest["functions"]]),
        *earlier.lost(manifest, obstacle),
    )
    known = not outcome and earlier.manifest.get("key") == key
    said = () if known else (*remarks(model, [*manifest["functions"], *job.fused()]), *of_this)
    return BuildResult(
        name=robot,
        directory=destination,
        cached=not outcome,
        seconds=time.perf_counter() - start,
        functions=figures(manifest["functions"]),
        variants=tuple(manifest["variants"]),
        warnings=(*model.warnings, *of_this, *about_files),
        news=(*said, *about_files),
        **outcome,
    )


def read(description: Description, options: BuildOptions) -> Problem:
    """Return the problem that a description and options pose. If the description is a `Model`, omitted
    options keep the values with which it was read.

    Raises OptionError or UnsupportedError for options that exclude each other or do not fit the description.
    """
    check(options)
    if isinstance(description, Model):
        model = under(description, options)
    elif is_text(description):
        model = Problem.from_text(description, **options.of_model())
    else:
        model = Problem.from_file(resolve(description), **options.of_model())
    model = with_independent_loops(with_contacts(model, options.contacts))
    model = with_reduced_loops(model, options.loops)
    frames = (options.where_given(name) for name in ("fext_frame", "contact_frame"))
    model = with_frames_of_forces(model, *frames)
    names = ("integrator", "regressor", "time_order")
    model = replace(model, **{name: options.where_given(name) or getattr(model, name) for name in names})
    return with_rows(model, options.parameters, options.payloads)


@dataclass(frozen=True)
class _Job:
    """A package to build.

    model: the problem.
    robot: name of the package.
    options: options of the build.
    tools: compiler and flags.
    progress: receives messages.
    kept: functions of the earlier package that are kept although they were not requested.
    """

    model: Problem
    robot: str
    options: BuildOptions
    tools: Toolchain
    progress: Progress
    kept: tuple[str, ...]

    def kept_warnings(self) -> list[str]:
        """Return the model's warnings as a package stores them: with the file's name, without its folder."""
        return replace(self.model, file=Path(self.model.place).name).warnings

    def recorded(self) -> dict[str, Any]:
        return recorded_options(self.options, self.model)

    def selected(self) -> list[str]:
        """Return the requested and the kept functions, in the order of the documentation."""
        from rbdc.functions.catalogue import functions_of, select

        wanted = {*select(self.model, self.options.functions, self.options.preset), *self.kept}
        return [name for name in functions_of(self.model) if name in wanted]

    def fused(self) -> list[str]:
        """Return the functions that are parts of fused functions."""
        return [name.split("@")[0] for group in self.options.fuse for name in group]

    @cached_property
    def compilers(self) -> dict[str, Compiler]:
        """The compilers that the tuning chose for the selected functions, by name."""
        tuning = self.options.tuning
        return {} if tuning is None else tuning.compilers(self.selected(), self.tools)

    def tuning_remarks(self, functions: Sequence[str]) -> list[str]:
        """Return the messages about the option `tuning` for a build of these functions."""
        here = "" if self.options.march == "portable" else processor()
        return [] if self.options.tuning is None else self.options.tuning.remarks(functions, here)

    @cached_property
    def key(self) -> str:
        """Key of the package in the cache. It depends on rbdc, the model, the options, the compiler and the
        interpreter.
        """
        from rbdc.emit.registry import backends_of
        from rbdc.functions.catalogue import fingerprint

        options, compilers = self.options, (self.tools.compiler, *self.compilers.values())
        return cache.key(
            "package",
            cache.own_code(),
            repr(replace(self.model, file=None)),
            self.robot,
            repr((options.functions, options.preset, self.kept, self.recorded())),
            repr(self.kept_warnings()),
            fingerprint(),
            *(backend.fingerprint() for backend in backends_of(options.targets)),
            *(part for compiler in compilers for part in (compiler.version, compiler.path)),
            *self.tools.flags,
            cache.interpreter_tag(),
        )


def _make(job: _Job, folder: Path) -> dict[str, Any]:
    """Build the package in a folder. Return the seconds of each step and the results of verification, by the
    field names of `BuildResult`.
    """
    clock = [time.perf_counter()]
    names, left_out = _planned(job)
    notes = {"left_out": left_out, "warnings": [*job.kept_warnings(), *left_out]}
    share = Share(job.progress, _steps(job, names))
    generated = _emitted(job, names, notes["warnings"], share)
    clock.append(time.perf_counter())
    native, libraries = _compiled(job, generated)
    share.done("compiled", FILES)
    clock.append(time.perf_counter())
    for name, content in _contents(job, notes, generated, native, libraries).items():
        (folder / name).write_bytes(content)
    findings = _verified(job, generated, native, folder, share)
    clock.append(time.perf_counter())
    seconds = (after - before for before, after in pairwise(clock))
    steps = ("generation_seconds", "compile_seconds", "verification_seconds")
    outcome: dict[str, Any] = dict(zip(steps, seconds, strict=True))
    if findings is not None:
        outcome["errors"] = {name: finding.error for name, finding in findings.items()}
        outcome["unverified_states"] = {name: f.left_out for name, f in findings.items() if f.left_out}
    return outcome


def _planned(job: _Job) -> tuple[list[str], list[str]]:
    """Return the requested functions that are defined for the model, and messages on those that were dropped
    from a preset.
    """
    from rbdc.planning.availability import buildable
    from rbdc.planning.forms import check_size

    model, options, selected, fused = job.model, job.options, job.selected(), job.fused()
    check_size(model, selected, options.style, fused=bool(fused))
    planned = buildable(model, selected, options.functions)
    buildable(model, fused, fused)
    return planned


def _steps(job: _Job, names: Sequence[str]) -> dict[Step, float]:
    from rbdc.functions.catalogue import functions_of
    from rbdc.planning.fusion import fused_functions

    catalogue, fused = functions_of(job.model), fused_functions(job.model, job.options.fuse)
    functions = [*(catalogue[name] for name in names), *fused.values()]
    return steps_of_build([function.declaration for function in functions], job.options.verify)


def _emitted(job: _Job, names: list[str], warnings: list[str], share: Share) -> Generated:
    from rbdc.emit.generation import GenerationOptions, generate

    options = job.options
    chosen = GenerationOptions(
        style=options.style,
        fuse=options.fuse,
        targets=options.targets,
        scalar=SCALARS[options.dtype],
        portable=options.march == "portable",
        choices={} if options.tuning is None else options.tuning.choices(),
        processes=options.jobs or cpu_count() or 1,
        warnings=tuple(warnings),
    )
    job.progress(f"generating {len(names) + len(options.fuse)} functions")
    return generate(job.model, job.robot, names, lambda task: share.done("generated", *task), chosen)


def _compiled(job: _Job, generated: Generated) -> tuple[Native, dict[str, bytes]]:
    from rbdc.native.build import compile_archive, compile_library, compile_package

    files = {name: generated.files[name] for name in sorted(generated.compiled)}
    count, tools = sum(name.endswith(".c") for name in files), _tools_of(job, generated)
    compilers = ", ".join(compiler.version for compiler in tools.compilers)
    job.progress(f"compiling {count} files ({job.options.march}) with {compilers}")
    declarations = [source.declaration for source in generated.sources]
    how = (tools, job.options.jobs, job.options.march)
    native, libraries = compile_package(files, job.robot, declarations, *how), dict[str, bytes]()
    for name, file in generated.libraries.items():
        job.progress(f"compiling {name}")
        path = compile_library(name, {**files, file: generated.files[file]}, job.robot, *how)
        libraries[name] = path.read_bytes()
    if job.options.march == "portable":
        libraries[archive_name(job.robot)] = compile_archive(files, job.robot, *how).read_bytes()
    return native, libraries


def _tools_of(job: _Job, generated: Generated) -> Toolchain:
    tuning = job.options.tuning
    if tuning is None:
        return job.tools
    return job.tools._replace(others=tuning.compilers_of_files(generated.sources, job.compilers))


def _contents(
    job: _Job,
    notes: Mapping[str, list[str]],
    generated: Generated,
    native: Native,
    libraries: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Return the files of the package by name; the manifest lists them and holds the notes."""
    from rbdc.emit.backend import Package
    from rbdc.emit.library import render_manifest
    from rbdc.emit.python import content_hash

    contents = {name: text.encode() for name, text in generated.files.items()}
    contents |= {EXTENSION: native.extension.read_bytes(), **libraries}
    if job.options.march == "portable":
        contents[EXTENSION_SOURCE] = native.glue.encode()  # CMake compiles it for a wheel
    others: dict[str, Any] = {}
    sized: dict[str, dict[str, Any]] = {s.declaration.name: sizes(s, native) for s in generated.sources}
    if (tuning := job.options.tuning) is not None:
        contents |= tuning.files
        others = {"others": {name: compiler.version for name, compiler in job.compilers.items()}}
        sized = {name: {**entry, **tuning.entry(name)} for name, entry in sized.items()}
    build = {
        "key": job.key,
        "model_sha256": content_hash(job.model),
        **notes,
        "options": job.recorded(),
        "verified": job.options.verify,
        "package": native.package,
        "files": recorded(contents),
        SEAL: "",
        "compiler": {"version": job.tools.compiler.version, "flags": list(job.tools.flags), **others},
        "variants": [
            {
                "name": v.name,
                "extensions": v.extensions,
                "code_bytes": sum(c.code_bytes for (_, variant), c in native.figures.items() if variant == v),
            }
            for v in native.variants
        ],
    }
    package = Package(job.model, job.robot)
    manifest = render_manifest(package, generated.sources, build, sized)
    return {**contents, MANIFEST: sealed(manifest).encode()}


def _verified(
    job: _Job, generated: Generated, native: Native, folder: Path, share: Share
) -> dict[str, Finding] | None:
    """Compare the package in a folder with the references; return the result of each function. A wrong
    package is removed from the cache, so that the next build compiles again, perhaps with a repaired
    compiler.
    """
    from rbdc.planning.fusion import parts_of
    from rbdc.verification.package import verify_package
    from rbdc.verification.states import Checked

    if not job.options.verify:
        return None
    job.progress("verifying")
    parts = parts_of(job.model, job.options.fuse)
    checked = [
        Checked(source.declaration, parts[source.declaration.name], bool(source.batch_files))
        for source in generated.sources
    ]
    try:
        return verify_package(folder, job.model, checked, partial(share.done, "verified"))
    except SingularModelError as error:
        raise SingularModelError(f"{job.model.place}: {error}") from error
    except LoadError as error:
        raise LoadError(
            f"cannot verify the compiled functions here: {error}; `verify=False` skips the verification"
        ) from error
    except VerificationError as error:
        cache.discard(native.artefacts)
        raise VerificationError(
            f"{job.model.place}: {error}; nothing was installed. "
            "This is a fault of rbdc, or of the compiler or its flags: please report it with "
            f"the description, the options and the compiler, {job.tools.compiler.version}"
        ) from error
