"""Calls of external functions by CasADi itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import VerificationError
from rbdc.functions.declarations import FunctionDeclaration

Array = NDArray[np.floating[Any]]


def answer(
    library: Path,
    symbol: str,
    declaration: FunctionDeclaration,
    arrays: Sequence[Array | None],
    extra: tuple[int, ...],
) -> list[Array]:
    """Return the outputs, (states, *shape) each, of the external function `symbol` for the required inputs.
    Raises VerificationError if CasADi cannot call it, or if names of inputs and outputs are wrong.
    """
    import casadi  # other libraries do not need it

    inputs = [x for p, x in zip(declaration.inputs, arrays, strict=True) if x is not None and not p.optional]
    names = [*(p.name for p in declaration.required), *declaration.place]
    outputs, by_state = declaration.outputs, []
    try:
        f = casadi.external(symbol, str(library))
        if (f.name_in(), f.name_out()) != (names, [y.name for y in outputs]):
            raise VerificationError(f"{symbol} has wrong names of inputs or outputs: {f}")
        for state in range(len(inputs[0])):
            values = f.call([casadi.DM(x[state].ravel()) for x in inputs] + [casadi.DM(k) for k in extra])
            by_state.append([np.array(y).reshape(p.shape) for p, y in zip(outputs, values, strict=True)])
    except (RuntimeError, ValueError) as refusal:
        raise VerificationError(f"{symbol} cannot be called by CasADi: {refusal}") from refusal
    return [np.array(states) for states in zip(*by_state, strict=True)]
