"""`moonpad eval` against an endpoint that answers as it is told: what is asked, kept, counted and said."""

from __future__ import annotations

import errno
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from moonpad.store.atomic_files import append_line
from tests.threaded import threaded
from tests.unit.evaluate.answering_server import MODEL, Answer, Answering
from tests.unit.evaluate.sums import COUNT, answered, evaluate, fate, lines


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_a_signal_keeps_the_answers(number: signal.Signals, questions: Path, tmp_path: Path) -> None:
    server = Answering(answered, delay_s=0.05)
    folder = tmp_path / "e"
    with threaded(server.serving()) as url:
        argv = ("eval", "--url", url, "--task", str(questions), "--out", str(folder))
        process = subprocess.Popen(
            (sys.executable, "-m", "moonpad", *argv),
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # under nohup SIGHUP is ignored
        )
        while len(server.asked) < 30:
            time.sleep(0.005)
        server.delay_s = 2.0  # it cannot end before the signal comes, however busy the machine is
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = len(lines(folder / "samples.jsonl"))
    assert f"{kept} answers are kept" in said
    assert f"moonpad eval --resume {folder}" in said
    assert "Traceback" not in said
    assert not (folder / ".lock").exists()


def test_only_one_at_a_time_asks(questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A second `--resume`, or the same command again, is refused while the first runs; after a kill it goes on."""
    server = Answering(answered, delay_s=0.05)
    folder = tmp_path / "e"
    with threaded(server.serving()) as url:
        argv = ("eval", "--url", url, "--task", str(questions), "--out", str(folder))
        process = subprocess.Popen((sys.executable, "-m", "moonpad", *argv), stderr=subprocess.DEVNULL)
        try:
            while len(server.asked) < 20:
                time.sleep(0.005)
            code, _, said = evaluate(capfd, url, "--resume", str(folder))
            assert code == 3
            assert f"pid {process.pid} is evaluating into {folder}" in said
            assert "wait until it has ended" in said
            assert evaluate(capfd, url, "--task", str(questions), "--out", str(folder))[0] == 2
            assert process.poll() is None
        finally:
            process.kill()
            process.wait()
        kept = {row["doc_id"] for row in lines(folder / "samples.jsonl")}
        before = len(server.asked)
        code, result, _ = evaluate(capfd, url, "--resume", str(folder))
    assert code == 0
    assert result["answered"] == COUNT
    later = {int(body["messages"][-1]["content"].split()[2]) for _, body in server.asked[before:]}
    assert not later & kept
    assert sorted(path.name for path in folder.iterdir()) == [
        "eval.json", "report.html", "requests.jsonl", "result.json", "samples.jsonl", "scores.jsonl",
    ]  # fmt: skip


def test_a_full_disk_keeps_the_answers(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    appended = 0

    def append(path: Path, record: dict[str, Any]) -> None:
        nonlocal appended
        appended += 1
        if appended > 40:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        append_line(path, record)

    server = Answering(answered)
    folder = tmp_path / "e"
    with threaded(server.serving()) as url:
        with monkeypatch.context() as patch:
            patch.setattr("moonpad.cli.eval_answers.append_line", append)
            code, _, said = evaluate(capfd, url, "--task", str(questions), "--out", str(folder))
        assert code == 5
        assert "No space left on device; 40 answers are kept" in said
        assert len(lines(folder / "samples.jsonl")) == 40
        code, result, _ = evaluate(capfd, url, "--resume", str(folder))
    assert (code, result["answered"]) == (0, COUNT)


def test_a_full_disk_does_not_cost_the_figures(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str, mode: int = 0o600) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    server = Answering(answered)
    folder = tmp_path / "e"
    with threaded(server.serving()) as url:
        with monkeypatch.context() as patch:
            patch.setattr("moonpad.cli.eval_verdict.replace_as_is", full)
            code, result, said = evaluate(capfd, url, "--task", str(questions), "--out", str(folder))
        assert code == 5
        assert result["filters"]["answer"]["correct"] == 80
        assert f"cannot be written to {folder}: No space left on device" in said
        asked = len(server.asked)
        assert evaluate(capfd, url, "--resume", str(folder))[0] == 0
    assert len(server.asked) == asked
    assert (folder / "report.html").is_file()


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
    assert not list((tmp_path / "e").iterdir())  # so that the same command, corrected, is not refused for that


def test_a_model_that_thinks_is_warned_of(questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with threaded(Answering(answered, thinks=True).serving()) as url:
        code, result, said = evaluate(capfd, url, "--task", str(questions), "--out", str(tmp_path / "e"))
    assert code == 0
    assert "thinking included" in said
    assert any("thinking included" in row["text"] for row in result["limitations"])


def test_an_answer_too_long_to_be_kept_is_a_failure(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moonpad.cli.eval_answers.LINE_BYTES", 4000)
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


def test_the_address_to_listen_on(questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """0.0.0.0, as a guide has it, reaches this machine where the system says so, as Linux does."""
    with threaded(Answering(answered).serving()) as url:
        named = url.replace("127.0.0.1", "0.0.0.0")
        code, result, _ = evaluate(capfd, named, "--task", str(questions), "--limit", "3", "--out", str(tmp_path / "e"))
    assert (code, result["answered"]) == (0, 3)
