"""Derivatives of a module for frameworks that differentiate (JAX, PyTorch): which function has those of
which, and what is done with their arrays. It is copied into each generated package and needs Python alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn


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

    def needed(self, name: str) -> list[str]:
        """The functions that the derivatives of a function take, as far as they are built."""
        known, twice, forces = self.of(name), self.second(name), self.forces(name)
        names = [known.first, self.weighted(name)] if known is not None else [self.rows(name)]
        names += [twice[0], twice[1].second] if twice is not None else []
        return [other for other in [*names, forces.forces if forces is not None else ""] if other]

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


class Solution(NamedTuple):
    """The derivatives F_q, F_v, F_tau of forward dynamics as functions, by those of inverse dynamics, G_q,
    G_v and M, at the acceleration that forward dynamics gives: dF = -F_tau (dG + dM F). `steps` and `weights`
    are what G takes in place of F, `changes` and `gradients` what F gives where G gives these.
    """

    by_q: Any
    by_v: Any
    by_tau: Any

    def steps(self, along: Sequence[Any]) -> list[Any]:
        """Steps of q, v and the acceleration."""
        moved = [(F @ dx[..., None])[..., 0] for F, dx in zip(self, along, strict=False) if dx is not None]
        return [*along[:2], sum(moved[1:], moved[0])]

    def changes(self, G: Sequence[Any]) -> list[Any]:
        """Changes of F_q, F_v and F_tau."""
        by_q, by_v, inertia = G
        every = (by_q + inertia @ self.by_q, by_v + inertia @ self.by_v, inertia @ self.by_tau)
        return [-(self.by_tau @ change) for change in every]

    def weights(self, given: Sequence[Any]) -> list[Any]:
        """Weights of G_q, G_v and M."""
        turned = [-(self.by_tau.mT @ g) for g in given]
        first, *others = (g @ F.mT for g, F in zip(turned, self, strict=True))
        return [*turned[:2], sum(others, first)]

    def gradients(self, G: Sequence[Any]) -> list[Any]:
        """Gradients by q, v and tau."""
        by_q, by_v, by_tau = ((G[2][..., None, :] @ F)[..., 0, :] for F in self)
        return [G[0] + by_q, G[1] + by_v, by_tau]


def changed(J: Any, dx: Any, own: tuple[int, ...]) -> Any:
    """Derivatives (..., *own, n) of a result times a change of an input, which has n entries."""
    batch = J.shape[: J.ndim - len(own) - 1]
    return (J.reshape((*batch, prod(own), J.shape[-1])) @ dx.reshape((*batch, J.shape[-1], 1))).reshape(
        (*batch, *own)
    )


def weighted(J: Any, g: Any, own: tuple[int, ...]) -> Any:
    """Weights `g` (..., *own) of a result times its derivatives by an input of n entries, (..., n)."""
    batch = J.shape[: J.ndim - len(own) - 1]
    row = g.reshape((*batch, 1, prod(own))) @ J.reshape((*batch, prod(own), J.shape[-1]))
    return row.reshape((*batch, J.shape[-1]))
