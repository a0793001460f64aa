"""Selects the variant of the compiled library that the processor can run. It is copied into each generated
package. The choice precedes all code of a variant: the functions that make it were compiled for
every processor.
"""

from __future__ import annotations

import os
from typing import Any

from ._suggestions import suggestion

VARIABLE = "RBDC_VARIANT"
"""Environment variable that names a variant, for modules with several."""
NATIVE = "native"
"""Name of the only variant of a module that was compiled for one kind of processor."""


class ProcessorError(ImportError):
    """The processor cannot run the compiled code, or the variant that was asked for does not exist."""


def variants(native: Any) -> dict[str, tuple[str, list[str]]]:
    """Return, for each variant of a library, the prefix of its C functions and the extensions that this
    processor lacks.
    """
    lines = native.ffi.string(native.lib.rbdc_variants()).decode().splitlines()
    return {
        name: (prefix, [e for e in extensions if not native.lib.rbdc_has(e.encode())])
        for name, prefix, *extensions in map(str.split, lines)
    }


def choose(native: Any, robot: str) -> tuple[str, str]:
    """Return the variant to use and the prefix of its C functions.

    The variant is the one that `VARIABLE` names, or else the last one whose extensions the processor has.
    """
    known = variants(native)
    able = [name for name, (_, lacking) in known.items() if not lacking]
    asked = "" if NATIVE in known else os.environ.get(VARIABLE, "")
    if asked and asked not in known:
        raise ProcessorError(
            f"{robot}: {VARIABLE} names no variant: {asked!r}; {suggestion(asked, known)}", name=robot
        )
    if not able:
        remedy = "build it on this processor, or for all with `march='portable'`"
        raise ProcessorError(_refusal(robot, next(iter(known.values()))[1], remedy), name=robot)
    if asked and asked not in able:
        remedy = f"unset {VARIABLE}, or set it to {' or '.join(able)}"
        raise ProcessorError(_refusal(f"{robot}, variant {asked}", known[asked][1], remedy), name=robot)
    chosen = asked or able[-1]
    return chosen, known[chosen][0]


def _refusal(what: str, missing: list[str], remedy: str) -> str:
    needed = ", ".join(missing)
    return f"{what}: compiled for processors with {needed}, which this processor lacks; {remedy}"
