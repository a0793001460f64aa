"""Fixed to bodies or between them: frames, parameters at run time, contacts, and clusters of loops."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rbdc.spatial import Placement


@dataclass(frozen=True)
class Frame:
    """A link's frame: fixed to body `body` (`WORLD` for the links of a fixed base) at `placement` in that
    body's frame.
    """

    name: str
    body: int
    placement: Placement


@dataclass(frozen=True)
class ParameterRow:
    """Ten inertial parameters that functions take at run time: those of moving body `body` in its own frame,
    or, if `added`, of a payload at `placement` in it. `name`: the body's or the frame's.
    """

    name: str
    body: int
    placement: Placement
    added: bool


class ContactKind(StrEnum):
    """Which of the six components of a motion a contact or a loop holds: those of a point; all; all but the
    rotation about the frame's z.
    """

    POINT = "point"
    SURFACE = "surface"
    WELD = "weld"
    REVOLUTE = "revolute"

    @property
    def components(self) -> int:
        """Number of components, linear ones first, in the axes of the first frame."""
        return {ContactKind.POINT: 3, ContactKind.REVOLUTE: 5}.get(self, 6)


@dataclass(frozen=True)
class Contact:
    """A frame that touches the world, or, with `second`, is held to a frame of another body: a closed loop.

    held: the components of `kind` that are rows; others depend on them wherever the loop is closed.
    """

    name: str
    kind: ContactKind
    first: Frame
    second: Frame | None = None
    held: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.held)

    @property
    def whole(self) -> bool:
        """Whether it holds vectors in space, all their components: then its rows may be in any axes."""
        return len(self.held) in (3, 6) and len(self.held) == self.kind.components


@dataclass(frozen=True)
class Cluster:
    """Joints that loops bind to one of them: bodies `followers` to body `leader`, all of whose joints have
    one coordinate, on body `carrier` or the world. The followers' couplings are polynomials, from which
    `steps` Newton steps close the `loops`, in as many rows as there are followers.
    """

    leader: int
    followers: tuple[int, ...]
    carrier: int
    loops: tuple[Contact, ...]
    steps: int
