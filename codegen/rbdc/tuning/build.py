"""Builds: `rbdc.build`, and the measurement before a tuned build."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from rbdc.build_result import BuildResult
from rbdc.emit.names import robot_name
from rbdc.errors import RbdcWarning
from rbdc.model import Model
from rbdc.native.install import refuse_foreign
from rbdc.native.surroundings import Earlier
from rbdc.options import BuildArguments, BuildOptions, Progress, with_options
from rbdc.pipeline import Description, build_package, read
from rbdc.progress import shown
from rbdc.resources import title_of
from rbdc.runtime.load import load
from rbdc.tuning.choosing import busy, gains

if TYPE_CHECKING:
    from rbdc.runtime.module import GeneratedModule


@with_options
def build(
    description: Description, *, progress: bool | None = None, **options: Unpack[BuildArguments]
) -> GeneratedModule:
    """Build a module and load it: ``rbdc.build("kuka_iiwa").rnea(q, v, a)``.

    Args:
        description: a path, the name of a robot that ships with rbdc, the text of a description, or a
            `rbdc.Model`.
        progress: False shows no progress, True shows it at once. By default, terminals and notebooks show it
            at once; elsewhere lines on standard error begin after 10 seconds.
        options: the options below, by name, with the values of the command line: `functions="rnea,aba"` or
            `functions=["rnea", "aba"]`.

    Raises:
        RbdcError: the message has the place, the error and the remedy.

    Warns:
        RbdcWarning: everything in the description that changes the numbers of these functions, functions that
            the build removes, and files that do not belong to rbdc. One line counts other remarks on the
            description; the module's `warnings` have them all. A build that changes nothing does not warn
            again.
    """
    chosen = BuildOptions.of(dict(options))
    title = description.name if isinstance(description, Model) else title_of(description)
    with shown(f"building {title}", progress) as show:
        result = built(description, chosen, show)
        module = load(result.directory)
    for text in result.news:
        warnings.warn(text, RbdcWarning, stacklevel=2)
    return module


def built(
    description: Description, options: BuildOptions | None = None, progress: Progress | None = None
) -> BuildResult:
    """Build a description in the folder `options.out`. If `options.tune` is set, measure times first; nothing
    is written before the measurement ends.
    """
    options, show = options or BuildOptions(), progress or (lambda _: None)
    if options.tune is None:
        return build_package(description, options, show)
    from rbdc.tuning.measurement import measure

    model = read(description, options)
    destination = options.out / robot_name(description, model, options.name)
    refuse_foreign(destination)
    if not options.force:
        Earlier.of(destination).refuse_tracked()
    tuning = measure(model, options, show)
    compiler = options.tune_compilers[0] if options.tune_compilers else options.compiler
    chosen = replace(options, tune=None, tune_compilers=None, compiler=compiler, tuning=tuning)
    result = build_package(description, chosen, show)
    return replace(result, tuned=gains(tuning), news=(*result.news, *busy(tuning)))
