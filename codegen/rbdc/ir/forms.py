"""How backends write operations."""

from __future__ import annotations

from enum import Enum, IntEnum


class Form(Enum):
    """How a backend writes an operation."""

    MISSING = "not at all: a pass replaces it"
    LEAF = "a literal, or an entry of an array"
    PREFIX = "a sign and its argument"
    INFIX = "a sign between its arguments"
    FUNCTION = "a call of an elementary function"
    JOINT_CALL = "a statement of its own, which computes others of the same arguments with it"
    CHOICE = "the second argument where the first is true, else the third"
    LANES = "a vector made or taken apart, lane by lane"


class Precedence(IntEnum):
    """How strongly what is written binds."""

    CONDITION = 0
    SUM = 1
    PRODUCT = 2
    UNARY = 3
    ATOM = 4
