"""A browser of the system's, and pages of known runs. Nothing is downloaded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, sync_playwright

from moonpad.bench.config import BenchConfig, Slo
from moonpad.cli.command_line import run
from moonpad.evaluate.question import Question
from moonpad.evaluate.sample import Sample
from moonpad.evaluate.score import Score
from moonpad.evaluate.setup import setup_of
from moonpad.facts.device import DeviceUse
from moonpad.load.failure import FailureKind, RequestFailure
from moonpad.values.records import replace
from tests.unit.bench.records import record
from tests.unit.report.runs import point, sample, write_run, write_sweep

NAMES = ("chromium", "chromium-browser", "google-chrome")
STATISTICS = ("mean", "p50", "p90", "p95", "p99")
EVIL = "</pre><script>window.ran = 1</script>\"><img src=x onerror='window.ran = 2'>\x00\u202e{{ 7*7 }}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """No longer than for one file of tests: as long as it is there, playwright's loop runs, and no other may."""
    chromium = next((path for name in NAMES if (path := shutil.which(name))), None)
    if chromium is None:
        pytest.skip("chromium is not here: apt install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session", params=["run", "sweep", "eval"])
def page_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page as the command writes it; what an endpoint can say in it is hostile."""
    folder = tmp_path_factory.mktemp("page") / f"{request.param} <b>&amp;"
    {"run": _run, "sweep": _sweep, "eval": _eval}[request.param](folder)
    assert run(["report", str(folder), "--devices", "8"]) == 0
    return folder / "report.html"


def _run(folder: Path) -> None:
    """Thirty requests of four users, with all that a page can hold."""
    records = []
    for index in range(30):
        at_s = index // 4 * 2.5 + index % 4 * 0.1
        first_s = at_s + 0.2 + index % 5 * 0.05
        times = tuple(first_s + 0.05 * token for token in range(20 + 3 * (index % 7)))
        records.append(replace(record(index, scheduled_s=at_s, tokens_at_s=times), started_s=at_s + index % 3 * 0.05))
    for index, kind in ((5, FailureKind.HTTP_STATUS), (17, FailureKind.STREAM_ERROR)):
        at_s = records[index].scheduled_s
        records[index] = record(
            index,
            scheduled_s=at_s,
            tokens_at_s=(),
            ended_s=at_s + 1,
            failure=RequestFailure(kind, EVIL + "x" * 900, 429),
        )
    write_run(
        folder,
        records,
        config=BenchConfig(requests=40, slo=Slo(ttft_s=0.3, tpot_s=0.1)),
        samples=[sample(at / 2, at % 5, at % 3, at / 50) for at in range(38)],
        uses=[
            (at, (DeviceUse(0, 300.0 + 9 * at, at / 40, 7 << 34), DeviceUse(1, 280.0, 0.9, None))) for at in range(19)
        ],
        model=EVIL,
        client_cpu=0.9,
        ours={
            "intervals": {f"{name}_{of}_ms": [13408.29, 24153.75] for name in STATISTICS for of in ("ttft", "e2el")},
            "base_url": EVIL,
            "planned": {
                "output_throughput": {"value": 40.0, "low": 30.0, "high": 50.0},
                "kv_tokens": {"value": 233008, "low": 230000, "high": 240000, "measured": 233008},
            },
        },
    )


def _sweep(folder: Path) -> None:
    loads = ((1, 40.0, 100.0, 25.0), (2, 78.0, 105.0, 25.5), (4, 150.0, 110.0, 26.0), (8, 290.0, 118.0, 27.0))
    points = [point(load, *figures, running=load, waiting=0, kv_usage=load / 20) for load, *figures in loads]
    points += [point(16, 310.0, 900.0, 30.0, running=12, waiting=4, kv_usage=0.8)]
    points += [{**point(32, 308.0, 4000.0, 31.0, running=12, waiting=20, kv_usage=0.8), "failed": 3}]
    write_sweep(folder, [{**point, "model_id": EVIL} for point in points])


def _eval(folder: Path) -> None:
    """Sixty answers of every kind, thirty of them asked twice; what the endpoint says is hostile."""
    folder.mkdir(parents=True)
    setup = setup_of("gsm8k", "completions")
    head = {"schema": 1, "task": "gsm8k", "model": EVIL, "base_url": EVIL, "started_at": "2026-11-25T12:00:00Z"}
    data = {"folder": EVIL, "sha256": {"test": "0" * 64}, "published": True}
    (folder / "eval.json").write_text(json.dumps({**head, **setup.as_json(), "data": data, "lm_eval": "0.4.13"}))
    questions, samples, scores = [], [], []
    for number in range(60):
        question = Question(number, f"hash {number}", f"{EVIL} {number}?", EVIL, {"prompt": EVIL})
        questions.append(question)
        kind = number % 6
        answer = {
            "content": None if kind == 4 else EVIL * (1 + number % 4),
            "finish_reason": "length" if kind in (3, 4) else "stop",
            "completion_tokens": 256 if kind in (3, 4) else 20 + 7 * (number % 23),
        }
        failed = {"problem": EVIL} if kind == 5 else answer
        for round_ in (1, 2) if number < 30 else (1,):
            samples.append({"doc_id": number, "asked": question.asked, "round": round_, "seconds": 1.0, **failed})
            for name, right in (("strict-match", kind == 0), ("flexible-extract", kind in (0, 1) or round_ == 2)):
                if kind != 5:
                    scores.append(Score(number, name, EVIL, float(right), 1 if round_ == 1 else 2))
    rows = (("requests.jsonl", questions), ("samples.jsonl", samples), ("scores.jsonl", scores))
    for file, lines in rows:
        (folder / file).write_text("".join(msgspec.json.encode(line).decode() + "\n" for line in lines))
    assert all(msgspec.convert(row, Sample) for row in samples)
