"""Whatever an endpoint sends, and whatever lies in a folder, is an answer, a failure or a refusal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.cli.command_line import run
from moonpad.evaluate.asking import message_of
from moonpad.evaluate.endpoint_facts import kv_tokens_of
from moonpad.evaluate.sample import Sample, read_samples
from moonpad.evaluate.setup import setup_of
from moonpad.load.openai_schema import Malformed, Message, Reply
from tests.threaded import threaded
from tests.unit.evaluate.answering_server import Answer, Answering
from tests.unit.evaluate.sums import evaluate

SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=20)
WORDS = st.sampled_from(
    ("choices", "message", "text", "content", "finish_reason", "usage", "tool_calls", "function", "completion_tokens")
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=4)
)


@given(JSON, st.sampled_from(("/completions", "/chat/completions")), st.sampled_from((200, 200, 400, 500)))
def test_any_answer(document: object, path: str, status: int) -> None:
    answer = message_of(Reply(status, json.dumps(document)), path)
    assert isinstance(answer, Message | Malformed | Reply)
    if isinstance(answer, Message):
        sample = Sample(0, "x", content=answer.content, finish_reason=answer.finish_reason)
        assert sample.outputs(path)["choices"]


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    assert not isinstance(message_of(Reply(200, text), "/completions"), Message) or '"choices"' in text
    tokens = kv_tokens_of(text)
    assert tokens is None or tokens > 0


@given(st.lists(JSON, max_size=5))
def test_any_line_of_samples(rows: list[object]) -> None:
    for sample in read_samples([*rows, {"doc_id": 1, "asked": "x", "tool_calls": [{"function": 5}, {}]}]):
        sample.message()


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, "<html>log in first</html>", "the body is not a JSON object: <html>log in first</html>"),
        (200, "", "the body is empty"),
        (200, '{"choices": [{"mess', "the body is not a JSON object"),
        (200, "[]", "the body is not a JSON object"),
        (200, '{"choices": []}', "no choice with a message"),
        (200, '{"error": {"message": "out of memory"}}', "out of memory"),
        (200, '{"choices": [{"message": {"content": ["x"]}}]}', "neither text nor null"),
        (200, "x" * 30_000_000, "more than"),
        (429, "slow down", "HTTP 429: slow down"),
        (502, "<html>Bad gateway</html>", "HTTP 502"),
        (302, "", "HTTP 302"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_answer(
    status: int, body: str, said: str, questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The question has no answer, for that reason; it is not wrong, and not empty."""
    monkeypatch.setattr("moonpad.evaluate.asking.WAIT_S", (0.0, 0.0))
    with threaded(Answering(lambda question, before: Answer(None, status=status, raw=body)).serving()) as url:
        argv = ("--task", str(questions), "--limit", "2", "--out", str(tmp_path / "e"))
        code, result, text = evaluate(capfd, url, *argv)
    assert code == 5
    assert (result["failed"], result["answered"], result["empty"], result["filters"]) == (2, 0, 0, {})
    assert "2 of 2 questions have no answer" in text
    assert said in text
    assert "Traceback" not in text


SOUND = {
    "eval.json": {
        "schema": 1,
        "task": "gsm8k",
        "model": "m",
        "base_url": "http://127.0.0.1:9/v1",
        "limit": None,
        "again": 0,
        **setup_of("gsm8k", "chat").as_json(),
    },
    "requests.jsonl": {"doc_id": 0, "doc_hash": "h", "question": "q", "target": "t", "payload": {}},
    "samples.jsonl": {"doc_id": 0, "asked": "x", "content": "y"},
    "scores.jsonl": {"doc_id": 0, "filter": "f", "extracted": "y", "exact_match": 1.0},
}


@pytest.mark.parametrize("name", [None, *SOUND])
@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 2}', '{"doc_id": -1}', "\x00" * 50, "[" * 5000])
def test_any_folder(name: str | None, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a sound folder, in which one file holds something else: shown without it, or refused (exit 2)."""
    for file, document in SOUND.items():
        (tmp_path / file).write_text(text if file == name else json.dumps(document) + "\n")
    for argv in (["compare", str(tmp_path), str(tmp_path)], ["report", str(tmp_path)]):
        assert run(argv) in ((0,) if name is None else (0, 2)), argv
    if name == "eval.json":
        assert run(["report", str(tmp_path)]) == 2
    assert "Traceback" not in capsys.readouterr().err
