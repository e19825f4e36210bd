"""Two evaluations in pairs, an endpoint against itself, the gate, and tool calls under the same statistics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moonpad.cli.command_line import run
from moonpad.load.openai_schema import read_json
from tests.threaded import threaded
from tests.unit.evaluate.answering_server import Answer, Answering
from tests.unit.evaluate.sums import COUNT, answered, evaluate, fate


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


def test_runs_lists_evaluations(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their names, which compare and --resume take; a part of one with what it has, and damaged ones too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with threaded(Answering(answered).serving()) as url:
        folders = [Path(evaluate(capfd, url, "--task", str(questions))[1]["eval"]) for _ in range(2)]
        server = Answering(
            lambda question, before: Answer("no", status=400 if question.startswith("What is 7 ") else 200)
        )
    with threaded(server.serving()) as url:
        folders.append(Path(evaluate(capfd, url, "--task", str(questions))[1]["eval"]))
    (folders[0] / "result.json").write_text("{")
    assert run(["runs", "--json"]) == 0
    document = read_json(capfd.readouterr().out)
    assert isinstance(document, dict)
    assert document["runs"] == []
    rows = [(row["name"], row["state"], row["answered"], row["questions"]) for row in document["evals"]]
    assert rows == [
        (folders[2].name, "partial", COUNT - 1, COUNT),
        (folders[1].name, "whole", COUNT, COUNT),
        (folders[0].name, "unreadable", 0, None),
    ]
    assert document["evals"][1]["accuracies"] == {"answer": pytest.approx(80 / COUNT)}
    assert run(["runs"]) == 0
    said = capfd.readouterr()
    assert folders[1].name in said.out
    assert f"moonpad eval --resume {folders[2].name}" in said.err
    assert run(["runs", str(folders[0].parent), "--json"]) == 0
    assert read_json(capfd.readouterr().out)["evals"] == document["evals"]  # type: ignore[index]
