"""Run the blocks of all pages in one clone of the last commit, in order, and say what git shows after them.

    python -m tests.pages_in_a_clone

Exit status 1: a file changed, or one is left that git does not ignore. `tests.test_documentation` runs each
block in a folder of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.test_documentation import BLOCKS, ROOT, RUNNERS, furnished, git


def main() -> int:
    """0, or 1 where the clone is not as it was."""
    with TemporaryDirectory() as folder:
        git(ROOT, "clone", "--quiet", str(ROOT), f"{folder}/rbdc")
        clone = furnished(Path(folder) / "rbdc")
        for block in BLOCKS:
            sys.stderr.write(f"{block.page.relative_to(ROOT)}:{block.line}\n")
            RUNNERS[block.language](block, clone)
        shown = git(clone, "status", "--porcelain")
    sys.stdout.write(shown or f"{len(BLOCKS)} blocks: the clone is as it was\n")
    return 1 if shown else 0


if __name__ == "__main__":
    raise SystemExit(main())
