"""Watching a start, with a clock, a log and an endpoint that are injected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from moonpad.engines.log_grammar import Progress
from moonpad.engines.vllm import LOG
from moonpad.observe.heartbeat import Answer
from moonpad.observe.log_tail import LogTail
from moonpad.observe.start import Ended, Healthy, Overdue, Ready, Refused, Sign, watch_start
from moonpad.values.endpoint import Endpoint

ENDPOINT = Endpoint("http://127.0.0.1:1/v1", "kimi")
NO = Answer(None, "connection refused")
YES = Answer(200, '{"choices": [{}]}')


class World:
    """Time that passes only when somebody waits; `script` maps a second to what happens then."""

    def __init__(self, log: Path, script: dict[float, Callable[[], None]]) -> None:
        self.now = 0.0
        self.log = log
        self.script = script
        self.health = NO
        self.token = YES
        self.gone = False

    def pause(self, seconds: float) -> None:
        self.now += seconds
        for due in sorted(self.script):
            if due <= self.now:
                self.script.pop(due)()

    def say(self, text: str) -> None:
        with self.log.open("a") as file:
            file.write(text)

    def signs(self, budget_s: float = 60.0) -> Iterator[Sign]:
        return watch_start(
            LogTail(self.log),
            LOG,
            ENDPOINT,
            lambda: self.gone,
            budget_s,
            clock=lambda: self.now,
            pause=self.pause,
            health=lambda endpoint, timeout_s: self.health,
            token=lambda endpoint, timeout_s: self.token,
        )


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
    assert signs[-2:] == [Healthy(), Ready(0.0)]


def test_healthy_is_not_ready(tmp_path: Path) -> None:
    world = World(tmp_path / "engine.log", {})
    world.health = YES
    world.token = Answer(500, "the engine core died")
    assert list(world.signs()) == [Healthy(), Refused(Answer(500, "the engine core died"))]


def test_the_last_lines_of_a_dead_engine_are_read(tmp_path: Path) -> None:
    world = World(tmp_path / "engine.log", {})

    def die() -> None:
        world.say("Loading safetensors checkpoint shards:  80% Completed | 4/5\n")
        world.gone = True

    world.script = {1.0: die}
    assert list(world.signs()) == [Progress("loading weights", 80, {}), Ended()]


def test_overdue(tmp_path: Path) -> None:
    world = World(tmp_path / "engine.log", {})
    assert list(world.signs(budget_s=5.0)) == [Overdue(5.0)]
    assert 5.0 < world.now < 5.5


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
