"""Which variant of the compiled library the processor can run. It is copied into each generated package, and
decides before any of the library's code runs: what it calls for that was compiled for every processor.
"""

from __future__ import annotations

import os
from typing import Any

from ._suggestions import suggestion

VARIABLE = "RBDC_VARIANT"
"""The variable of the environment that names a variant of the modules that have several."""
NATIVE = "native"
"""The only variant of a module that was compiled for one kind of processor."""


class ProcessorError(ImportError):
    """The processor cannot run what was compiled, or what was asked for is not there."""


def variants(native: Any) -> dict[str, tuple[str, list[str]]]:
    """How the names of C functions begin in each variant of a library, and the extensions that it needs
    and this processor lacks.
    """
    lines = native.ffi.string(native.lib.rbdc_variants()).decode().splitlines()
    return {
        name: (prefix, [e for e in extensions if not native.lib.rbdc_has(e.encode())])
        for name, prefix, *extensions in map(str.split, lines)
    }


def choose(native: Any, robot: str) -> tuple[str, str]:
    """The variant to use, and how the names of its C functions begin.

    It is the one that `VARIABLE` names, or else the last of which the processor has all extensions.
    """
    known = variants(native)
    able = [name for name, (_, lacking) in known.items() if not lacking]
    asked = "" if NATIVE in known else os.environ.get(VARIABLE, "")
    if asked and asked not in known:
        raise ProcessorError(
            f"{robot}: no variant {asked!r}, which {VARIABLE} names; {suggestion(asked, known)}", name=robot
        )
    if not able:
        remedy = "build it again on this one, or for every one with `march='portable'`"
        raise ProcessorError(_refusal(robot, next(iter(known.values()))[1], remedy), name=robot)
    if asked and asked not in able:
        remedy = f"unset {VARIABLE}, or let it name {' or '.join(able)}"
        raise ProcessorError(_refusal(f"{robot}, variant {asked}", known[asked][1], remedy), name=robot)
    chosen = asked or able[-1]
    return chosen, known[chosen][0]


def _refusal(what: str, missing: list[str], remedy: str) -> str:
    needed = ", ".join(missing)
    return f"{what}: compiled for processors that have {needed}, which this processor lacks; {remedy}"
