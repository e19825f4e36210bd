"""Canary secrets through every command, and then a search for them everywhere. Faults 59 and 60.

Allowed is the environment of the engine's processes, and files of mode 0600 that an engine reads its key from. A key in
a container: test_container.py.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from moonpad.engines import ENGINES
from moonpad.engines.base import installed_runtime
from moonpad.facts.processes import send_signal
from moonpad.run.launch import KEEPER_PROGRAM, NOT_INHERITED
from moonpad.spec.loader import parse_spec
from moonpad.values.binding import Bindings, bind
from moonpad.values.deployment import Deployment, Executable, Process
from moonpad.values.errors import PreflightRefused, SpecError
from moonpad.values.plan import Layout, Plan, Serving, Settings
from moonpad.values.references import PortRef, SecretRef, parts
from moonpad.values.secret import Secret
from tests.conftest import Done, Moonpad
from tests.faults.helpers import (
    await_event,
    await_state,
    everybody,
    keeper_document,
    keeper_of,
    run_folder,
    status_of,
    wait_until,
)

# --- where a key may stand (60) --------------------------------------------------------------------------------------

KEY_COMES_BY: Mapping[str, str] = {
    "vllm-cpu": "env VLLM_API_KEY",
    "vllm": "env VLLM_API_KEY",
    "vllm-ascend": "env VLLM_API_KEY",
    "sglang": "file sglang.yaml 600",
    "sglang-cpu": "file sglang.yaml 600",
    "ktransformers": "file sglang.yaml 600",
    "tensorrt-llm": "refused",  # trtllm-serve checks none
    **dict.fromkeys(("llama-cpp", "llama-cpp-cpu"), "env LLAMA_API_KEY"),
}
"""Another engine has to say where its key is read from."""


def keyed(engine_name: str) -> Deployment:
    engine = ENGINES[engine_name]
    plan = Plan("a", engine_name, engine.platform, Layout(pp=2), Settings(), Serving("kimi", keyed=True), 0)
    return engine.processes(plan, installed_runtime(engine.command))


def places_of(process: Process, secret: SecretRef) -> list[str]:
    """Where a reference to the secret stands."""
    assert isinstance(process.runtime, Executable)
    places = ["argv" for arg in (*process.runtime.prefix, *process.argv) if secret in parts(arg)]
    places += [f"env {name}" for name, arg in process.env.items() if secret in parts(arg)]
    places += [
        f"file {file.path} {file.mode:o}" for file in process.files for arg in file.content if secret in parts(arg)
    ]
    return places


@pytest.mark.parametrize("name", ENGINES)
def test_where_each_engine_gets_its_key(name: str) -> None:
    """The reference, before it is bound: whatever the key is, it is in no argument."""
    if KEY_COMES_BY[name] == "refused":
        with pytest.raises(PreflightRefused):
            keyed(name)
        return
    (process,) = keyed(name).processes
    assert places_of(process, SecretRef("api_key")) == [KEY_COMES_BY[name]]


@pytest.mark.parametrize("name", [name for name, place in KEY_COMES_BY.items() if place != "refused"])
def test_what_is_ready_to_be_started_does_not_print_it(name: str) -> None:
    """A traceback, an assertion or a log line may show any value of ours."""
    deployment = keyed(name)
    ports = {PortRef(process.name, port.name): 1 for process in deployment.processes for port in process.ports}
    places = {"checkpoint": "/m", "engine": "/e", "run": "/r"}
    bindings = Bindings({"node-0": "127.0.0.1"}, ports, {"node-0": 0}, places, {"api_key": Secret("sk-canary")})
    (process,) = bind(deployment, bindings)
    assert "sk-canary" not in repr(process) + str(process) + repr(bindings)
    revealed = [secret.reveal() for secret in process.secret_env.values()] + [
        content for _, content, _ in process.files
    ]
    assert any("sk-canary" in text for text in revealed)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("args", [["--api-key", "sk-canary"], ["--api_key=sk-canary"], ["--api-k", "sk-canary"]])
def test_a_key_among_the_extra_arguments(name: str, args: list[str]) -> None:
    """Refused with the line and the other way, and not repeated."""
    text = f'model = "m"\nengine = "{name}"\n[settings]\nextra_args = {json.dumps(args)}\n'
    with pytest.raises(SpecError) as caught:
        parse_spec(text, name="a", where="a.toml")
    assert "a.toml:4: " in caught.value.message
    assert "api_key_env or api_key_file" in caught.value.message
    assert "sk-canary" not in caught.value.message


# --- everything that is shown or written (59) ------------------------------------------------------------------------


@dataclass
class Search:
    """Runs moonpad with secrets in its environment, and looks for them in all that it shows."""

    moonpad: Moonpad
    tmp: Path
    canaries: dict[str, str]
    hits: list[str] = field(default_factory=list)

    def __call__(self, *argv: str, typed: str = "", **env: str) -> Done:
        done = subprocess.run(
            (sys.executable, "-m", "moonpad", *argv),
            env={**self.moonpad.env, **env},
            cwd=self.moonpad.home,
            input=typed,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.look(f"stdout of {argv}", done.stdout)
        self.look(f"stderr of {argv}", done.stderr)
        return Done(done.returncode, done.stdout, done.stderr)

    def look(self, where: str, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        self.hits += [f"{name} in {where}" for name, canary in self.canaries.items() if canary.encode() in data]

    def files(self, *more: Path) -> set[str]:
        """Looks into every file of the test, but for the key's own; returns their names."""
        seen = set()
        for top in (self.tmp, *more):
            for path in top.rglob("*"):
                if path.is_file() and not path.is_symlink() and path.name != "key.txt":
                    self.look(str(path), path.read_bytes())
                    self.look(f"the name of {path}", str(path))
                    seen.add(path.name)
        return seen

    @contextmanager
    def watching_processes(self) -> Iterator[None]:
        """/proc/*/cmdline of this machine, again and again: most commands do not live until somebody looks."""
        done = threading.Event()

        def watch() -> None:
            while not done.wait(0.1):
                for path in Path("/proc").glob("[0-9]*/cmdline"):
                    with suppress(OSError):
                        self.look(str(path), path.read_bytes())

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


@pytest.fixture
def search(moonpad: Moonpad, fake_spec: Path, clean_world: None, tmp_path: Path) -> Iterator[Search]:
    """At the end the files and what was said are searched once more; no canary may have been seen anywhere."""
    canaries = {name: f"canary{secrets.token_hex(8)}" for name in ("CANARY_KEY", "HF_TOKEN", "MY_SECRET")}
    (tmp_path / "tmp").mkdir()
    moonpad.env.update(canaries, TMPDIR=str(tmp_path / "tmp"))
    fake_spec.write_text(fake_spec.read_text().replace("[endpoint]", '[endpoint]\napi_key_env = "CANARY_KEY"'))
    search = Search(moonpad, tmp_path, canaries)
    with search.watching_processes():
        yield search
    search.files()
    assert not search.hits


def temp_dirs(moonpad: Moonpad) -> list[Path]:
    return [Path(keeper_document(moonpad)["temp_dir"] or "/nowhere")]


def test_a_whole_life(search: Search, moonpad: Moonpad, fake_spec: Path, tmp_path: Path) -> None:
    spec = str(fake_spec)
    assert search("plan", spec).code == 0
    assert search("render", spec, "--to", "shell", "--out", str(tmp_path / "out")).code == 0
    assert search("up", spec, "--no-wait", FAKE_TOKEN_S="0.0001").code == 0
    await_state(moonpad, "ready")
    for argv in (
        *(("up", spec), ("up", spec, "--json"), ("status",), ("status", "--json"), ("logs",)),
        *(("verify", spec), ("verify", spec, "--only", "health", "models", "--json")),
        ("bench", spec, "--requests", "2", "--warmup", "0", "--out", str(tmp_path / "bench")),
        ("bench", spec, "--requests", "2", "--warmup", "0", "--json"),
        ("chat", spec, "--max-tokens", "8", "--once", "Hello"),
    ):
        assert search(*argv).code in (0, 5), argv  # the fake engine calls no tools: verify says so
    assert search("chat", spec, "--max-tokens", "8", typed="Hello\n/reset\n/nonsense\nAnd again\n/quit\n").code == 0
    search_processes(search, moonpad)
    seen = search.files(*temp_dirs(moonpad))
    assert {"run.json", "keeper.json", "controller.json", "events.jsonl", "engine.log", "facts.json"} <= seen
    assert {"plan.json", "run.sh", "requests.jsonl", "result.json", "keeper.log", "controller.log"} <= seen
    assert search("down", spec, "--json").code == 0
    assert search("status", "--json").code == 0


def search_processes(search: Search, moonpad: Moonpad) -> None:
    living = everybody(moonpad)
    assert len(living) >= 5, "the keeper, the controller, and an engine of three or more"
    for pid in living:
        search.look(f"cmdline of {pid}", Path(f"/proc/{pid}/cmdline").read_bytes())


def test_a_key_from_a_file(search: Search, moonpad: Moonpad, fake_spec: Path, tmp_path: Path) -> None:
    key_file = tmp_path / "key.txt"
    key_file.write_text(search.canaries["CANARY_KEY"] + "\n")
    key_file.chmod(0o600)
    del moonpad.env["CANARY_KEY"]
    fake_spec.write_text(fake_spec.read_text().replace('api_key_env = "CANARY_KEY"', f'api_key_file = "{key_file}"'))
    assert search("up", str(fake_spec), "--json").code == 0
    assert search("chat", "--max-tokens", "8", "--once", "Hello").code == 0
    search_processes(search, moonpad)
    search.files(*temp_dirs(moonpad))
    assert search("down").code == 0
    key_file.chmod(0o644)
    refused = search("up", str(fake_spec))
    assert (refused.code, "has mode 0644" in refused.stderr) == (3, True)


@pytest.mark.parametrize("json_too", [(), ("--json",)])
@pytest.mark.parametrize(
    ("switches", "code"),
    [({"FAKE_CRASH_AT": "load:40%"}, 4), ({"FAKE_FIRST_REQUEST": "500"}, 4), ({"CANARY_KEY": ""}, 3)],
    ids=["crash", "unable", "no-key"],
)
def test_a_start_that_fails(
    search: Search, fake_spec: Path, switches: dict[str, str], code: int, json_too: tuple[str, ...]
) -> None:
    assert search("up", str(fake_spec), *json_too, **switches).code == code
    search("status", *json_too)
    search("logs")


def test_a_port_that_is_taken(search: Search, fake_spec: Path, free_port: int) -> None:
    """The owner's command line is shown."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", free_port))
        sock.listen()
        assert search("up", str(fake_spec)).code == 3


def test_the_owner_of_the_port_is_an_engine_of_ours(search: Search, fake_spec: Path) -> None:
    """What is shown of it is its command, never its environment."""
    assert search("up", str(fake_spec)).code == 0
    other = fake_spec.with_name("other.toml")
    other.write_text(fake_spec.read_text())
    refused = search("up", str(other))
    assert refused.code == 3, refused.stderr
    assert search("down", "fake").code == 0


def test_in_the_foreground(search: Search, moonpad: Moonpad, fake_spec: Path) -> None:
    running = moonpad.start("up", str(fake_spec), "--foreground")
    await_event(moonpad, "ready")
    await_state(moonpad, "ready")
    search_processes(search, moonpad)
    os.killpg(running.pid, signal.SIGINT)
    stdout, stderr = running.communicate(timeout=30)
    search.look("stdout", stdout)
    search.look("stderr", stderr)
    assert running.returncode == 130


# --- what is shown when something of ours is broken ------------------------------------------------------------------

BROKEN_UP = """
import sys
from moonpad.run import up

def broken(folder, *args, **more):
    raise RuntimeError(f"a bug, with {args!r} and {more!r} and {folder.about()!r}")

up.{name} = broken
from moonpad.cli import main
main.main()
"""


@pytest.mark.parametrize("name", ["note_facts", "await_ready"])
def test_a_bug_in_up(search: Search, moonpad: Moonpad, fake_spec: Path, name: str) -> None:
    """A traceback that shows every argument: the prepared run with its key in it."""
    done = subprocess.run(
        (sys.executable, "-c", BROKEN_UP.replace("{name}", name), "up", str(fake_spec)),
        env={**moonpad.env, "MOONPAD_TRACEBACK": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" in done.stderr
    assert "RuntimeError: a bug" in done.stderr
    if name == "await_ready":
        assert "Secret(***)" in done.stderr, "the key's place was shown, and not the key"
    search.look("stdout", done.stdout)
    search.look("traceback", done.stderr)
    assert search("down").code == 0


def keeper_told(text: str) -> subprocess.CompletedProcess[str]:
    """What a keeper answers and complains of."""
    command = (sys.executable, "-I", "-S", str(KEEPER_PROGRAM), "keep")
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)


def test_a_job_that_the_keeper_cannot_read(search: Search, tmp_path: Path) -> None:
    """It holds the key: cut anywhere, or with any part missing, a complaint does not repeat it."""
    process = {"name": "engine", "argv": ["x"], "env": {"VLLM_API_KEY": search.canaries["CANARY_KEY"]}}
    job = {"run_dir": str(tmp_path), "lock": str(tmp_path / "job.lock"), "holder": {}, "processes": [process]}
    text = json.dumps(job)
    nowhere = json.dumps({**job, "lock": "/nowhere/lock"})
    for broken in (text[: len(text) // 2], text[:-1], text, text + text, nowhere, text.replace("holder", "older")):
        done = keeper_told(broken)
        assert "Error" in done.stderr or '"ok": false' in done.stdout
        search.look("stdout of the keeper", done.stdout)
        search.look("stderr of the keeper", done.stderr)


def test_the_control_socket(search: Search, moonpad: Moonpad, fake_spec: Path) -> None:
    """Whatever is asked there, by whoever may."""
    assert search("up", str(fake_spec)).code == 0
    folder = os.open(run_folder(moonpad), os.O_RDONLY | os.O_DIRECTORY)
    words: tuple[object, ...] = ("status", "ready", "start", "end", "env", "job", "processes", None, [], {"a": 1})
    requests = [json.dumps({"do": word, "generation": 1}).encode() for word in words]
    for request in (*requests, b"", b"nonsense", b"[" * 5000, b"{}", b"\xff\xfe"):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(5.0)
            client.connect(f"/proc/self/fd/{folder}/control.sock")
            client.sendall(request + b"\n")
            with suppress(OSError):
                search.look(f"the answer to {request[:40]!r}", client.recv(65536))
    os.close(folder)
    mode = (run_folder(moonpad) / "control.sock").stat().st_mode & 0o777
    assert mode == 0o600
    assert status_of(moonpad)["state"] == "ready", "none of that meant anything"
    assert search("down").code == 0


def test_a_controller_and_a_keeper_that_were_killed(search: Search, moonpad: Moonpad, fake_spec: Path) -> None:
    """What the next ones say of them, and what `down` writes when it finishes the job."""
    assert search("up", str(fake_spec)).code == 0
    controller = keeper_document(moonpad)["controller"]
    send_signal(controller["pid"], controller["start"], signal.SIGABRT)
    wait_until(lambda: keeper_document(moonpad)["controller"] not in (None, controller), lambda: "no new one", 20.0)
    search_processes(search, moonpad)
    send_signal(*keeper_of(moonpad), signal.SIGKILL)
    assert search("status", "--json").code == 0
    assert search("down", "--json").code == 0


# --- a key that is there for something else --------------------------------------------------------------------------


def status_with(port: int, key: str) -> int:
    """Of a request with that key; "" for none."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    body = json.dumps({"prompt": "a", "max_tokens": 1}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/completions", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_key_of_the_users_own_guards_nothing(
    moonpad: Moonpad, fake_spec: Path, clean_world: None, free_port: int
) -> None:
    """A spec without a key: the engine would take the variable for its own, and the 401 would be hard to explain."""
    assert NOT_INHERITED == ("VLLM_API_KEY",)
    assert moonpad("up", str(fake_spec), VLLM_API_KEY="sk-other").code == 0
    assert (status_with(free_port, ""), status_with(free_port, "sk-other")) == (200, 200)
    assert moonpad("down").code == 0


def test_a_key_of_the_users_own_unlocks_nothing(search: Search, fake_spec: Path, free_port: int) -> None:
    assert search("up", str(fake_spec), VLLM_API_KEY="sk-other").code == 0
    assert status_with(free_port, "") == status_with(free_port, "sk-other") == 401
    assert status_with(free_port, search.canaries["CANARY_KEY"]) == 200
    assert search("down").code == 0


def test_the_users_own_key_where_the_spec_names_it(
    moonpad: Moonpad, fake_spec: Path, clean_world: None, free_port: int
) -> None:
    fake_spec.write_text(fake_spec.read_text().replace("[endpoint]", '[endpoint]\napi_key_env = "VLLM_API_KEY"'))
    assert moonpad("up", str(fake_spec), VLLM_API_KEY="sk-own").code == 0
    assert (status_with(free_port, ""), status_with(free_port, "sk-own")) == (401, 200)
    assert moonpad("down").code == 0
