"""rbdc explain."""

from __future__ import annotations

from typing import Any

import click

from rbdc.cli.options import takes
from rbdc.cli.support import show_warnings
from rbdc.errors import OptionError
from rbdc.options import READING, BuildOptions


@click.command(epilog="Example: rbdc explain double_pendulum --neglect 1e-3")
@click.argument("description")
@takes(*READING)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "latex", "html"]),
    default="text",
    show_default=True,
    help="How equations are written; html needs nothing but a browser.",
)
@click.option(
    "--neglect",
    type=float,
    default=0.0,
    show_default=True,
    help="Take numbers of at most this share of the largest of their kind in a body as zero.",
)
def explain(description: str, form: str, neglect: float, **given: Any) -> None:
    """Print the equations of motion of a small robot in closed form: M, C, g and tau over named constants.

    Derived from the DESCRIPTION by Euler and Lagrange, with SymPy, apart from all that is generated. Robots
    of up to four revolute and prismatic joints; --lock fixes some of a larger one's.
    """
    from rbdc.analysis.presentation import explain as explained
    from rbdc.model.notes import warnings_of
    from rbdc.pipeline import read

    if not 0.0 <= neglect < 1.0:
        raise OptionError(f"--neglect {neglect}: give a number from 0 to less than 1, as 1e-3")
    model = read(description, BuildOptions(**given))
    show_warnings(warnings_of(model))
    click.echo(explained(model, form, neglect), nl=False)
