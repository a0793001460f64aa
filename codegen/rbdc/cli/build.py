"""rbdc build."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rbdc.cli.support import AS_JSON, EXPECTED, Failure, Grouped, failure_of, show_warnings, showing, takes
from rbdc.errors import OptionError
from rbdc.options import BuildOptions

if TYPE_CHECKING:
    from rbdc.build_result import BuildResult


class _Build(Grouped):
    """The command whose help also lists the functions of the presets."""

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
def build(descriptions: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Generate and compile a module for each DESCRIPTION: a URDF file, or a robot that ships with rbdc.

    In a folder that holds an older package only files are replaced or removed that rbdc wrote and nobody has
    changed, by the hashes in manifest.json. What you added stays; a generated file that you edited is kept as
    NAME.orig.
    """
    if given["name"] is not None and len(descriptions) > 1:
        raise OptionError("--name names one module; build the descriptions one at a time")
    options = BuildOptions(**given)
    results, failures = _build_all(descriptions, options)
    if as_json:
        click.echo(json.dumps([{**asdict(r), "directory": str(r.directory)} for r in results], indent=2))
    else:
        for result in results:
            _show(result)
    if failures:
        messages = "\nrbdc: error: ".join(failed.message for failed in failures)
        raise Failure(messages, max(failed.exit_code for failed in failures))


def _build_all(
    descriptions: tuple[str, ...], options: BuildOptions
) -> tuple[list[BuildResult], list[Failure]]:
    """Results and failures, of one in this process, of several in their own; warnings to standard error."""
    from rbdc.pipeline import build_package

    _refuse_same_names(descriptions, options)
    failures: list[Failure] = []
    if len(descriptions) == 1:
        with showing(descriptions[0]) as progress:
            results = [build_package(descriptions[0], options, progress)]
    else:
        results, failures = _build_in_processes(descriptions, options)
    for result in results:
        show_warnings(result.warnings)
    return results, failures


def _build_in_processes(
    descriptions: tuple[str, ...], options: BuildOptions
) -> tuple[list[BuildResult], list[Failure]]:
    """All of them, whichever fail: results and failures, each in the order of the descriptions."""
    from rbdc.pipeline import sweep_leftovers
    from rbdc.processes import spread

    with showing(f"{len(descriptions)} robots") as progress:
        try:
            work = partial(_attempt, options=options)
            processes = os.cpu_count() or 1
            outcomes = spread(work, descriptions, processes, lambda d: progress(f"{d!a}: building"), _killed)
        except KeyboardInterrupt:
            sweep_leftovers(options)  # of the processes that were ended
            raise
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    return [outcome for outcome in outcomes if not isinstance(outcome, Failure)], failures


def _killed(description: str) -> BuildResult | Failure:
    return Failure(f"{description!a}: a build process was killed; build fewer robots at once")


def _attempt(description: str, options: BuildOptions) -> BuildResult | Failure:
    """A failure is returned, for not every exception survives the way back from a process."""
    from rbdc.pipeline import build_package

    try:
        return build_package(description, options)
    except EXPECTED as error:
        return failure_of(error)


def _refuse_same_names(descriptions: tuple[str, ...], options: BuildOptions) -> None:
    from rbdc.emit.names import module_name

    names: dict[str, str] = {}
    for description in descriptions:
        name = module_name(Path(description).stem)
        if name in names and options.name is None:
            raise OptionError(
                f"{names[name]!a} and {description!a} would both become {name}; build them apart with --name"
            )
        names[name] = description


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
"""Columns of a terminal that has room for everything."""
_LEFT_OUT = ("add", "mul", "div", "libm")
"""Headings that narrower ones do without."""


def _show(result: BuildResult) -> None:
    from rbdc.analysis.tables import Table, console, show_table, tell

    how = "unchanged, from the cache" if result.cached else "built"
    seconds = f"generation {result.generation_seconds:.2f} s, compiling {result.compile_seconds:.2f} s"
    verifying = "not verified" if result.errors is None else f"verifying {result.verification_seconds:.2f} s"
    detail = "" if result.cached else f" ({seconds}, {verifying})"
    columns = {"style": "style"} if any(f.style != "unrolled" for f in result.functions) else {}
    columns |= _COLUMNS
    title = f"{result.directory}: {how} in {result.seconds:.2f} s{detail}"
    rows = [[f.name, *(str(getattr(f, name)) for name in columns)] for f in result.functions]
    table = Table(title, ["function", *columns.values()], rows)
    wide = console().width >= _WIDE
    show_table(table.only(*(name for name in table.head if wide or name not in _LEFT_OUT)))
    if len(result.variants) > 1:
        sizes = ", ".join(f"{variant.name} {variant.code_bytes}" for variant in result.variants)
        tell([f"code bytes by variant: {sizes}"])
