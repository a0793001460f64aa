"""Errors survive pickling, as worker processes need."""

from __future__ import annotations

import pickle

import pytest

from rbdc import errors


@pytest.mark.parametrize(
    "error", [errors.DescriptionError("wrong", "mend it", "a.urdf", 3), errors.OptionError("no such option")]
)
def test_pickling(error: errors.RbdcError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_message_has_the_place() -> None:
    assert str(errors.DescriptionError("wrong", "mend it", "a.urdf", 3)) == "a.urdf:3: wrong; mend it"
    assert str(errors.DescriptionError("wrong", "mend it")) == "wrong; mend it"
