"""Fault 62: the ports between ranks are closed to everybody but the hosts of the run. Real nftables, two namespaces."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.render.targets import render_for
from moonpad.spec.loader import load_spec
from tests.configurations import make_plan
from tests.faults.two_hosts import HERE, THERE, run, why_not, wire

STRANGER = "10.77.0.3"
SPEC = """
model = "moonshotai/Kimi-K2-Instruct"
engine = "vllm"

[hardware]
cluster = "2x8xH200"

[layout]
tp = 16

[endpoint]
port = 8000
{more}
"""
MASTER, CHOSEN, API, UNRELATED = 29501, 45678, 8000, 9090

LISTEN = """
import socket, sys, time
open = [socket.create_server(("0.0.0.0", int(port))) for port in sys.argv[1:]]
print("listening", flush=True)
time.sleep(60)
"""
CONNECT = """
import socket, sys
host, port, own = sys.argv[1:]
socket.create_connection((host, int(port)), timeout=0.5, source_address=(own, 0)).close()
"""


@pytest.fixture
def tag() -> Iterator[str]:
    """Namespace `a` is the first host, and listens; `b` has the second host's address and a stranger's."""
    if shutil.which("nft") is None:
        pytest.skip("nft is not here: apt install nftables")
    if reason := why_not():
        pytest.skip(reason)
    tag = f"mp{os.getpid() % 10_000}{time.monotonic_ns() % 1000}"
    wire(tag)
    run("ip", "-n", f"{tag}-b", "address", "add", f"{STRANGER}/24", "dev", f"{tag}b")
    inside = ("ip", "netns", "exec", f"{tag}-a")
    command = (*inside, sys.executable, "-c", LISTEN, *map(str, (MASTER, CHOSEN, API, UNRELATED)))
    server = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"listening\n"
        yield tag
    finally:
        server.kill()
        server.communicate()
        for which in "ab":
            subprocess.run(("ip", "netns", "del", f"{tag}-{which}"), capture_output=True, check=False)


def reached(tag: str, own: str) -> set[int]:
    """The ports of the first host that answer to that address."""
    ports = set()
    for port in (MASTER, CHOSEN, API, UNRELATED):
        words = ("ip", "netns", "exec", f"{tag}-b", sys.executable, "-c", CONNECT, HERE, str(port), own)
        if subprocess.run(words, capture_output=True, check=False).returncode == 0:
            ports.add(port)
    return ports


def close(tag: str, tmp_path: Path, more: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    spec = tmp_path / "moonpad.toml"
    spec.write_text(SPEC.format(more=more))
    loaded = load_spec(spec)
    script = tmp_path / "firewall.sh"
    script.write_text(
        render_for("shell", loaded.spec, make_plan(loaded.spec, 0, "fp8")).files["node-0/firewall.sh"].text
    )
    given = {"PATH": os.environ["PATH"], "MOONPAD_HOST_NODE_0": HERE, "MOONPAD_HOST_NODE_1": THERE, **env}
    words = ("ip", "netns", "exec", f"{tag}-a", "bash", str(script))
    return subprocess.run(words, env=given, capture_output=True, text=True, check=False)


def test_strangers_are_kept_out(tag: str, tmp_path: Path) -> None:
    assert reached(tag, STRANGER) == {MASTER, CHOSEN, API, UNRELATED}
    for _ in range(2):  # again is the same
        assert close(tag, tmp_path).returncode == 0
    assert reached(tag, THERE) == {MASTER, CHOSEN, API, UNRELATED}
    assert reached(tag, STRANGER) == {API, UNRELATED}, "what is not of the run is left as it was"


def test_an_exposed_port_out_of_the_same_range_stays_open(tag: str, tmp_path: Path) -> None:
    expose = 'expose = true\napi_key_env = "KEY"'
    assert close(tag, tmp_path, expose, MOONPAD_PORT_API=str(CHOSEN)).returncode == 0
    assert reached(tag, STRANGER) == {CHOSEN, API, UNRELATED}


@pytest.mark.parametrize(
    "env",
    [
        {"MOONPAD_HOST_NODE_1": "10.77.0.2 } accept; add rule inet x y accept #"},
        {"MOONPAD_PORT_ENGINE_MASTER": "1 accept\n add table inet pwned"},
        {"MOONPAD_HOST_NODE_1": "$(touch pwned)"},
    ],
)
def test_a_variable_that_says_more_than_an_address_is_refused(tag: str, tmp_path: Path, env: dict[str, str]) -> None:
    """Fault 51: nft reads a language of its own."""
    done = close(tag, tmp_path, **env)
    assert done.returncode == 2
    assert " is not a" in done.stderr
    assert reached(tag, STRANGER) == {MASTER, CHOSEN, API, UNRELATED}
    assert not list(tmp_path.glob("pwned*"))
