"""Machines for texts (recursions over a machine) that call other texts: products of results, and whole
recursions within loops.
"""

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
"""An input and one of its directions; for q, a direction of the tangent space."""


class Scheme(Protocol):
    """Numbers of four parts: value and rate of a number that itself has a value and a rate."""

    @property
    def first(self) -> type[Any]:
        """Type of the numbers for the first direction."""

    @property
    def then(self) -> type[Any]:
        """Type of the numbers for the second direction."""

    @property
    def length(self) -> float:
        """Length of the steps."""

    def last(self, x: Scalar) -> Scalar:
        """Return the last part, divided by the lengths of both steps."""


class ComposedMachine(Machine):
    """Runs texts that call others.

    Results of a text on the machine of `accelerated` or `at_rest` remain until that text runs again.
    """

    @abstractmethod
    def repeated(self, about: str = "") -> Iterator[Index]:
        """Yield each degree of freedom; the loop may contain whole recursions, and one more such loop."""

    @abstractmethod
    def earlier_joints(self, j: Index) -> Iterator[Index]:
        """Yield, like `repeated`, the degrees of freedom of the joints before that of j."""

    @abstractmethod
    def same_joint(self, j: Index) -> Iterator[Index]:
        """Yield, like `repeated`, the degrees of freedom of the joint of j, including j."""

    @abstractmethod
    def accelerated(self, a: Array[Scalar]) -> AbstractContextManager[Machine]:
        """Return the machine with a vector of joint accelerations."""

    @abstractmethod
    def at_rest(self, a: Array[Scalar] | None = None) -> AbstractContextManager[Machine]:
        """Return the machine at rest, without gravity and external forces; joint accelerations are a vector,
        or zero.
        """

    @abstractmethod
    def add_products(
        self, into: Array[Scalar], at: str, *factors: Factor, negative: bool = False, **fixed: Index
    ) -> None:
        """Add the products of factors, summed over the letters that are not in `at`.

        With "ijk" and factors of letters "il" and "ljk": Y_ijk += sum_l B_il A_ljk. fixed: letters that stand
        for one index.
        """

    @abstractmethod
    def put(
        self, into: Array[Scalar], at: str, factor: Factor, *, negative: bool = False, **fixed: Index
    ) -> None:
        """Set entries to those of another result, whose letters are all in `at`."""

    @abstractmethod
    def symmetric(self, upper: Array[Scalar]) -> Array[Scalar]:
        """Return the whole matrix of an upper triangle."""

    @abstractmethod
    def mixed(
        self, text: Callable[..., Array[Scalar]], first: Step, then: Step, scheme: Scheme, *names: str
    ) -> Array[Scalar]:
        """Return the change of a vector along a direction of one input, then along one of another, by numbers
        of four parts.

        It is L_k (L_j f) for j of `first` and k of `then`.

        text: called with a machine of these numbers, in the frames of the bodies, and with inputs by their
            names.
        """
