"""The calls in a Kimi's raw text: whatever they hold, however the text is cut, and what is said of a broken one."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.verify.tool_calls import (
    ARGUMENTS_BEGIN,
    CALL_BEGIN,
    CALL_END,
    MARKERS,
    SECTION_BEGIN,
    SECTION_END,
    CallBegun,
    ContentPiece,
    Event,
    ParsedCall,
    ToolCallStream,
    join,
    name_of,
    parse_tool_calls,
)


def call(id_: str, arguments: str) -> str:
    return f"{CALL_BEGIN}{id_}{ARGUMENTS_BEGIN}{arguments}{CALL_END}"


def section(*calls: str) -> str:
    return SECTION_BEGIN + "".join(calls) + SECTION_END


def cut(text: str, places: list[int]) -> list[str]:
    """The text in pieces that begin at these places."""
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[a:b] for a, b in itertools.pairwise(ends)]


def events_of(pieces: list[str]) -> list[Event]:
    stream = ToolCallStream()
    return [event for piece in pieces for event in stream.feed(piece)] + stream.finish()


# --- any name, id and arguments, any split ---------------------------------------------------------------------------

NASTY = st.sampled_from([*MARKERS, '"', "\\", '\\"', "{", "}", "<|", "</think>", "functions.", ":0", "\n", "é", "🛠"])
TEXTS = st.lists(NASTY | st.text(max_size=6), max_size=6).map("".join)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(TEXTS, JSON_VALUES, max_size=4)
NAMES = TEXTS.filter(lambda text: bool(text) and not any(marker in text for marker in MARKERS))
CALLS = st.lists(st.tuples(NAMES, st.integers(0, 10**6), ARGUMENTS, st.booleans()), min_size=1, max_size=4)
BESIDE = st.text(max_size=20).filter(lambda text: "<" not in text)
PLACES = st.lists(st.integers(0, 10**6), max_size=12)


@given(CALLS, BESIDE, PLACES)
def test_round_trip(calls: list[tuple[str, int, dict[str, Any], bool]], before: str, places: list[int]) -> None:
    written = [
        (f"functions.{name}:{number}", name, number, json.dumps(arguments, ensure_ascii=ascii))
        for name, number, arguments, ascii in calls
    ]
    text = before + section(*(call(id_, arguments) for id_, _, _, arguments in written))
    parsed = join(events_of(cut(text, places)))
    assert parsed.content == before
    assert parsed.calls == tuple(ParsedCall(*call) for call in written)
    assert parsed.sound


@given(st.lists(NASTY | st.text(max_size=4) | st.sampled_from(MARKERS), max_size=30).map("".join), PLACES)
def test_any_text_gives_the_same_however_it_is_cut(text: str, places: list[int]) -> None:
    whole = parse_tool_calls(text)
    assert join(events_of(cut(text, places))) == whole
    assert join(events_of(list(text))) == whole
    assert not any(marker in whole.content for marker in MARKERS)


@given(TEXTS)
def test_without_a_token_all_is_content(text: str) -> None:
    if not any(marker in text for marker in MARKERS):
        assert parse_tool_calls(text).content == text
        assert not parse_tool_calls(text).calls


def test_64_kilobytes_in_single_characters() -> None:
    arguments = json.dumps({"text": 'a "quote" \\ and <|tool_call_end|> ' * 2000})
    assert len(arguments) > 64_000
    parsed = join(events_of(list(section(call("functions.write:0", arguments)))))
    assert parsed.sound
    assert parsed.calls[0].arguments == arguments


def test_what_is_known_is_said_at_once() -> None:
    """A call's name comes with its id, and arguments as they come: an agent's screen waits for nothing."""
    stream = ToolCallStream()
    assert stream.feed("Let me see. <|tool_calls_sec") == [ContentPiece("Let me see. ")]
    assert stream.feed("tion_begin|><|tool_call_begin|>functions.get_weather:0") == []
    assert stream.feed("<|tool_call_argument_begin|>") == [CallBegun(0, "functions.get_weather:0", "get_weather")]
    assert [type(event).__name__ for event in stream.feed('{"city": "Par')] == ["ArgumentsPiece"]


# --- ids -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id_", "name", "number"),
    [
        ("functions.get_weather:0", "get_weather", 0),
        ("functions.a.b:c:12", "a.b:c", 12),
        ("get-weather:3", "get-weather", 3),
        ("functions.wetter_für_köln:0", "wetter_für_köln", 0),
        ("call_00003", "", None),
        ("functionsexec5", "", None),
        ("functions.exec", "", None),
        ("functions.:0", "", None),
        ("", "", None),
        ("functions.f:٣", "", None),
    ],
)
def test_ids(id_: str, name: str, number: int | None) -> None:
    assert name_of(id_) == (name, number)


# --- broken ----------------------------------------------------------------------------------------------------------

F, G = "functions.f:0", "functions.g:1"
GOOD = call(F, "{}")
SOUND = (F, "{}", "")
NO_END = "the section does not end"
CUT = "the text ends inside its arguments"
NO_JSON = "its arguments are not JSON"
NO_NAME = "its id {} names no function"
STRAY = "a call is outside a section"

# text → (id, arguments, problem) of each call, the problem of the section, the content
BROKEN: list[tuple[str, list[tuple[str, str, str]], str, str]] = [
    (SECTION_BEGIN, [], NO_END, ""),
    (SECTION_END, [], "a section ends that has not begun", ""),
    (SECTION_BEGIN + SECTION_END, [], "", ""),
    (SECTION_BEGIN + GOOD, [SOUND], NO_END, ""),
    (GOOD, [SOUND], STRAY, ""),
    ("a" + GOOD + "b", [SOUND], STRAY, "ab"),
    (GOOD + SECTION_END, [SOUND], f"{STRAY}; a section ends that has not begun", ""),
    (section(GOOD) + " done", [SOUND], "", " done"),
    (section(GOOD) + section(call(G, "{}")), [SOUND, (G, "{}", "")], "", ""),
    (section(GOOD + "\n" + GOOD), [SOUND] * 2, "", ""),
    (section(GOOD + " and " + GOOD), [SOUND] * 2, "there is text between the calls", ""),
    (f"{SECTION_BEGIN}{CALL_BEGIN}{F}{ARGUMENTS_BEGIN}{{\"a\": 1", [(F, '{"a": 1', CUT)], NO_END, ""),
    (f"{SECTION_BEGIN}{CALL_BEGIN}functions.f", [("functions.f", "", "the text ends inside its id")], NO_END, ""),
    (f"{SECTION_BEGIN}{CALL_BEGIN}", [("", "", "the text ends inside its id")], NO_END, ""),
    (section(f"{CALL_BEGIN}{F}{CALL_END}"), [(F, "", "it has no arguments")], "", ""),
    (section(f"{CALL_BEGIN}{F}"), [(F, "", "it has no arguments")], "", ""),
    (section(f"{CALL_BEGIN}{F}{GOOD}"), [(F, "", "it has no arguments"), SOUND], "", ""),
    (section(f"{CALL_BEGIN}{F}{ARGUMENTS_BEGIN}{{}}"), [(F, "{}", "its end is missing")], "", ""),
    (section(f"{CALL_BEGIN}{F}{ARGUMENTS_BEGIN}{{}}{GOOD}"), [(F, "{}", "its end is missing"), SOUND], "", ""),
    (section(call(F, "")), [(F, "", NO_JSON)], "", ""),
    (section(call(F, "{'a': 1}")), [(F, "{'a': 1}", NO_JSON)], "", ""),
    (section(call(F, '{"a": NaN}')), [(F, '{"a": NaN}', NO_JSON)], "", ""),
    (section(call(F, '{"a": 1}}')), [(F, '{"a": 1}}', NO_JSON)], "", ""),
    (section(call(F, "[1]")), [(F, "[1]", "its arguments are not a JSON object")], "", ""),
    (section(call(F, "null")), [(F, "null", "its arguments are not a JSON object")], "", ""),
    (section(call(F, '{"a": "b')), [(F, '{"a": "b', NO_JSON)], "", ""),
    (section(call(F, '{"a": "b') + GOOD), [(F, '{"a": "b', NO_JSON), SOUND], "", ""),
    (section(call(F, '{"a": "b') + call(G, '{"x": "y"}')), [(F, '{"a": "b', NO_JSON), (G, '{"x": "y"}', "")], "", ""),
    (section(call("call_00003", "{}")), [("call_00003", "{}", NO_NAME.format("'call_00003'"))], "", ""),
    (section(call("functions5", "{}")), [("functions5", "{}", NO_NAME.format("'functions5'"))], "", ""),
    (section(call("functions.f:0\n", "{}")), [SOUND], "", ""),
    (section(call("", "{}")), [("", "{}", NO_NAME.format("''"))], "", ""),
    (section(call(F, f"{{}}{ARGUMENTS_BEGIN}")), [(F, f"{{}}{ARGUMENTS_BEGIN}", NO_JSON)], "", ""),
    (f"x{ARGUMENTS_BEGIN}y", [], f"{ARGUMENTS_BEGIN} is outside a call", "xy"),
    ("<|tool_calls_section_begin", [], "", "<|tool_calls_section_begin"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "calls", "problem", "content"), BROKEN)
def test_broken_texts(text: str, calls: list[tuple[str, str, str]], problem: str, content: str) -> None:
    parsed = parse_tool_calls(text)
    assert [(call.id, call.arguments, call.problem) for call in parsed.calls] == calls
    assert (parsed.problem, parsed.content) == (problem, content)
    assert join(events_of(re.findall(r"(?s).{1,3}", text))) == parsed


def test_there_are_thirty_of_them() -> None:
    assert len({text for text, *_ in BROKEN}) >= 30
