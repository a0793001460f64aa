"""Arguments that a generated module refuses, and the words in which it does."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support_handmade import load_tiny


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return load_tiny(tmp_path_factory.mktemp("errors"))


Q, V = np.array([1.0, 2.0]), np.array([0.5, -0.25])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3), V), r"mix: argument q has shape \(3,\); expected \(\.\.\., 2\)"),
        ((Q, 1.0), r"argument v has shape \(\); expected \(\.\.\., 2\)"),
        ((Q, V, np.zeros((6, 2))), r"argument fext has shape \(6, 2\); expected \(\.\.\., 2, 6\)"),
        ((Q, [[1.0, 2.0], [3.0]]), r"argument v is no array: .*; expected \(\.\.\., 2\)"),
        ((np.zeros((3, 2)), np.zeros((4, 2))), r"mix: batch dimensions do not broadcast: q \(3,\), v \(4,\)"),
        ((np.array([np.nan, 0.0]), V), "argument q has entries that are not finite"),
        ((np.array([[0.0, np.inf], [0.0, 0.0]]), V), "argument q has entries that are not finite"),
        (([0.0, -np.inf], V), "argument q has entries that are not finite: q[1] is -inf".replace("[", r"\[")),
        (
            (Q, np.array([0.0, np.nan])),
            r"argument v has entries that are not finite: v\[1\] is nan; give finite",
        ),
        ((Q, np.array([V, [np.inf, 0.0]])), r"argument v has entries that are not finite: v\[1, 0\] is inf"),
        (
            (Q, V, np.full((2, 6), np.nan)),
            r"argument fext has entries that are not finite: fext\[0, 0\] is nan",
        ),
    ],
)
def test_values_refused(tiny: ModuleType, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        tiny.mix(*arguments)
    assert (
        caught.value.__context__ is None
        or "is no array" in str(caught.value)
        or caught.value.__suppress_context__
    )


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (Q.astype(complex), "argument q has dtype complex128"),
        (Q.astype(np.longdouble), "argument q has dtype (float128|longdouble)"),
        (Q.astype(object), "argument q has dtype object"),
        (["1", "2"], "argument q has dtype <U1"),
        (np.array([2**53 + 1, 0]), "argument q has integers beyond 2"),
        (np.array([-(2**63), 0]), "argument q has integers beyond 2"),
        (np.array([2**64 - 1, 0], np.uint64), "argument q has integers beyond 2"),
        ([10**30, 0], "argument q has dtype object"),
        (np.ma.array(Q, mask=[True, False]), "argument q is a masked array"),
        (np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), "argument q has dtype datetime64"),
        (None, r"argument q is None; give an array of shape \(\.\.\., 2\)"),
    ],
)
def test_types_refused(tiny: ModuleType, q: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tiny.mix(q, V)


def _read_only() -> Any:
    array = np.empty(2)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "kind", "message"),
    [
        (np.empty(3), ValueError, r"argument out \(tau\) has shape \(3,\); expected \(2,\)"),
        (np.empty((1, 2)), ValueError, r"argument out \(tau\) has shape \(1, 2\); expected \(2,\)"),
        (np.empty(2, np.float32), TypeError, r"argument out \(tau\) is not a float64 array"),
        (np.empty(2, ">f8"), TypeError, r"argument out \(tau\) is not a float64 array"),
        ([0.0, 0.0], TypeError, r"argument out \(tau\) is not a float64 array"),
        (np.empty(4)[::2], ValueError, r"argument out \(tau\) is read-only, unaligned or not C-contiguous"),
        (_read_only(), ValueError, r"argument out \(tau\) is read-only, unaligned or not C-contiguous"),
        ((np.empty(2), np.empty(2)), TypeError, "mix: out: pass a tuple of 1 array"),
    ],
)
def test_outputs_refused(tiny: ModuleType, out: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        tiny.mix(Q, V, out=out)


def test_outputs_of_several(tiny: ModuleType) -> None:
    with pytest.raises(TypeError, match="pair: out: pass a tuple of 2 arrays"):
        tiny.pair(Q, V, out=np.empty(2))
    buffer = np.empty(5)
    with pytest.raises(ValueError, match=r"argument out \(p\) overlaps another output"):
        tiny.pair(Q, V, out=(buffer[:2], buffer[1:].reshape(2, 2)))


@pytest.mark.parametrize(
    ("frame", "reference", "kind", "message"),
    [
        ("nowhere", "LOCAL", ValueError, "where: frame: no frame 'nowhere'; there are base, "),
        (3, "LOCAL", ValueError, r"where: frame: index 3 is not in 0 \.\. 2"),
        (-1, "LOCAL", ValueError, r"where: frame: index -1 is not in 0 \.\. 2"),
        (1.0, "LOCAL", TypeError, "where: frame: give a frame's name or index, not float"),
        (0, "local", ValueError, "where: reference: 'local'; did you mean LOCAL. there are LOCAL, WORLD"),
        (True, "LOCAL", TypeError, "where: frame: give a frame's name or index, not bool"),
        (np.True_, "LOCAL", TypeError, "where: frame: give a frame's name or index, not bool"),
        (None, "LOCAL", TypeError, "where: frame: give a frame's name or index, not NoneType"),
        (b"base", "LOCAL", TypeError, "where: frame: give a frame's name or index, not bytes"),
        (["base"], "LOCAL", TypeError, "where: frame: give a frame's name or index, not list"),
        (np.array([0]), "LOCAL", TypeError, "where: frame: give a frame's name or index, not ndarray"),
        (np.array(0.0), "LOCAL", TypeError, "where: frame: give a frame's name or index, not ndarray"),
        (
            np.array(["base", "tip"]),
            "LOCAL",
            TypeError,
            "where: frame: give a frame's name or index, not ndarray",
        ),
        (
            0,
            ["LOCAL"],
            TypeError,
            "where: reference: give one of LOCAL, WORLD, LOCAL_WORLD_ALIGNED, not list",
        ),
        (0, np.array(["LOCAL", "WORLD"]), TypeError, "where: reference: give one of .*, not ndarray"),
        (0, np.array(1), TypeError, "where: reference: give one of .*, not ndarray"),
        (0, None, TypeError, "where: reference: give one of .*, not NoneType"),
        (0, 0, TypeError, "where: reference: give one of .*, not int"),
        (0, 1.0, TypeError, "where: reference: give one of .*, not float"),
        (0, b"LOCAL", TypeError, "where: reference: give one of .*, not bytes"),
    ],
)
def test_frames_refused(
    tiny: ModuleType, frame: Any, reference: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        tiny.where(Q, frame, reference)


def test_indices_and_names_of_numpy_are_taken(tiny: ModuleType) -> None:
    for frame in (np.int64(1), np.array(1), np.str_(tiny.frame_names[1])):
        np.testing.assert_array_equal(tiny.where(Q, frame, np.str_("WORLD")), [Q[0], 1.0, 1.0])


@pytest.mark.parametrize(
    ("layout", "num_threads", "kind", "message"),
    [
        (np.array(["samples", "lanes"]), 1, TypeError, "mix: layout: give 'samples' or 'lanes', not ndarray"),
        (None, 1, TypeError, "mix: layout: give 'samples' or 'lanes', not NoneType"),
        ("rows", 1, ValueError, "mix: layout: 'rows' is neither 'samples' nor 'lanes'"),
        (
            "lanes",
            np.array([1, 1]),
            TypeError,
            r"mix: argument num_threads is array\(\[1, 1\]\); give a positive integer",
        ),
        ("samples", np.array([1, 1]), TypeError, "mix: argument num_threads is "),
        ("samples", True, TypeError, "mix: argument num_threads is True; give a positive integer"),
        ("lanes", True, TypeError, "mix: argument num_threads is True; give a positive integer"),
    ],
)
def test_layouts_refused(
    tiny: ModuleType, layout: Any, num_threads: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        tiny.mix(Q, V, layout=layout, num_threads=num_threads)


def test_a_layout_that_is_equal_but_not_the_same_text(tiny: ModuleType) -> None:
    for layout in ("".join(["sam", "ples"]), np.str_("samples")):
        np.testing.assert_array_equal(tiny.mix(Q, V, layout=layout), 2 * Q + V)


def test_a_function_that_was_not_built_says_how_to_build_it(tiny: ModuleType) -> None:
    advice = "build it with `functions='mix,absent'` or `functions='absent'`, `add=True`"
    with pytest.raises(AttributeError, match=f"^tiny.absent was not built; {advice}$"):
        _ = tiny.absent
    with pytest.raises(AttributeError, match="module 'tiny' has no attribute 'nonsense'"):
        _ = tiny.nonsense
    assert not hasattr(tiny, "nonsense")
