"""Options of one run of `moonpad verify` do not silently stand beside another run: exit 2, with a sentence."""

from __future__ import annotations

import pytest

from moonpad.cli.command_line import run

AT = ("verify", "--url", "http://127.0.0.1:9")
LOOP, VENDOR, NUMERICS = ("--loop", "5"), ("--vendor", "own", "--out", "x.jsonl"), ("--numerics",)
OF_PROBES = (("--only", "chat"), ("--raw",), ("--repeat", "3"), ("--fail-fast",), ("--junit", "x.xml"))
OF_LOOP = (("--seed", "7"),)
OF_VENDOR = (("--reference", "x"), ("--floor", "0.7"), ("--concurrency", "9"), ("--stream",), ("--no-stream",))
RECORDINGS = (("--record", "x"), ("--against", "x"))


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        *(((), options) for options in (*OF_LOOP, *OF_VENDOR)),
        *((LOOP, options) for options in (*OF_PROBES, *OF_VENDOR, *RECORDINGS)),
        *((VENDOR, options) for options in (*OF_PROBES, *OF_LOOP, *RECORDINGS)),
        *((NUMERICS, options) for options in (*OF_PROBES, *OF_LOOP, *OF_VENDOR)),
        *((NUMERICS, options) for options in (("--gate",), ("--out", "folder"))),
    ],
    ids=" ".join,
)
def test_an_option_of_another_run(
    mode: tuple[str, ...], options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*AT, *mode, *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    message, remedy = captured.err.splitlines()
    name = options[0].replace("--no-", "--")
    assert message.startswith(f"moonpad: {name} ")
    assert mode[:1] == () or mode[0] in message
    assert name in remedy or "--record" in remedy


@pytest.mark.parametrize("mode", [(), NUMERICS], ids=" ".join)
def test_a_recording_is_written_or_read(mode: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*AT, *mode, "--record", "x", "--against", "y"]) == 2
    assert "--record does not go with --against" in capsys.readouterr().err


def test_two_runs_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*AT, *LOOP, *NUMERICS]) == 2
    assert "--loop and --numerics are separate runs" in capsys.readouterr().err
