"""What `moonpad render` writes, run for real: `docker run` and compose by podman, Kubernetes by `podman kube play`,
units by a systemd that is the first process of a container. With the fake engine, and with the real one.

    eval "$(python scripts/container_images.py fake vllm-cpu systemd | grep export)"
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from moonpad.environments.installed import InstalledEngine
from moonpad.render.systemd import render_systemd
from moonpad.values.deployment import Deployment, Executable, Gang, PortSpec, Process, Role
from moonpad.values.references import PortRef
from tests.conftest import Moonpad
from tests.e2e.conftest import CHECKPOINT
from tests.e2e.podman import FAKE, REAL, SYSTEMD, Podman, find_podman
from tests.faults.helpers import wait_until

pytestmark = pytest.mark.slow
KEY = "s3 'cret $HOME %h"
IMAGES = {"fake": FAKE, "real": REAL}


@dataclass(frozen=True)
class Site:
    """A machine with podman, called docker too, on which files are rendered and run."""

    podman: Podman
    moonpad: Moonpad
    port: int
    env: dict[str, str]

    def spec(self, engine: str) -> Path:
        path = self.moonpad.home / "tiny.toml"
        path.write_text(
            f'model = "kimi-k2-tiny"\n\n[engine]\nname = "vllm-cpu"\n{engine}\n\n'
            f'[endpoint]\nport = {self.port}\napi_key_env = "KIMI_KEY"\n'
        )
        return path

    def render(self, target: str, engine: str) -> Path:
        out = self.moonpad.home / "files"
        done = self.moonpad("render", str(self.spec(engine)), "--to", target, "--out", str(out))
        assert done.code == 0, done.stderr
        return out

    def answers(self, key: str = KEY) -> int:
        """The status of one question; 0 where nobody answers."""
        body = json.dumps({"model": "kimi-k2-tiny", "prompt": "1", "max_tokens": 2}).encode()
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/completions", body, head)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return 200 if json.load(answer)["choices"][0]["text"] else 0
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def await_answer(self, tell: Callable[[], str] = lambda: "no answer", limit_s: float = 300.0) -> None:
        wait_until(lambda: self.answers() == 200, tell, limit_s)


@pytest.fixture
def site(moonpad: Moonpad, clean_world: None, free_port: int, tmp_path: Path) -> Iterator[Site]:
    podman = find_podman(moonpad.env, tmp_path, FAKE)
    folder = tmp_path / "bin"
    folder.mkdir()
    docker = folder / "docker"
    docker.write_text('#!/bin/sh\nexec podman "$@"\n')
    docker.chmod(0o755)
    env = {
        **podman.env,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "MOONPAD_CHECKPOINT": str(CHECKPOINT),
        "MOONPAD_API_KEY": KEY,
    }
    before = podman.left()
    yield Site(podman, moonpad, free_port, env)
    assert podman.left() == before


@pytest.fixture(params=IMAGES)
def image(request: pytest.FixtureRequest, site: Site, tmp_path: Path) -> str:
    """The line of the spec that names it."""
    name = IMAGES[request.param]
    find_podman(site.moonpad.env, tmp_path, name)
    return f'image = "{site.podman.reference(name)}"'


def no_key(site: Site) -> None:
    """The key is in no file that was written, and nobody gets in without it."""
    assert not [
        path for path in (site.moonpad.home / "files").rglob("*") if path.is_file() and "s3 " in path.read_text()
    ]
    assert site.answers("another") == 401


def test_docker(site: Site, image: str) -> None:
    script = site.render("docker", image) / "node-0" / "run.sh"
    with subprocess.Popen(
        ("bash", str(script)), env=site.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as client:
        site.await_answer(lambda: str(client.poll()))
        no_key(site)
        client.send_signal(signal.SIGINT)
        client.communicate(timeout=60)
    assert site.answers() == 0


def test_compose(site: Site, image: str) -> None:
    program = shutil.which("podman-compose", path=site.env["PATH"])
    if program is None:
        pytest.skip("podman-compose is not installed")
    file = site.render("compose", image) / "node-0" / "compose.yaml"
    compose = (program, "-f", str(file))
    try:
        done = subprocess.run((*compose, "up", "--detach"), env=site.env, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        site.await_answer()
        no_key(site)
    finally:
        subprocess.run((*compose, "down"), env=site.env, capture_output=True, timeout=60, check=False)
        for name in site.podman("network", "ls", "--quiet").split():  # podman-compose 1.0.3 leaves its own
            if name.startswith("node-0"):
                site.podman("network", "rm", name)
    assert site.answers() == 0


def test_kube_play(site: Site, image: str) -> None:
    """Of a pod's own address and of `$(VARIABLE)` podman 4.3 knows nothing, and of a claim it makes a volume, filled
    beforehand, as its secret is, a mapping in JSON."""
    documents = list(yaml.safe_load_all((site.render("kubernetes", image) / "kubernetes.yaml").read_text()))
    (deployment,) = [document for document in documents if document["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    given: dict[str, Any] = {}
    for variable in container["env"]:
        if "fieldRef" in variable.get("valueFrom", {}):
            del variable["valueFrom"]
            variable["value"] = "127.0.0.1"
        if (named := re.fullmatch(r"\$\((\w+)\)", variable.get("value", ""))) is not None:
            variable |= given[named[1]]  # a value, or where it comes from
            if "valueFrom" in variable:
                del variable["value"]
        given[variable["name"]] = {key: value for key, value in variable.items() if key != "name"}
    secrets = [each["valueFrom"]["secretKeyRef"] for each in given.values() if "valueFrom" in each]
    (claim,) = [
        volume["persistentVolumeClaim"]["claimName"]
        for volume in deployment["spec"]["template"]["spec"]["volumes"]
        if "persistentVolumeClaim" in volume
    ]
    assert secrets
    secret = secrets[0]
    played = site.moonpad.home / "played.yaml"
    played.write_text(yaml.safe_dump_all(documents))
    data = {secret["key"]: base64.b64encode(KEY.encode()).decode()}
    packed = subprocess.run(("tar", "-C", str(CHECKPOINT), "-c", "."), capture_output=True, check=True).stdout
    site.podman("volume", "create", claim)
    try:
        into = ("podman", "volume", "import", claim, "-")
        subprocess.run(into, input=packed, env=site.env, check=True, timeout=60)
        kept = ("podman", "secret", "create", secret["name"], "-")
        subprocess.run(kept, input=json.dumps(data).encode(), env=site.env, check=True, timeout=60)
        site.podman("kube", "play", str(played), limit_s=120)
        site.await_answer()
        no_key(site)
    finally:
        site.podman.run("kube", "down", str(played))
        site.podman.run("volume", "rm", "--force", claim)
        site.podman.run("secret", "rm", secret["name"])
    assert site.answers() == 0


# --- systemd ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """A container whose first process is systemd, in the network of the host."""

    site: Site
    name: str

    def __call__(self, *words: str, code: int = 0, limit_s: float = 240.0) -> str:
        done = self.site.podman.run("exec", self.name, *words, limit_s=limit_s)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout.strip()

    def install(self, folder: Path, **variables: str) -> None:
        """As the unit's first lines say."""
        for path in sorted(folder.iterdir()):
            self.site.podman("cp", str(path), f"{self.name}:/srv/{path.name}")
        self("install", "-D", "-m", "600", "/srv/moonpad-tiny.env", "/etc/moonpad/moonpad-tiny.env")
        for name, value in variables.items():
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            edit = "import sys; p, n, v = sys.argv[1:]; t = open(p).read(); assert n in t; "
            edit += "open(p, 'w').write(t.replace(n, n + v))"
            self("python3", "-c", edit, "/etc/moonpad/moonpad-tiny.env", f"{name}=", f'"{quoted}"')
        self("install", "-m", "644", "/srv/moonpad-tiny.service", "/etc/systemd/system/")
        self("systemctl", "daemon-reload")

    def state(self) -> str:
        return self("systemctl", "show", "--value", "--property", "ActiveState", "moonpad-tiny")

    def main_pid(self) -> int:
        return int(self("systemctl", "show", "--value", "--property", "MainPID", "moonpad-tiny"))

    def processes(self) -> list[str]:
        script = "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null"
        return [line for line in self("sh", "-c", script).splitlines() if "served-model-name" in line or "VLLM" in line]


@pytest.fixture(params=["fake", "real"])
def machine(request: pytest.FixtureRequest, site: Site, tmp_path: Path) -> Iterator[tuple[Machine, str]]:
    """And the folder of the engine in it. The real one is the host's, at its own path."""
    find_podman(site.moonpad.env, tmp_path, SYSTEMD)
    mounts, folder = [f"{CHECKPOINT}:/srv/checkpoint:ro"], "/opt/engine"
    if request.param == "real":
        installed: InstalledEngine = request.getfixturevalue("engine")
        home = Path(os.path.realpath(installed.python)).parent.parent
        folder = str(installed.python.parent.parent)
        mounts += [f"{place}:{place}:ro" for place in (folder, home)]
    name = f"moonpad-systemd-{site.port}"
    words = [word for mount in mounts for word in ("--volume", mount)]
    options = ("--detach", "--name", name, "--systemd=always", "--privileged", "--network", "host")
    shared = ("--shm-size", "2g")
    site.podman("run", *options, *shared, *words, SYSTEMD)
    machine = Machine(site, name)
    try:
        wait_until(
            lambda: (
                machine.site.podman.run("exec", name, "systemctl", "is-system-running").stdout.strip()
                in ("running", "degraded")
            ),
            lambda: "systemd does not run",
            60.0,
        )
        yield machine, folder
    finally:
        site.podman.run("rm", "--force", "-t", "0", name)


def test_systemd(site: Site, machine: tuple[Machine, str]) -> None:
    """Started once a token was written; killed, it is started again; stopped, nothing of it runs."""
    host, engine = machine
    folder = site.render("systemd", "") / "node-0"
    host.install(folder, MOONPAD_ENGINE=engine, MOONPAD_CHECKPOINT="/srv/checkpoint", VLLM_API_KEY=KEY)
    verified = host("sh", "-c", "systemd-analyze verify /etc/systemd/system/moonpad-tiny.service 2>&1")
    assert "moonpad-tiny" not in verified
    host("systemctl", "start", "moonpad-tiny")
    assert site.answers() == 200, "systemctl says that it has started"
    no_key(site)
    first = host.main_pid()
    assert "s3 " not in host("cat", f"/proc/{first}/cmdline")
    host("sh", "-c", f"kill -KILL {first}")
    wait_until(lambda: host.main_pid() not in (0, first), lambda: host("journalctl", "-n", "20", "--no-pager"), 60.0)
    site.await_answer()
    wait_until(lambda: host.state() == "active", host.state, 60.0)
    began = time.monotonic()
    host("systemctl", "stop", "moonpad-tiny")
    assert time.monotonic() - began < 60
    assert host.state() == "inactive"
    assert host.processes() == []
    assert site.answers() == 0


@pytest.mark.parametrize("machine", ["fake"], indirect=True)
def test_systemd_says_which_variable_is_missing(site: Site, machine: tuple[Machine, str]) -> None:
    host, engine = machine
    folder = site.render("systemd", "") / "node-0"
    host.install(folder, MOONPAD_ENGINE=engine, VLLM_API_KEY=KEY)
    host("systemctl", "start", "moonpad-tiny", code=1)
    assert "MOONPAD_CHECKPOINT: the folder of the checkpoint" in host("journalctl", "-u", "moonpad-tiny", "--no-pager")


WORDS = (
    "a b",
    "$HOME ${HOME} $$",
    "100 % %h %%",
    "it's",
    '"',
    "\\",
    "\\n",
    "",
    ";",
    "line 1\nline 2\ttab",
    "{}",
    "é",
    "#",
)


@pytest.mark.parametrize("machine", ["fake"], indirect=True)
def test_systemd_hands_words_on_as_they_are(site: Site, machine: tuple[Machine, str]) -> None:
    """Fault 51, and what the environment holds."""
    host, _ = machine
    tell = "import json, os, sys; json.dump([sys.argv[1:], dict(os.environ)], open('/srv/told', 'w'))"
    env = {f"A{number}": word for number, word in enumerate(WORDS)}
    process = Process("engine", Role.ENGINE, "node-0", 0, Executable(("python3", "-c", tell)), WORDS, env)
    ports = (PortSpec("api", 8000),)
    deployment = Deployment((Gang("tiny", (replace(process, ports=ports),)),), PortRef("engine", "api"), "kimi")
    for path, file in render_systemd(deployment).items():
        (site.moonpad.home / path).parent.mkdir(exist_ok=True)
        (site.moonpad.home / path).write_text(file.text)
    host.install(site.moonpad.home / "node-0")
    host("systemctl", "start", "moonpad-tiny")
    wait_until(lambda: not site.podman.run("exec", host.name, "test", "-s", "/srv/told").returncode, lambda: "", 20.0)
    argv, environment = json.loads(host("cat", "/srv/told"))
    assert tuple(argv) == WORDS
    assert {name: environment.get(name) for name in env} == env


@pytest.mark.parametrize("machine", ["fake"], indirect=True)
def test_systemd_notices_that_the_engine_ended_while_it_started(site: Site, machine: tuple[Machine, str]) -> None:
    host, _ = machine
    folder = site.render("systemd", "") / "node-0"
    host.install(folder, MOONPAD_ENGINE="/nowhere", MOONPAD_CHECKPOINT="/srv/checkpoint", VLLM_API_KEY=KEY)
    begun = time.monotonic()
    host("systemctl", "start", "moonpad-tiny", code=1)
    assert time.monotonic() - begun < 60
