"""doctor over two hosts of a spec: silent where all is well, and what stands between them named from both sides."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from tests.faults.two_hosts import HERE, THERE, TwoHosts, run, two_hosts

__all__ = ["two_hosts"]

WHOLE_LOOK_S = 5.0
pytestmark = pytest.mark.usefixtures("clean_world")


def ask(hosts: TwoHosts, *words: str) -> tuple[int, dict[str, Any]]:
    done = hosts.moonpad("doctor", str(hosts.spec), "--json", *words)
    assert done.stdout, done.stderr
    return done.code, json.loads(done.stdout)


def drop(hosts: TwoHosts, which: str, what: str) -> None:
    """A firewall on a host, which says nothing to whom it keeps out."""
    chain = "add table ip t; add chain ip t i { type filter hook input priority 0; }"
    run(*hosts.inside(which, "nft", f"{chain}; add rule ip t i {what} drop"))


def errors(document: dict[str, Any]) -> list[str]:
    return [each["message"] for host in document["hosts"] for each in host["findings"] if each["severity"] == "error"]


def test_two_sound_hosts_then_each_fault(two_hosts: TwoHosts) -> None:
    code, document = ask(two_hosts)
    assert (code, errors(document)) == (0, [])
    assert [host["node"] for host in document["hosts"]] == ["node-0", "node-1"]
    assert {(each["from"], each["to"]) for each in document["connections"]} == {
        ("node-0", "node-1"),
        ("node-1", "node-0"),
    }
    assert all(each["longest"] is True for each in document["connections"])
    assert all(host["took_s"] < WHOLE_LOOK_S for host in document["hosts"])

    # The interfaces have another MTU: long packets of the first host are lost.
    run("ip", "-n", f"{two_hosts.tag}-b", "link", "set", f"{two_hosts.tag}b", "mtu", "1280")
    code, document = ask(two_hosts)
    assert code == 3
    assert any("packets of 1500 bytes from node-0 do not arrive at node-1" in message for message in errors(document))
    run("ip", "-n", f"{two_hosts.tag}-b", "link", "set", f"{two_hosts.tag}b", "mtu", "1500")

    # A port of the engine is held by a program of the other host.
    wanted = next(each["port"] for each in document["connections"] if each["port"])
    holder = subprocess.Popen(
        two_hosts.inside(
            "b", "python3", "-c", f"import socket,sys; s=socket.create_server(('{THERE}',{wanted})); sys.stdin.read()"
        ),
        stdin=subprocess.PIPE,
    )
    try:
        code, document = ask(two_hosts)
    finally:
        holder.communicate()
    assert wanted not in {each["port"] for each in document["connections"] if each["to"] == "node-1"}

    # A name of the host is the loopback; the address is of no interface.
    text = two_hosts.spec.read_text()
    two_hosts.spec.write_text(text.replace(f'address = "{HERE}"', 'address = "10.77.0.9"'))
    code, document = ask(two_hosts)
    assert code == 3
    assert any("10.77.0.9 is not an address of" in message for message in errors(document))
    two_hosts.spec.write_text(text)

    # Nobody logs in.
    two_hosts.stop_sshd()
    two_hosts.servers.clear()
    code, document = ask(two_hosts)
    assert code == 3
    (lost,) = [host for host in document["hosts"] if not host["reached"]]
    assert lost["node"] == "node-1"
    two_hosts.start_sshd()
    assert ask(two_hosts)[0] == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nft") is None, reason="nft is not here, which blocks the port")
def test_a_blocked_port(two_hosts: TwoHosts) -> None:
    _, document = ask(two_hosts)
    wanted = next(each["port"] for each in document["connections"] if each["port"])
    drop(two_hosts, "a", f"tcp dport {wanted}")
    code, document = ask(two_hosts)
    assert code == 3
    (message,) = errors(document)
    assert f"node-1 cannot reach port {wanted} of node-0" in message
    run(*two_hosts.inside("a", "nft", "delete table ip t"))

    drop(two_hosts, "b", f"ip saddr {HERE} tcp dport != 2222")  # ssh alone comes through
    code, document = ask(two_hosts)
    assert any("node-0 cannot reach node-1" in message for message in errors(document))


@pytest.mark.slow
def test_a_busy_port_here(two_hosts: TwoHosts) -> None:
    """Of the API, which only this host's engine has."""
    _, document = ask(two_hosts)
    port = next(int(line.split("=")[1]) for line in two_hosts.spec.read_text().splitlines() if line.startswith("port"))
    inside = two_hosts.inside(
        "a", "python3", "-c", f"import socket,sys; s=socket.create_server(('127.0.0.1',{port})); sys.stdin.read()"
    )
    holder = subprocess.Popen(inside, stdin=subprocess.PIPE)
    try:
        code, document = ask(two_hosts)
    finally:
        holder.communicate()
    assert code == 3
    assert any(f"port {port} (api of" in message for message in errors(document))
