"""What `up` makes of a run's events and of its log."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from moonpad.engines.vllm import LOG
from moonpad.observe.log_tail import LogTail
from moonpad.run import up
from moonpad.run.up import FIRST_LINES, LAST_LINES, failure_of, new_events, phase_of, started
from moonpad.store.run_folder import RunFolder, create_run
from moonpad.values.errors import LaunchFailed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return create_run("tiny")


LOADING = "Loading safetensors checkpoint shards:  {percent}% Completed | 1/2"
CAUSE = "(EngineCore pid=1) ERROR ValueError: the tensor is too large"
NOISE = "INFO a line of a flood"


def names(tail: LogTail) -> list[str]:
    return [event["event"] for event in new_events(tail)]


def test_events_are_followed_as_they_come(folder: RunFolder) -> None:
    tail = LogTail(folder.events_path)
    assert names(tail) == ["created"]
    first = folder.append_event("spawned", generation=1)
    folder.append_event("phase", phase="sizing the KV cache", kv_tokens="1024")
    with folder.events_path.open("a") as file:
        file.write('{"event": "pha\n[1]\n{"t_s": 1}\n')
    folder.append_event("spawned", generation=2)
    ready = folder.append_event("ready", token_s=0.25)
    assert names(tail) == ["spawned", "phase", "spawned", "ready"], "what was torn is left out"
    assert names(tail) == []
    start = started(folder, ready)
    assert (start.kv_tokens, start.token_s) == (1024, 0.25)
    assert start.seconds == ready["t_s"] - first["t_s"]


@pytest.mark.parametrize("event", ["refused", "overdue"])
@pytest.mark.parametrize(("reason", "by_itself"), [("not ready after 2 s", False), ("vllm ended: exit 1", True)])
def test_why_it_was_given_up(
    folder: RunFolder, event: str, reason: str, by_itself: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(up, "why_ended", lambda _folder, _prepared, problem: LaunchFailed(problem))
    folder.append_event(event, reason="not ready after 2 s")
    error = up._ended(folder, SimpleNamespace(program="the engine", log=LOG), {"event": "failed", "reason": reason})
    assert error.message == (f"the engine ended while starting ({reason})" if by_itself else reason)


def write(path: Path, *lines: str) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))


def test_the_phase_and_the_first_true_error(folder: RunFolder) -> None:
    assert (phase_of(folder, LOG), failure_of(folder, LOG)) == ("starting", None)
    write(folder.log_path, LOADING.format(percent=0), LOADING.format(percent=40), CAUSE)
    with folder.log_path.open("a") as log:
        log.write("RuntimeError: Engine core initialization failed. See root cause above.")
    failure = failure_of(folder, LOG)
    assert phase_of(folder, LOG) == "loading weights 40%"
    assert failure is not None
    assert failure.message == "ValueError: the tensor is too large"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "  Value error, pages of 3 tokens are not taken [type=value_error, input_value=3]",
            "Value error, pages of 3 tokens are not taken",
        ),
        (
            "RuntimeError: Worker failed with error 'pages of 3 tokens are not taken', please check the log",
            "pages of 3 tokens are not taken",
        ),
        (
            "TypeError: f() got an unexpected keyword argument 'x'",
            "a function is called in a way that it does not know",
        ),
        (
            "RuntimeError: CUDA error: an illegal memory access was encountered",
            "a kernel wrote or read where it may not",
        ),
    ],
)
def test_a_failed_start_is_told_in_the_words_of_doctor(folder: RunFolder, line: str, message: str) -> None:
    write(folder.log_path, line, "RuntimeError: Engine core initialization failed. See root cause above.")
    failure = failure_of(folder, LOG)
    assert failure is not None
    assert message in failure.message
    assert failure.line == line.strip()


def test_what_a_start_warned_of_is_not_why_it_failed(folder: RunFolder) -> None:
    write(
        folder.log_path, "WARNING 01-01 00:00:00 [x.py:1] cudaHostRegister failed (code=1): transfers will still work"
    )
    assert failure_of(folder, LOG) is None


def test_of_a_log_that_was_cut_its_beginning_and_its_end_are_read(folder: RunFolder) -> None:
    write(folder.log_path.with_name("engine.log.head"), CAUSE)
    write(folder.log_path, NOISE, LOADING.format(percent=60))
    failure = failure_of(folder, LOG)
    assert failure is not None
    assert failure.line == CAUSE
    assert phase_of(folder, LOG) == "loading weights 60%"


def test_a_flood_is_not_read_through(folder: RunFolder) -> None:
    """What stands in its middle is lost, so that an answer comes."""
    noise = [NOISE] * (FIRST_LINES + LAST_LINES)
    write(folder.log_path, LOADING.format(percent=20), *noise, CAUSE, *noise, LOADING.format(percent=80))
    assert failure_of(folder, LOG) is None
    assert phase_of(folder, LOG) == "loading weights 80%"
