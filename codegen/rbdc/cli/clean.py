"""rbdc clean."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rbdc.cli.support import AS_JSON, Failure, out


@click.command(epilog="Example: rbdc clean --out generated --cache")
@out("generated")
@click.option("--cache", "with_cache", is_flag=True, help="Empty the cache of compiled code too.")
@AS_JSON
def clean(out: Path, with_cache: bool, as_json: bool) -> None:
    """Remove the generated packages in --out, and all that killed processes left.

    These leave folders in --out, in the cache and among temporary files.

    Only files are removed that rbdc wrote, by the hashes in manifest.json; what you added or edited stays and
    is named. Exit status 2: something could not be removed.
    """
    from rbdc.native.cache import clear, sweep_scratch
    from rbdc.native.install import remove_packages
    from rbdc.native.scratch import sweep_temporary

    sweep_scratch()
    sweep_temporary()
    done = remove_packages(out)
    artefacts, problems = clear() if with_cache else (0, [])
    if as_json:
        kept = {str(folder): names for folder, names in done.kept.items()}
        removed = [str(folder) for folder in done.removed]
        click.echo(json.dumps({"removed": removed, "kept": kept, "cached_artefacts": artefacts}))
    else:
        for folder in done.removed:
            click.echo(f"removed {folder}")
        for folder, names in done.kept.items():
            click.echo(
                f"kept in {folder}, not as rbdc wrote it: {', '.join(ascii(name)[1:-1] for name in names)}"
            )
        click.echo(f"{len(done.removed)} packages, {artefacts} cached artefacts removed")
    if done.problems or problems:
        raise Failure("; ".join([*done.problems, *([_shortened(problems)] if problems else [])]))


def _shortened(problems: list[str]) -> str:
    more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return f"cannot empty the cache: {problems[0]}{more}; check the permissions there, or set RBDC_CACHE"
