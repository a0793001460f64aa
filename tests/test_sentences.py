"""Draws of sentences: each kind, places that hold them, one draw a seed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sentences import ROOT, Sentence, drawn, sentences


@pytest.mark.slow
def test_the_script_prints_sentences_of_each_kind() -> None:
    command = [sys.executable, "-m", "tests.sentences", "--seed", "1", "--count", "5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    kinds = re.split(r"^(pages|docstrings|messages)$", done.stdout, flags=re.MULTILINE)
    assert kinds[1::2] == ["pages", "docstrings", "messages"]
    for text in kinds[2::2]:
        assert len(re.findall(r"^  [\w./-]+:\d+: \S", text, re.MULTILINE)) == 5


def test_a_seed_draws_the_same_sentences() -> None:
    assert drawn(3, 4) == drawn(3, 4) != drawn(4, 4)


def test_sentences_begin_where_they_say() -> None:
    for sentence in (sentence for kind in drawn(2, 20).values() for sentence in kind):
        lines = (ROOT / sentence.path).read_text(encoding="utf-8").splitlines()
        near = " ".join(lines[sentence.line - 1 : sentence.line + 40])
        words = re.findall(r"\w{4,}", re.sub(r"\{.*?\}", " ", sentence.text))
        assert all(word in near for word in words[:3]), sentence


def test_sentences_of_a_page() -> None:
    text = "Return the mass matrix.\n\nIt is symmetric and dense\nhere. The solver needs it twice.\n"
    text += "- one two three four\n"
    assert list(sentences(Path(__file__), text, 10)) == [
        Sentence("tests/test_sentences.py", line, words)
        for line, words in (
            (10, "Return the mass matrix."),
            (12, "It is symmetric and dense here."),
            (13, "The solver needs it twice."),
            (14, "- one two three four"),
        )
    ]
