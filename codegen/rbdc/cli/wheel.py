"""rbdc wheel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from rbdc.cli.support import Grouped, out, show_warnings, showing, takes
from rbdc.options import BuildOptions


@click.command(cls=Grouped, epilog="Example: rbdc wheel kuka_iiwa && pip install wheels/kuka_iiwa-*.whl")
@click.argument("description")
@takes(without=("out", "march"))
@click.option(
    "--march",
    type=click.Choice(["portable"]),
    default="portable",
    show_default=True,
    help="A wheel runs on every processor.",
)
@click.option(
    "--license",
    "licences",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file with the licence of the description; by default LICENSE, COPYING and NOTICE beside it.",
)
@out("wheels")
def wheel(description: str, licences: tuple[Path, ...], out: Path, **given: Any) -> None:
    """Build a module for every x86-64 processor and pack it as a wheel, which needs NumPy and cffi only.

    Elsewhere than on x86-64 the wheel is for the processors of this kind.
    """
    from rbdc.native.scratch import temporary
    from rbdc.native.wheel import licences_beside, make_wheel
    from rbdc.pipeline import build_package
    from rbdc.resources import resolve

    options = BuildOptions(**given)
    with temporary() as folder, showing(description) as progress:
        result = build_package(description, replace(options, out=folder), progress)
        made = make_wheel(result.directory, out, licences or licences_beside(Path(resolve(description))))
    show_warnings(result.warnings)
    click.echo(str(made))
