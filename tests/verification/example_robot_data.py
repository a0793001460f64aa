"""Every description of a folder, both roots, angles as written and snapped: built and compared with
Pinocchio, or refused with a reason.

Run as ``python -m tests.verification.example_robot_data FOLDER``, the folder that of the package
example-robot-data.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import rbdc
from rbdc.errors import RbdcError, SingularModelError
from rbdc.model.options import LIKELY_MEANT
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from tests.support import ROOTS, UNOPTIMISED, Array, conditioning
from tests.support_pinocchio import REFERENCE, REFERENCES, Peer, arguments, peer_of, pin, states

FUNCTIONS = ("rnea", "crba", "aba", "frame_jacobian", "com")
DEFINED_ANYWAY = ("rnea", "crba", "frame_jacobian")
"""Of a robot without mass or with a singular M."""
SNAPS = (0.0, LIKELY_MEANT)
AGREES = 1e-9
"""Of the largest entry of a function's results; for aba times what its solving with M makes of 1e-12."""
STATES = 6


@dataclass(frozen=True)
class Outcome:
    """The outcome for a description: the reason of a refusal, or the error by function relative
    to Pinocchio.
    """

    refused: str = ""
    errors: tuple[tuple[str, float], ...] = ()
    conditioning: float = 1.0

    def disagrees(self) -> bool:
        """Return whether a function is beyond what it may be off."""
        return any(not error <= self.allowed(name) for name, error in self.errors)

    def allowed(self, name: str) -> float:
        """Return the tolerance of a function."""
        return max(AGREES, 1e-12 * self.conditioning) if name == "aba" else AGREES


def compared(path: Path, root: str, snap: float, folder: Path) -> Outcome:
    """Build a description and compare it."""
    try:
        module = _built(path, root, snap, folder)
        reference = peer_of(path.read_text(encoding="utf-8"), root, snap=snap > 0.0)
    except (RbdcError, ValueError, RuntimeError) as error:  # the last two are Pinocchio's
        return Outcome(refused=f"{type(error).__name__}: {error}")
    drawn, errors = states(module, STATES), {}
    for name in (name for name in FUNCTIONS if hasattr(module, name)):
        pairs = [pair for state in drawn for pair in _pairs(module, reference, name, state)]
        off = max(float(np.max(np.abs(result - right), initial=0.0)) for result, right in pairs)
        size = max(float(np.max(np.abs(right), initial=0.0)) for _, right in pairs)
        errors[name] = off / size if size else off
    worst = max(conditioning(module.crba(state[0])) for state in drawn)
    return Outcome(errors=tuple(errors.items()), conditioning=worst)


def _built(path: Path, root: str, snap: float, folder: Path) -> ModuleType:
    options: dict[str, Any] = {
        "root_joint": root,
        "snap": snap,
        "cflags": UNOPTIMISED,
        "targets": ("c",),
        "jobs": 1,
        "out": folder,
    }
    try:
        built = build_package(path, BuildOptions(functions=FUNCTIONS, **options))
    except SingularModelError:
        built = build_package(path, BuildOptions(functions=DEFINED_ANYWAY, **options))
    return rbdc.load(built.directory)


def same(path: Path, root: str) -> bool:
    """Return whether snapping changes nothing."""
    try:
        one, other = (rbdc.Model.from_urdf(path, root_joint=root, snap=snap) for snap in SNAPS)
    except RbdcError:
        return False
    return (one.bodies, one.frames, one.base_inertia) == (other.bodies, other.frames, other.base_inertia)


def _pairs(module: ModuleType, reference: Peer, name: str, state: Any) -> list[tuple[Array, Array]]:
    """Return the results of the module and of Pinocchio."""
    if name != "frame_jacobian":
        return [(getattr(module, name)(*arguments(name, state)), REFERENCE[name](reference, *state))]
    q, names = state[0], module.frame_names
    pin.computeJointJacobians(reference.model, reference.data, reference.q(q))
    pin.updateFramePlacements(reference.model, reference.data)
    pairs = []
    for frame in sorted({names[0], names[len(names) // 2], names[-1]}):
        for word, kind in REFERENCES.items():
            right = pin.getFrameJacobian(reference.model, reference.data, reference.frame(frame), kind)
            pairs.append((module.frame_jacobian(q, frame, word), np.array(right)))
    return pairs


def main(root_folder: Path) -> int:
    """Return a line for each description, root and snap; the number that disagree."""
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, path in enumerate(sorted(root_folder.rglob("*.urdf"))):
            for root in ROOTS:
                for snap in SNAPS[:1] if same(path, root) else SNAPS:
                    outcome = compared(path, root, snap, Path(scratch) / f"{number}-{root}-{snap}")
                    wrong += outcome.disagrees()
                    word = "WRONG " if outcome.disagrees() else ""
                    sys.stdout.write(f"{word}{path.parts[-3]}/{path.name} {root} {snap:g}: {outcome}\n")
                    sys.stdout.flush()
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(Path(sys.argv[1])), 1))
