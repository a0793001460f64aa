"""Machines for texts made of other texts: products of results, and whole recursions within loops."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

from rbdc.algorithms.tools.machine import Array, Index, Machine
from rbdc.spatial import Scalar

Factor = tuple[Array[Scalar], str]
"""A result and a letter for each of its indices: (M, "il") is M_il."""


Step = tuple[str, Index]
"""An input, q in the tangent space, and one of its directions."""


class Scheme(Protocol):
    """Numbers of four parts, value and rate of what is value and rate itself."""

    @property
    def first(self) -> type[Any]:
        """The kind of numbers for the first direction."""

    @property
    def then(self) -> type[Any]:
        """The kind of numbers for the second direction."""

    @property
    def length(self) -> float:
        """The length of the steps."""

    def last(self, x: Scalar) -> Scalar:
        """Return the last part, divided by the lengths of both steps."""


class ComposedMachine(Machine):
    """Runs texts that call others.

    Results of a text that runs on what `accelerated` or `at_rest` gives are there until it runs again.
    """

    @abstractmethod
    def repeated(self, about: str = "") -> Iterator[Index]:
        """Yield each degree of freedom; whole recursions may stand in this loop, and one more such loop."""

    @abstractmethod
    def earlier_joints(self, j: Index) -> Iterator[Index]:
        """Yield, as `repeated`, the degrees of freedom of the joints before that of j."""

    @abstractmethod
    def same_joint(self, j: Index) -> Iterator[Index]:
        """Yield, as `repeated`, the degrees of freedom of the joint of j, j too."""

    @abstractmethod
    def accelerated(self, a: Array[Scalar]) -> AbstractContextManager[Machine]:
        """Return the machine with joints that accelerate by a vector."""

    @abstractmethod
    def at_rest(self, a: Array[Scalar] | None = None) -> AbstractContextManager[Machine]:
        """Return the machine at rest, without gravity and external forces; joints accelerate by a vector, or
        not at all.
        """

    @abstractmethod
    def add_products(
        self, into: Array[Scalar], at: str, *factors: Factor, negative: bool = False, **fixed: Index
    ) -> None:
        """Add the products of factors, summed over the letters that are not in `at`: with "ijk" and factors
        of letters "il" and "ljk" Y_ijk += sum_l B_il A_ljk. fixed: letters that stand for one index.
        """

    @abstractmethod
    def put(
        self, into: Array[Scalar], at: str, factor: Factor, *, negative: bool = False, **fixed: Index
    ) -> None:
        """Set entries to those of another result, whose letters are all in `at`."""

    @abstractmethod
    def symmetric(self, upper: Array[Scalar]) -> Array[Scalar]:
        """Return a matrix of which only the upper triangle is set, with both."""

    @abstractmethod
    def mixed(
        self, text: Callable[..., Array[Scalar]], first: Step, then: Step, scheme: Scheme, *given: str
    ) -> Array[Scalar]:
        """Return what a vector changes by along a direction of one input, then along one of another: L_k (L_j
        f) for j of `first` and k of `then`, by numbers of four parts.

        text: called with a machine of such numbers, in the frames of the bodies, and inputs by their names.
        """
