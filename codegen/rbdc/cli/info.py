"""rbdc info, rbdc explain and rbdc list."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rbdc.cli.support import AS_JSON, Failure, show_warnings, showing, takes, wrote
from rbdc.cli.wording import in_commands
from rbdc.errors import OptionError
from rbdc.options import READING, BuildOptions

if TYPE_CHECKING:
    from rbdc.model import Problem

_BESIDE = "by default"
"""Stands for the file named after the robot, in the current folder."""


@click.command(epilog="Example: rbdc info panda --mimic coupled")
@click.argument("description")
@takes(*READING)
@click.option(
    "--passes", "with_passes", is_flag=True, help="Also show the savings of each model pass; takes seconds."
)
@click.option("--branches", "with_branches", is_flag=True, help="Also show the branches of the tree.")
@click.option(
    "--identifiability",
    "with_base",
    is_flag=True,
    help="Also show the inertial parameters that torques determine.",
)
@AS_JSON
@click.option(
    "--html",
    "page",
    is_flag=False,
    flag_value=_BESIDE,
    metavar="[FILE]",
    help="Write a page in place of the text: a moving figure, tables, warnings, sparsity, operations. "
    "The default FILE is NAME.html, with the robot's name; - is the standard output.",
)
@takes("functions", "preset", "regressor")
@click.option(
    "--strict", is_flag=True, help="Exit with status 1 if the description has warnings, as a gate for CI."
)
def info(
    description: str,
    with_passes: bool,
    with_branches: bool,
    with_base: bool,
    as_json: bool,
    page: str | None,
    strict: bool,
    **values: Any,
) -> None:
    """Show the tree, the joints, the degrees of freedom, the masses and the warnings of a DESCRIPTION.

    --functions and --preset choose the functions whose forms and operations the page of --html shows.
    --regressor chooses the parameters of --identifiability.

    Exit status 1: with --strict, the description has warnings; 2: the description cannot be read.
    """
    from rbdc.pipeline import read

    options = BuildOptions(**values)
    model = read(description, options)
    if page is not None:
        flags = ("--json", as_json), ("--passes", with_passes), ("--branches", with_branches)
        if beside := [name for name, on in (*flags, ("--identifiability", with_base)) if on]:
            raise OptionError(f"--html and {beside[0]} exclude each other: leave one out")
        _write_page(description, model, options, page)
        show_warnings(model.warnings)
    else:
        if options.gives("functions") or options.gives("preset"):
            raise OptionError("`functions` and `preset` need --html")
        if options.gives("regressor") and not with_base:
            raise OptionError("`regressor` needs --identifiability or --html")
        _show(description, model, options, (with_passes, with_branches, with_base), as_json=as_json)
    if strict and model.warnings:
        count = f"{len(model.warnings)} warning{'s' if len(model.warnings) > 1 else ''}"
        raise Failure(f"{model.place}: {count} (--strict)", 1)


def _write_page(description: str, model: Problem, options: BuildOptions, page: str) -> None:
    from rbdc.analysis.figures.page import robot_page
    from rbdc.emit.names import robot_name
    from rbdc.functions.catalogue import select
    from rbdc.native.scratch import placed

    names = select(model, options.functions, options.preset)
    file = Path(f"{robot_name(description, model, None)}.html" if page == _BESIDE else page)
    with showing(f"{len(names)} functions", at_once=False):
        text = robot_page(model, names, options.functions, cpu_count() or 1, in_commands)
    if page == "-":
        click.echo(text, nl=False)
    else:
        wrote(placed(file.parent, {file.name: text}, "--html"))


def _show(
    description: str, model: Problem, options: BuildOptions, also: Sequence[bool], *, as_json: bool
) -> None:
    """Show a model on the terminal, or as JSON. also: whether to show passes, branches, base parameters."""
    from rbdc.analysis import model_summary
    from rbdc.pipeline import read

    with_passes, with_branches, with_base = also
    data = model_summary.as_data(model)
    if with_passes:
        from rbdc.analysis.pass_statistics import limb_groups, stages

        written = read(description, replace(options, snap=0.0))
        steps = stages(written, model, options.snap)
        data["passes"] = [{**stage, "meaning": in_commands(stage["meaning"])} for stage in steps]
        data["limbs"] = limb_groups(model)
    if with_branches:
        data["branches"] = model_summary.branches_of(model)
    if with_base:
        from rbdc.analysis.identifiability import identifiability, show_identifiability

        data["identifiability"] = identifiability(model)
    if as_json:
        click.echo(json.dumps(data, indent=2))
        return
    model_summary.show_model(data)
    if with_base:
        show_identifiability(data["identifiability"])
    show_warnings(data["warnings"])


@click.command("list", epilog="Example: rbdc list --json")
@AS_JSON
def list_robots(as_json: bool) -> None:
    """List the robots that ship with rbdc. Each name can replace a path."""
    from rbdc.model import Model
    from rbdc.resources import resolve, robot_names

    rows = [(name, Model.from_file(resolve(name))) for name in robot_names()]
    if as_json:
        sizes = [{"name": name, "nq": m.nq, "nv": m.nv, "joints": m.njoints} for name, m in rows]
        click.echo(json.dumps(sizes))
        return
    for name, model in rows:
        click.echo(f"{name:28} nq {model.nq:3}  nv {model.nv:3}")


@click.command(epilog="Example: rbdc explain double_pendulum --neglect 1e-3")
@click.argument("description")
@takes(*READING)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "latex", "html"]),
    default="text",
    show_default=True,
    help="Format of the equations; html needs only a browser.",
)
@click.option(
    "--neglect",
    type=float,
    default=0.0,
    show_default=True,
    help="Neglect constants of a body up to this fraction of the body's largest constant of the same kind.",
)
def explain(description: str, form: str, neglect: float, **values: Any) -> None:
    """Print the equations of motion of a small robot in closed form: M, C, g and tau with named constants.

    SymPy derives them from the DESCRIPTION by the Euler-Lagrange equations, independently of generated code.
    Robots of up to four revolute and prismatic joints are supported; --lock fixes joints of larger robots.
    """
    from rbdc.analysis.presentation import explain as explained
    from rbdc.pipeline import read

    if not 0.0 <= neglect < 1.0:
        raise OptionError(f"--neglect {neglect}: give a number from 0 to less than 1, such as 1e-3")
    model = read(description, BuildOptions(**values))
    show_warnings(model.warnings)
    click.echo(explained(model, form, neglect), nl=False)
