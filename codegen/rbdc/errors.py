"""All errors that rbdc raises on purpose, and its warnings.

`RbdcError` is the base. The command line turns each error into one message on standard error and the
exit status of its class. A message says what is wrong, where, and how to mend it.
"""

from __future__ import annotations

LONGEST = 200
"""Largest number of characters of an arbitrary argument in a message."""


def brief(text: str, most: int = LONGEST) -> str:
    """Return a text for a message, shortened to at most `most` characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


class RbdcError(Exception):
    """Base of all errors raised on purpose by rbdc."""

    exit_status = 2
    """Exit status of the command line: bad usage or bad input. Status 1 is for comparisons that fail, 3 for
    compiled code that does not agree with the reference algorithms.
    """


class RbdcWarning(UserWarning):
    """Something in a description or a folder that a build ignores, changes or finds suspicious.

    The command line prints the warning, and `rbdc.build` issues it through `warnings`. Warnings about the
    package are kept in its manifest and in the attribute `warnings` of its module.
    """


class DescriptionError(RbdcError):
    """A robot description that rbdc cannot use.

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
        """Pickle the error with its arguments, so that it survives the way back from a worker process."""
        return type(self), (self.problem, self.remedy, self.file, self.line)


class OptionError(RbdcError):
    """An invalid option or argument of rbdc. The message says which values are accepted."""


class UnsupportedError(RbdcError):
    """Valid input that this version does not support. The message names the input and an alternative."""


class SingularModelError(RbdcError):
    """The function is not defined for the model. Examples: forward dynamics if the joint-space inertia is
    structurally singular (the message names the joints), or the centre of mass of a model without mass.
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
        """The reason in one line: the compiler's first error, or else the first line of its output."""
        lines = [line.strip() for line in (self.output or str(self)).splitlines() if line.strip()]
        return next((line for line in lines if "error:" in line), lines[0] if lines else "no message")


class TimeLimitError(ToolchainError):
    """A compiler or a program exceeded its time limit."""


class VerificationError(RbdcError):
    """The compiled code does not agree with the reference algorithms; nothing was installed. The message
    names the function, the state and the error.
    """

    exit_status = 3


class LoadError(RbdcError):
    """A generated module cannot be loaded: it is missing, not built, or built for another interpreter."""
