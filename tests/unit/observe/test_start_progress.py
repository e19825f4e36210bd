"""Watching a start, with a clock, a log and an endpoint that are injected."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moonpad.engines.log_grammar import Progress
from moonpad.engines.vllm import LOG
from moonpad.observe.log_tail import LogTail
from moonpad.observe.readiness import ProbeAnswer
from moonpad.observe.start_progress import (
    BROKEN_TOKENS,
    FirstTokenRefused,
    Healthy,
    Ready,
    Sign,
    StartOverdue,
    StartWatch,
    Timed,
    in_thread,
)

NO = ProbeAnswer(None, "connection refused")
YES = ProbeAnswer(200, '{"choices": [{}]}')


class World:
    """Time that passes only in `pause`; `script` maps a second to what happens then."""

    def __init__(self, log: Path, script: dict[float, Callable[[], None]]) -> None:
        self.now = 0.0
        self.log = log
        self.script = script
        self.health = NO
        self.token = YES
        self.token_s = 0.0
        self.tokens = 0

    def pause(self, seconds: float) -> None:
        self.now += seconds
        for due in sorted(self.script):
            if due <= self.now:
                self.script.pop(due)()

    def say(self, text: str) -> None:
        with self.log.open("a") as file:
            file.write(text)

    def signs(self, budget_s: float = 60.0) -> Iterator[Sign]:
        """Looks ten times a second, until a sign that is the last."""
        watch = self.watch(budget_s)
        while True:
            for sign in watch.look():
                yield sign
                if isinstance(sign, Ready | FirstTokenRefused | StartOverdue):
                    return
            self.pause(0.1)

    def watch(self, budget_s: float = 60.0, *, keyless: bool = False) -> StartWatch:
        token = None if keyless else lambda limit_s: self.token
        return StartWatch(
            *(LogTail(self.log), LOG, lambda limit_s: self.health, token, self.now, budget_s),
            clock=lambda: self.now,
            begin=self.begin,
        )

    def begin(self, ask: Callable[[], Timed]) -> Callable[[], Timed | None]:
        """A token takes `token_s`."""
        self.tokens += 1
        asked_at, (answer, _) = self.now, ask()
        return lambda: (answer, self.now - asked_at) if self.now - asked_at >= self.token_s else None


def test_phases_then_ready(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    world = World(log, {})

    def healthy() -> None:
        world.health = YES

    world.script = {
        1.0: lambda: world.say("Loading safetensors checkpoint shards:  40% Completed | 2/5\r"),
        2.0: lambda: world.say("\nINFO CPU KV cache size: 233,008 tokens, Maximum concurrency for 2,048 tokens per "),
        3.0: lambda: world.say("request: 113.77x\n"),
        4.0: healthy,
    }
    signs = list(world.signs())
    assert Progress("loading weights", 40, {}) in signs
    figures = {"kv_tokens": "233008", "at_tokens": "2048", "concurrency": "113.77"}
    assert Progress("sizing the KV cache", None, figures) in signs
    assert signs[-2] == Healthy()
    assert isinstance(signs[-1], Ready)


def test_healthy_is_not_ready(tmp_path: Path) -> None:
    world = World(tmp_path / "engine.log", {})
    world.health = YES
    world.token = ProbeAnswer(500, "the engine core died")
    assert list(world.signs()) == [Healthy(), FirstTokenRefused(ProbeAnswer(500, "the engine core died"))]


def test_overdue(tmp_path: Path) -> None:
    world = World(tmp_path / "engine.log", {})
    assert list(world.signs(budget_s=5.0)) == [StartOverdue(5.0)]
    assert 5.0 < world.now < 5.5


def test_the_log_is_followed_while_the_first_token_is_on_its_way(tmp_path: Path) -> None:
    """Engines compile at their first request, for minutes."""
    world = World(tmp_path / "engine.log", {})
    world.health, world.token_s = YES, 100.0
    watch = world.watch()
    assert list(watch.look()) == [Healthy()]
    assert watch.asking
    world.say("Loading safetensors checkpoint shards:  80% Completed | 4/5\n")
    world.now = 90.0
    assert list(watch.look()) == [Progress("loading weights", 80, {})], "over the budget, and asked in time"
    world.now = 100.0
    assert list(watch.look()) == [Ready(100.0, asked_s=0.0)]
    assert (watch.asking, world.tokens) == (False, 1)


def test_the_first_token_has_what_is_left_of_the_budget(tmp_path: Path) -> None:
    limits: list[float] = []
    world = World(tmp_path / "engine.log", {})

    def token(limit_s: float) -> ProbeAnswer:
        limits.append(limit_s)
        return YES

    for asked_s in (10.0, 55.0):
        world.now = 0.0
        watch = StartWatch(
            *(LogTail(world.log), LOG, lambda limit_s: YES, token, 0.0, 60.0),
            clock=lambda: world.now,
            begin=world.begin,
        )
        world.now = asked_s
        assert list(watch.look()) == [Healthy()]
    assert limits == [50.0, 30.0], "and never less than half a minute"


def test_no_answer_is_no_refusal_at_first(tmp_path: Path) -> None:
    """What answers nothing may be dying, and then the keeper says how."""
    world = World(tmp_path / "engine.log", {})
    world.health, world.token = YES, ProbeAnswer(None, "connection reset")
    watch = world.watch()
    signs = [sign for _ in range(2 * BROKEN_TOKENS) for sign in watch.look()]
    assert signs == [Healthy(), FirstTokenRefused(ProbeAnswer(None, "connection reset"))]
    assert world.tokens == BROKEN_TOKENS


def test_a_token_in_vain_is_a_refusal_at_once(tmp_path: Path) -> None:
    world = World(tmp_path / "engine.log", {})
    world.health, world.token = YES, ProbeAnswer(None, "timed out", timed_out=True)
    watch = world.watch()
    assert [*watch.look(), *watch.look()] == [Healthy(), FirstTokenRefused(world.token)]


def test_without_a_key_nothing_is_ready_and_nothing_overdue(tmp_path: Path) -> None:
    world = World(tmp_path / "engine.log", {})
    world.health = YES
    watch = world.watch(keyless=True)
    assert list(watch.look()) == [Healthy()]
    world.now = 1000.0
    assert list(watch.look()) == []
    world.health = NO
    assert list(watch.look()) == [StartOverdue(60.0)]


def test_the_phase_in_words(tmp_path: Path) -> None:
    world = World(tmp_path / "engine.log", {})
    watch = world.watch()
    assert watch.phase == "starting"
    world.say("Loading safetensors checkpoint shards:  80% Completed | 4/5\n")
    list(watch.read())
    assert watch.phase == "loading weights 80%"


def test_what_is_asked_aside_comes_back() -> None:
    result = in_thread(lambda: (YES, 0.5))
    while (answer := result()) is None:
        time.sleep(0.001)
    assert answer == (YES, 0.5)
    assert result() == answer, "again, whoever asks"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_question_that_breaks_is_told() -> None:
    threads: list[threading.Thread] = []

    def ask() -> Timed:
        threads.append(threading.current_thread())
        raise RuntimeError("broken")

    result = in_thread(ask)
    while not threads:
        time.sleep(0.001)
    threads[0].join()
    with pytest.raises(RuntimeError, match="without an answer"):
        result()


def test_an_endless_line_costs_no_memory(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_bytes(b"x" * (5 << 20))
    tail = LogTail(log)
    for _ in range(10):
        assert tail.lines() == []
    assert len(tail.open_line()) <= 1 << 16
    with log.open("ab") as file:
        file.write(b"\nnext\n")
    seen = [line for _ in range(5) for line in tail.lines()]
    assert seen[-1] == "next"
    assert len(seen[0]) <= 1 << 16
