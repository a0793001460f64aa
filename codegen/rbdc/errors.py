"""Every error that rbdc raises on purpose, and its warnings.

`RbdcError` is the base; the command line turns any of them into one message on standard error and the exit
status of its class. A message says where, what is wrong and how to mend it.
"""

from __future__ import annotations

LONGEST = 200
"""Characters that a message shows of an argument that may be anything."""


def brief(text: str, most: int = LONGEST) -> str:
    """Return text inside a message, of at most so many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


class RbdcError(Exception):
    """Base of all errors raised on purpose by rbdc."""

    exit_status = 2
    """Exit status of the command line: bad usage or bad input. 1 is for comparisons; 3 is kept for what was
    compiled and does not agree with the description.
    """


class RbdcWarning(UserWarning):
    """Something of a description or of a folder that a build leaves out, changes or doubts.

    The command line prints it, `rbdc.build` raises it through `warnings`; what concerns the package is kept
    in its manifest and in the attribute `warnings` of its module.
    """


class DescriptionError(RbdcError):
    """A robot description that cannot be honoured.

    Args:
        problem: what is wrong, naming the element.
        remedy: how to mend it.
        file: the description as the user named it, or None for a model built in code.
        line: the line in that file, where known.
    """

    def __init__(self, problem: str, remedy: str, file: str | None = None, line: int | None = None) -> None:
        self.problem, self.remedy, self.file, self.line = problem, remedy, file, line
        where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(f"{where}{problem}; {remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        """So that the error survives the way back from a worker process."""
        return type(self), (self.problem, self.remedy, self.file, self.line)


class OptionError(RbdcError):
    """An option or argument of rbdc itself that makes no sense; the message says which values do."""


class UnsupportedError(RbdcError):
    """Something well-formed that this version does not do; the message names it and what to do instead."""


class SingularModelError(RbdcError):
    """The function asked for is not defined for the model: forward dynamics where the joint-space inertia is
    structurally singular, with the names of the joints, or the centre of mass of nothing.
    """


class ToolchainError(RbdcError):
    """The C compiler is missing or failed; the message holds the command and the compiler's output.

    Args:
        message: the whole message.
        output: what the compiler printed.
    """

    def __init__(self, message: str, output: str = "") -> None:
        self.output = output
        super().__init__(message)

    @property
    def line(self) -> str:
        """One line of the reason: the compiler's first error, or the first line that there is."""
        lines = [line.strip() for line in (self.output or str(self)).splitlines() if line.strip()]
        return next((line for line in lines if "error:" in line), lines[0] if lines else "no message")


class TimeLimitError(ToolchainError):
    """A compiler or a program that took longer than it was given."""


class VerificationError(RbdcError):
    """The compiled code does not agree with the description; nothing was installed. The message names the
    function, the state and the error.
    """

    exit_status = 3


class LoadError(RbdcError):
    """A generated module that cannot be loaded: not there, not built, or built for another interpreter."""
