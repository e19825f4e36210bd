"""From the texts of a spec to the words that the engine gets. Faults 51 and 52.

Any deployment in bash: tests/unit/render/test_rendered_is_run.py. systemd, Slurm, Dockerfile and Kubernetes files are
not rendered yet; each comes with its own quoter and its own tests. No host name stands in a spec yet either.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

import pytest

from moonpad.cli.render import render
from moonpad.plan.from_spec import engine_of, runtime_of
from moonpad.render.docker_run import docker_run
from moonpad.spec.loader import load_spec, parse_spec
from moonpad.spec.schema import TABLES, fields_of
from moonpad.values.binding import Bindings
from moonpad.values.deployment import Mount
from moonpad.values.errors import SpecError
from moonpad.values.records import replace
from moonpad.values.references import PortRef
from tests.configurations import make_plan
from tests.conftest import ROOT, Moonpad
from tests.fake_environment import FAKE_ENGINE

TINY = ROOT / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"
TELL = "import json, os, sys; print(json.dumps({'argv': sys.argv[1:], 'host': os.environ['VLLM_HOST_IP']}))"

# None holds a slash or a control character: each is the name of a folder, and a text that a spec takes.
HOSTILE = (
    "$(touch pwned)",
    "`touch pwned`",
    "';touch pwned;'",
    '"; touch pwned; "',
    "&& touch pwned &",
    ";touch pwned",
    "a | tee pwned",
    "a > pwned",
    "<(touch pwned)",
    "${IFS}touch${IFS}pwned",
    "~",
    "~root",
    "a b  c ",
    "*",
    "[a-z]?",
    "{a,b}",
    "\\",
    "a\\",
    "'",
    '"',
    "!!",
    "#a",
    "%n%%i%s",
    "{{x}}",
    "a=b,c",
    "Ünï\u2066\U0001f319",
)


def toml(text: str) -> str:
    """As TOML writes it: its strings are JSON's, but for what lies outside of the BMP."""
    quoted = json.dumps(text, ensure_ascii=False)
    assert tomllib.loads(f"a = {quoted}")["a"] == text
    return quoted


def spec_of(model: Path | str, python: Path | str, text: str, port: int = 8000) -> str:
    return (
        f"model = {toml(str(model))}\nserved_name = {toml(text)}\n"
        f'[engine]\nname = "vllm-cpu"\npython = {toml(str(python))}\n'
        f"[endpoint]\nport = {port}\n"
        f"[settings]\nextra_args = {toml_list('--seed', text)}\n"
        '[launch]\nstart_timeout = "20s"\nstop_grace = "4s"\n'
    )


def toml_list(*texts: str) -> str:
    return f"[{', '.join(map(toml, texts))}]"


def environment(folder: Path, code: str) -> Path:
    """A Python environment whose `vllm` is this shell code; the path of its Python."""
    program = folder / "bin" / "vllm"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{code}\n")
    program.chmod(0o755)
    (folder / "bin" / "python").symlink_to(sys.executable)
    return folder / "bin" / "python"


def hostile_model(folder: Path, text: str) -> Path:
    """A checkpoint of that name, as far as anybody reads it who starts nothing."""
    return shutil.copytree(TINY, folder / text, ignore=shutil.ignore_patterns("*.safetensors"))


def value_of(argv: list[str], flag: str) -> str:
    return argv[argv.index(flag) + 1]


def assert_words(argv: list[str], model: Path, text: str) -> None:
    """What the engine was started with: each text is one word, as it stands in the spec."""
    assert argv[:2] == ["serve", str(model)]
    assert value_of(argv, "--served-model-name") == text
    assert argv[-2:] == ["--seed", text]


@pytest.mark.parametrize("text", HOSTILE)
def test_the_rendered_script(text: str, tmp_path: Path) -> None:
    """`moonpad render`, then bash, as a person does it."""
    home = tmp_path / text
    home.mkdir()
    model = hostile_model(tmp_path / text, text)
    python = environment(home / "env", f'exec {sys.executable} -I -S -c "{TELL}" "$@"')
    spec = home / "spec.toml"
    spec.write_text(spec_of(model, python, text), encoding="utf-8")
    render(spec, out=home / "out")
    done = subprocess.run(
        ("bash", str(home / "out" / "node-0" / "run.sh")),
        env={"PATH": os.environ["PATH"], "MOONPAD_CHECKPOINT": str(model), "MOONPAD_ENGINE": str(home / "env")},
        cwd=home,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    received = json.loads(done.stdout)
    assert_words(received["argv"], model, text)
    assert received["host"] == "127.0.0.1"
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.usefixtures("clean_world")
@pytest.mark.parametrize("text", ["$(touch pwned)", "';touch pwned;'", "~ `touch pwned` \\"])
def test_up(text: str, moonpad: Moonpad, free_port: int, tmp_path: Path) -> None:
    """The keeper's own way, with the newline that only a folder of the machine can have."""
    place = tmp_path / f"line 1\n{text}"
    shutil.copytree(FAKE_ENGINE.parent, place / "fake_engine", ignore=shutil.ignore_patterns("__pycache__"))
    environment(place / "env", f'exec {sys.executable} -I -S "${{0%/*}}/../../fake_engine/vllm.py" "$@"')
    (moonpad.home / "engine").symlink_to(place / "env")  # the spec itself may hold no line break
    model = shutil.copytree(TINY, moonpad.home / text)
    spec = moonpad.home / f"a{text}.toml"
    lines = spec_of(model, "engine/bin/python", text, free_port).splitlines()
    known = [line for line in lines if not line.startswith("kv_cache_dtype")]  # a closed list, now that there is one
    spec.write_text("\n".join(['name = "fake"', *known, 'drain = "0s"']), encoding="utf-8")
    moonpad.env.update(XDG_STATE_HOME=str(place / "state"), XDG_CACHE_HOME=str(place / "cache"))
    up = moonpad("up", str(spec), "--json")
    assert up.code == 0, up.stderr
    pid = moonpad("status", "--json").json["endpoints"][0]["pid"]
    argv = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").decode().split("\0")
    assert_words(argv[argv.index("serve") :], model, text)
    assert moonpad("verify", str(spec), "--only", "health", "models").code == 0
    assert moonpad("down", str(spec)).code == 0
    assert not list(tmp_path.rglob("pwned"))


# --- an argument that looks like an option (52) ----------------------------------------------------------------------

EVERY_KEY = [(table, key) for table, model in TABLES.items() for key in fields_of(model)]
REQUIRED = {"model": '"m"', "engine": '"vllm-cpu"'}


@pytest.mark.parametrize("text", ["--help", "-x", "-oProxyCommand=touch pwned"])
@pytest.mark.parametrize(("table", "key"), EVERY_KEY, ids=[f"{table}.{key}" for table, key in EVERY_KEY])
def test_no_key_takes_an_option(table: str, key: str, text: str) -> None:
    """Every key of a spec, also those that will come: refused, with the line."""
    given = {name: value for name, value in REQUIRED.items() if (table, key) != ("", name) and name != table}
    lines = [f"{name} = {value}" for name, value in given.items()]
    lines += [f"[[{table}]]" if table == "hosts" else f"[{table}]"] if table else []
    lines += ['name = "vllm-cpu"'] if table == "engine" and key != "name" else []
    lines += ['name = "sglang-router"'] if table == "router" and key != "name" else []
    lines += [f"{key} = {toml(text)}"]
    with pytest.raises(SpecError) as caught:
        parse_spec("\n".join(lines), name="a", where="a.toml")
    assert f"a.toml:{len(lines)}: " in caught.value.message
    assert f"a.toml:{len(lines) + 1}: " not in caught.value.message


def test_an_image_cannot_be_an_option() -> None:
    text = f'model = "m"\n[engine]\nname = "vllm-cpu"\nimage = "--privileged@sha256:{"0" * 64}"\n'
    with pytest.raises(SpecError, match=r"moonpad\.toml:4: image in \[engine\] must be pinned"):
        parse_spec(text, name="a")


@pytest.mark.parametrize("name", ["--help", "-x"])
def test_a_folder_that_is_called_like_an_option(name: str, tmp_path: Path) -> None:
    """Fenced: the engine gets its whole path, and a served name that is none."""
    model = hostile_model(tmp_path, name)
    spec = tmp_path / "spec.toml"
    spec.write_text(f'model = "./{name}"\nengine = "vllm-cpu"\n')
    loaded = load_spec(spec)
    (process,) = engine_of(loaded.spec).processes(make_plan(loaded.spec, 1), runtime_of(loaded.spec)).processes
    words = [word for word in process.argv if isinstance(word, str)]
    assert name not in words
    assert value_of(words, "--served-model-name") == "model"
    assert loaded.resolve(loaded.spec.model) == model


# --- docker ----------------------------------------------------------------------------------------------------------


class Daemon(BaseHTTPRequestHandler):
    """As much of the daemon's API as `docker run` needs until it has said what it wants."""

    protocol_version = "HTTP/1.1"
    requests: list[dict[str, Any]]

    def address_string(self) -> str:
        return "client"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.say(200)

    def do_GET(self) -> None:
        self.say(200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "/containers/create" in self.path:
            self.requests.append({"path": self.path, **json.loads(body)})
        self.say(400, json.dumps({"message": "that is all"}).encode())

    def say(self, status: int, body: bytes = b"OK") -> None:
        self.send_response(status)
        self.send_header("Api-Version", "1.44")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@pytest.fixture
def daemon() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """DOCKER_HOST, and what a client has asked there to be created."""
    requests: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="moonpad-test-") as folder:  # pytest's own would be too long for a socket
        server = ThreadingUnixStreamServer(f"{folder}/docker.sock", type("Handler", (Daemon,), {"requests": requests}))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"unix://{folder}/docker.sock", requests
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.skipif(shutil.which("docker") is None, reason="no docker client here: nothing else reads its dialect")
@pytest.mark.parametrize("text", [*HOSTILE, "--privileged", "-v", "a,b", 'a"b,"c', " a ", "a=b", "line 1\nline 2"])
def test_what_docker_understands(text: str, daemon: tuple[str, list[dict[str, Any]]], tmp_path: Path) -> None:
    """The client's own parser: each text arrives as it is, and none becomes an option of `docker run`."""
    host, requests = daemon
    spec = parse_spec(f'model = "m"\nengine = {{ name = "vllm-cpu", image = "i@sha256:{"0" * 64}" }}\n', name="a")
    (process,) = engine_of(spec).processes(make_plan(spec, 1), runtime_of(spec)).processes
    process = replace(process, argv=(text, "--flag", text), env={"A": text})
    folder = tmp_path / text
    folder.mkdir()
    bound = docker_run(
        process,
        Bindings(ports={PortRef("engine", "api"): 8000}),
        client="docker",
        run_id="a-1",
        checkpoint=(Mount(str(folder), "/checkpoint"), "/checkpoint"),
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "DOCKER_HOST": host}
    done = subprocess.run(bound.argv, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert requests, done.stderr
    (wanted,) = requests
    assert wanted["path"].endswith("name=moonpad-a-1")
    assert (wanted["Labels"], wanted["Image"]) == ({"moonpad.run": "a-1"}, f"i@sha256:{'0' * 64}")
    assert (wanted["Entrypoint"], wanted["Cmd"]) == (["vllm"], [text, "--flag", text])
    assert wanted["Env"] == [f"A={text}"]
    given = wanted["HostConfig"]
    assert given["Mounts"] == [{"Type": "bind", "Source": str(folder), "Target": "/checkpoint", "ReadOnly": True}]
    assert (given["Privileged"], given["AutoRemove"], given["Binds"]) == (False, True, None)
    assert given["PortBindings"] == {"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8000"}]}
