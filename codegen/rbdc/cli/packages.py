"""The commands that build, pack and remove packages: rbdc build, rbdc wheel, rbdc clean."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rbdc.cli.support import (
    AS_JSON,
    EXPECTED,
    Failure,
    Grouped,
    failure_of,
    out,
    show_warnings,
    showing,
    takes,
)
from rbdc.cli.tuning import gained
from rbdc.errors import OptionError
from rbdc.options import BuildOptions
from rbdc.planning.calibration import CLIMB, STRAIGHT_LINE
from rbdc.progress import Share
from rbdc.resources import title_of

if TYPE_CHECKING:
    from rbdc.build_result import BuildResult


_OF_ONE = {"name": "names one module", "tune": "times one module, alone"}
"""Options that apply to the build of a single description, each with the reason."""


class _Build(Grouped):
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from rbdc.functions.catalogue import presets, without_preset

        super().format_options(ctx, formatter)
        listed: list[tuple[str, str]] = []
        less: tuple[str, ...] = ()
        for name, functions in presets().items():
            more = ", ".join(function for function in functions if function not in less)
            nested = set(less) <= set(functions)
            listed.append((name, f"those of {listed[-1][0]}, {more}" if listed and nested else more))
            less = functions
        listed.append(("by name", ", ".join(without_preset())))
        with formatter.section("Presets"):
            formatter.write_dl(listed)


@click.command(
    cls=_Build,
    epilog="Example: rbdc build kuka_iiwa --preset full && "
    "python -c \"import rbdc; print(rbdc.load('generated/kuka_iiwa').nq)\"",
)
@click.argument("descriptions", nargs=-1, required=True, metavar="DESCRIPTION...")
@takes()
@AS_JSON
def build(descriptions: tuple[str, ...], as_json: bool, **values: Any) -> None:
    """Generate and compile a module for each DESCRIPTION: a file, its text, or a robot that ships with rbdc.

    In a folder with an older package, only files that rbdc wrote and nobody changed are replaced or removed;
    the hashes in manifest.json decide. Your other files stay. A generated file that you edited is kept as
    NAME.orig.
    """
    for name, problem in _OF_ONE.items():
        if values[name] is not None and len(descriptions) > 1:
            raise OptionError(f"--{name} {problem}; build the descriptions one at a time")
    outcomes = _build_all(descriptions, BuildOptions(**values))
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    results = [outcome for outcome in outcomes if not isinstance(outcome, Failure)]
    for result in results:
        show_warnings(result.news)
    if as_json:
        click.echo(json.dumps([_as_data(result) for result in results], indent=2))
    else:
        for result in results:
            _show(result)
    if failures:
        messages = "\nrbdc: error: ".join(failed.message for failed in failures)
        raise Failure(messages, max(failed.exit_code for failed in failures))


def _build_all(descriptions: tuple[str, ...], options: BuildOptions) -> list[BuildResult | Failure]:
    """Build one description in this process and raise its error, or several in separate processes and return
    their errors.
    """
    from rbdc.native.install import sweep_leftovers
    from rbdc.processes import spread
    from rbdc.tuning.build import built

    if len(descriptions) == 1:
        with showing(title_of(descriptions[0]), at_once=False) as progress:
            return [built(descriptions[0], options, progress)]
    names = _names(descriptions)
    with showing(f"{len(descriptions)} robots", at_once=False) as progress:
        try:
            share = Share(progress, {("done", name): 1.0 for name in names.values()})
            work = partial(_attempt, options=options)
            processes = os.cpu_count() or 1
            return spread(work, descriptions, processes, lambda d: share.done("done", names[d]), _killed)
        except KeyboardInterrupt:
            sweep_leftovers(options.out)  # of the processes that were ended
            raise


def _killed(description: str) -> BuildResult | Failure:
    return Failure(f"{title_of(description)!a}: a build process was killed; build fewer robots at once")


def _attempt(description: str, options: BuildOptions) -> BuildResult | Failure:
    """Build a description; return its failure, because not every exception survives the way back from a
    process.
    """
    from rbdc.pipeline import build_package

    try:
        return build_package(description, options)
    except EXPECTED as error:
        return failure_of(error)


def _names(descriptions: tuple[str, ...]) -> dict[str, str]:
    """Return the names of the packages by description. Raises OptionError if two names are equal."""
    from rbdc.emit.names import module_name
    from rbdc.model.text import stem_of

    names, by_description = dict[str, str](), dict[str, str]()
    for description in descriptions:
        name, title = module_name(stem_of(description)), title_of(description)
        if name in names:
            raise OptionError(
                f"{names[name]!a} and {title!a} would both become {name}; build each alone, with --name"
            )
        names[name] = title
        by_description[description] = name
    return by_description


_COLUMNS = {
    "operations": "operations",
    "additions": "add",
    "multiplications": "mul",
    "divisions": "div",
    "calls": "libm",
    "statements": "statements",
    "code_bytes": "code bytes",
    "stack_bytes": "stack bytes",
    "batch_code_bytes": "batch bytes",
}
_WIDE = 121
"""Number of terminal columns that shows all figures."""
_LEFT_OUT = ("add", "mul", "div", "libm")
"""Headings that narrower terminals leave out."""


def _as_data(result: BuildResult) -> dict[str, Any]:
    data = {**asdict(result), "directory": str(result.directory)}
    del data["news"]
    return data


def _show(result: BuildResult) -> None:
    from rbdc.analysis.pages import Table, console, show

    how = "unchanged, from the cache" if result.cached else "built"
    seconds = f"generation {result.generation_seconds:.2f} s, compiling {result.compile_seconds:.2f} s"
    verifying = "not verified" if result.errors is None else f"verifying {result.verification_seconds:.2f} s"
    detail = "" if result.cached else f" ({seconds}, {verifying})"
    notable = {f["form"] for f in result.functions} - {STRAIGHT_LINE, CLIMB}
    columns = {"form": "form"} if notable else {}
    columns |= _COLUMNS
    title = f"{result.directory}: {how} in {result.seconds:.2f} s{detail}"
    rows = [[f["name"], *(str(f[name]) for name in columns)] for f in result.functions]
    table = Table(title, ["function", *columns.values()], rows)
    wide = console().width >= _WIDE
    show(table.only(*(name for name in table.head if wide or name not in _LEFT_OUT)))
    if len(result.variants) > 1:
        sizes = ", ".join(f"{variant['name']} {variant['code_bytes']}" for variant in result.variants)
        show(f"code bytes by variant: {sizes}")
    left_out = result.unverified_states
    for states in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name in left_out if left_out[name] == states)
        show(f"not compared at ill-conditioned states ({', '.join(states)}): {names}")
    if result.tuned:
        show(gained(result.tuned))


@click.command(cls=Grouped, epilog="Example: rbdc wheel kuka_iiwa && pip install wheels/kuka_iiwa-*.whl")
@click.argument("description")
@takes(without=("out", "add", "march"))
@click.option(
    "--march",
    type=click.Choice(["portable"]),
    default="portable",
    show_default=True,
    help="Wheels run on every processor.",
)
@click.option(
    "--license",
    "licences",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file with the licence of the description; by default LICENSE, COPYING and NOTICE beside "
    "the description, and its comments that name a copyright.",
)
@out("wheels")
def wheel(description: str, licences: tuple[Path, ...], out: Path, **values: Any) -> None:
    """Build a module for every x86-64 processor and pack it as a wheel, which needs NumPy and cffi only.

    C and C++ get headers, a static library and CMake files: python -m NAME --cmake-dir prints their folder.
    Built on another architecture, the wheel is for that architecture.
    """
    from rbdc.cli.licences import licences_of
    from rbdc.native.scratch import temporary
    from rbdc.native.wheel import make_wheel
    from rbdc.pipeline import build_package

    options = BuildOptions(**values)
    with temporary() as folder, showing(title_of(description), at_once=False) as progress:
        texts = licences_of(description, licences)
        result = build_package(description, replace(options, out=folder), progress)
        archive = make_wheel(result.directory, out, texts, force=options.force)
    show_warnings(result.news)
    click.echo(str(archive))


@click.command(epilog="Example: rbdc clean --out generated --cache")
@out("generated")
@click.option("--cache", "with_cache", is_flag=True, help="Empty the cache of compiled code too.")
@AS_JSON
def clean(out: Path, with_cache: bool, as_json: bool) -> None:
    """Remove the generated packages in --out, and leftovers of killed processes.

    Leftovers are folders in --out, in the cache and among temporary files.

    Only files that rbdc wrote are removed; the hashes in manifest.json decide. Files that you added or edited
    stay and are named. A package that git tracks stays too. Exit status 2: something could not be removed.
    """
    from rbdc.native.cache import clear
    from rbdc.native.install import remove_packages

    done = remove_packages(out)
    artefacts, problems = clear() if with_cache else (0, [])
    if as_json:
        kept_files = {str(folder): names for folder, names in done.kept.items()}
        removed, in_git = ([str(folder) for folder in folders] for folders in (done.removed, done.tracked))
        data = {"removed": removed, "kept": kept_files, "tracked": in_git, "cached_artefacts": artefacts}
        click.echo(json.dumps(data))
    else:
        for folder in done.removed:
            click.echo(f"removed {folder}")
        for folder, names in done.kept.items():
            click.echo(
                f"kept in {folder}, added or edited by you: {', '.join(ascii(name)[1:-1] for name in names)}"
            )
        for folder in done.tracked:
            click.echo(f"kept {folder}, which git tracks")
        click.echo(f"{len(done.removed)} packages, {artefacts} cached artefacts removed")
    if done.problems or problems:
        raise Failure("; ".join([*done.problems, *([_shortened(problems)] if problems else [])]))


def _shortened(problems: list[str]) -> str:
    more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return f"cannot empty the cache: {problems[0]}{more}; check the permissions there, or set RBDC_CACHE"
