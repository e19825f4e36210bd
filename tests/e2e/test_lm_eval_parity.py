"""`moonpad eval` and lm-eval's own command, by hand, against one endpoint with the same answers: they send the same
requests and print the same scores. The questions are made up here, in GSM8K's form.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.evaluated import Run, by_hand, compared
from moonpad.cli import output
from moonpad.cli.command_line import run
from moonpad.environments.installed import find
from tests.threaded import threaded
from tests.unit.evaluate.answering_server import Answering, gsm8k_answers

QUESTIONS = 40


@pytest.fixture(scope="module")
def command() -> str:
    installed = find("lm-eval")
    if installed is None:
        pytest.skip("no lm-eval here: moonpad engine install lm-eval")
    return str(installed.executable)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for name, count in (("train", 30), ("test", QUESTIONS)):
        rows = []
        for number in range(count):
            boxes, each = number % 7 + 2, number * 13 % 97 + 3
            question = f"In {name} story {number}, {boxes} boxes hold {each} pens each. How many pens are there?"
            answer = (
                f"There are {boxes}*{each}=<<{boxes}*{each}={boxes * each}>>{boxes * each} pens.\n#### {boxes * each}"
            )
            rows.append(json.dumps({"question": question, "answer": answer}))
        (folder / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "at_once", "argv"),
    [
        ("completions", 32, ()),
        ("completions, as printed for TP8 + DCP8", 32, ()),
        ("completions-serial", 1, ()),
        ("chat", 1, ()),
        ("chat", 4, ("--concurrency", "4")),
    ],
    ids=str,
)
def test_the_same_requests_and_the_same_scores(
    protocol: str, at_once: int, argv: tuple[str, ...], command: str, data: Path, tmp_path: Path
) -> None:
    output.out.cache_clear()
    output.err.cache_clear()
    server = Answering(gsm8k_answers(data))
    folder = tmp_path / "ours"
    with threaded(server.serving()) as url:
        ours_is = protocol.partition(",")[0]
        named = ("eval", "--url", url, "--data", str(data), "--protocol", ours_is, "--out", str(folder), *argv)
        assert run([*named, "--json"]) == 0
        ours = sorted(_body(body) for _, body in server.asked)
        order = [body for _, body in server.asked]
        server.asked.clear()
        hand = by_hand(command, Run(protocol, at_once, QUESTIONS), url, "kimi-answers", data, tmp_path)
        theirs = sorted(_body(body) for _, body in server.asked)
    assert len(ours) == QUESTIONS
    assert ours == theirs
    if at_once == 1:
        assert [_body(body) for body in order] == [_body(body) for _, body in server.asked]
    result = json.loads((folder / "eval.json").read_text())["lm_eval_results"]
    scores = {name: value for name, value in hand["results"].items() if name.startswith("exact_match")}
    assert scores == {name: value for name, value in result.items() if name.startswith("exact_match")}
    assert 0.3 < scores["exact_match,strict-match"] < scores["exact_match,flexible-extract"] < 1
    rows = compared(folder, hand)
    assert rows["same text"] == QUESTIONS
    assert rows["same verdict"] == rows["same extracted"] == f"{2 * QUESTIONS} of {2 * QUESTIONS}"
    shown = json.loads((folder / "result.json").read_text())["filters"]
    for name, figures in shown.items():
        assert figures["accuracy"] == scores[f"exact_match,{name}"]
        assert figures["standard_error"] == pytest.approx(scores[f"exact_match_stderr,{name}"], abs=1e-12)


def _body(body: dict[str, Any]) -> str:
    return json.dumps(body, sort_keys=True)


@pytest.mark.slow
def test_questions_without_an_answer_are_not_scored(command: str, data: Path, tmp_path: Path) -> None:
    """lm-eval scores the answers that there are; the others keep their place, and are asked again by --resume."""
    output.out.cache_clear()
    output.err.cache_clear()
    right = gsm8k_answers(data)
    broken = True

    def answer(question: str, before: int) -> Any:
        fails = broken and int(question.split("story ")[1].split(",")[0]) % 8 == 3
        return type(right(question, 0))("no room", status=400) if fails else right(question, before)

    server = Answering(answer)
    folder = tmp_path / "ours"
    with threaded(server.serving()) as url:
        named = ("eval", "--url", url, "--data", str(data), "--protocol", "completions", "--out", str(folder))
        assert run([*named, "--json"]) == 5
        part = json.loads((folder / "result.json").read_text())
        broken = False
        assert run(["eval", "--url", url, "--resume", str(folder), "--json"]) == 0
    whole = json.loads((folder / "result.json").read_text())
    assert (part["answered"], part["failed"]) == (35, 5)
    assert part["filters"]["strict-match"]["answers"] == 35
    assert (whole["answered"], whole["failed"]) == (QUESTIONS, 0)
    counts = {question: count for question, count in server.counts.items() if count > 1}
    assert len(counts) == 5
