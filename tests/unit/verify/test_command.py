"""`moonpad verify`: exit codes, and what goes to which stream."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from moonpad.cli.command_line import run
from moonpad.report.junit import junit
from moonpad.values.finding import Code
from moonpad.verify.api import Exchange
from moonpad.verify.probe import Status, failed, passed
from moonpad.verify.probes import PROBES
from moonpad.verify.runner import Report, Result, merged
from tests.unit.verify.fake_endpoint import BASIC, Fake, served

IDS = [probe.id for probe in BASIC]
Capture = pytest.CaptureFixture[str]


def test_a_sound_endpoint_is_exit_0_and_names_the_next_command(capsys: Capture) -> None:
    with served(Fake()) as url:
        assert run(["verify", "--url", url, "--model", "kimi-k2", "--only", *IDS]) == 0
    captured = capsys.readouterr()
    assert captured.out.endswith("7 passed, 0 failed, 0 skipped\n7 of 7 judged\n")
    written, following = captured.err.splitlines()
    assert Path(written.removeprefix("written: ")).read_text().startswith("<!doctype html>")
    assert following == f"Next: moonpad bench --url {url} --model kimi-k2"


def test_a_fault_is_exit_5_with_its_remedy(capsys: Capture) -> None:
    with served(Fake(faults=frozenset({"no tool parser"}))) as url:
        assert run(["verify", "--url", url, "--only", *IDS]) == 5
    captured = capsys.readouterr()
    assert "on vLLM: --enable-auto-tool-choice --tool-call-parser kimi_k2" in captured.out
    assert captured.err.endswith("moonpad: 1 of 7 probes failed: tool_call\n")


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
    assert r"kimi\x1b[2J[red]:warning:" in out


def test_a_failure_shows_what_was_asked_and_what_came(capsys: Capture) -> None:
    with served(Fake(faults=frozenset({"foreign id"}))) as url:
        assert run(["verify", "--url", url, "--only", "tool_call"]) == 5
        shown = capsys.readouterr().out
        assert run(["verify", "--url", url, "--only", "tool_call", "--json"]) == 5
        (probe,) = json.loads(capsys.readouterr().out)["probes"]
    assert "asked: POST" in shown
    assert "What is the weather in Paris?" in shown
    assert "got: 200" in shown
    assert "call_00003" in shown
    assert probe["exchanges"][0]["status"] == 200
    assert json.loads(probe["exchanges"][0]["answer"])["choices"][0]["message"]["tool_calls"][0]["id"] == "call_00003"


def test_repeat_and_fail_fast(capsys: Capture) -> None:
    with served(Fake()) as url:
        assert run(["verify", "--url", url, "--only", *IDS, "--repeat", "3", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["runs"] == 3
        assert run(["verify", "--url", url, "--repeat", "0"]) == 2
    with served(Fake(faults=frozenset({"never ends"}))) as url:
        assert run(["verify", "--url", url, "--only", *IDS, "--fail-fast", "--repeat", "3", "--json"]) == 5
        document = json.loads(capsys.readouterr().out)
    assert document["runs"] == 1
    states = [probe["status"] for probe in document["probes"]]
    assert states == ["pass", "pass", "fail", "skip", "skip", "skip", "skip"]
    assert "chat failed, and --fail-fast" in document["probes"][-1]["because"]


def test_a_probe_that_fails_once_has_failed() -> None:
    fine, bad = (
        Report("u", "m", True, (Result(BASIC[0], outcome, 0.5),))
        for outcome in (passed("fine"), failed(Code.UNREACHABLE, "/health", "503", "wait"))
    )
    (result,) = merged([fine, bad, fine]).results
    assert (result.outcome.status, result.outcome.because, result.seconds) == (Status.FAIL, "1 of 3 times: 503", 1.5)
    assert merged([fine, fine]).results[0].outcome.because == "fine"


def test_junit(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "there" / "verdict.xml"
    with served(Fake(faults=frozenset({"no tool parser"}), thinks=False)) as url:
        assert run(["verify", "--url", url, "--only", "chat", "reasoning", "tool_call", "--junit", str(file)]) == 5
        assert run(["verify", "--url", url, "--only", "chat", "--junit", "/proc/nowhere/x.xml"]) == 2
    suite = ET.parse(file).getroot()  # noqa: S314 - our own
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
    }
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    failure = cases["tool_call"].find("failure")
    assert failure is not None
    assert "unparsed text in `content`" in str(failure.get("message"))
    assert "asked: POST" in str(failure.text)
    assert cases["reasoning"].find("skipped") is not None


def test_the_verdict_is_kept(capsys: Capture, tmp_path: Path, state_home: Path) -> None:
    named = tmp_path / "named"
    with served(Fake()) as url:
        argv = ["verify", "--url", url, "--only", "chat", "--json"]
        assert run(argv) == 0
        (kept,) = (state_home / "verdicts").iterdir()
        document = json.loads((kept / "verdict.json").read_text())
        assert document == json.loads(capsys.readouterr().out)
        assert (ET.parse(kept / "junit.xml").getroot().get("tests"), document["passed"]) == ("1", 1)  # noqa: S314
        assert "chat" in (kept / "verdict.html").read_text()
        assert run([*argv, "--out", str(named)]) == 0
        assert {path.name for path in named.iterdir()} == {"verdict.html", "verdict.json", "junit.xml"}
        assert run([*argv, "--out", "/proc/nowhere"]) == 2
        (state_home / "verdicts").rename(state_home / "before")
        (state_home / "verdicts").touch()
        assert run(argv) == 0
    assert "the verdict is not kept" in capsys.readouterr().err


def test_junit_holds_whatever_an_endpoint_says() -> None:
    outcome = failed(Code.WRONG_ANSWER, "\x00<&>", "\x1b]52;\ud800]]>", "\x0b")
    result = Result(BASIC[0], outcome, 0.1, (Exchange("POST \x01", None, "\uffff"),))
    suite = ET.fromstring(junit(Report("http://x\x02", "\x03", True, (result,))))  # noqa: S314 - our own
    assert suite.get("failures") == "1"
