"""The program that expands a xacro file in a process of its own, for a xacro file is a program too: its
expressions may take for ever, or end the process.

It takes one JSON object as its argument: `path`, where Python looks for modules; `file`; `arguments` of the
file, name and value. It answers with one on standard output: `text`, what the file expands to, and `asked`,
the names of the arguments that the file has asked for; or it ends with the reason why there is none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any


class _Arguments(dict[str, str]):
    """Arguments of a xacro file, which know those that the file has asked for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.asked: set[object] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(name)
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


def main() -> None:
    """Answer the question on the command line."""
    question = json.loads(sys.argv[1])
    sys.path[:] = question["path"]
    import xacro

    expander: Any = xacro
    arguments = _Arguments(question["arguments"])
    output, sys.stdout = sys.stdout, sys.stderr  # what the file prints is no answer
    try:
        text = expander.process_file(question["file"], mappings=arguments).toprettyxml(indent="  ")
    except (Exception, SystemExit) as error:  # expressions and macros may raise whatever Python does
        sys.exit(str(error))
    json.dump({"text": text, "asked": sorted(map(str, arguments.asked))}, output)


if __name__ == "__main__":
    main()
