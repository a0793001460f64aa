"""rbdc wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rbdc.cli.support import Progress, fext_option, model_options


@click.command(epilog="Example: rbdc wheel kuka_iiwa && pip install wheels/kuka_iiwa-*.whl")
@click.argument("description")
@model_options
@fext_option
@click.option("--name", help="The module's name; by default made from the description's.")
@click.option("--functions", help="Comma-separated names of functions, in place of a preset.")
@click.option("--preset", default="control", show_default=True, help="control, optimisation or full.")
@click.option("--dtype", default="float64", show_default=True, help="float64 or float32.")
@click.option(
    "--license",
    "licences",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file with the licence of the description; by default LICENSE, COPYING and NOTICE beside it.",
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("wheels"), show_default=True
)
@click.option("--cc", help="The C compiler; by default $CC, the newest clang, gcc or cc.")
@click.option("--jobs", type=int, help="Processes at once; by default one per processor.")
def wheel(description: str, licences: tuple[Path, ...], out: Path, **given: Any) -> None:
    """Build a module for every x86-64 processor and pack it as a wheel, which needs NumPy and cffi only.

    Elsewhere than on x86-64 the wheel is for the processors of this kind.
    """
    from rbdc.cli.build import names_in
    from rbdc.native.scratch import temporary
    from rbdc.native.wheel import licences_beside, make_wheel
    from rbdc.options import BuildOptions
    from rbdc.pipeline import build_package
    from rbdc.resources import resolve

    functions = None if given["functions"] is None else names_in(given.pop("functions"))
    options = {name: value for name, value in given.items() if name not in ("functions", "cc")}
    with temporary() as folder, Progress(description) as progress:
        options |= {"functions": functions, "compiler": given["cc"], "march": "portable", "out": folder}
        result = build_package(description, BuildOptions(**options), progress)
        made = make_wheel(result.directory, out, licences or licences_beside(Path(resolve(description))))
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(str(made))
