"""`docker` and its daemon as moonpad meets them. Standard library only; run by path.

`docker.py daemon` is dockerd: asked to end (TERM) it takes the containers with it; killed, it leaves them to the next
one, as live-restore does. Each container is a `docker.py shim`, no child of any client, with the fake engine in it; its
label, its process, its output and how often anybody was attached to it stand in $FAKE_DOCKER/containers/ID. The
daemon's FAKE_… variables reach the engine. `docker.py purge` kills and removes what a killed daemon has left.

Every other call is a client: it notes its arguments in $FAKE_DOCKER/calls.jsonl and asks the daemon at
$FAKE_DOCKER/socket. FAKE_START_DELAY_S is what a client waits between making a container and starting it; with
FAKE_ATTACH_REFUSED nobody is attached to a running one, as to one that is paused.
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).with_name("vllm.py")
PLACE = Path(os.environ["FAKE_DOCKER"])
CONTAINERS = PLACE / "containers"
WITH_VALUE = ("--name", "--label", "--publish", "--mount", "--env", "--shm-size", "--entrypoint")
LOOK_S = 0.01
PR_SET_CHILD_SUBREAPER = 36

Frames = Iterator[dict[str, Any]]


# --- the daemon ------------------------------------------------------------------------------------------------------


class Container:
    """A folder named by the container's id. It runs from `pid` being there until `exit` is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about: dict[str, str] = json.loads((folder / "about.json").read_text())

    @property
    def started(self) -> bool:
        return (self.folder / "pid").exists()

    @property
    def exit(self) -> int | None:
        try:
            return int((self.folder / "exit").read_text())
        except FileNotFoundError:
            return None if self.folder.exists() else 137  # removed while it ran

    @property
    def runs(self) -> bool:
        return self.started and self.exit is None

    def send(self, number: int) -> None:
        if self.runs:
            os.kill(int((self.folder / "pid").read_text()), number)

    def wait(self, limit_s: float) -> bool:
        """Whether it has ended within that time."""
        until = time.monotonic() + limit_s
        while self.runs and time.monotonic() < until:
            time.sleep(LOOK_S)
        return not self.runs

    def remove(self) -> None:
        self.send(signal.SIGKILL)
        self.wait(10.0)
        shutil.rmtree(self.folder, ignore_errors=True)


def containers() -> list[Container]:
    return [Container(path.parent) for path in CONTAINERS.glob("*/about.json")]


def named(name: str) -> Container | None:
    """Made, and not ended: with `--rm` an ended one is gone. Its folder stays for those who follow its output."""
    return next(
        (container for container in containers() if container.about["name"] == name and container.exit is None), None
    )


class Daemon:
    """Each public method answers one kind of request. What it knows of the containers it reads from their folders."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # of what makes, starts or removes a container

    def serve(self) -> None:
        signal.signal(signal.SIGTERM, lambda *_: self.end())
        CONTAINERS.mkdir(exist_ok=True)
        (PLACE / "socket").unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(PLACE / "socket"))
        listener.listen()
        print("listening", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def end(self) -> None:
        purge()
        os._exit(0)

    def answer(self, connection: socket.socket) -> None:
        with (
            connection,
            connection.makefile("r") as stream,
            suppress(OSError),
        ):  # a killed client; its container goes on
            request = json.loads(stream.readline())
            for frame in getattr(self, request.pop("do"))(**request):
                connection.sendall(json.dumps(frame).encode() + b"\n")

    def create(self, name: str, label: str) -> Frames:
        with self.lock:
            if named(name) is not None:
                yield {"out": f"docker: the container name {name} is in use\n", "exit": 125}
                return
            folder = CONTAINERS / secrets.token_hex(32)
            folder.mkdir()
            (folder / "log").touch()
            replace(folder / "about.json", json.dumps({"name": name, "label": label}))
        yield {"exit": 0}

    def start(self, name: str, env: dict[str, str], argv: list[str]) -> Frames:
        with self.lock:
            container = named(name)
            if container is None:
                yield {"out": f"docker: no such container: {name}\n", "exit": 125}
                return
            command = (sys.executable, "-I", "-S", __file__, "shim", str(container.folder))
            null = subprocess.DEVNULL  # whoever reads from the daemon must not wait for its containers
            shim = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=null, start_new_session=True, text=True)
            switches = {key: value for key, value in os.environ.items() if key.startswith("FAKE_")}
            assert shim.stdin is not None
            with shim.stdin:
                json.dump({"env": {**switches, **env}, "argv": argv}, shim.stdin)
            threading.Thread(target=shim.wait, daemon=True).start()
            while not container.started:
                time.sleep(LOOK_S)
        yield from follow(container, 0)

    def attach(self, name: str) -> Frames:
        container = named(name)
        if container is None or not container.runs:
            yield {"out": f"Error response from daemon: No such container: {name}\n", "exit": 1}
            return
        offset = (container.folder / "log").stat().st_size
        with (container.folder / "attached").open("a") as attached:
            attached.write("again\n")
        yield from follow(container, offset)

    def ps(self, label: str, field: str) -> Frames:
        listed = [container for container in containers() if container.runs and label in ("", container.about["label"])]
        lines = [container.folder.name[:12] if field == "id" else container.about["name"] for container in listed]
        yield {"out": "".join(f"{line}\n" for line in lines), "exit": 0}

    def kill(self, name: str, number: int) -> Frames:
        container = named(name)
        if container is not None:
            container.send(number)
        yield {"exit": 1 if container is None else 0}

    def stop(self, name: str, grace_s: float) -> Frames:
        container = named(name)
        if container is None:
            yield {"out": f"Error response from daemon: No such container: {name}\n", "exit": 1}
            return
        container.send(signal.SIGTERM)
        if not container.wait(grace_s):
            container.send(signal.SIGKILL)
            container.wait(10.0)
        yield {"out": f"{name}\n", "exit": 0}

    def rm(self, name: str) -> Frames:
        with self.lock:
            container = named(name)
            if container is not None:
                container.remove()
        yield {"out": f"{name}\n", "exit": 0}


def follow(container: Container, offset: int) -> Frames:
    """What the container prints from there on, then its exit status."""
    with (container.folder / "log").open("rb") as log:
        log.seek(offset)
        while True:
            code = container.exit
            while line := log.readline():
                yield {"out": line.decode(errors="replace")}
            if code is not None:
                break
            time.sleep(LOOK_S)
    yield {"exit": code}


def purge() -> None:
    for container in containers() if CONTAINERS.exists() else []:
        container.remove()


def replace(path: Path, text: str) -> None:
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)


# --- a container -----------------------------------------------------------------------------------------------------


def shim(folder: Path) -> None:
    """Runs the engine in a session of its own. As in a pid namespace, all processes end with the first one; as in an
    ipc namespace, their shared memory goes too."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    request = json.load(sys.stdin)
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            (sys.executable, "-I", "-S", str(ENGINE), *request["argv"]),
            env={"TMPDIR": str(folder), **request["env"]},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    replace(folder / "pid", str(process.pid))
    code = process.wait()
    end_children()
    port = request["argv"][request["argv"].index("--port") + 1]
    for path in Path("/dev/shm").glob(f"*moonpad_{port}_*"):
        path.unlink(missing_ok=True)
    replace(folder / "exit", str(code if code >= 0 else 128 - code))


def end_children() -> None:
    """Kills what is left, generation by generation: whoever loses its parent becomes a child of ours."""
    while True:
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(path.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                    os.kill(int(path.parent.name), signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


# --- a client --------------------------------------------------------------------------------------------------------


def ask(**request: object) -> int:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(PLACE / "socket"))
    except OSError:
        print("Cannot connect to the Docker daemon. Is the docker daemon running?", file=sys.stderr)
        return 125 if request["do"] == "create" else 1
    with connection, connection.makefile("rw") as stream:
        print(json.dumps(request), file=stream, flush=True)
        try:
            for line in stream:
                frame = json.loads(line)
                print(frame.get("out", ""), end="", flush=True)
                if "exit" in frame:
                    return int(frame["exit"])
        except ConnectionResetError:
            pass
    print("error waiting for container: unexpected EOF", file=sys.stderr)
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


def proxy_signals(name: str) -> None:
    def forward(number: int, frame: object) -> None:
        ask(do="kill", name=name, number=number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, forward)


def run(words: list[str]) -> int:
    request = read_run(words)
    proxy_signals(request["name"])
    code = ask(do="create", name=request["name"], label=request.pop("label"))
    time.sleep(float(os.environ.get("FAKE_START_DELAY_S", "0")))
    return code or ask(do="start", **request)


def attach(name: str) -> int:
    if os.environ.get("FAKE_ATTACH_REFUSED"):
        print("You cannot attach to a paused container, unpause it first", file=sys.stderr)
        return 1
    proxy_signals(name)
    return ask(do="attach", name=name)


OWN: dict[str, Callable[[], None]] = {
    "daemon": lambda: Daemon().serve(),
    "shim": lambda: shim(Path(sys.argv[2])),
    "purge": purge,
}


def main(words: list[str]) -> int:
    if words[0] in OWN:
        OWN[words[0]]()
        return 0
    with (PLACE / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps(words) + "\n")
    match words:
        case ["run", *rest]:
            return run(rest)
        case ["attach", "--no-stdin", name]:
            return attach(name)
        case ["ps", "--quiet"]:
            return ask(do="ps", label="", field="id")
        case ["ps", "--format", "{{.Names}}"]:
            return ask(do="ps", label="", field="name")
        case ["ps", "--filter", filtered, "--format", "{{.Names}}"]:
            return ask(do="ps", label=filtered.removeprefix("label="), field="name")
        case ["stop", "-t", grace_s, name]:
            return ask(do="stop", name=name, grace_s=float(grace_s))
        case ["rm", "--force", name]:
            return ask(do="rm", name=name)
    sys.exit(f"unknown command: {words}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
