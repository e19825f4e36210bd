"""What a terminal would obey is shown as an escape; what a language writes stays."""

from __future__ import annotations

import json
import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.values.visible_text import _HIDDEN, escape_of, shell_word, visible, visible_json

ANY = st.text(st.characters(), max_size=30)
"""Lone surrogates among them."""
HIDDEN = {*map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xE0000, 0xE0080), 0x200B, 0x200E, 0x200F))}


@given(ANY)
def test_no_control_character_is_left(text: str) -> None:
    shown = visible(text)
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") and char not in "\n\t"]
    assert not HIDDEN.intersection(shown)
    assert visible(shown) == shown
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]8;;x\x07\x9b\x7f\r", r"\x1b]8;;x\x07\x9b\x7f\x0d"),
        ("\u202eabc\u2066\u061c", r"\u202eabc\u2066\u061c"),
        ("a\u200bb\u200dc\ufe0fd\ufeff\u2060", r"a\u200bb\u200dc\ufe0fd\ufeff\u2060"),
        ("\U000e0041\udcff\ud800", r"\U000e0041\xff\ud800"),
    ],
)
def test_it_is_shown_what_was_hidden(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text", ["中文　全角", "👩🏽‍💻 🏳️‍🌈 1️⃣ ❤️ 🫨", "می‌خواهم", "العربية", "क्‍ष", "é a\u0301", "a\xa0b", "\n\t", "\ufffd"]
)
def test_what_is_written_stays(text: str) -> None:
    assert visible(text) == text


@given(ANY)
def test_json_says_the_same(text: str) -> None:
    shown = visible_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == json.loads(json.dumps(text))
    assert visible(shown) == shown


NAMES = st.text(st.characters(blacklist_characters="\x00", blacklist_categories=("Cs",)), min_size=1, max_size=12)


@given(st.lists(NAMES, min_size=1, max_size=8))
def test_bash_reads_the_word_back(names: list[str]) -> None:
    text = " ".join(map(shell_word, names))
    assert visible(text) == text
    assert "\n" not in text
    shell = subprocess.run(
        ("bash", "-c", f"printf '%s\\0' {text}"), env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=True
    )
    assert shell.stdout.decode().split("\0")[:-1] == names


def test_a_byte_that_is_no_text() -> None:
    shell = subprocess.run(("bash", "-c", f"printf %s {shell_word(chr(0xDCFF))}"), capture_output=True, check=True)
    assert shell.stdout == b"\xff"


@given(st.lists(st.text(max_size=12), max_size=6))
def test_a_text_of_many_lines_is_shown_line_by_line(lines: list[str]) -> None:
    """Whatever stands in the lines beside it, and whichever are plain."""
    text = "\n".join(lines)
    assert visible(text) == "\n".join(visible(line) for line in text.split("\n"))
    assert visible(text) == _HIDDEN.sub(lambda match: escape_of(match[0]), text), "the pattern over the whole text"
