"""Reading of a description of any format: URDF, xacro, MJCF, D-H tables. The content tells the format."""

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
    """Return the links and joints of a file. Only the options of xacro files and `snap` apply. In MJCF and
    D-H tables several rotations compose a joint's placement; entries of these rotations within `snap` of 0, 1
    or -1 are rounded first. `rbdc.model.rearranged` rounds all other rotations.

    A file that is not XML is a Denavit-Hartenberg table. The root element distinguishes MJCF from URDF. A
    file with elements in xacro's namespace is a xacro file.

    Raises:
        DescriptionError: the file is malformed.
        UnsupportedError: a package that reads the format is not installed.
        OptionError: the file does not use a passed xacro argument.
    """
    file = fspath(path)
    return _read(file, content_of(file), options or ModelOptions())


def read_text(text: str, options: ModelOptions | None = None) -> Description:
    """Return the links and joints of a description that is passed as text; arguments and errors as of
    `read_description`. Files that the text names are looked up in the working directory.
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
        raise OptionError(f"{file}: `xacro_arg` is only for xacro files: leave it out")
    if document is None:
        return read_dh(file, text, options.snap)
    return read_mjcf(document, options.snap) if of_mujoco else read_urdf(document)
