"""The engine core: loads, then gives every running request one token a step, and tells the API server."""

from __future__ import annotations

import os
import resource
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from fake_engine.loop import Channel, Loop
from fake_engine.nodes import Meeting, Nodes
from fake_engine.say import put, say, say_bare
from fake_engine.switches import Moment, Switches
from fake_engine.titles import set_title
from fake_engine.workers import keep_shared_memory, lose_maker, start_workers

KV_TOKENS = 310_672
FLOOD_TICK_S = 0.005
ENDLESS_PIECE_BYTES = 1 << 18


class Request:
    def __init__(self, number: int, prompt_tokens: int, max_tokens: int) -> None:
        self.number, self.tokens, self.left = number, prompt_tokens, max_tokens


class Core:
    """Messages from the API server: add, abort, listening, shutdown. To it: ready, stats, step, hung, dead, bye."""

    def __init__(
        self, switches: Switches, sock: socket.socket, port: int, shutdown_timeout_s: float, nodes: Nodes
    ) -> None:
        self.switches, self.shutdown_timeout_s, self.nodes = switches, shutdown_timeout_s, nodes
        self.shared = [keep_shared_memory(f"sem.mp-moonpad_{port}_{os.getpid()}")]
        self.workers = start_workers(switches.workers, port, switches.ignore_term)
        if switches.lost_maker:
            lose_maker(f"psm_moonpad_{port}_lost", switches.load_s / 2)
        self.loop = Loop()
        self.api = Channel(self.loop, sock, self.received, lambda: None)  # an orphan does not know that it is one
        for rank, (_, worker) in enumerate(self.workers):
            self.loop.watch(worker.fileno(), partial(self.worker_lost, rank))
        self.running: dict[int, Request] = {}
        self.waiting: deque[Request] = deque()
        self.total = 0  # tokens generated
        self.added = 0
        self.due_s: float | None = None  # when the next step ends, None while nothing runs
        self.hung = self.dead = self.draining = False
        if switches.ignore_term:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
        else:
            self.loop.on_signals((signal.SIGINT, signal.SIGTERM), self.stop)

    # --- start --------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        say("EngineCore", "Initializing a V1 LLM engine (v0.32.0) with config: model='kimi-k2-tiny'")
        if self.nodes.count > 1:
            self.meeting = Meeting(self.loop, self.nodes, self.load, self.node_lost)
        else:
            self.load()
        self.loop.run()

    def load(self) -> None:
        say("Worker", "Starting to load model kimi-k2-tiny...", pid=self.first_worker)
        crash = self.at("load")
        for percent in sorted({0, 20, 40, 60, 80, 100} | ({int(crash)} if crash is not None else set())):
            self.loop.after(self.switches.load_s * percent / 100, partial(self.loaded, percent))

    @property
    def first_worker(self) -> int:
        return self.workers[0][0] if self.workers else os.getpid()

    def at(self, of: str) -> float | None:
        crash = self.switches.crash_at
        return crash.value if crash and crash.of == of else None

    def loaded(self, percent: int) -> None:
        say_bare(f"Loading safetensors checkpoint shards: {percent:3d}% Completed | 1/1 [00:00<00:00, 17.56it/s]")
        if percent == self.at("load"):
            self.crash("EngineCore failed to start.")
        if percent == 100:
            self.initialised()

    def initialised(self) -> None:
        say("Worker", f"Loading weights took {self.switches.load_s:.2f} seconds", pid=self.first_worker)
        say("Worker", "Explicitly set (1.0/8.21) GiB for KV cache on node 0.", pid=self.first_worker)
        size = f"CPU KV cache size: {KV_TOKENS:,} tokens"
        say("EngineCore", f"{size}, Maximum concurrency for 2,048 tokens per request: {KV_TOKENS / 2048:.2f}x")
        say("Worker", "Warming up model for the compilation...", pid=self.first_worker)
        say("Worker", "Warming up done.", pid=self.first_worker)
        took = f"took {self.switches.load_s:.2f} s"
        say("EngineCore", f"init engine (profile, create kv cache, warmup model) {took}")
        self.api.send("ready")

    def listening(self) -> None:
        """From now on it says what it has been told to say."""
        if self.switches.endless_line_bytes:
            self.endless(self.switches.endless_line_bytes)
        if self.switches.flood_bytes_s:
            self.flood(time.monotonic(), 0)

    def first_token(self) -> None:
        """From now on seconds count as after readiness: it is what moonpad calls ready, on a busy machine too."""
        self.plan(self.switches.crash_at, lambda: self.crash("EngineCore encountered a fatal error."))
        self.plan(self.switches.core_abort_at, self.abort_process)

    def plan(self, moment: Moment | None, action: Callable[[], None]) -> None:
        if moment and moment.of == "ready":
            self.loop.after(moment.value, action)

    # --- requests -----------------------------------------------------------------------------------------------------

    def received(self, message: list[Any]) -> None:
        match message:
            case ["add", number, prompt_tokens, max_tokens]:
                self.add(Request(number, prompt_tokens, max_tokens))
            case ["abort", number]:
                self.abort(number)
            case ["listening"]:
                self.listening()
            case ["shutdown"]:
                self.end(0)

    def add(self, request: Request) -> None:
        self.added += 1
        if self.added == self.at("request"):
            self.crash("EngineCore encountered a fatal error.")
        self.waiting.append(request)
        if self.hung:
            return  # it hears nothing more
        self.admit()
        self.tell_stats()

    def abort(self, number: int) -> None:
        """The client has gone. A hung core hears nothing of it."""
        if self.hung:
            return
        self.running.pop(number, None)
        self.waiting = deque(stream for stream in self.waiting if stream.number != number)
        self.admit()
        self.tell_stats()

    def admit(self) -> None:
        """Fills the slots, and sees to it that a step is on its way."""
        while self.waiting and len(self.running) < self.switches.slots:
            request = self.waiting.popleft()
            self.running[request.number] = request
        if self.running and self.due_s is None and not self.hung:
            self.due_s = time.monotonic() + self.switches.token_s
            self.loop.after(self.switches.token_s, self.step)

    def step(self) -> None:
        """One token for every running request. What is late is not made up for."""
        now = time.monotonic()
        begun_s, self.due_s = self.due_s or now, None
        if self.total == 0:
            self.first_token()
        given: list[int] = []
        done: list[int] = []
        for request in list(self.running.values()):
            if self.switches.hang_after and self.total >= self.switches.hang_after:
                break
            self.total += 1
            request.tokens += 1
            request.left -= 1
            given.append(request.number)
            if request.left <= 0:
                done.append(request.number)
                del self.running[request.number]
        self.hung = bool(self.switches.hang_after) and self.total >= self.switches.hang_after
        while self.waiting and len(self.running) < self.switches.slots:
            request = self.waiting.popleft()
            self.running[request.number] = request
        self.api.send("step", given, done, *self.stats())
        if self.hung:
            self.api.send("hung")
        elif self.running:
            self.due_s = max(begun_s + self.switches.token_s, now)
            self.loop.after(self.due_s - now, self.step)
        if self.draining and not self.running and not self.waiting:
            self.end(0)

    def stats(self) -> tuple[int, int, float]:
        used = sum(request.tokens for request in self.running.values())
        return len(self.running), len(self.waiting), round(min(1.0, used / KV_TOKENS), 6)

    def tell_stats(self) -> None:
        self.api.send("stats", *self.stats())

    # --- the log ------------------------------------------------------------------------------------------------------

    def flood(self, begun_s: float, written: int) -> None:
        line = b"(EngineCore pid=%d) INFO 11-20 12:00:00 [fake.py:1] %s\n" % (os.getpid(), b"flood " * 30)
        owed = int((time.monotonic() - begun_s) * self.switches.flood_bytes_s) - written
        count = min(owed, 1 << 18) // len(line)
        if put(line * count):
            self.loop.after(FLOOD_TICK_S, lambda: self.flood(begun_s, written + count * len(line)))

    def endless(self, left: int) -> None:
        piece = min(left, ENDLESS_PIECE_BYTES)
        if put(b"x" * piece) and left > piece:
            self.loop.after(0.0, lambda: self.endless(left - piece))
        else:
            put(b"\n")

    # --- ends ---------------------------------------------------------------------------------------------------------

    def crash(self, headline: str) -> None:
        """A Python exception that nobody catches: the first error of the log is the one that counts."""
        say("EngineCore", headline, "ERROR")
        say("EngineCore", "Traceback (most recent call last):", "ERROR")
        say("EngineCore", "ValueError: the tensor is too large", "ERROR")
        self.end(self.switches.exit_status)

    def abort_process(self) -> None:
        """A C++ assertion: no Python code runs, nothing is cleaned up, no core file is left."""
        put(b"terminate called after throwing an instance of 'c10::Error'\n")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        os.abort()

    def node_lost(self) -> None:
        say("Worker", "RuntimeError: Connection closed by peer", "ERROR", pid=self.first_worker)
        self.dead = True
        self.api.send("dead")
        self.end(1)

    def worker_lost(self, rank: int, _: int) -> None:
        self.loop.forget(self.workers[rank][1].fileno())
        if self.dead or (self.draining and not self.running):
            return
        self.dead = True
        text = f"Worker proc VllmWorker-{rank} died unexpectedly, shutting down executor."
        say("EngineCore", text, "ERROR")
        self.api.send("dead")
        self.running.clear()
        self.waiting.clear()
        if not self.switches.health_lies:
            self.end(1)

    def stop(self, _: int) -> None:
        """INT or TERM: running requests may finish where a time is given for that."""
        if self.shutdown_timeout_s > 0 and self.running and not self.draining:
            self.draining = True
            self.loop.after(self.shutdown_timeout_s, lambda: self.end(0))
        elif not self.draining:
            self.end(0)

    def end(self, status: int) -> None:
        if status == 0:
            self.api.send("bye")
        for path in self.shared:
            path.unlink(missing_ok=True)
        os._exit(status)


def run_core(switches: Switches, ipc: str, port: int, shutdown_timeout_s: float, nodes: Nodes) -> None:
    """In the child. Does not return."""
    try:
        set_title("VLLM::EngineCore")
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(ipc)
        Core(switches, sock, port, shutdown_timeout_s, nodes).run()
    finally:
        os._exit(1)
