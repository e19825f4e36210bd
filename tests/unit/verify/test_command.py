"""`moonpad verify`: exit codes, and what goes to which stream."""

from __future__ import annotations

import json
import socket

import pytest

from moonpad.cli.main import run
from moonpad.verify.probes import PROBES
from tests.unit.verify.fake_endpoint import BASIC, Fake, served

IDS = [probe.id for probe in BASIC]
Capture = pytest.CaptureFixture[str]


def test_a_sound_endpoint_is_exit_0_and_names_the_next_command(capsys: Capture) -> None:
    with served(Fake()) as url:
        assert run(["verify", "--url", url, "--model", "kimi-k2", "--only", *IDS]) == 0
    captured = capsys.readouterr()
    assert captured.out.endswith("7 passed, 0 failed, 0 skipped\n")
    assert captured.err == f"Next: moonpad bench --url {url} --model kimi-k2\n"


def test_a_fault_is_exit_5_with_its_remedy(capsys: Capture) -> None:
    with served(Fake(faults=frozenset({"no tool parser"}))) as url:
        assert run(["verify", "--url", url, "--only", *IDS]) == 5
    captured = capsys.readouterr()
    assert "start vLLM with --enable-auto-tool-choice --tool-call-parser kimi_k2" in captured.out
    assert captured.err == "moonpad: 1 of 7 probes failed: tool_call\n"


def test_json_is_alone_on_stdout_also_where_a_probe_fails(capsys: Capture) -> None:
    with served(Fake(faults=frozenset({"no DONE"}))) as url:
        assert run(["verify", "--url", url, "--only", "streaming", "health", "--json"]) == 5
    document = json.loads(capsys.readouterr().out)
    assert [(probe["id"], probe["status"]) for probe in document["probes"]] == [
        ("health", "pass"),
        ("streaming", "fail"),
    ]
    assert (document["endpoint"], document["passed"], document["failed"], document["skipped"]) == (url, 1, 1, 0)


def test_nothing_there_is_exit_6_with_a_report(capsys: Capture) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    assert run(["verify", "--url", f"http://127.0.0.1:{port}", "--json"]) == 6
    captured = capsys.readouterr()
    assert json.loads(captured.out)["skipped"] == len(PROBES) - 1
    assert f"nothing answers at http://127.0.0.1:{port}/v1" in captured.err


@pytest.mark.parametrize("argv", [["--only", "nonsense"], ["--key-env", "MOONPAD_NOT_SET"], ["--nonsense"]])
def test_a_wrong_command_line_is_exit_2(capsys: Capture, argv: list[str]) -> None:
    assert run(["verify", "--url", "http://127.0.0.1:1", *argv]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_text_of_the_endpoint_cannot_steer_the_terminal(capsys: Capture) -> None:
    with served(Fake(model="", served=("kimi\x1b[2J[red]:warning:",))) as url:
        run(["verify", "--url", url, "--only", "models"])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "kimi\ufffd[2J[red]:warning:" in out
