"""Facts about a module for frameworks that differentiate (JAX, PyTorch): which function has the
derivatives of which. It is copied into each generated package and needs NumPy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ._charts import Chart, Join, Part


class Differential(NamedTuple):
    """Where the derivatives of a function are, by the names of other functions: `first` gives those by each
    input, `weighted` products of these with weights from the left, `second` those of inverse dynamics of
    second order; `inverse`: the function is the solution of that one for its last input;
    `configuration`: the result is one, of which `first` has the derivatives in the tangent space; external
    forces act as the result of `forces`, added to the input `through` or taken from the output of that name.
    """

    first: str
    weighted: str = ""
    second: str = ""
    inverse: bool = False
    configuration: bool = False
    forces: str = ""
    through: str = ""


class Known:
    """The derivatives of a module: of each function by name, as far as the functions that give them are
    built.
    """

    def __init__(self, differentials: Mapping[str, Differential], functions: Sequence[str]) -> None:
        self.differentials, self._functions = differentials, frozenset(functions)

    def of(self, name: str) -> Differential | None:
        """Where the derivatives of a function are; None where it has none, or they were not built."""
        found = self.differentials.get(name)
        return found if found is not None and found.first in self._functions else None

    def weighted(self, name: str) -> str:
        """The name of the function with the weighted derivatives; "" where it was not built."""
        found = self.differentials.get(name)
        return found.weighted if found is not None and found.weighted in self._functions else ""

    def second(self, first: str) -> tuple[str, Differential] | None:
        """The function whose first derivatives another one gives, if its second ones are there."""
        for name, found in self.differentials.items():
            if found.first == first and found.second in self._functions and name in self._functions:
                return name, found
        return None

    def rows(self, first: str) -> str:
        """The function whose derivatives give, with unit weights, those of the rows of derivatives; "" where
        there is none.
        """
        of = (
            f.weighted
            for name, f in self.differentials.items()
            if f.first == first and name in self._functions
        )
        return next((weighted for weighted in of if self.of(weighted) is not None), "")

    def forces(self, name: str) -> Differential | None:
        """How external forces enter a function, where the derivatives of what they do were built."""
        found = self.differentials.get(name)
        return found if found is not None and self.of(found.forces) is not None else None

    def refuse_input(self, name: str, argument: str) -> NoReturn:
        """Raise NotImplementedError for the derivatives by an optional input."""
        found = self.differentials.get(name)
        remedy = "keep it constant, or add what it does to the torques"
        if found is not None and found.forces and found.forces not in self._functions:
            remedy += f", as {found.forces} in --functions and its derivatives do for external forces"
        raise NotImplementedError(f"{name} has no derivatives by {argument}; {remedy}")

    def refuse(self, name: str) -> NoReturn:
        """Raise NotImplementedError for the derivatives of a function."""
        found = self.differentials.get(name)
        needed = [found.first] if found is not None else []
        needed += [found.second for found in self.differentials.values() if found.first == name]
        missing = [other for other in needed if other and other not in self._functions]
        remedy = f"; build it with --functions {','.join([name, *missing])}" if missing else ""
        if name in (found.weighted for found in self.differentials.values()):
            remedy = '; of what it is the gradient of mode="jvp" has second derivatives'
        raise NotImplementedError(f"{name} has no derivatives here{remedy}")


class OfFramework:
    """A function of a module for a framework: it pickles as its name, beside the module's handle."""

    def __init__(self, functions: Any, name: str, doc: str | None, call: Callable[..., Any]) -> None:
        self.__name__, self.__doc__, self.__wrapped__ = name, doc, call
        self._functions = functions

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        try:
            return self.__wrapped__(*arguments, **named)
        except (TypeError, NotImplementedError) as error:
            if "jvp" not in str(error) or self.__name__ in str(error):
                raise
            remedy = 'give mode="jvp", and of two derivatives take the last in reverse'
            raise type(error)(f"{self.__name__} is not differentiated forward here: {remedy}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._functions, self.__name__)

    def __repr__(self) -> str:
        return f"<{self.__name__} of {self._functions!r}>"


class Functions:
    """The functions of a module for a framework, as attributes; a base."""

    framework = ""

    def __init__(self, module: Any, join: Join) -> None:
        self._module = module
        self._known = Known(
            {name: Differential(*row) for name, row in module._DIFFERENTIALS.items()}, module.functions
        )
        self._chart = Chart([Part(*row) for row in module._CHART], join)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._module.functions:
            getattr(self._module, name)  # which raises what to do about a function that was not built
            raise AttributeError(f"{self._module.name}.{self.framework} has no function {name!r}")
        self._entry(name).refuse_pair(f"{self._module.name}.{self.framework}")
        made = OfFramework(self, name, getattr(self._module, name).__doc__, self._made(name))
        setattr(self, name, made)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._module, self.framework)

    def __dir__(self) -> list[str]:
        return sorted(self._module.functions)

    def __repr__(self) -> str:
        return f"<{self._module.name}.{self.framework}: {', '.join(self._module.functions)}>"

    def _made(self, name: str) -> Callable[..., Any]:
        """The function of a name."""
        raise NotImplementedError

    def _converted(self, name: str, argument: str, x: Any) -> Any:
        """An argument as an array of the framework."""
        raise NotImplementedError

    def _given(
        self, name: str, mode: str, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[list[Any], tuple[int, ...], Any]:
        """The arrays of a call, its place, and what is to be taken from its result, or None: external forces
        whose derivatives are there enter as torques.
        """
        bound, place = self._bound(name, positional, named)
        inputs = self._entry(name).inputs
        arrays = [self._converted(name, spec[0], x) for x, spec in zip(bound, inputs, strict=False)]
        known = self._known.forces(name)
        if known is None or len(arrays) <= sum(not spec[2] for spec in inputs):
            return arrays, place, None
        names = [spec[0] for spec in inputs]  # of those that are optional external forces are the first
        at = names.index(self._entry(known.forces).inputs[-1][0])
        torque = getattr(self, known.forces)(arrays[0], arrays[at], mode=mode)
        absent = self._converted(name, names[at], self._or_default(inputs[at], None))
        arrays[at:] = [absent, *arrays[at + 1 :]] if arrays[at + 1 :] else []
        if known.through not in names:
            return arrays, place, torque
        k = names.index(known.through)
        arrays[k] = arrays[k] + torque
        return arrays, place, None

    def _entry(self, name: str) -> Any:
        return vars(self._module)[f"_{name}"]

    def _differentiated(self, name: str) -> list[tuple[int, ...]]:
        """The shape of each result as its derivatives have it: of a configuration a tangent vector's."""
        known = self._known.of(name)
        if known is not None and known.configuration:
            return [(self._module.nv,)]
        return [shape for _, shape in self._entry(name).outputs]

    def _weights(self, name: str, products: str) -> str:
        """The input of a function of products that has the weights."""
        own = [spec[0] for spec in self._entry(name).inputs]
        inputs = reversed(self._entry(products).inputs)
        return str(next(spec[0] for spec in inputs if not spec[2] and spec[0] not in own))

    def _bound(
        self, name: str, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[list[Any], tuple[int, ...]]:
        """The arrays of a call, without optional ones at the end that are None, and of a framed function its
        place.
        """
        entry = self._entry(name)
        if not named and len(positional) == entry.plain and not any(x is None for x in positional):
            return list(positional), ()
        arrays = [spec[0] for spec in entry.inputs]
        names = [*arrays, "frame", "reference"] if entry.framed else arrays
        given = dict(zip(names, positional, strict=False))
        twice = [key for key in named if key in given or key not in names]
        if len(positional) > len(names) or twice:
            raise TypeError(f"{name}: takes {', '.join(names)}, not {', '.join(twice) or 'more than these'}")
        given |= named
        for array, _, optional, _ in entry.inputs:
            if given.get(array) is None and not optional:
                raise TypeError(f"{name}: argument {array} is missing")
        place = entry.place(given.get("frame"), given.get("reference", "LOCAL")) if entry.framed else ()
        last = max([-1, *(k for k, array in enumerate(arrays) if given.get(array) is not None)])
        return [self._or_default(spec, given.get(spec[0])) for spec in entry.inputs[: last + 1]], place

    def _or_default(self, spec: Any, x: Any) -> Any:
        """An array, or what stands for an optional one that is not given, where a later one is."""
        if x is not None:
            return x
        absent = getattr(self._module, "_DEFAULTS", {}).get(spec[0])
        own = np.zeros(spec[1], self._module.dtype)
        return own if absent is None else own + np.reshape(absent, spec[1])

    def _batch(self, name: str, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The batch dimensions of the arrays of a call. Raises ValueError for a wrong shape."""
        batches = []
        for shape, (argument, own, _, _) in zip(shapes, self._entry(name).inputs, strict=False):
            batch = shape[: len(shape) - len(own)]
            if batch + own != shape:
                expected = f"(..., {', '.join(map(str, own))})"
                raise ValueError(f"{name}: argument {argument} has shape {shape}; expected {expected}")
            batches.append(batch)
        return batches

    def _refuse_dtype(self, name: str, argument: str, dtype: str, remedy: str) -> NoReturn:
        own = self._module.dtype
        raise TypeError(f"{name}: argument {argument} is of {dtype}; this module takes {own}: {remedy}")


def changed(J: Any, dx: Any, own: tuple[int, ...]) -> Any:
    """Derivatives (..., *own, n) of a result times a change of an input, which has n entries."""
    batch = J.shape[: J.ndim - len(own) - 1]
    return (J.reshape((*batch, prod(own), J.shape[-1])) @ dx.reshape((*batch, J.shape[-1], 1))).reshape(
        (*batch, *own)
    )


def weighted(J: Any, g: Any, own: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Weights `g` (..., *own) of a result times its derivatives by an input of n entries: by the directions
    of a configuration, in the shape of another input.
    """
    batch = J.shape[: J.ndim - len(own) - 1]
    row = g.reshape((*batch, 1, prod(own))) @ J.reshape((*batch, prod(own), J.shape[-1]))
    return row.reshape((*batch, *(shape if prod(shape) == J.shape[-1] else (J.shape[-1],))))


def by_output(matrices: Sequence[Any], outputs: int) -> list[Sequence[Any]]:
    """Derivatives of so many results, by all inputs each, result by result; of a single one there may be
    others behind them.
    """
    count = len(matrices) // outputs
    return [matrices[count * k : count * (k + 1)] for k in range(outputs)]
