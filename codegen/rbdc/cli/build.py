"""rbdc build."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rbdc.cli.support import (
    EXPECTED,
    Failure,
    Progress,
    fext_option,
    message_of,
    model_options,
    parameter_options,
)
from rbdc.errors import OptionError

if TYPE_CHECKING:
    from rbdc.build_result import BuildResult
    from rbdc.options import BuildOptions


class _Build(click.Command):
    """The command whose help lists the functions of the presets."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from rbdc.functions.catalogue import presets

        super().format_options(ctx, formatter)
        listed: list[tuple[str, str]] = []
        less: tuple[str, ...] = ()
        for name, functions in presets().items():
            more = ", ".join(function for function in functions if function not in less)
            nested = set(less) <= set(functions)
            listed.append((name, f"those of {listed[-1][0]}, {more}" if listed and nested else more))
            less = functions
        with formatter.section("Presets"):
            formatter.write_dl(listed)


@click.command(
    cls=_Build,
    epilog="Example: rbdc build kuka_iiwa --preset full && "
    "python -c \"import rbdc; print(rbdc.load('generated/kuka_iiwa').nq)\"",
)
@click.argument("descriptions", nargs=-1, required=True, metavar="DESCRIPTION...")
@model_options
@parameter_options
@fext_option
@click.option("--name", help="The module's name; by default made from the description's.")
@click.option("--functions", help="Comma-separated names of functions, in place of a preset.")
@click.option(
    "--preset", default="control", show_default=True, help="control, optimisation or full: see below."
)
@click.option(
    "--fuse",
    multiple=True,
    help="Comma-separated functions behind one entry point; frames as frame_jacobian@LINK.",
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("generated"), show_default=True
)
@click.option(
    "--dtype",
    default="float64",
    show_default=True,
    help="float64; float32: single precision throughout, about 1e-6.",
)
@click.option(
    "--targets",
    default="c,batch",
    show_default=True,
    help="c; batch: many samples at once in vectors, else in a loop; casadi, jax: for these.",
)
@click.option(
    "--style", default="unrolled", show_default=True, help="unrolled, rolled (loops: small code) or auto."
)
@click.option(
    "--tensor-layout",
    default="dense",
    show_default=True,
    help="dense; sparse: of second derivatives the entries that are not always zero.",
)
@click.option(
    "--march",
    default="native",
    show_default=True,
    help="native: for this processor; portable: for every one, in several variants.",
)
@click.option("--cc", help="The C compiler; by default $CC, the newest clang, gcc or cc.")
@click.option("--cflags", help="Compiler flags in place of rbdc's, separated by blanks.")
@click.option(
    "--jobs", type=int, help="Processes at once that generate or compile; by default one per processor."
)
@click.option(
    "--force",
    is_flag=True,
    help="Generate and verify even if nothing changed; the same C is not compiled again.",
)
@click.option(
    "--no-verify",
    "verify",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Install what was compiled without comparing it with the recursions of the literature.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def build(descriptions: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Generate and compile a module for each DESCRIPTION: a URDF file, or a robot that ships with rbdc.

    In a folder that holds an older package only files are replaced or removed that rbdc wrote and nobody has
    changed, by the hashes in manifest.json. What you added stays; a generated file that you edited is kept as
    NAME.orig.
    """
    from rbdc.options import BuildOptions

    if given["name"] is not None and len(descriptions) > 1:
        raise OptionError("--name names one module; build the descriptions one at a time")
    options = BuildOptions(
        name=given["name"],
        functions=None if given["functions"] is None else names_in(given["functions"]),
        preset=given["preset"],
        fuse=tuple(names_in(group) for group in given["fuse"]),
        root_joint=given["root_joint"],
        mimic=given["mimic"],
        joint_order=given["joint_order"],
        gravity=given["gravity"],
        snap=given["snap"],
        allow_invalid_inertia=given["allow_invalid_inertia"],
        armature=given["armature"],
        damping=given["damping"],
        springs=given["springs"],
        xacro_arguments=given["xacro_arguments"],
        lock=given["lock"],
        base=given["base"],
        frames=given["frames"],
        parameters=given["parameters"],
        payloads=given["payloads"],
        fext_frame=given["fext_frame"],
        out=given["out"],
        dtype=given["dtype"],
        targets=tuple(given["targets"].split(",")),
        style=given["style"],
        tensor_layout=given["tensor_layout"],
        march=given["march"],
        compiler=given["cc"],
        cflags=None if given["cflags"] is None else tuple(given["cflags"].split()),
        jobs=given["jobs"],
        force=given["force"],
        verify=given["verify"],
    )
    results, failures = _build_all(descriptions, options)
    if as_json:
        click.echo(json.dumps([{**asdict(r), "directory": str(r.directory)} for r in results], indent=2))
    else:
        for result in results:
            _show(result)
    if failures:
        messages = "\nrbdc: error: ".join(failed.message for failed in failures)
        raise Failure(messages, max(failed.exit_status for failed in failures))


def names_in(text: str) -> tuple[str, ...]:
    """The names in a comma-separated list."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _build_all(
    descriptions: tuple[str, ...], options: BuildOptions
) -> tuple[list[BuildResult], list[Failed]]:
    """Results and failures, of one in this process, of several in their own; warnings to standard error."""
    from rbdc.pipeline import build_package

    _refuse_same_names(descriptions, options)
    failures: list[Failed] = []
    if len(descriptions) == 1:
        with Progress(descriptions[0]) as progress:
            results = [build_package(descriptions[0], options, progress)]
    else:
        results, failures = _build_in_processes(descriptions, options)
    for result in results:
        for warning in result.warnings:
            click.echo(f"warning: {warning}", err=True)
    return results, failures


def _build_in_processes(
    descriptions: tuple[str, ...], options: BuildOptions
) -> tuple[list[BuildResult], list[Failed]]:
    """All of them, whichever fail: results and failures, each in the order of the descriptions."""
    from rbdc.pipeline import sweep_leftovers
    from rbdc.workers import spread_apart

    with Progress(f"{len(descriptions)} robots") as progress:
        try:
            work = partial(_attempt, options=options)
            processes = os.cpu_count() or 1
            outcomes = spread_apart(
                work, descriptions, processes, _killed, lambda d: progress(f"{d!a}: building")
            )
        except KeyboardInterrupt:
            sweep_leftovers(options)  # of the processes that were ended
            raise
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    return [outcome for outcome in outcomes if not isinstance(outcome, Failed)], failures


class Failed(NamedTuple):
    """A build that failed in a process of its own: not every exception survives pickling."""

    message: str
    exit_status: int


def _killed(description: str) -> BuildResult | Failed:
    return Failed(f"{description!a}: a build process was killed; build fewer robots at once", 2)


def _attempt(description: str, options: BuildOptions) -> BuildResult | Failed:
    from rbdc.pipeline import build_package

    try:
        return build_package(description, options)
    except EXPECTED as error:
        return Failed(message_of(error), getattr(error, "exit_status", 2))


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


_WIDE = 121
"""Columns of a terminal that has room for everything."""
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


def _show(result: BuildResult) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    how = "unchanged, from the cache" if result.cached else "built"
    seconds = f"generation {result.generation_seconds:.2f} s, compiling {result.compile_seconds:.2f} s"
    verifying = "not verified" if result.errors is None else f"verifying {result.verification_seconds:.2f} s"
    detail = "" if result.cached else f" ({seconds}, {verifying})"
    terminal = Console()
    console = terminal if terminal.is_terminal else Console(width=_WIDE)
    left_out = () if console.width >= _WIDE else ("add", "mul", "div", "libm")
    columns = {key: heading for key, heading in _COLUMNS.items() if heading not in left_out}
    if any(figures.style != "unrolled" for figures in result.functions):
        columns = {"style": "style", **columns}
    title = f"{result.directory}: {how} in {result.seconds:.2f} s{detail}"
    table = Table("function", title=escape(title), title_justify="left")
    table.columns[0].no_wrap = True
    for heading in columns.values():
        table.add_column(heading, justify="right")
    for figures in result.functions:
        table.add_row(figures.name, *(str(getattr(figures, name)) for name in columns))
    console.print(table)
    if len(result.variants) > 1:
        sizes = ", ".join(f"{variant.name} {variant.code_bytes}" for variant in result.variants)
        console.print(f"code bytes by variant: {sizes}", highlight=False)
