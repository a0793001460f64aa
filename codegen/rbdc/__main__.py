"""``python -m rbdc``, and the console script: an interrupt is one line from the first import on."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from rbdc.cli.commands import commands as cli
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    cli.main()


if __name__ == "__main__":
    main()
