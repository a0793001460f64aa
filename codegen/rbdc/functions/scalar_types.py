"""The types that generated C computes with."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rbdc.errors import UnsupportedError

REGISTERS = (16, 32, 64)
"""Bytes of the vector registers of processors; compilers split longer vectors."""

SHORTEST_BYTES = REGISTERS[0]
"""Bytes of the shortest vector registers."""

SINGLE_CALL_BYTES = 32
"""Bytes of the longest vectors of code for one sample. Processors of Intel's with longer registers leave one
of their vector ports while a vector of 64 bytes is in flight, which costs some 45 ns a call.
"""


@dataclass(frozen=True)
class ScalarType:
    """The C type of every value, the header of its elementary functions, what their names begin and end with,
    and its bytes.

    dtype: NumPy's name of it. integer: the C type of signed integers as large, whose vectors are masks of
    vectors of scalars; "" for a type that is not computed in lanes. bits: of its fraction. Literals end with
    `suffix` as names of functions do.
    """

    name: str
    header: str
    prefix: str
    suffix: str
    size: int
    dtype: str
    integer: str
    bits: int

    @property
    def lanes(self) -> int:
        """Samples of a block: what the longest register holds."""
        return REGISTERS[-1] // self.size

    def widths(self, register: int) -> tuple[int, ...]:
        """Return samples that a kernel for batches may compute side by side on a processor whose registers
        have so many bytes, the fewest first: from what one register holds up to a block.
        """
        return tuple(size // self.size for size in REGISTERS if size >= register)

    @property
    def single_lanes(self) -> int:
        """How many of them a vector holds at most in code for one sample."""
        return SINGLE_CALL_BYTES // self.size

    @property
    def angle_lanes(self) -> tuple[int, ...]:
        """How many angles of one sample are computed side by side, or one alone."""
        return (1, SHORTEST_BYTES // self.size, self.single_lanes)

    def lanes_of_angles(self, count: int) -> int:
        """Return the fewest lanes of `angle_lanes` that hold so many angles, or the most."""
        return next((lanes for lanes in self.angle_lanes if lanes >= count), self.angle_lanes[-1])

    @property
    def block(self) -> str:
        """The number of lanes in words."""
        return {8: "eight", 16: "sixteen"}[self.lanes]

    @property
    def words(self) -> dict[str, object]:
        """The words of templates for it: the type, its name, the ending of its literals."""
        return {"scalar": self, "real": self.name, "f": self.suffix}

    def function(self, name: str) -> str:
        """Return the C name of an elementary function."""
        return f"{self.prefix}{name}{self.suffix}"

    def literal(self, number: float) -> str:
        """Return the shortest C literal that reads back as the nearest number of the type, which is 0 for
        what is closer to 0 than to any other.

        Raises UnsupportedError for a number beyond the largest of the type.
        """
        if not math.isfinite(number):
            raise ValueError(f"{number} in generated code")
        return repr(float(number) if self.bits == DOUBLE.bits else self._rounded(number)) + self.suffix

    def bits_of(self, number: float) -> str:
        """Return the bits of a number as a hexadecimal literal: of positive numbers the greater one has the
        greater, and NaN the greatest.
        """
        kind = "d" if self.bits == DOUBLE.bits else "f"
        return "0x" + struct.pack(f">{kind}", number).hex()

    def check_divisor(self, number: float) -> None:
        """Raise UnsupportedError for a number other than 0 that is 0 as a literal."""
        if number != 0.0 and self.bits < DOUBLE.bits and self._rounded(number) == 0.0:
            raise UnsupportedError(
                f"the program divides by {number!r}, which is 0 in {self.dtype}; build with `dtype='float64'`"
            )

    def _rounded(self, number: float) -> float:
        """Return the number with the fewest decimal digits among those that are the same in single
        precision.
        """
        with np.errstate(over="ignore"):
            single = np.float32(number)
        if np.isinf(single):
            raise UnsupportedError(
                f"the program has the constant {number!r}, too large for {self.dtype}; "
                "build with `dtype='float64'`"
            )
        return float(str(single))


DOUBLE = ScalarType("double", "math.h", "", "", 8, "float64", "long long", 52)
FLOAT = ScalarType("float", "math.h", "", "f", 4, "float32", "int", 23)
COMPLEX = ScalarType("double _Complex", "complex.h", "c", "", 16, "complex128", "", 52)
"""For complex-step differentiation: no comparisons and no atan2."""


Precision = Literal["float64", "float32"]
"""The numbers of a generated module, by NumPy's names."""
SCALARS: dict[str, ScalarType] = {scalar.dtype: scalar for scalar in (DOUBLE, FLOAT)}
"""The types of generated modules by the name that `dtype` takes."""
