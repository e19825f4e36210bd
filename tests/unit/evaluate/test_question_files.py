"""Files of questions as people and editors leave them: read whole, or refused; never a question lost in silence."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from moonpad.catalog.evaluations import protocols
from moonpad.cli.command_line import run
from moonpad.evaluate import question_file, tool_questions
from moonpad.evaluate.question import lines_of, read_questions
from moonpad.evaluate.sample import Sample
from moonpad.values.errors import UsageError
from tests.threaded import threaded
from tests.unit.evaluate.answering_server import Answer, Answering
from tests.unit.evaluate.sums import evaluate


def test_what_editors_do_to_lines(tmp_path: Path) -> None:
    """A byte order mark, CR LF, a last line without its end, a U+2028 within a text, where Python would split it."""
    path = tmp_path / "q.jsonl"
    rows = ['{"question": "one\u2028two", "answer": "1"}', '{"question": "three\x85", "answer": "2"}']
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(rows).encode())
    assert [line.question for line in question_file.read_lines(path)] == ["one\u2028two", "three\x85"]
    body = {"messages": [{"role": "user", "content": "one\u2028two"}], "tools": []}
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(body, ensure_ascii=False).encode() + b"\r\n")
    (question,) = tool_questions.questions_of_file(path, protocols()["tools"], "m")
    assert question.question == "one\u2028two"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"messages": [], "max_tokens": "many"}', "line 1 has 'many' as max_tokens"),
        ('{"messages": [], "max_tokens": -5}', "line 1 has -5 as max_tokens"),
        ('{"messages": [], "max_tokens": true}', "line 1 has True as max_tokens"),
        ('{"messages": [], "temperature": NaN}', "line 1 is not a chat request: it is not JSON"),
        ('{"messages": "hi"}', "got `str`"),
        ("", "has no request"),
    ],
)
def test_requests_that_are_none(row: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(row + "\n")
    with pytest.raises(UsageError, match=said) as failure:
        tool_questions.questions_of_file(path, protocols()["tools"], "m")
    assert str(path) in failure.value.message


def test_a_regex_that_takes_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_file, "REGEX_S", 0.2)
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "?", "answer": "1"}\n{"question": "?", "regex": "(a+)+$"}\n')
    lines = question_file.read_lines(path)
    samples = [Sample(0, "x", content="1"), Sample(1, "x", content="a" * 50 + "!")]
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(UsageError, match=r"question 2: .* takes more than 0\.2 s"):
        question_file.score(lines, samples)
    assert signal.getsignal(signal.SIGALRM) is before


def test_long_questions_are_read_again(tmp_path: Path) -> None:
    """Of more than a line of samples may have; and no question is lost in silence."""
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps({"question": f"{n} {'x' * 900_000}", "answer": "1"}) + "\n" for n in range(3)))
    written = tmp_path / "requests.jsonl"
    questions = question_file.questions_of(question_file.read_lines(path), protocols()["questions"], "m")
    written.write_text(lines_of(questions))
    assert read_questions(written) == questions
    for damaged in (written.read_text()[:-5], ""):
        written.write_text(damaged)
        with pytest.raises(UsageError, match="hold"):
            read_questions(written)


def test_a_question_twice_is_compared_with_its_second(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same line three times; the endpoint knows it the first time in A, the first two times in B."""
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "again?", "answer": "1"}\n' * 3)
    for name, knows in (("a", 1), ("b", 2)):
        server = Answering(lambda question, before, knows=knows: Answer("1" if before < knows else "0"))
        with threaded(server.serving()) as url:
            argv = ("--task", str(path), "--concurrency", "1", "--out", str(tmp_path / name))
            assert evaluate(capfd, url, *argv)[0] == 0
    assert run(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["filters"]
    assert (row["both"], row["only_a"], row["only_b"], row["neither"]) == (1, 0, 1, 1)


@pytest.mark.parametrize("name", ["", "gsm9k", "folder", "missing.jsonl"])
def test_a_task_that_is_none(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder").mkdir()
    named = str(tmp_path / name) if name in ("folder", "missing.jsonl") else name
    assert run(["eval", "--url", "http://127.0.0.1:9/v1", "--task", named]) == 2
    said = capfd.readouterr().err
    assert "Traceback" not in said
    assert "--task" in said
