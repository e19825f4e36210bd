"""Durations, lines of keys, extra arguments, the nearest key."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.spec.extra_args import KEY_FOR_FLAG, check_extra_args, flag_with_a_key
from moonpad.spec.key_lines import KeyPath, key_lines, line_of
from moonpad.spec.near_match import SYNONYMS, nearest_key
from moonpad.spec.safe_text import parse_duration
from moonpad.spec.schema import TABLES, fields_of
from moonpad.values.errors import SpecError


@pytest.mark.parametrize(
    ("text", "seconds"), [("10s", 10.0), ("500ms", 0.5), ("2m", 120.0), ("1.5h", 5400.0), ("0s", 0.0)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "s", "-1s", "1 s", "1d", "1s ", "1e3s", "٣s", "1s\n", "9" * 400 + "s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="10s, 500ms or 2m"):
        parse_duration(text)


DOCUMENT = '''\
# a comment
model = "x"  # line 2

[layout]
tp = 1
"quoted key" = """
[not.a.table]
tp = 2
"""
list = [
  1,
  2,
]
a.b.c = 1

[[many]]
x = 1
[[many]]
x = 2
[many.inner]
y = { z = 1, deep = { w = 2 } }
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("model",), 2),
        (("layout",), 4),
        (("layout", "tp"), 5),
        (("layout", "quoted key"), 6),
        (("layout", "list"), 10),
        (("layout", "list", 1), 10),
        (("layout", "a", "b", "c"), 14),
        (("many", 0, "x"), 17),
        (("many", 1), 18),
        (("many", 1, "x"), 19),
        (("many", 1, "inner", "y", "deep", "w"), 21),
        (("missing",), None),
        ((), None),
    ],
)
def test_line_of_a_key(path: KeyPath, line: int | None) -> None:
    tomllib.loads(DOCUMENT)
    assert line_of(path, key_lines(DOCUMENT)) == line


@given(
    st.lists(st.sampled_from(["\n", "# c\n", "[t{n}]\n", "k{n} = 1\n", "k{n} = [\n1,\n]\n", "k{n} = '''\n[x]\n'''\n"]))
)
def test_every_key_is_found_where_it_was_written(statements: list[str]) -> None:
    text, expected, table = "", {}, ()
    for number, statement in enumerate(statements):
        line = text.count("\n") + 1
        text += statement.replace("{n}", str(number))
        if statement.startswith("["):
            table = (f"t{number}",)
            expected[table] = line
        elif statement.startswith("k"):
            expected[*table, f"k{number}"] = line
    assert dict(key_lines(text)) == expected


def test_a_huge_document_ends_the_search_not_the_program() -> None:
    assert key_lines("a = [\n" + "1,\n" * 100_000 + "]\nb = 1\n") == {}


@pytest.mark.parametrize(
    "arg",
    ["--api-key", "--api-key=x", "--api_key=x", "--api-k", "--host", "-tp", "-tp=2", "--no-enforce-eager", "--served"],
)
def test_flags_that_have_a_key_of_their_own(arg: str) -> None:
    with pytest.raises(ValueError, match="use "):
        check_extra_args((arg,))


@pytest.mark.parametrize("arg", ["--seed", "7", "-O3", "--model-impl", "--api-server-count", "", "--", "-", "host"])
def test_flags_that_have_none(arg: str) -> None:
    check_extra_args((arg,))


@pytest.mark.parametrize("arg", ["a\nb", "a\0b", "\x1b[31m", "\u2028"])
def test_invisible_characters(arg: str) -> None:
    with pytest.raises(ValueError, match=r"control character U\+"):
        check_extra_args((arg,))


@given(st.sampled_from(sorted(KEY_FOR_FLAG)), st.integers(0, 30), st.text(max_size=5))
def test_no_spelling_gets_through(flag: str, cut: int, value: str) -> None:
    """argparse completes any unambiguous beginning, and vLLM's reads `_` as `-`."""
    beginning = flag[: max(4, len(flag) - cut)]
    assert flag_with_a_key(beginning.replace("-", "_").replace("__", "--", 1) + "=" + value) is not None


def test_every_synonym_leads_to_a_key_that_exists() -> None:
    keys = {key for table in TABLES.values() for key in fields_of(table)}
    assert set(SYNONYMS.values()) <= keys
    assert not set(SYNONYMS) & keys


@pytest.mark.parametrize(
    ("word", "table", "meant"),
    [
        ("tensor_parallel", "layout", ("layout", "tp")),
        ("tp", "", ("layout", "tp")),
        ("max-num-seqs", "settings", ("settings", "max_num_seqs")),
        ("prot", "endpoint", ("endpoint", "port")),
        ("qqqq", "", None),
    ],
)
def test_nearest_key(word: str, table: str, meant: tuple[str, str] | None) -> None:
    assert nearest_key(word, table, {name: fields_of(model) for name, model in TABLES.items()}) == meant


def test_spec_error_knows_its_exit_code() -> None:
    assert SpecError("x").exit_code == 2
