"""Files of others: what is read of them, and what is said where they are not what they should be."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.workloads.recorded import Chat, digest_of, read_chats, read_trace
from moonpad.load.workloads.workload import Workload, parse_dataset
from moonpad.values.errors import UsageError

HUMAN = {"from": "human", "value": "why?"}
MODEL = {"from": "gpt", "value": "because."}


def written(folder: Path, data: bytes) -> tuple[Path, str]:
    file = folder / "file"
    file.write_bytes(data)
    return file, hashlib.sha256(data).hexdigest()


def chats_of(folder: Path, rows: Any, turns: int = 1) -> tuple[Chat, ...]:
    return read_chats(*written(folder, orjson.dumps(rows)), turns)


def test_chats_are_pairs_of_question_and_answer(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "conversations": [HUMAN, MODEL, HUMAN, MODEL, HUMAN]},
        {"conversations": [{"from": "system", "value": "be kind"}, HUMAN, MODEL]},
        {"conversations": [MODEL, HUMAN, MODEL]},
        {"conversations": [HUMAN]},
        {"conversations": [HUMAN, {"from": "gpt", "value": " "}]},
        {"conversations": None},
        "none",
    ]
    actual = chats_of(tmp_path, rows)
    assert actual == (Chat(("why?",) * 2, ("because.",) * 2), Chat(("why?",), ("because.",)))


def test_a_conversation_has_as_many_turns_as_are_asked_for(tmp_path: Path) -> None:
    rows = [{"conversations": [HUMAN, MODEL] * count} for count in (1, 2, 3)]
    assert [len(chat.questions) for chat in chats_of(tmp_path, rows, 2)] == [2, 3]
    with pytest.raises(UsageError, match="no conversation of 4 turns"):
        chats_of(tmp_path, rows, 4)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["human", "gpt", "x", ""]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["conversations", "from", "value", "timestamp"]), inner)
    ),
    max_leaves=12,
)


@given(json_values)
def test_whatever_the_json_is_it_has_chats_or_says_that_it_has_none(
    tmp_path_factory: pytest.TempPathFactory, document: Any
) -> None:
    try:
        assert chats_of(tmp_path_factory.mktemp("c"), document)
    except UsageError as error:
        assert "no conversation" in str(error)


def test_a_trace_is_sorted_and_begins_at_zero(tmp_path: Path) -> None:
    lines = [
        {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 2353]},
        {"timestamp": 3000, "input_length": 9, "output_length": 0},
    ]
    data = b"\n".join(map(orjson.dumps, lines)) + b"\n\n"
    first, second = read_trace(*written(tmp_path, data))
    assert (first.at_s, first.input_tokens, first.output_tokens, first.blocks) == (0.0, 9, 1, ())
    assert (second.at_s, second.blocks) == (pytest.approx(24.482), (46, 47, 2353))


@pytest.mark.parametrize(
    "line",
    [
        b"no json",
        b"[]",
        b"null",
        b'{"timestamp": 0}',
        b'{"timestamp": "0", "input_length": 1, "output_length": 1}',
        b'{"timestamp": 0, "input_length": 0, "output_length": 1}',
        b'{"timestamp": 0, "input_length": 1.5, "output_length": 1}',
        b'{"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": ["a"]}',
    ],
)
def test_a_line_that_is_no_request_is_named(tmp_path: Path, line: bytes) -> None:
    good = b'{"timestamp": 0, "input_length": 1, "output_length": 1}\n'
    with pytest.raises(UsageError, match="line 2 is not a request of a trace"):
        read_trace(*written(tmp_path, good + line))


@pytest.mark.parametrize("read", [read_chats, read_trace])
def test_another_file_than_at_the_begin_is_refused(tmp_path: Path, read: Any) -> None:
    file, digest = written(tmp_path, b"[]")
    assert digest_of(file) == digest
    file.write_bytes(b"[1]")
    with pytest.raises(UsageError, match="is not the file of this run"):
        read(file, digest)
    with pytest.raises(UsageError, match="cannot be read"):
        digest_of(tmp_path / "none")


def test_what_a_dataset_is() -> None:
    assert parse_dataset("random") == ("random", "")
    assert parse_dataset("trace:a:b.jsonl") == ("trace", "a:b.jsonl")
    for wrong in ("", "sharegpt", "trace:", "random:file", "mooncake:x"):
        with pytest.raises(UsageError, match="--dataset"):
            parse_dataset(wrong)


@pytest.mark.parametrize(
    "options",
    [
        {"turns": 0},
        {"turns": 2},
        {"prefixes": 0},
        {"prefix_tokens": -1},
        {"tool_tokens": 0},
        {"speed": 0.0},
        {"speed": float("nan")},
        {"kind": "trace", "turns": 2},
        {"kind": "sharegpt", "prefix_tokens": 5},
    ],
)
def test_options_of_another_kind_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--"):
        Workload(**options)
