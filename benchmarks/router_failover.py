"""kill -9 of one of two copies behind a router, under load: which requests fail, and when the copy is back.

    python -m benchmarks.router_failover --engine real --router sglang-router --out OUT
    python -m benchmarks.router_failover --engine fake --router vllm-router --out OUT

Two copies of an engine behind a real router, all of them kept up by moonpad; `--clients` clients stream one request
after the other. At a drawn moment a drawn process of a copy is killed, of the two copies in turn: its API server or its
engine core. With `--pause` each client waits so long between two requests from ten seconds after a kill on, until the
copy is ready: a real engine that starts again on two cores does not share them with a full load then. Each request
carries an id of its own, which the router passes on and the engine writes into its log, so that it is known which copy
had it. A request may fail only where it had begun before the copy was lost and that copy had it; every other one that
fails is counted under `others_failed`, which must be 0. Times count from the kill:

- lost_s     until the copy's API server had ended, after which it can take nothing
- ready_s    until moonpad had the copy ready again
- back_s     until the copy had a request of a client again, through the router

OUT is written after each kill; trials of the same engine and router that are there already stay, and more come.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import signal
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.stage import MODEL, about, write
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, set_process_option
from tests.fake_environment import make_environment
from tests.faults import forked, oracle
from tests.ports import free_ports

NAME = "k"
COPIES = (f"{NAME}-replica-0", f"{NAME}-replica-1")
VICTIMS = ("API server", "engine core")
LIMIT_S = 600.0
FULL_S = 10.0
"""Of full load after a kill."""
QUIET_S = (1.0, 6.0)
"""Between two kills, drawn, once everything has recovered."""
RECEIVED = re.compile(r"Received request (?:cmpl|chatcmpl)-(load-\d+-\d+)")
SPEC = """\
name = "{name}"
model = "{model}"

[engine]
name = "vllm-cpu"
{python}
[settings]
max_model_len = 2048
max_num_seqs = 4
kv_cache_gib = 1
enforce_eager = true
extra_args = ["--enable-log-requests"]

[endpoint]
port = {port}

[router]
name = "{router}"
policy = "{policy}"
replicas = 2
replica_port = {replica_port}
metrics_port = {metrics_port}

[launch]
restarts = 1000
restart_window = "2s"
restart_backoff = "500ms"
stop_grace = "20s"
"""


@dataclass
class Request:
    id: str
    begun_s: float
    ended_s: float = 0.0
    tokens: int = 0
    error: str = ""

    @property
    def open(self) -> bool:
        return not self.ended_s


@dataclass
class Load:
    """So many clients, each with one streamed request at a time, until `stop()`."""

    port: int
    clients: int
    max_tokens: int
    pause_s: float = 0.0
    requests: list[Request] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        for client in range(self.clients):
            self._threads.append(threading.Thread(target=self._work, args=(client,), daemon=True))
            self._threads[-1].start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(120.0)

    def _work(self, client: int) -> None:
        number = 0
        while not self._stopping.is_set():
            request = Request(f"load-{client}-{number}", time.monotonic())
            self.requests.append(request)
            number += 1
            try:
                request.tokens = self._stream(request.id)
            except (OSError, http.client.HTTPException) as error:
                request.error = str(error) or type(error).__name__
            request.ended_s = time.monotonic()
            self._stopping.wait(max(self.pause_s, 0.05 if request.error else 0.0))

    def _stream(self, name: str) -> int:
        body = {"model": MODEL, "prompt": f"Once {name}", "max_tokens": self.max_tokens, "ignore_eos": True}
        headers = {"Content-Type": "application/json", "X-Request-Id": name}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120.0)
        try:
            connection.request("POST", "/v1/completions", json.dumps({**body, "stream": True}), headers)
            answer = connection.getresponse()
            lines = answer.read() if answer.status != 200 else b"".join(answer)
            if answer.status != 200:
                raise http.client.HTTPException(f"{answer.status}: {lines[:200]!r}")
            if b'"error"' in lines:
                raise http.client.HTTPException(f"an error within the stream: {lines[-200:]!r}")
            if b"[DONE]" not in lines:
                raise http.client.HTTPException(f"cut after {lines.count(b'data:')} events")
            return lines.count(b'"choices"')
        finally:
            connection.close()


class Stage:
    """The endpoint `k`: two copies and their router."""

    def __init__(self, home: Path, engine: str, router: str, policy: str) -> None:
        self.home, self.state = home, home / "state" / "moonpad"
        self.ports = free_ports(4)
        python = f'python = "{make_environment(home / "engine")}"\n' if engine == "fake" else ""
        self.spec = home / "k.toml"
        port, first, _, metrics = self.ports
        self.spec.write_text(
            SPEC.format(
                name=NAME,
                model=MODEL,
                python=python,
                port=port,
                router=router,
                policy=policy,
                replica_port=first,
                metrics_port=metrics,
            )
        )
        self.env = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1", "FAKE_TOKEN_S": "0.02"}

    @property
    def port(self) -> int:
        return self.ports[0]

    def moonpad(self, *argv: str, limit_s: float = LIMIT_S) -> forked.Ended:
        return forked.run(argv, self.env, self.home, limit_s)

    def rows(self) -> dict[str, dict[str, Any]]:
        ended = self.moonpad("status", "--json", limit_s=60.0)
        assert ended.code == 0, ended.stderr
        return {row["name"]: row for row in json.loads(ended.stdout)["endpoints"]}

    def run(self, name: str) -> oracle.Run:
        current = oracle.current(self.state, name, oracle.processes())
        assert current is not None, name
        return current

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = (self.run(name).path / "events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def had(self, name: str) -> set[str]:
        """The requests that the copy's log names, of its last few starts."""
        logs = self.run(name).path.glob("engine.log*")
        return {found for log in logs for found in RECEIVED.findall(log.read_text(errors="replace"))}


def wait_until(holds: Any, limit_s: float = LIMIT_S) -> None:
    until = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.1)


def trial(stage: Stage, load: Load, chance: random.Random, number: int, pause_s: float) -> dict[str, Any]:
    """One kill, until the copy has a client's request again."""
    time.sleep(chance.uniform(*QUIET_S))
    copy, victim = COPIES[number % 2], chance.choice(VICTIMS)
    targets = oracle.victims({copy: stage.run(copy)}, victim)
    assert targets, f"{copy} has no {victim}"
    root = next(iter(stage.run(copy).roots))
    spawned = len([event for event in stage.events(copy) if event["event"] == "ready"])
    open_before = [request for request in load.requests if request.open]
    seen_before = len(load.requests)
    killed_s = time.monotonic()
    os.kill(targets[0][1], signal.SIGKILL)
    wait_until(lambda: not oracle.lives(root, oracle.processes()))
    lost_s = time.monotonic() - killed_s
    time.sleep(max(0.0, killed_s + FULL_S - time.monotonic()))
    load.pause_s = pause_s
    wait_until(lambda: len([event for event in stage.events(copy) if event["event"] == "ready"]) > spawned)
    load.pause_s = 0.0
    ready = [event for event in stage.events(copy) if event["event"] == "ready"][-1]
    wait_until(lambda: stage.had(copy) & {request.id for request in load.requests if request.begun_s >= ready["t_s"]})
    first = min(
        request.begun_s
        for request in load.requests
        if request.begun_s >= ready["t_s"] and request.id in stage.had(copy)
    )
    wait_until(lambda: not any(request.open for request in open_before))
    since = [*open_before, *load.requests[seen_before:]]
    failed = [request for request in since if request.error]
    had = stage.had(copy)
    excused = [request for request in failed if request.begun_s <= killed_s + lost_s and request.id in had]
    others = [request for request in failed if request not in excused]
    return {
        "copy": copy,
        "victim": victim,
        "in_flight": len(open_before),
        "in_flight_there": sum(request.id in had for request in open_before),
        "requests": len(since),
        "failed_in_flight_there": len(excused),
        "others_failed": len(others),
        "others": [[request.id, request.error, round(request.begun_s - killed_s, 3)] for request in others][:5],
        "lost_s": round(lost_s, 3),
        "ready_s": round(ready["t_s"] - killed_s, 3),
        "back_s": round(first - killed_s, 3),
        "pause_s": pause_s,
    }


def summary(trials: list[dict[str, Any]]) -> dict[str, Any]:
    totals: dict[str, Any] = {"kills": len(trials)}
    for name in ("requests", "in_flight_there", "failed_in_flight_there", "others_failed"):
        totals[name] = sum(trial[name] for trial in trials)
    for name in ("lost_s", "ready_s", "back_s"):
        values = [trial[name] for trial in trials]
        totals[name] = {"median": round(statistics.median(values), 3), "max": max(values)}
    return totals


def run(arguments: argparse.Namespace, home: Path) -> dict[str, Any]:
    key = f"{arguments.engine} {arguments.router} {arguments.policy}"
    result = about("two copies of an engine behind a router, a process of one killed under load") | {"runs": {}}
    if arguments.out and arguments.out.exists():
        result = json.loads(arguments.out.read_text())
    former = result["runs"].get(key, {}).get("trials", [])
    stage = Stage(home, arguments.engine, arguments.router, arguments.policy)
    chance = random.Random(arguments.seed + len(former))
    begun_s = time.monotonic()
    ended = stage.moonpad("up", str(stage.spec), "--json")
    assert ended.code == 0, ended.stderr
    up_s = round(time.monotonic() - begun_s, 1)
    version = stage.rows()[NAME]["router"]["version"]
    load = Load(stage.port, arguments.clients, arguments.tokens)
    load.start()
    trials = list(former)
    try:
        for number in range(arguments.times):
            trials.append(trial(stage, load, chance, len(former) + number, arguments.pause))
            print(json.dumps(trials[-1]), flush=True)
            pools = {name: row["state"] for name, row in stage.rows().items()}
            row = {"router_version": version, "clients": arguments.clients, "tokens": arguments.tokens, "up_s": up_s}
            result["runs"][key] = {**row, "states_at_the_end": pools, **summary(trials), "trials": trials}
            write(arguments.out, result)
    finally:
        load.stop()
        ended = stage.moonpad("down", str(stage.spec), "--drain", "5s", "--json")
    assert ended.code == 0, ended.stderr
    oracle.reap()
    left = [process.command[:80] for process in oracle.below({os.getpid()}, oracle.processes()).values()]
    left += [f"port {port} is served" for port in stage.ports if oracle.served(port)]
    result["runs"][key]["left_after_down"] = left
    write(arguments.out, result)
    return result["runs"][key]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("real", "fake"), default="fake")
    parser.add_argument("--router", default="sglang-router")
    parser.add_argument("--policy", default="round_robin")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument(
        "--pause", type=float, default=0.0, help="seconds of a client between two requests while a copy starts"
    )
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryDirectory(prefix="moonpad-router-") as home:
        found = run(arguments, Path(home))
    print(json.dumps({name: value for name, value in found.items() if name != "trials"}, indent=1))
    assert not found["others_failed"], "a request failed that the killed copy did not have"
    assert not found["left_after_down"], found["left_after_down"]


if __name__ == "__main__":
    main()
