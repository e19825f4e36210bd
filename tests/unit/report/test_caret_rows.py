"""Carets stand under what they mark, as the eye sees it."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.text import Text

from moonpad.report.caret_rows import Mark, source_rows


def mark(line: str, word: str, message: str = "") -> Mark:
    at = line.index(word)
    return Mark(at, at + len(word), Text(f"{message or word}!\n"), "red")


def shown(line: str, *words: str, width: int = 40) -> list[str]:
    return source_rows(line, [mark(line, word) for word in words], width).plain.splitlines()


def under(rows: list[str], word: str) -> str:
    """What stands below a word, by columns of the terminal."""
    place = next(at for at, row in enumerate(rows) if word in row)
    first = cell_len(rows[place][: rows[place].index(word)])
    return rows[place + 1][first : first + cell_len(word)]


def test_one_line() -> None:
    assert shown("vllm serve x --tp 8", "--tp") == ["  vllm serve x --tp 8", "               ^^^^", "--tp!"]


def test_several_marks_have_one_row_of_carets() -> None:
    rows = shown("a --b c --d", "--d", "--b")
    assert rows == ["  a --b c --d", "    ^^^   ^^^", "--b!", "--d!"]


def test_the_same_word_twice() -> None:
    line = "a --b"
    rows = source_rows(line, [mark(line, "--b", "one"), mark(line, "--b", "two")], 40).plain.splitlines()
    assert rows == ["  a --b", "    ^^^", "one!", "two!"]


@pytest.mark.parametrize("line", ["模型 --tp 8 x", "🟢 é --tp 8", "e\u0301 --tp", "全角 全角 --tp"])
def test_wide_and_narrow_characters(line: str) -> None:
    assert under(shown(line, "--tp"), "--tp") == "^^^^"


def test_tabs_stay_tabs() -> None:
    assert shown("\tx\t--tp", "--tp")[1] == "  \t \t^^^^"


@pytest.mark.parametrize("width", [40, 57, 80])
def test_long_lines_are_broken_in_front_of_flags(width: int) -> None:
    line = "vllm serve some/model " + " ".join(f"--flag-{number} value{number}" for number in range(40))
    rows = shown(line, "--flag-0", "--flag-17", "value31", "--flag-39", width=width)
    assert all(cell_len(row) <= width for row in rows)
    for word in ("--flag-17", "value31", "--flag-39"):
        assert under(rows, word) == "^" * len(word)
    text = [row for row in rows if "^" not in row and "!" not in row]
    assert " ".join(" ".join(text).split()) == line
    assert all(row.strip().startswith("--") for row in text[1:])


def test_a_line_without_blanks() -> None:
    rows = shown("x" * 100 + "--tp", "--tp")
    assert "".join(row.strip() for row in rows if "x" in row or "-" in row).replace("--tp!", "") == "x" * 100 + "--tp"
    assert rows[-1] == "--tp!"


def test_what_has_no_column_is_said_under_the_line() -> None:
    rows = source_rows("a --b", [Mark(None, 0, Text("late!\n"), ""), mark("a --b", "--b")], 40).plain.splitlines()
    assert rows == ["  a --b", "    ^^^", "--b!", "late!"]
