"""``python -m rbdc`` and the console script. An interrupt prints one line, even during imports."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from rbdc.cli.commands import main as run_commands
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    run_commands()


if __name__ == "__main__":
    main()
