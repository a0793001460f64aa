"""The scalar types of generated C."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rbdc.errors import UnsupportedError

REGISTERS = (16, 32, 64)
"""Sizes of the vector registers of processors (bytes); compilers split longer vectors."""

SHORTEST_BYTES = REGISTERS[0]
"""Size of the shortest vector registers (bytes)."""

SINGLE_CALL_BYTES = 32
"""Size of the longest vectors in code for one sample (bytes). Intel processors with longer registers close
one vector port while a vector of 64 bytes is in flight, which costs about 45 ns a call.
"""


@dataclass(frozen=True)
class ScalarType:
    """The C type of all values.

    name: name in C.
    header: header of its elementary functions.
    prefix, suffix: beginning and end of the names of elementary functions; literals also have the suffix.
    size: size (bytes).
    dtype: NumPy's name.
    integer: C type of signed integers of the same size; vectors of them are masks of vectors of scalars. It
        is "" for a type that is not computed in lanes.
    bits: bits of the fraction.
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
        """Number of samples of a block: as many as the longest register holds."""
        return REGISTERS[-1] // self.size

    def widths(self, register: int) -> tuple[int, ...]:
        """Return the numbers of samples that a batch kernel may compute side by side on a processor with
        registers of this size, smallest first: from one register to a block.
        """
        return tuple(size // self.size for size in REGISTERS if size >= register)

    @property
    def single_lanes(self) -> int:
        """Largest number of lanes of a vector in code for one sample."""
        return SINGLE_CALL_BYTES // self.size

    @property
    def angle_lanes(self) -> tuple[int, ...]:
        """Numbers of angles of one sample that can be computed side by side."""
        return (1, SHORTEST_BYTES // self.size, self.single_lanes)

    def lanes_of_angles(self, count: int) -> int:
        """Return the smallest of `angle_lanes` that is at least the number of angles, or the largest one."""
        return next((lanes for lanes in self.angle_lanes if lanes >= count), self.angle_lanes[-1])

    @property
    def block(self) -> str:
        """The number of lanes in words."""
        return {8: "eight", 16: "sixteen"}[self.lanes]

    @property
    def words(self) -> dict[str, object]:
        """Substitutions of templates for the type: the C type, its name, the ending of its literals."""
        return {"scalar": self, "real": self.name, "f": self.suffix}

    def function(self, name: str) -> str:
        """Return the C name of an elementary function."""
        return f"{self.prefix}{name}{self.suffix}"

    def literal(self, number: float) -> str:
        """Return the shortest C literal that reads back as the nearest number of the type; numbers closer to
        0 than to any other become 0.

        Raises UnsupportedError for a number that is too large for the type.
        """
        if not math.isfinite(number):
            raise ValueError(f"{number} in generated code")
        return repr(float(number) if self.bits == DOUBLE.bits else self._rounded(number)) + self.suffix

    def bits_of(self, number: float) -> str:
        """Return the bits of a number as a hexadecimal literal. Larger positive numbers have larger bits, and
        NaN has the largest.
        """
        kind = "d" if self.bits == DOUBLE.bits else "f"
        return "0x" + struct.pack(f">{kind}", number).hex()

    def check_divisor(self, number: float) -> None:
        """Raise UnsupportedError for a nonzero number that is 0 as a literal."""
        if number != 0.0 and self.bits < DOUBLE.bits and self._rounded(number) == 0.0:
            raise UnsupportedError(
                f"the program divides by {number!r}, which is 0 in {self.dtype}; build with `dtype='float64'`"
            )

    def _rounded(self, number: float) -> float:
        """Return the number with the fewest decimal digits among those that are equal in single precision."""
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
"""Type for complex-step differentiation, without comparisons and atan2."""


Precision = Literal["float64", "float32"]
"""The numbers of a generated module, by NumPy's names."""
SCALARS: dict[str, ScalarType] = {scalar.dtype: scalar for scalar in (DOUBLE, FLOAT)}
"""The types of generated modules by the values of `dtype`."""
