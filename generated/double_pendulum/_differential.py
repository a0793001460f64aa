"""Facts about a module for frameworks that differentiate (JAX, PyTorch): which function has the
derivatives of which, and what derivatives by the entries of q have to do with those in the tangent space. It
is copied into each generated package and needs NumPy alone.

Frameworks differentiate by all nq entries of q. What they get is f(q / |q|): quaternions, and a planar
joint's cosine and sine, are normalised first, so that f(q) and its derivatives are defined off the unit
sphere too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np

KINDS = ("vector", "floating", "spherical", "planar")

Join = Callable[[Sequence[Any]], Any]
"""Arrays side by side along their last dimension."""


class Differential(NamedTuple):
    """Where the derivatives of a function are, by the names of other functions: `first` gives those by each
    input, `weighted` products of these with weights from the left, `second` those of inverse dynamics of
    second order; `inverse`: the function is the solution of that one for its last input;
    `configuration`: the result is one, of which `first` has the derivatives in the tangent space.
    """

    first: str
    weighted: str = ""
    second: str = ""
    inverse: bool = False
    configuration: bool = False


class Part(NamedTuple):
    """Entries of q of one kind ("vector", "floating", "spherical", "planar"): where they and their velocities
    begin, and how many there are.
    """

    kind: str
    q: int
    nq: int
    v: int
    nv: int


class Chart:
    """The configurations of a module. Arrays are those of a framework, (..., nq) and (..., nv)."""

    def __init__(self, parts: Sequence[Part], join: Join) -> None:
        self._parts, self._join = tuple(parts), join
        for part in self._parts:
            if part.kind not in KINDS:
                raise NotImplementedError(f"no derivatives by the configuration of a {part.kind} joint")

    @property
    def flat(self) -> bool:
        """Whether configurations are a vector space."""
        return all(part.kind == "vector" for part in self._parts)

    def unit(self, q: Any) -> Any:
        """q with unit quaternions, cosines and sines."""
        return q if self.flat else self._each(lambda part, x: _unit(part.kind, x, self._join), q)

    def velocity(self, q: Any, dq: Any) -> Any:
        """The tangent vector (..., nv) of a change of the entries of a unit q."""
        if self.flat:
            return dq
        made = [
            _velocity(part.kind, _of(q, part.q, part.nq), _of(dq, part.q, part.nq), self._join)
            for part in self._parts
        ]
        return self._join(made)

    def covector(self, q: Any, g: Any) -> Any:
        """The gradient (..., nq) by the entries of a unit q of what has the gradient g by tangent vectors."""
        if self.flat:
            return g
        made = [
            _covector(part.kind, _of(q, part.q, part.nq), _of(g, part.v, part.nv), self._join)
            for part in self._parts
        ]
        return self._join(made)

    def change(self, q: Any, v: Any) -> Any:
        """The change of the entries of a unit q (..., nq) along a tangent vector: quaternions, half of q o v,
        turn by a fourth of `covector`, which has twice that.
        """
        made = self.covector(q, v)
        return made if self.flat else self._quartered(made, [(part.q, part.nq) for part in self._parts])

    def direction(self, q: Any, g: Any) -> Any:
        """The gradient (..., nv) by tangent vectors of what has the gradient g by the entries of a unit q:
        the transpose of `change`.
        """
        made = self.velocity(q, g)
        return made if self.flat else self._quartered(made, [(part.v, part.nv) for part in self._parts])

    def _quartered(self, x: Any, places: Sequence[tuple[int, int]]) -> Any:
        """Entries of quaternions, or of their angular velocities, by four; `places`: of each part in x."""
        made = []
        for part, (start, count) in zip(self._parts, places, strict=True):
            first = {"floating": 3, "spherical": 0}.get(part.kind, count)
            made += [_of(x, start, first), 0.25 * _of(x, start + first, count - first)]
        return self._join(made)

    def _each(self, change: Callable[[Part, Any], Any], q: Any) -> Any:
        return self._join([change(part, _of(q, part.q, part.nq)) for part in self._parts])


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

    def _entry(self, name: str) -> Any:
        return vars(self._module)[f"_{name}"]

    def _differentiated(self, name: str) -> list[tuple[int, ...]]:
        """The shape of each result as its derivatives have it: of a configuration a tangent vector's."""
        known = self._known.of(name)
        if known is not None and known.configuration:
            return [(self._module.nv,)]
        return [shape for _, shape in self._entry(name).outputs]

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


def refuse_input(name: str, argument: str) -> NoReturn:
    """Raise NotImplementedError for the derivatives by an input."""
    remedy = "keep it constant, or add what it does to the torques"
    raise NotImplementedError(f"{name} has no derivatives by {argument}; {remedy}")


def _of(x: Any, start: int, count: int) -> Any:
    return x[..., start : start + count]


def _entries(x: Any, count: int) -> list[Any]:
    return [x[..., k : k + 1] for k in range(count)]


def _unit(kind: str, x: Any, join: Join) -> Any:
    """One joint's entries, normalised."""
    if kind == "vector":
        return x
    first = {"floating": 3, "spherical": 0, "planar": 2}[kind]
    turning = x[..., first:]
    squares = sum(entry * entry for entry in _entries(turning, 2 if kind == "planar" else 4))
    return join([x[..., :first], turning / squares**0.5])


def _velocity(kind: str, x: Any, dx: Any, join: Join) -> Any:
    """One joint's velocity: in the body's axes, linear part first."""
    if kind == "vector":
        return dx
    if kind == "planar":
        _, _, c, s = _entries(x, 4)
        across, along, dc, ds = _entries(dx, 4)
        return join([c * across + s * along, c * along - s * across, c * ds - s * dc])
    first = 3 if kind == "floating" else 0
    u, w = _entries(x[..., first:], 3), x[..., first + 3 :]
    d, dw = _entries(dx[..., first:], 3), dx[..., first + 3 :]
    turned = [2.0 * (w * a - dw * b - c) for a, b, c in zip(d, u, _cross(u, d), strict=True)]
    linear = _rotated([-a for a in u], w, _entries(dx, 3)) if first else []
    return join([*linear, *turned])


def _covector(kind: str, x: Any, g: Any, join: Join) -> Any:
    """The transpose of `_velocity`."""
    if kind == "vector":
        return g
    if kind == "planar":
        _, _, c, s = _entries(x, 4)
        across, along, turning = _entries(g, 3)
        return join([c * across - s * along, s * across + c * along, -s * turning, c * turning])
    first = 3 if kind == "floating" else 0
    u, w = _entries(x[..., first:], 3), x[..., first + 3 :]
    turning = _entries(g[..., first:], 3)
    imaginary = [2.0 * (w * a + b) for a, b in zip(turning, _cross(u, turning), strict=True)]
    real = -2.0 * sum(a * b for a, b in zip(u, turning, strict=True))
    linear = _rotated(u, w, _entries(g, 3)) if first else []
    return join([*linear, *imaginary, real])


def _cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3)]


def _rotated(u: Sequence[Any], w: Any, x: Sequence[Any]) -> list[Any]:
    """x turned by the unit quaternion with imaginary part u and real part w."""
    t = [2.0 * entry for entry in _cross(u, x)]
    return [a + w * b + c for a, b, c in zip(x, t, _cross(u, t), strict=True)]
