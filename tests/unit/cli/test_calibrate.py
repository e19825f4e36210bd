"""`moonpad calibrate --from`: what results teach, and that the next plan uses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moonpad.cli import command_line as command
from moonpad.cli import output
from moonpad.store.speed_calibrations import own_speed_calibrations, speed_calibrations_path
from tests.faults.streaming_server import answer
from tests.unit.bench.test_run import in_thread

SUBJECT = ("--on", "8xMI300X", "--engine", "vllm", "--engine-version", "0.18.0", "--layout", "TP8")
MODEL = "moonshotai/Kimi-K2-Thinking"
LOADS = ((128, 64, 1), (128, 64, 16), (4096, 16, 1))


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    output.out.cache_clear()
    output.err.cache_clear()


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = command.run(list(argv))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def predicted(capsys: pytest.CaptureFixture[str], prompt: int, answer: int, users: int) -> dict[str, Any]:
    words = ("--workload", f"{prompt}:{answer}", "--concurrency", str(users), "--json")
    code, out, err = run(capsys, "plan", "--model", MODEL, *SUBJECT, *words)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)["plans"][0]["predicted"]
    return found


def slower(capsys: pytest.CaptureFixture[str], folder: Path, times: float) -> list[str]:
    """Files as `vllm bench serve` writes them, of a machine so many times slower than predicted."""
    files = []
    for prompt, output_tokens, users in LOADS:
        found, count = predicted(capsys, prompt, output_tokens, users), 10 * users
        document = {
            "completed": count,
            "num_prompts": count,
            "max_concurrency": users,
            "total_input_tokens": prompt * count,
            "total_output_tokens": output_tokens * count,
            "median_tpot_ms": found["tpot_s"]["value"] * 1e3 * times,
            "median_ttft_ms": found["ttft_s"]["value"] * 1e3 * times,
        }
        files.append(str(folder / f"{prompt}-{users}.json"))
        Path(files[-1]).write_text(json.dumps(document))
    return files


def test_results_teach_and_the_next_plan_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = slower(capsys, tmp_path, 1.5)
    before = predicted(capsys, 1024, 128, 8)
    code, out, err = run(capsys, "calibrate", "--checkpoint", MODEL, *SUBJECT, "--from", *files, "--json")
    assert code == 0, err
    learnt = json.loads(out)
    assert learnt["kept"]
    assert len(learnt["points"]) == 3
    assert "Next: moonpad plan --model moonshotai/Kimi-K2-Thinking --on 8xMI300X" in err
    after = predicted(capsys, 1024, 128, 8)
    assert after["standing"] == "calibrated here"
    # A load that was not measured, on a machine that is half as fast again: within what 80 % ranges allow.
    assert after["tpot_s"]["value"] / before["tpot_s"]["value"] == pytest.approx(1.5, rel=0.15)
    # Other releases, devices and weights are not touched.
    code, out, _ = run(
        capsys, "plan", "--model", MODEL, *SUBJECT[:4], "--workload", "1024:128", "--concurrency", "8", "--json"
    )
    assert "calibrated" not in json.loads(out)["plans"][0]["predicted"]["standing"]


def test_not_kept_where_that_is_asked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = slower(capsys, tmp_path, 1.2)
    code, out, err = run(capsys, "calibrate", "--checkpoint", MODEL, *SUBJECT, "--no-keep", "--from", files[0])
    assert code == 0
    assert "measured" in out
    assert "Not kept" in err
    assert own_speed_calibrations() == ()


def test_an_endpoint_is_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    with in_thread(lambda number: answer(4)) as server:
        url = ("--url", server.endpoint.base_url, "--checkpoint", MODEL, *SUBJECT)
        code, out, err = run(capsys, "calibrate", *url, "--json")
    assert code == 0, err
    learnt = json.loads(out)
    assert [point["concurrency"] for point in learnt["points"]] == [1, 4, 16, 1, 4, 16]
    assert all(point["measured"]["ttft_s"] > 0 for point in learnt["points"])
    # The corrected model says these, and six loads of a server that knows no model do not all lie on it.
    assert any(point["after"]["ttft_s"] != pytest.approx(point["measured"]["ttft_s"]) for point in learnt["points"])
    assert own_speed_calibrations()[0].device == "mi300x"


def test_torn_lines_are_skipped(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = speed_calibrations_path()
    path.parent.mkdir(parents=True)
    path.write_text('{"schema": 1, "device": 3}\n{"schema": 99}\n{"sch')
    assert own_speed_calibrations() == ()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--from", "FILE"), "not known"),
        (("--checkpoint", MODEL, "--from", "FILE"), "not known"),
        (("--checkpoint", MODEL, *SUBJECT, "--from", "missing.json"), "no such file"),
        (("--checkpoint", MODEL, *SUBJECT, "--from", "FILE"), "not JSON"),
        (("--checkpoint", MODEL, *SUBJECT, "--url", "http://localhost:1/v1", "--from", "FILE"), "leave one"),
        (("--checkpoint", MODEL, *SUBJECT, "--goal", "latency"), "--goal"),
    ],
)
def test_what_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, argv: tuple[str, ...], words: str) -> None:
    file = tmp_path / "x.json"
    file.write_text("not JSON")
    code, _, err = run(capsys, "calibrate", *(str(file) if word == "FILE" else word for word in argv))
    assert code == 2
    assert words in err
