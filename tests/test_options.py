"""Options: written once, the same on the command line and in Python, refused by name."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from click.testing import CliRunner

import rbdc
from rbdc.cli.commands import commands
from rbdc.cli.packages import build as build_command
from rbdc.cli.packages import wheel as wheel_command
from rbdc.cli.wording import in_commands
from rbdc.errors import OptionError
from rbdc.model import Problem
from rbdc.option_fields import TEXT, Option, options_of
from rbdc.options import BuildArguments, BuildOptions, grouped, recorded_options
from rbdc.pipeline import read
from rbdc.report.options import CompareOptions
from rbdc.resources import resolve

OPTIONS = options_of(BuildOptions)


def asked(*words: str) -> BuildOptions:
    """Return the options of `rbdc build cartpole` with these words."""
    values = dict(build_command.make_context("build", ["cartpole", *words]).params)
    del values["descriptions"], values["as_json"]
    return BuildOptions(**values)


SAME: list[tuple[str, list[str], list[Any]]] = [
    ("root_joint", ["free-flyer"], ["free-flyer"]),
    ("gravity", ["0", "0", "-1.5"], ["0 0 -1.5", [0, 0, -1.5], np.array([0.0, 0.0, -1.5])]),
    ("armature", ["j=1,k=2"], ["j=1,k=2", ["j=1", "k=2"], {"j": 1, "k": 2.0}, [("j", 1), ["k", 2]]]),
    ("lock", ["j=-0.5"], ["j=-0.5", {"j": -0.5}, (("j", -0.5),)]),
    ("xacro_arguments", ["n:=3"], ["n:=3", ["n:=3"], {"n": "3"}, (("n", "3"),)]),
    ("package_path", ["ws"], ["ws", ["ws"], Path("ws"), (Path("ws"),)]),
    (
        "frames",
        ["tip@hand:0 0 .1,0 0 1"],
        ["tip@hand:0 0 .1,0 0 1", ["tip@hand:0 0 .1,0 0 1"], [("tip", "hand", (0, 0, 0.1, 0, 0, 1))]],
    ),
    ("frames", ["tip@hand:0 0 .1"], ["tip@hand:0 0 .1", [("tip", "hand", [0, 0, 0.1])]]),
    ("base", ["link7"], ["link7"]),
    ("snap", ["1e-6"], ["1e-6", 1e-6]),
    ("parameters", ["inertial"], ["inertial", ()]),
    ("parameters", ["inertial@a,b"], ["inertial@a,b", ["a", "b"]]),
    ("payloads", ["tool0"], ["tool0", ["tool0"], ("tool0",)]),
    ("functions", ["rnea, aba"], ["rnea,aba", ["rnea", "aba"], ("rnea", "aba")]),
    ("preset", ["full"], ["full"]),
    ("targets", ["c"], ["c", ["c"]]),
    ("fuse", ["rnea,crba"], ["rnea,crba", ["rnea,crba"], [["rnea", "crba"]], (("rnea", "crba"),)]),
    ("style", ["rolled"], ["rolled", "rolled"]),
    ("dtype", ["float32"], ["float32", np.float32, np.dtype("float32"), np.dtype("f4"), "f4", "single"]),
    ("out", ["somewhere"], ["somewhere", Path("somewhere")]),
    ("tune", ["12"], ["12", 12, 12.0, np.int64(12)]),
    ("tune", ["30"], [True, 30.0]),
    ("tune_compilers", ["gcc,clang"], ["gcc,clang", ["gcc", "clang"], ("gcc", "clang")]),
    ("compiler", ["gcc"], ["gcc"]),
    ("cflags", ["-O1 -g"], ["-O1 -g", ["-O1", "-g"]]),
    ("jobs", ["2"], ["2", 2, np.int64(2)]),
]


@pytest.mark.parametrize(("name", "words", "values"), SAME, ids=[f"{s[0]}-{s[1][0]}" for s in SAME])
def test_a_value_that_one_takes_the_other_takes(name: str, words: list[str], values: list[Any]) -> None:
    for flag in OPTIONS[name].flags:
        expected = asked(flag, *words)
        assert getattr(expected, name) != OPTIONS[name].default
        for spelling in OPTIONS[name].names:
            for value in values:
                assert BuildOptions.of({spelling: value}) == expected


def test_switches() -> None:
    assert asked("--no-verify") == BuildOptions(verify=False)
    assert asked("--verify", "--force") == BuildOptions(force=True)
    assert asked() == BuildOptions()
    assert asked("--tune") == BuildOptions(tune=True), "a value may be left out"


def test_repeated_options_add_up() -> None:
    assert asked("--lock", "j=1", "--lock", "k=2").lock == (("j", 1.0), ("k", 2.0))
    assert asked("--frame", "a@b:1 2 3", "--frame", "c@d:1 2 3").frames[1][:2] == ("c", "d")


def test_a_file_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    path.write_text('{"j": 0.25}')
    for value in (str(path), path, ["k=2", path]):
        assert ("j", 0.25) in BuildOptions(lock=value).lock
    path.write_text("[1]")
    with pytest.raises(OptionError, match="`lock=.*numbers.json'?`: the file must hold an object"):
        BuildOptions(lock=path)


REFUSED: list[tuple[str, Any, str]] = [
    ("functions", 5, "`functions=5`: give a text or a sequence"),
    ("functions", ["rnea", 5], "give a text"),
    ("functions", b"rnea", "`functions=b'rnea'`: give a text"),
    ("functions", {"rnea": 1}, "give a text"),
    ("parameters", "link2", "`parameters='link2'`: give inertial, or inertial@LINK,..."),
    ("parameters", "all", "`parameters='all'`: give inertial"),
    ("parameters", True, "`parameters=True`: give"),
    ("payloads", 3, "`payload=3`: give a text"),
    ("cflags", 2, "`cflags=2`: give"),
    ("targets", None, "`targets=None`: give"),
    ("fuse", 7, "`fuse=7`: give"),
    ("frames", "tip", "`frame='tip'`: give NAME@LINK:XYZ"),
    ("frames", ["tip@hand:0 0"], "`frame=.*`: give NAME@LINK:XYZ"),
    ("frames", ("tip", "hand", (0, 0, 0.1)), "`frame=.*`: give NAME@LINK:XYZ"),
    ("frames", [("tip", "hand", (0, 0, float("nan"), 0, 0, 0))], "finite numbers"),
    ("frames", [("tip", 4, (0, 0, 0))], "give a name, a link and x y z"),
    ("lock", "j", "`lock='j'`: No such file or directory; give joint=value"),
    ("lock", "j=x", "`lock='j=x'`: 'x' is not a number"),
    ("lock", {"j": None}, "None is not a number"),
    ("lock", {"j": True}, "True is not a number"),
    ("lock", 1.0, "`lock=1.0`: give"),
    ("armature", {"j": -1.0}, "`armature=.*`: j=-1.0: give a finite number that is not negative"),
    ("armature", [1.0], "`armature=.*`: give joint=value"),
    ("xacro_arguments", "n=3", "`xacro_arg='n=3'`: give NAME:=VALUE"),
    ("xacro_arguments", {"n": 3}, "a mapping of texts"),
    ("package_path", 5, "`package_path=5`: give a text or a sequence"),
    ("package_path", [5], "give the path of a folder"),
    ("preset", "all", "no preset 'all'; there are control, optimisation, full, second"),
    ("preset", ["full"], r"`preset=\['full'\]`: give a text"),
    ("name", 5, "`name=5`: give a text"),
    ("base", 5, "`base=5`: give a text"),
    ("style", "curled", "`style='curled'`: did you mean unrolled or rolled. there are"),
    ("style", None, "`style=None`: there are"),
    ("dtype", np.complex64, "`dtype=<class 'numpy.complex64'>`: there are float64, float32"),
    ("dtype", "float16", "`dtype='float16'`: did you mean float64 or float32"),
    ("dtype", "float", "`dtype='float'`: float is double precision in Python and single in C: give"),
    ("dtype", ">f4", "`dtype='>f4'`: there are float64, float32"),
    ("dtype", "a b", "`dtype='a b'`: there are float64, float32"),
    ("dtype", None, "`dtype=None`: there are"),
    ("jobs", 2.5, "`jobs=2.5`: give a whole number"),
    ("jobs", 0, "`jobs=0`: give a number of at least 1"),
    ("jobs", True, "`jobs=True`: True is not a number"),
    ("snap", 1.0, "`snap=1.0`: give a number from 0 to 0.001"),
    ("verify", "no", "`verify='no'`: give True or False"),
    ("force", 1, "`force=1`: give True or False"),
    ("out", 4, "`out=4`: give the path of a folder"),
    ("gravity", True, "`gravity=True`: give three finite numbers"),
    ("march", "x" * 999, "`march='x{197}[.]{3}'`: there are native, portable"),
]


@pytest.mark.parametrize(("name", "value", "message"), REFUSED, ids=[f"{r[0]}-{r[2][:30]}" for r in REFUSED])
def test_others_are_refused_by_name(name: str, value: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        options: Any = {"out": tmp_path / "out", "functions": "nle", OPTIONS[name].names[0]: value}
        rbdc.build("cartpole", **options)
    assert list(tmp_path.iterdir()) == []


def test_names() -> None:
    with pytest.raises(OptionError, match=r"^no option 'lokc'; did you mean lock\?$"):
        rbdc.build("cartpole", lokc="j=1")  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="`contacts` is given twice, once as loop"):
        BuildOptions.of({"contacts": "a=point@link2", "loop": "b=weld@link1:link2"})
    with pytest.raises(OptionError, match="no option 'march'; there are root_joint"):
        rbdc.Model.from_urdf(resolve("cartpole"), march="native")


def test_texts_build_what_the_command_line_builds(tmp_path: Path) -> None:
    texts: dict[str, Any] = {
        "functions": "rnea,crba",
        "targets": "c",
        "cflags": "-O0",
        "fuse": "rnea,crba",
        "frames": ["tip@link2:0 0 .1"],
        "parameters": "inertial@link2",
        "payloads": "link1",
        "armature": "joint1=0.5",
    }
    manifests = []
    rbdc.build(
        "double_pendulum", out=tmp_path / "python", **{OPTIONS[k].names[0]: v for k, v in texts.items()}
    )
    words = [w for k, v in texts.items() for w in (OPTIONS[k].flags[0], v if isinstance(v, str) else v[0])]
    done = CliRunner().invoke(
        commands, ["build", "double_pendulum", *words, "--out", str(tmp_path / "commands")]
    )
    assert done.exit_code == 0, done.output
    for folder in ("python", "commands"):
        manifests.append((tmp_path / folder / "double_pendulum" / "manifest.json").read_text())
    assert manifests[0] == manifests[1]
    assert json.loads(manifests[0])["options"]["frames"] == [["tip", "link2", [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]]]


def test_what_manifests_record() -> None:
    pendulum = Problem.from_file(resolve("double_pendulum"))
    usual = recorded_options(BuildOptions(), pendulum)
    assert list(usual) == [name for name, option in OPTIONS.items() if option.recorded]
    assert usual["gravity"] == [0.0, 0.0, -9.81] and usual["targets"] == ["c", "batch"]
    assert (usual["parameters"], usual["contacts"], usual["armature"]) == (None, [], {})
    options = BuildOptions(parameters=(), damping="include", armature={"joint1": 1}, jobs=2, name="n")
    added = {"parameters": ["all"], "damping": "include", "armature": {"joint1": 1.0}}
    recorded = recorded_options(options, read(resolve("double_pendulum"), options))
    assert recorded == usual | added
    assert json.loads(json.dumps(recorded)) == recorded


def test_commands_take_their_options_from_one_place() -> None:
    def flags(command: Any) -> set[str]:
        return {flag for parameter in command.params for flag in parameter.opts if flag.startswith("-")}

    assert {flag for option in OPTIONS.values() for flag in option.flags} <= flags(build_command)
    assert flags(build_command) - flags(wheel_command) == {"--add", "--json"}
    words = " ".join(CliRunner().invoke(commands, ["build", "--help"]).output.split())
    for option in OPTIONS.values():
        assert in_commands(option.help) in words and f"    {option.names[0]}: {option.help}" in str(
            rbdc.build.__doc__
        )
    assert sorted(o.name for options in grouped().values() for o in options) == sorted(OPTIONS)
    for title in grouped():
        assert f" {title}: " in words and f"\n{title}:\n" in str(rbdc.build.__doc__)
    assert list(BuildArguments.__annotations__) == [option.names[0] for option in OPTIONS.values()]
    types, metavars = (
        get_type_hints(BuildArguments),
        {o.names[0]: o.reading.metavar for o in OPTIONS.values()},
    )
    literals = {name: [u for u in (t, *get_args(t)) if get_origin(u) is Literal] for name, t in types.items()}
    closed = {name: f"[{'|'.join(get_args(t[0]))}]" for name, t in literals.items() if t}
    assert closed == {name: metavar for name, metavar in metavars.items() if metavar.startswith("[")}
    assert "[default: c,batch]" in words


@dataclass(frozen=True)
class Seasoned(BuildOptions):
    """The recipe of codegen/README.md: an option is a field."""

    taste: Option[str] = Option(TEXT, "plain", "A taste.", "--flavour")


def test_a_field_is_all_that_an_option_takes() -> None:
    assert Seasoned.of({"flavour": "salty"}).taste == Seasoned(taste="salty").taste == "salty"
    pendulum = Problem.from_file(resolve("double_pendulum"))
    assert recorded_options(Seasoned(taste="salty"), pendulum)["taste"] == "salty"
    assert recorded_options(Seasoned(), pendulum)["taste"] == "plain"
    with pytest.raises(OptionError, match="`flavour=3`: give a text"):
        Seasoned(taste=3)
    with pytest.raises(FrozenInstanceError):
        setattr(Seasoned(), "taste", "sweet")  # noqa: B010 - a type checker refuses the other way to write it
    assert replace(Seasoned(taste="salty"), jobs=3).taste == "salty"


SOURCE = Path(rbdc.__file__).parent
SHARED = [p for p in SOURCE.rglob("*.py") if p.relative_to(SOURCE).parts[0] not in ("cli", "report")]
"""Code that Python reaches; `cli` and `report` are commands alone."""
PYTHONS = {name for option in options_of(CompareOptions).values() for name in option.names}
FLAGS = {flag for option in options_of(CompareOptions).values() for flag in option.flags} | {"--no-verify"}


def sentences(path: Path) -> Iterator[str]:
    """Yield the texts of a file that are more than a flag; no docstrings."""
    tree = ast.parse(path.read_text())
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in bare else None
        if isinstance(text, str) and text not in FLAGS:
            yield text


@pytest.mark.parametrize("path", SHARED, ids=lambda p: str(p.relative_to(SOURCE)))
def test_messages_name_options_as_python_does(path: Path) -> None:
    """The command line puts them into its own words (`rbdc.cli.wording`)."""
    for text in sentences(path):
        if "rbdc build" not in text:
            assert not FLAGS & set(re.findall(r"--[a-z][a-z-]*", text)), text
            assert path.is_relative_to(SOURCE / "emit" / "c") or not re.search("[ (]--$", text), text
        for name in re.findall(r"`([a-z_]+)=", text):
            assert name in PYTHONS, text
