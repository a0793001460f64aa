"""Which variant of the compiled library the processor can run. It is copied into each generated package, and
decides before any of the library's code runs: what it calls for that was compiled for every processor.
"""

from __future__ import annotations

import os
from typing import Any

VARIABLE = "RBDC_VARIANT"
"""The variable of the environment that names a variant of the modules that have several."""
NATIVE = "native"
"""The only variant of a module that was compiled for one kind of processor."""


class ProcessorError(ImportError):
    """The processor cannot run what was compiled, or what was asked for is not there."""


def choose(native: Any, robot: str) -> tuple[str, str]:
    """The variant to use, and how the names of its C functions begin.

    It is the one that `VARIABLE` names, or else the last of which the processor has all extensions.
    """
    lines = native.ffi.string(native.lib.rbdc_variants()).decode().splitlines()
    variants = {name: (prefix, extensions) for name, prefix, *extensions in map(str.split, lines)}
    missing = {
        name: [e for e in needed if not native.lib.rbdc_has(e.encode())]
        for name, (_, needed) in variants.items()
    }
    able = [name for name, lacking in missing.items() if not lacking]
    asked = "" if NATIVE in variants else os.environ.get(VARIABLE, "")
    if asked and asked not in variants:
        raise ProcessorError(
            f"{robot}: no variant {asked!r}, which {VARIABLE} names; there are {', '.join(variants)}",
            name=robot,
        )
    if not able:
        remedy = "build it again on this one, or for every one with: rbdc build --march portable"
        raise ProcessorError(_refusal(robot, missing[next(iter(variants))], remedy), name=robot)
    if asked and asked not in able:
        remedy = f"unset {VARIABLE}, or let it name {' or '.join(able)}"
        raise ProcessorError(_refusal(f"{robot}, variant {asked}", missing[asked], remedy), name=robot)
    chosen = asked or able[-1]
    return chosen, variants[chosen][0]


def _refusal(what: str, missing: list[str], remedy: str) -> str:
    needed = ", ".join(missing)
    return f"{what}: compiled for processors that have {needed}, which this processor lacks; {remedy}"
