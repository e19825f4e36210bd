"""`render --to mpirun` with an image: a container on each of two hosts, by a real podman under docker's name.

The hosts are network namespaces with names of their own. The image has Open MPI, sshd and the stand-in of
mpi_stand_in.py: python scripts/container_images.py mpi. Needs root.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import Moonpad
from tests.e2e.mpi_site import SPEC
from tests.e2e.podman import MPI, Podman, find_podman
from tests.faults.helpers import wait_until
from tests.faults.two_hosts import HERE, THERE, run, why_not, wire

pytestmark = pytest.mark.slow
ASK = "import urllib.request as r;print(r.urlopen(r.Request('http://127.0.0.1:8123/v1/completions',b'{}'),timeout=5).read())"


@dataclass
class Site:
    podman: Podman
    files: Path
    tag: str
    env: dict[str, str]
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def inside(self, which: str, *words: str) -> tuple[str, ...]:
        own_name = ("unshare", "--uts", "sh", "-c", f'hostname host-{which} && exec "$@"', "sh")
        return ("nsenter", f"--net=/run/netns/{self.tag}-{which}", *own_name, *words)

    def start(self, node: int) -> subprocess.Popen[bytes]:
        command = self.inside("ab"[node], "bash", str(self.files / f"node-{node}" / "run.sh"))
        with (self.files / f"{node}.log").open("ab") as output:
            started = subprocess.Popen(
                command, env=self.env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        self.started.append(started)
        return started

    def log(self, node: int) -> str:
        return (self.files / f"{node}.log").read_text()

    def answers(self) -> bool:
        asked = subprocess.run(self.inside("a", "python3", "-c", ASK), capture_output=True, text=True, check=False)
        return "token" in asked.stdout

    def ranks_there(self) -> list[str]:
        """What runs in the second host's container beside its sshd."""
        show = 'for path in /proc/[0-9]*; do tr "\\\\0" " " <$path/cmdline; echo; done'
        shown = self.podman("exec", "moonpad-tiny-ssh-1", "bash", "-c", show)
        return [line for line in shown.splitlines() if line.strip() and "sshd" not in line and "bash -c" not in line]


@pytest.fixture
def site(moonpad: Moonpad, clean_world: None, tmp_path: Path) -> Iterator[Site]:
    if reason := why_not():
        pytest.skip(reason)
    podman = find_podman(moonpad.env, tmp_path, MPI)
    spec = moonpad.home / "tiny.toml"
    engine = f'[engine]\nname = "tensorrt-llm"\nimage = "{podman.reference(MPI)}"\n'
    spec.write_text(SPEC.replace('engine = "tensorrt-llm"\n', engine))
    files = tmp_path / "files"
    done = moonpad("render", str(spec), "--to", "mpirun", "--out", str(files))
    assert done.code == 0, done.stderr
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text('#!/bin/sh\nexec podman "$@"\n')
    docker.chmod(0o755)
    env = {
        **podman.env,
        "PATH": f"{docker.parent}{os.pathsep}{os.environ['PATH']}",
        "MOONPAD_CHECKPOINT": str(tmp_path),
        "MOONPAD_HOST_NODE_0": HERE,
        "MOONPAD_HOST_NODE_1": THERE,
    }
    subprocess.run(("bash", str(files / "keys.sh")), env=env, check=True)
    before = podman.left()
    site = Site(podman, files, f"mc{os.getpid() % 10_000}{time.monotonic_ns() % 1000}", env)
    wire(site.tag)
    try:
        yield site
    finally:
        for started in site.started:
            started.terminate()
        for started in site.started:
            started.wait(60)
        for which in "ab":
            run("ip", "netns", "del", f"{site.tag}-{which}")
    assert podman.left() == before


def test_starts_and_stops(site: Site) -> None:
    """The second host's container stays up between them; what mpirun starts in it does not. The last start loses its
    container hard: what the ranks had started beside themselves is ended by the start after it."""
    site.start(1)
    wait_until(lambda: "Server listening on" in site.log(1), lambda: site.log(1), 60.0)
    for number in range(4):
        head = site.start(0)
        wait_until(site.answers, lambda: site.log(0)[-1500:], 60.0)
        assert len([line for line in site.ranks_there() if "trtllm-llmapi-launch" in line]) == 2
        if number == 2:
            site.podman("kill", "moonpad-tiny-engine")
            assert head.wait(60) != 0
            continue
        head.send_signal(signal.SIGTERM)
        assert head.wait(60) == 0, site.log(0)[-1500:]
        assert not site.ranks_there()


def test_what_the_daemon_takes_and_what_it_refuses(site: Site) -> None:
    site.start(1)
    wait_until(lambda: "Server listening on" in site.log(1), lambda: site.log(1), 60.0)
    (container,) = json.loads(site.podman("container", "inspect", "moonpad-tiny-ssh-1"))
    assert container["HostConfig"]["Privileged"] is False
    assert (site.files / "node-0" / "ssh" / "id_ed25519").stat().st_mode & 0o077 == 0
    known = site.files / "node-0" / "ssh" / "known_hosts"
    ssh = ("ssh", "-F", "none", "-p", "2233", "-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=yes")
    key = ("-i", str(site.files / "node-0" / "ssh" / "id_ed25519"), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes")

    def reached(which: str, *words: str) -> int:
        return subprocess.run(site.inside(which, *ssh, *words), capture_output=True, check=False).returncode

    assert reached("a", *key, f"root@{THERE}", "true") == 0
    assert reached("a", "-o", "PubkeyAuthentication=no", "-o", "BatchMode=yes", f"root@{THERE}", "true") == 255
    assert reached("b", *key, f"root@{THERE}", "true") == 255, "the key is good from the first host alone"
    forward = (*key, "-N", "-o", "ExitOnForwardFailure=yes", "-R", "9999:127.0.0.1:22")
    assert reached("a", *forward, f"root@{THERE}") == 255
