"""`moonpad tune`: what is refused before anything starts, and what --explain shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moonpad.cli.command_line import run
from moonpad.store.atomic_files import replace_json
from moonpad.tune.journal import tunes_folder
from tests.unit.tune.world import machine

FAST = "--async-scheduling"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "fake.toml"
    path.write_text('model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n')
    return path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "what load is it tuned for?"),
        (("--workload", "128:32", "--goal", "latency", "--slo", "ttft=1s"), "--slo counts good requests a second"),
        (("--workload", "128:32", "--rate", "1", "--concurrency", "2"), "both --concurrency and --rate"),
        (("--workload", "128:32", "--budget", "soon"), "--budget: write a duration"),
        (("--workload", "128:32", "--budget", "1s"), "nothing can be measured in that"),
        (("--workload", "128:32", "--requests", "1"), "--requests must be at least 4"),
        (("--workload", "128:32", "--slo", "speed=1s"), "--slo has no limit named 'speed'"),
        (("--explain",), "was not tuned on this machine"),
    ],
)
def test_wrong_options_are_refused(
    spec: Path, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tune", str(spec), *words]) == 2
    assert message in capsys.readouterr().err


def test_explain_reads_the_last_tune(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = machine(tunes_folder() / "fake-0123456789ab", effects={FAST: 1.3})
    world.run()
    about = {"model": "kimi-k2-tiny", "cluster": "cpu", "engine": "vllm-cpu", "engine_version": "0.32.0"}
    about |= {"load_words": "128:32, 8 users", "load": {"goal": "throughput", "slo": {}}}
    replace_json(world.folder.path / "tune.json", about)
    assert run(["tune", str(spec), "--explain"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("kimi-k2-tiny on cpu, vllm-cpu 0.32.0; 128:32, 8 users")
    assert "What each knob brought by itself" in shown.out
    assert run(["tune", str(spec), "--explain", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["standing"] == "confirmed"
    assert document["winner"]["id"] == FAST
    assert document["best"]["ratio"]["low"] > 1
    assert document["unit"] == "output tokens/s"
    assert {knob["knob"] for knob in document["knobs"]} >= {"async_scheduling", "max_num_seqs"}
