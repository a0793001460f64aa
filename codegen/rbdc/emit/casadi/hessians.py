"""The blocks of the Hessian of weighted outputs, as CasADi's external functions compute them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdc.functions.declarations import FunctionDeclaration


@dataclass(frozen=True)
class Blocks:
    """The blocks by pairs of inputs, then the transposes of the blocks of two different inputs.

    sizes: number of directions of each input, by name.
    pairs: names of the two inputs of each block.
    """

    sizes: Mapping[str, int]
    pairs: Sequence[tuple[str, str]]

    @staticmethod
    def of(hessian: FunctionDeclaration, sizes: Mapping[str, int]) -> Blocks:
        """Return the blocks of a function by the names of its outputs, `hessian_ab` of inputs a and b."""
        known = {f"hessian_{a}{b}": (a, b) for a in sizes for b in sizes}
        return Blocks(sizes, [known[p.name] for p in hessian.outputs])

    @property
    def every(self) -> list[tuple[str, str]]:
        """The two inputs of each array: along its rows, along its columns."""
        return [*self.pairs, *((b, a) for a, b in self.pairs if a != b)]

    @property
    def lengths(self) -> list[int]:
        """The sizes of the arrays."""
        return [self.sizes[a] * self.sizes[b] for a, b in self.every]

    def lines(self, call: str, places: Sequence[str], bow: Mapping[str, str]) -> list[str]:
        """Return the lines that fill the arrays at places.

        call: the line that fills the blocks.
        bow: for each input, the array of the derivatives of a resulting configuration in its tangent space.
            Second derivatives of the configuration's entries are added. Empty if no configuration results.
        """
        where = dict(zip(self.every, places, strict=True))
        bent = [
            f"add_bow(bow, {self.sizes[a]}, {bow[a]}, {self.sizes[b]}, {bow[b]}, {where[a, b]});"
            for a, b in self.pairs
            if bow
        ]
        turned = [
            f"by_columns({self.sizes[a]}, {self.sizes[b]}, {where[a, b]}, {where[b, a]});"
            for a, b in self.pairs
            if a != b
        ]
        bend = ["memset(bow, 0, sizeof(double) * NV * NV);", "bow_of(y, adj_0, bow);"] if bow else []
        return [call, *bend, *bent, *turned]
