"""Reading a description of any format, which its content tells: URDF, xacro, MJCF, D-H tables."""

from __future__ import annotations

from os import PathLike, fspath

from rbdc.errors import OptionError
from rbdc.model.description import Description
from rbdc.model.formats.dh import is_dh, read_dh
from rbdc.model.formats.mjcf import read_mjcf
from rbdc.model.formats.urdf import read_urdf
from rbdc.model.formats.xacro import expanded, is_xacro, note_left_over
from rbdc.model.options import ModelOptions
from rbdc.model.text import TEXT, encoded
from rbdc.model.xml import Document, content_of


def read_description(path: str | PathLike[str], options: ModelOptions | None = None) -> Description:
    """Return the links and joints of a file. Of the options those of xacro files count, and `snap`: entries
    of rotations this close to 0, 1 or -1 are taken as exactly that where a joint's placement is composed of
    several, in MJCF and in D-H tables; `rbdc.model.rearranged` rounds those of other joints.

    What is no XML is a Denavit-Hartenberg table; the root element tells MJCF from URDF, elements of its
    namespace tell xacro. Raises DescriptionError for anything malformed, UnsupportedError where a package
    that reads the format is not installed, OptionError for arguments that the file does not have.
    """
    file = fspath(path)
    return _read(file, content_of(file), options or ModelOptions())


def read_text(text: str, options: ModelOptions | None = None) -> Description:
    """Return the links and joints of a description given as text; arguments and errors as of
    `read_description`. Files that it names are sought in the working directory.
    """
    return _read(TEXT, encoded(text), options or ModelOptions())


def _read(file: str, text: bytes, options: ModelOptions) -> Description:
    document = None if is_dh(text) else Document(file, text)
    of_mujoco = document is not None and document.root.tag == "mujoco"
    if document is not None and not of_mujoco:
        if is_xacro(document):
            return read_urdf(expanded(document, options.xacro_arguments, options.package_path))
        note_left_over(document)
    if options.xacro_arguments:
        raise OptionError(f"{file}: `xacro_arg` is for xacro files, which this is not")
    if document is None:
        return read_dh(file, text, options.snap)
    return read_mjcf(document, options.snap) if of_mujoco else read_urdf(document)
