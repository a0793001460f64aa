"""Whether the shared libraries of a package are whole, and its own.

That they are whole is asked before the dynamic linker maps them: what lies beyond the end of a file that was
cut off ends the process with SIGBUS when it is first read.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from rbdc.errors import LoadError

_IDENTIFICATION = 16
_LITTLE_ENDIAN, _WIDE = 1, 2
_SECTIONS = {False: ("I", 32, 46), True: ("Q", 40, 58)}
"""Offsets in an ELF header, with addresses of 4 and of 8 bytes: type and place of the offset of the section
table, which linkers put last, and the place of the size and the number of its entries.
"""


def refuse_truncated(library: Path) -> None:
    """Raise LoadError for an ELF library that is shorter than its header says. Other files the linker itself
    refuses without harm.
    """
    with library.open("rb") as file:
        header = file.read(64)
    size, needed = library.stat().st_size, _needed(header)
    if size < needed:
        raise LoadError(f"{library.name} is cut off: it has {size} bytes of at least {needed}")


def _needed(header: bytes) -> int:
    """The bytes of an ELF file by the beginning of it: 0 for other files."""
    if header[:4] != b"\x7fELF" or len(header) < _IDENTIFICATION:
        return 0
    order = "<" if header[5] == _LITTLE_ENDIAN else ">"
    kind, place, counts = _SECTIONS[header[4] == _WIDE]
    if len(header) < counts + 4:
        return counts + 4
    (offset,) = struct.unpack_from(order + kind, header, place)
    size, number = struct.unpack_from(order + "HH", header, counts)
    return int(offset) + int(size) * int(number)


def refuse_swapped(native: ModuleType, manifest: Mapping[str, Any]) -> None:
    """Raise LoadError unless the loaded extension carries the hash that the package's manifest has; that of
    an older rbdc has none.
    """
    own: Any = native
    expected, carried = manifest.get("package"), getattr(own.lib, "rbdc_package", None)
    found = None if carried is None else own.ffi.string(carried()).decode()
    if expected not in (None, found):
        raise LoadError("the compiled extension is not the one that was built with this package")
