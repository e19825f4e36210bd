"""What `moonpad render` writes, run for real: `docker run` and compose by podman, Kubernetes by `podman kube play`,
units by a systemd that is the first process of a container. With the fake engine, and with the real one.

    eval "$(python scripts/container_images.py fake vllm-cpu systemd | grep export)"
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.render.systemd import render_systemd
from moonpad.values.deployment import Deployment, Executable, Gang, PortSpec, Process, Role
from moonpad.values.records import replace
from moonpad.values.references import PortRef
from tests.conftest import Moonpad
from tests.e2e.podman import FAKE, REAL, find_podman
from tests.e2e.rendered_site import KEY, Site, playable, rendered_site
from tests.e2e.systemd_machine import Machine, systemd_machine
from tests.faults.helpers import wait_until

pytestmark = pytest.mark.slow
IMAGES = {"fake": FAKE, "real": REAL}


@pytest.fixture
def site(moonpad: Moonpad, clean_world: None, free_port: int, tmp_path: Path) -> Iterator[Site]:
    with rendered_site(moonpad, free_port, tmp_path) as site:
        yield site


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
    with playable(site, site.render("kubernetes", image) / "kubernetes.yaml") as played:
        site.podman("kube", "play", str(played), limit_s=120)
        site.await_answer()
        no_key(site)
    assert site.answers() == 0


# --- systemd ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["fake", "real"])
def machine(request: pytest.FixtureRequest, site: Site, tmp_path: Path) -> Iterator[tuple[Machine, str]]:
    """And the folder of the engine in it."""
    installed = request.getfixturevalue("engine") if request.param == "real" else None
    with systemd_machine(site, tmp_path, installed) as found:
        yield found


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
