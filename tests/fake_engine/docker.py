"""`docker` and its daemon as moonpad meets them. Standard library only; run by path.

`docker.py daemon` owns the containers, as dockerd does: they are no children of any client, and live on when one is
killed. Every other call is a client: it notes its arguments in $FAKE_DOCKER/calls.jsonl and asks the daemon at
$FAKE_DOCKER/socket. A container is the fake engine in a session of its own; the daemon's FAKE_… variables reach it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).with_name("vllm.py")
PLACE = Path(os.environ["FAKE_DOCKER"])
WITH_VALUE = ("--name", "--label", "--publish", "--mount", "--env", "--shm-size", "--entrypoint")


class Daemon:
    def __init__(self) -> None:
        self.containers: dict[str, tuple[str, subprocess.Popen[bytes]]] = {}  # name → (label, its process)

    def serve(self) -> None:
        signal.signal(signal.SIGTERM, lambda *_: self.end())
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(PLACE / "socket"))
        listener.listen()
        print("listening", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def end(self) -> None:
        for _, process in self.containers.values():
            process.kill()
            process.wait()
        os._exit(0)

    def answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rw") as stream:
            request = json.loads(stream.readline())
            gone = False
            for frame in getattr(self, request.pop("do"))(**request):
                try:
                    if not gone:
                        print(json.dumps(frame), file=stream, flush=True)
                except BrokenPipeError:
                    gone = True  # the client was killed; its container goes on, and is read on

    def run(self, name: str, label: str, env: dict[str, str], argv: list[str]) -> Iterator[dict[str, Any]]:
        if name in self.containers:
            yield {"out": f"docker: the container name {name} is in use\n", "exit": 125}
            return
        switches = {key: value for key, value in os.environ.items() if key.startswith("FAKE_")}
        process = subprocess.Popen(
            (sys.executable, "-I", "-S", str(ENGINE), *argv),
            env={"FAKE_WORKERS": "0", **switches, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.containers[name] = (label, process)
        assert process.stdout is not None
        for line in process.stdout:
            yield {"out": line.decode()}
        code = process.wait()
        self.containers.pop(name, None)
        yield {"exit": code if code >= 0 else 128 - code}

    def ps(self, label: str) -> Iterator[dict[str, Any]]:
        names = [name for name, (its, _) in self.containers.items() if label in ("", its)]
        yield {"out": "".join(f"{name}\n" for name in names), "exit": 0}

    def kill(self, name: str, number: int) -> Iterator[dict[str, Any]]:
        if name in self.containers:
            self.containers[name][1].send_signal(number)
        yield {"exit": 0 if name in self.containers else 1}

    def stop(self, name: str, grace_s: float) -> Iterator[dict[str, Any]]:
        if name not in self.containers:
            yield {"out": f"Error response from daemon: No such container: {name}\n", "exit": 1}
            return
        process = self.containers[name][1]
        process.terminate()
        try:
            process.wait(grace_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        yield {"out": f"{name}\n", "exit": 0}

    def rm(self, name: str) -> Iterator[dict[str, Any]]:
        if name in self.containers:
            self.containers[name][1].kill()
            self.containers[name][1].wait()
        yield {"out": f"{name}\n", "exit": 0}


def ask(**request: object) -> int:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(PLACE / "socket"))
    except OSError:
        print("Cannot connect to the Docker daemon. Is the docker daemon running?", file=sys.stderr)
        return 1
    with connection, connection.makefile("rw") as stream:
        print(json.dumps(request), file=stream, flush=True)
        for line in stream:
            frame = json.loads(line)
            print(frame.get("out", ""), end="", flush=True)
            if "exit" in frame:
                return int(frame["exit"])
    return 125


def read_run(words: list[str]) -> dict[str, Any]:
    """The arguments of `run` as the daemon wants them. An option that moonpad should not use ends the client."""
    options: dict[str, list[str]] = {name: [] for name in WITH_VALUE}
    while words[0].startswith("-"):
        option = words.pop(0)
        if option in options:
            options[option].append(words.pop(0))
        elif option != "--rm":
            sys.exit(f"unknown flag: {option}")
    env = {}
    for item in options["--env"]:
        name, given, value = item.partition("=")
        env[name] = value if given else os.environ[name]
    return {"name": options["--name"][0], "label": options["--label"][0], "env": env, "argv": words[1:]}


def main(words: list[str]) -> int:
    if words == ["daemon"]:
        Daemon().serve()
    with (PLACE / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps(words) + "\n")
    match words:
        case ["run", *rest]:
            request = read_run(rest)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda got, _: ask(do="kill", name=request["name"], number=got) and None)
            return ask(do="run", **request)
        case ["ps", "--quiet"]:
            return ask(do="ps", label="")
        case ["ps", "--filter", filtered, "--format", "{{.Names}}"]:
            return ask(do="ps", label=filtered.removeprefix("label="))
        case ["stop", "-t", grace_s, name]:
            return ask(do="stop", name=name, grace_s=float(grace_s))
        case ["rm", "--force", name]:
            return ask(do="rm", name=name)
    sys.exit(f"unknown command: {words}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
