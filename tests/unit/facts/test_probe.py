import sys
import time
from pathlib import Path

import pytest

from moonpad.facts.probe import Unknown, output_of, parsed, read_text


def say(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", code)


def test_what_a_command_prints_is_parsed() -> None:
    assert parsed(output_of(say("print(41)"), 10.0), lambda text: int(text) + 1) == 42


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("/no/such/command",), "/no/such/command: No such file or directory"),
        (say("import sys; print('why', file=sys.stderr); sys.exit(3)"), f"{sys.executable} failed with 3: why"),
        (say("print('words')"), "invalid literal for int() with base 10: 'words\\n'"),
    ],
)
def test_a_failure_is_unknown_with_its_reason(command: tuple[str, ...], reason: str) -> None:
    assert parsed(output_of(command, 10.0), int) == Unknown(reason)


def test_a_command_that_hangs_is_unknown_and_its_children_are_gone(tmp_path: Path) -> None:
    """The child holds the pipe open, so waiting for the end of the output would wait for it."""
    pid = tmp_path / "pid"
    answer = output_of(("/bin/sh", "-c", f"sleep 60 & echo $! > {pid}; wait"), timeout_s=1.0)
    assert answer == Unknown("/bin/sh timed out after 1.00 s")
    child = Path("/proc") / pid.read_text().strip() / "stat"
    until = time.monotonic() + 10.0
    while lives(child):
        assert time.monotonic() < until, "the child has survived"
        time.sleep(0.02)


def lives(stat: Path) -> bool:
    """A zombie waits for its parent and does nothing more."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_missing_file_is_unknown(tmp_path: Path) -> None:
    missing = tmp_path / "cpuinfo"
    assert parsed(read_text(missing), str) == Unknown(f"{missing}: No such file or directory")


def test_output_is_not_mixed_with_complaints() -> None:
    assert output_of(say("import sys; print('yes'); print('no', file=sys.stderr)"), 10.0) == "yes\n"
