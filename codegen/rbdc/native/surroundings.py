"""The surroundings of a package: the earlier package, whose functions a build keeps or removes; files that
git tracks; and other modules with the package's name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rbdc.emit.names import namesake
from rbdc.errors import OptionError
from rbdc.native.install import MANIFEST, listed, manifest_of, record_of
from rbdc.native.tracked import tracked


@dataclass(frozen=True)
class Earlier:
    """A package before a build replaces it.

    folder: its folder.
    manifest: its manifest, empty if there is none.
    """

    folder: Path
    manifest: Mapping[str, Any]

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Return the package in a folder."""
        return cls(folder, manifest_of(folder) if record_of(folder) is not None else {})

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions, fused ones among them."""
        return tuple(self.manifest.get("functions", ()))

    @property
    def targets(self) -> tuple[str, ...]:
        """The output targets."""
        return tuple(self.options.get("targets", ()))

    @property
    def fused(self) -> tuple[tuple[str, ...], ...]:
        """The groups of fused functions."""
        return tuple(map(tuple, self.options.get("fuse", ())))

    @property
    def options(self) -> Mapping[str, Any]:
        """The options, as the manifest stores them."""
        recorded: Mapping[str, Any] = self.manifest.get("options", {})
        return recorded

    def obstacle(self, differing: Sequence[str], model_hash: str) -> str:
        """Return why a build cannot add to the package; "" if it can.

        Args:
            differing: Python names of the options whose values have changed.
            model_hash: hash of the model of this build.
        """
        if not self.manifest:
            return ""
        if differing:
            return (
                f"the package was built with another value of {', '.join(f'`{name}`' for name in differing)}"
            )
        if self.manifest.get("model_sha256", model_hash) != model_hash:
            return "the package was built from another description, or from this one before a change"
        return ""

    def refuse_addition(self, obstacle: str) -> None:
        """Raise OptionError if there is an obstacle."""
        if obstacle:
            raise OptionError(
                f"{self.folder}: `add=True` keeps functions of the same model under the same options, but "
                f"{obstacle}; give the same model and options, or leave out `add=True`"
            )

    def refuse_tracked(self) -> None:
        """Raise OptionError if git tracks files of the package."""
        names = {MANIFEST, *(record_of(self.folder) or ())} if self.manifest else set()
        refuse_tracked(self.folder, self.folder, names)

    def lost(self, manifest: Mapping[str, Any], obstacle: str) -> list[str]:
        """Return a warning about functions, targets and a tuning that the new package lacks."""
        after = Earlier(self.folder, manifest)
        gone = [name for name in self.functions if name not in after.functions]
        gone += [f"target {name}" for name in self.targets if name not in after.targets]
        gone += ["its tuning"] if self.options.get("tuning") and not after.options.get("tuning") else []
        if not gone:
            return []
        remedy = "another `out` or `name` keeps both packages" if obstacle else "`add=True` keeps them"
        return [f"{self.folder}: this build removes {listed(gone)}; {remedy}"]


def refuse_tracked(path: Path, folder: Path, names: Collection[str]) -> None:
    """Raise OptionError if git tracks files of these names in a folder; the message is about `path`."""
    if in_git := tracked(folder, names) if names else []:
        remedy = "`force=True` replaces it, another `out` keeps it"
        raise OptionError(f"{path}: git tracks {listed(in_git)}; {remedy}")


def namesake_warnings(robot: str) -> list[str]:
    """Return a warning about another module with this name, unless rbdc generated it."""
    file = namesake(robot)
    if file is None or record_of(file.parent) is not None:
        return []
    remedy = "`name` gives another name"
    return [f"{robot}: another module has this name, {file}: Python imports only one of the two; {remedy}"]
