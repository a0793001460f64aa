"""Machines for texts (recursions that are functions of a machine) that call other texts, run them within
loops, and multiply their results.
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
"""The name of an input and one of its directions; for q, a direction of the tangent space."""


class Scheme(Protocol):
    """Numbers of four parts: a value and a rate, each with a value and a rate."""

    @property
    def first(self) -> type[Any]:
        """Type of numbers with rates along the first direction."""

    @property
    def then(self) -> type[Any]:
        """Type of numbers with rates along the second direction."""

    @property
    def length(self) -> float:
        """Length of the steps along the two directions: 1 for dual numbers, tiny for bicomplex steps."""

    def last(self, x: Scalar) -> Scalar:
        """Return the rate of the rate, divided by the square of `length`."""


class ComposedMachine(Machine):
    """Runs texts that call other texts.

    Results of a text on the machine of `accelerated` or `at_rest` are valid until the same text runs again.
    """

    @abstractmethod
    def repeated(self, about: str = "") -> Iterator[Index]:
        """Yield each degree of freedom; the loop may contain whole recursions, and a second loop over
        `repeated`.
        """

    @abstractmethod
    def earlier_joints(self, j: Index) -> Iterator[Index]:
        """Yield, like `repeated`, the degrees of freedom of the joints that precede the joint of j."""

    @abstractmethod
    def same_joint(self, j: Index) -> Iterator[Index]:
        """Yield, like `repeated`, the degrees of freedom of the joint of j, including j."""

    @abstractmethod
    def accelerated(self, a: Array[Scalar]) -> AbstractContextManager[Machine]:
        """Return the machine with a vector of joint accelerations."""

    @abstractmethod
    def at_rest(self, a: Array[Scalar] | None = None) -> AbstractContextManager[Machine]:
        """Return the machine at rest, without gravity and external forces, at joint accelerations `a`
        (default: zero).
        """

    @abstractmethod
    def add_products(
        self, into: Array[Scalar], at: str, *factors: Factor, negative: bool = False, **fixed: Index
    ) -> None:
        """Add the product of the factors to `into`, summed over the letters that are not in `at`.

        With `at` "ijk" and factors (B, "il") and (A, "ljk"): Y_ijk += sum_l B_il A_ljk.

        fixed: the index of each letter that does not run over all indices.
        """

    @abstractmethod
    def put(
        self, into: Array[Scalar], at: str, factor: Factor, *, negative: bool = False, **fixed: Index
    ) -> None:
        """Set entries of `into` to those of a factor whose letters are all in `at`."""

    @abstractmethod
    def symmetric(self, upper: Array[Scalar]) -> Array[Scalar]:
        """Return the symmetric matrix with this upper triangle."""

    @abstractmethod
    def mixed(
        self, text: Callable[..., Array[Scalar]], first: Step, then: Step, scheme: Scheme, *names: str
    ) -> Array[Scalar]:
        """Return L_k (L_j f): the result f of `text`, differentiated along the direction j of `first`, then
        along the direction k of `then`.

        text: called with a machine over numbers of four parts, in the frames of the bodies, and with the
            inputs `names`.
        """
