"""`moonpad watch` by its words, at a server that answers as vLLM does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moonpad.cli import command_line, output
from moonpad.cli import watch as verb
from tests.unit.watch.test_asking import METRICS, serving


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for console in (output.out, output.err):
        console.cache_clear()


def test_one_look_in_a_pipe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(verb.time, "sleep", slept.append)
    with serving({"/health": b"", "/metrics": METRICS}) as (url, asked):
        assert command_line.run(["watch", "--url", url, "--every", "1s", "--once"]) == 0
    text = capsys.readouterr().out
    assert slept == [1.0], "between the two looks"
    assert set(asked) == {"/health", "/metrics"}
    head, row = text.splitlines()[:2]
    assert head.split()[:4] == ["endpoint", "state", "gen", "run"]
    assert row.split()[1:6] == ["answers", "-", "3", "0", "12%"]
    assert "TTFT" in text
    assert "\x1b" not in text


def test_json_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def second(_: float) -> None:
        if len(capsys_lines()) == 2:
            raise KeyboardInterrupt

    lines: list[str] = []

    def capsys_lines() -> list[str]:
        lines.extend(capsys.readouterr().out.splitlines())
        return lines

    monkeypatch.setattr(verb.time, "sleep", second)
    with serving({"/health": b"", "/metrics": METRICS}) as (url, _):
        assert command_line.run(["watch", "--url", url, "--json"]) == 130
    assert [json.loads(line)["endpoints"][0]["engine"] for line in lines] == ["vllm", "vllm"]


def test_files_for_prometheus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving({"/health": b"", "/metrics": METRICS}) as (url, _):
        words = ["watch", "--url", url, "--prometheus", str(tmp_path / "p"), "--expose", "127.0.0.1:9108", "--json"]
        assert command_line.run(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["engines"] == ["vllm"]
    assert "127.0.0.1:9108" in (tmp_path / "p" / "prometheus.yml").read_text()
    assert len(document["files"]) == 3


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--every", "0.1s"), "--every must be at least 0.5 s"),
        (("--every", "often"), "--every"),
        (("--expose", "9108"), "is not HOST:PORT"),
        (("--expose", "127.0.0.1:0"), "is not HOST:PORT"),
        (("--once",), "no endpoint is up"),
        (("--url", "k"), "is not a URL"),
        (("nothing",), "was never up"),
    ],
)
def test_wrong_usage(words: tuple[str, ...], what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.run(["watch", *words]) == 2
    assert what in capsys.readouterr().err
