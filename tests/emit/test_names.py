"""Names from descriptions arrive in generated text exactly, and as nothing but names."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rbdc
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.names import comment, docstring, identifiers
from rbdc.model import Problem
from tests.support import build_module
from tests.support_handmade import inertia_of_one

ODD_NAMES = (
    "arm\U0001f4a5",
    "\U0010ffff",
    "arm?",  # the first name, which is in comments
    "caf\u00e9",
    "caf?",
    '"',
    "'",
    '"""',
    "'''",
    '"""+str(1/0)+"""',
    "\\",
    "a\\",
    'a\\"',
    "\\u0041",
    "tab\tnew\nline\rreturn",
    "next\u0085line",
    "line\u2028paragraph\u2029",
    "*/",
    "/*/",
    "/**/",
    "??/",
    "????/",
    "// ??/",
    "{{ x }}",
    "{% raw %}",
    "| a | b |",
    "\u202eright to left",
    "x" * 5000,
    "\U0001f4a5" * 2000,
)
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]


@given(st.text(st.characters()))
def test_literals_are_the_text(text: str) -> None:
    """Any text gives a literal, even one with lone surrogates."""
    for written in (ascii(text), f'"""{docstring(text)}"""'):
        assert written.isascii() and written.isprintable()
        assert ast.literal_eval(written) == text


@given(st.text(st.characters()) | st.text('*/?\\"\n'))
def test_comments_are_the_text_and_end_nowhere(text: str) -> None:
    written = comment(text)
    assert written.isascii() and (written.isprintable() or not written)
    assert not any(end in written for end in ("*/", "/*", "??")) and not written.endswith("\\")
    assert written.encode().decode("unicode_escape") == text


@given(st.lists(st.text(st.sampled_from("ab_ 2.")) | st.text(), unique=True))
def test_identifiers_are_different_and_what_they_name_where_that_can_be(names: list[str]) -> None:
    words = identifiers(names)
    assert len({*words}) == len(names)
    assert all(re.fullmatch("[A-Za-z0-9_]*", x) for x in words)
    plain = [(name, x) for name, x in zip(names, words, strict=True) if re.fullmatch("[A-Za-z0-9_]*", name)]
    assert all(name == x for name, x in plain)


def oddly_named() -> Problem:
    """Return a chain of links and joints with the odd names."""
    links = [rbdc.Link("base"), *(rbdc.Link(name, inertia_of_one()) for name in ODD_NAMES)]
    parents = ("base", *ODD_NAMES)
    joints = [
        rbdc.Joint(name, "revolute", parent, name) for parent, name in zip(parents, ODD_NAMES, strict=False)
    ]
    return Problem.assemble("odd", links, joints)


def test_names_in_a_module() -> None:
    module = build_module(oddly_named(), functions=("frame_jacobian",), cflags=("-O0",))
    assert module.frame_names == ("base", *ODD_NAMES)
    assert module.joint_names == ODD_NAMES
    for index, name in enumerate(ODD_NAMES):
        assert (
            module.frame_jacobian(module.q_neutral, name)
            == module.frame_jacobian(module.q_neutral, index + 1)
        ).all()


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return generate(
        oddly_named(),
        "odd",
        ["gravity_torque", "frame_jacobian"],
        lambda _: None,
        GenerationOptions("rolled"),
    ).files


def test_names_in_c(files: dict[str, str], tmp_path: Path) -> None:
    """The header has a line for each frame and joint, from which the name can be read; compilers see comments
    and nothing else.
    """
    lines = files["odd.h"].splitlines()
    for kind, names in (("FRAME", ("base", *ODD_NAMES)), ("JOINT", ODD_NAMES)):
        listed = [re.match(rf"    ODD_{kind}_(\w+) = .*?(?: /\* (.*) \*/)?$", line) for line in lines]
        read = [match[2] or match[1] for match in listed if match]
        assert tuple(name.encode().decode("unicode_escape") for name in read) == names
    for name, text in files.items():
        assert text.isascii(), name
        (tmp_path / name).write_text(text, encoding="ascii")
    for compiler in COMPILERS:
        flags = [
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-Wcomment",
            "-Wtrigraphs",
            "-fsyntax-only",
        ]
        subprocess.run(
            [compiler, *flags, *(p.name for p in sorted(tmp_path.glob("*.c")))], cwd=tmp_path, check=True
        )


@pytest.mark.parametrize("name", ['"""+str(1/0)+"""', "a\\", "arm\U0001f4a5", "??/", "*/"])
def test_names_in_the_documentation_of_fused_functions(name: str) -> None:
    fuse = [("gravity_torque", f"frame_jacobian@{name}")]
    files = generate(
        oddly_named(), "odd", ["gravity_torque"], lambda _: None, GenerationOptions("rolled", fuse)
    ).files
    for file in ("__init__.py", "__init__.pyi"):
        (function,) = [
            node
            for node in ast.walk(ast.parse(files[file]))
            if isinstance(node, ast.FunctionDef) and "_and_" in node.name
        ]
        assert name in (ast.get_docstring(function) or "")


def test_names_in_the_manifest() -> None:
    model = oddly_named()
    fuse = (("gravity_torque", "frame_jacobian@arm\U0001f4a5"),)
    module = build_module(model, name="odd_fused", functions=("gravity_torque",), fuse=fuse, cflags=("-O0",))
    manifest = json.loads((Path(str(module.__file__)).parent / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["options"]["fuse"] == [list(group) for group in fuse]
