"""A signal whose exception nobody has heard is not lost."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from moonpad.cli import command_line, output
from moonpad.cli.interrupts import NUMBERS, Interrupts, Terminated


@pytest.fixture(autouse=True)
def _handlers_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in NUMBERS}
    hook = sys.unraisablehook
    yield
    sys.unraisablehook = hook
    for number, handler in before.items():
        signal.signal(number, handler)


def swallowed(number: int) -> None:
    """The signal, in code that drops whatever is raised in it."""
    with suppress(BaseException):
        os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGHUP, KeyboardInterrupt), (signal.SIGTERM, Terminated)],
)
def test_swallowed_signal_is_raised_again(number: int, kind: type[KeyboardInterrupt]) -> None:
    interrupts = Interrupts()
    interrupts.raise_lost()
    swallowed(number)
    with pytest.raises(KeyboardInterrupt) as raised:
        interrupts.raise_lost()
    assert type(raised.value) is kind


def test_end_raises_what_was_lost_and_ignores_the_rest() -> None:
    interrupts = Interrupts()
    swallowed(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        interrupts.end()
    os.kill(os.getpid(), signal.SIGINT)


def test_interrupted_while_an_error_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Found by the state machine, seed 5: it was a traceback."""

    def interrupted(error: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(output, "print_error", interrupted)
    assert command_line.run(["plan", "no-such-model"]) == 130
    assert capsys.readouterr().err.strip() == "moonpad: interrupted"


def test_a_swallowed_signal_prints_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """Found by the state machine, seed 8: "Exception ignored in", of a signal that pydantic has swallowed."""

    class Swallows:
        def __init__(self, kind: type[BaseException]) -> None:
            self.kind = kind

        def __del__(self) -> None:
            raise self.kind

    seen: list[type[BaseException]] = []
    sys.unraisablehook = lambda what: seen.append(what.exc_type)
    Interrupts()
    Swallows(KeyboardInterrupt)
    Swallows(ValueError)
    assert seen == [ValueError], "anything else is still told"
    assert capsys.readouterr().err == ""
