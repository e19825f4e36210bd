"""A run over two hosts: start, loss of either, a wire that is cut, a node that comes late. Faults 29 to 34."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.facts.processes import read_stat, send_signal
from tests.faults.helpers import set_launch, wait_until
from tests.faults.two_hosts import THERE, TwoHosts, make_keys, run, two_hosts

__all__ = ["two_hosts"]

SAID_S = 30.0
"""Fault 31: so soon a lost node is said."""


@pytest.fixture(autouse=True)
def _ends_down(two_hosts: TwoHosts, clean_world: None) -> Iterator[None]:
    """Whatever the test has made of the wire and the run: both are as before, and nothing is left on either host."""
    yield
    two_hosts.mend()
    two_hosts.moonpad("down", "two")
    two_hosts.stop_sshd()
    assert two_hosts.processes("a") == {}
    assert two_hosts.processes("b") == {}


def bring_up(hosts: TwoHosts, **env: str) -> None:
    done = hosts.moonpad("up", str(hosts.spec), **env)
    assert done.code == 0, done.stderr


def state_of(hosts: TwoHosts) -> dict[str, Any]:
    row: dict[str, Any] = hosts.moonpad("status", "two", "--json").json["endpoints"][0]
    return row


def await_state(hosts: TwoHosts, state: str, limit_s: float = SAID_S) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    def there() -> bool:
        seen.update(state_of(hosts))
        return seen["state"] == state

    wait_until(there, lambda: f"{seen}", limit_s)
    return seen


def windows(hosts: TwoHosts) -> dict[int, int]:
    """The ssh clients that show what is elsewhere."""
    return {
        pid: start for pid, start in hosts.processes("a").items() if b"window" in words(pid) or b"attach" in words(pid)
    }


def words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def engines(hosts: TwoHosts) -> dict[int, int]:
    """What runs on the second host and is neither the keeper nor ours by another way."""
    (folder,) = hosts.far.iterdir()
    document = json.loads((folder / "keeper.json").read_text())
    return {process["pid"]: process["start"] for process in document["owned"]}


def gone_on_both(hosts: TwoHosts) -> Callable[[], bool]:
    return lambda: not hosts.processes("a") and not hosts.processes("b")


# --- as it should be -------------------------------------------------------------------------------------------------


def test_up_and_down(two_hosts: TwoHosts) -> None:
    bring_up(two_hosts)
    there = two_hosts.processes("b")
    assert there, "nothing runs there"
    again = two_hosts.moonpad("up", str(two_hosts.spec))
    assert again.code == 0
    assert "No change" in again.stdout
    assert two_hosts.processes("b") == there, "fault 67: the same processes"
    status = state_of(two_hosts)
    assert status["state"] == "ready"
    assert status["hosts"] == {"node-1": "far"}
    assert_one_at_a_time(two_hosts)
    shown = two_hosts.moonpad("logs", "two", "--node", "node-1")
    assert "headless multiproc executor" in shown.stdout
    assert "headless" not in two_hosts.moonpad("logs", "two").stdout
    down = two_hosts.moonpad("down", "two")
    assert down.code == 0, down.stderr
    assert not two_hosts.processes("b")
    left = lambda: f"{list(two_hosts.far.iterdir())} is left, with the key that may be in it"  # noqa: E731
    wait_until(lambda: not list(two_hosts.far.iterdir()), left, SAID_S)


def assert_one_at_a_time(hosts: TwoHosts) -> None:
    """Fault 68: the port where the ranks meet is no [endpoint] port, and the remedy does not say so."""
    other = hosts.spec.with_name("other.toml")
    other.write_text(
        re.sub(r"port = (\d+)\n\n\[launch", lambda at: f"port = {int(at[1]) - 1}\n\n[launch", hosts.spec.read_text())
    )
    refused = hosts.moonpad("up", str(other))
    assert refused.code == 3
    assert "where the engine's ranks meet, is claimed by two-" in refused.stderr
    assert "[endpoint] port" not in refused.stderr


# --- the connection --------------------------------------------------------------------------------------------------


def test_ssh_client_killed(two_hosts: TwoHosts) -> None:
    """Fault 29: the engine lives, a new window is opened, and nothing is started twice."""
    bring_up(two_hosts)
    there, ((pid, start),) = engines(two_hosts), windows(two_hosts).items()
    assert send_signal(pid, start, signal.SIGKILL)
    wait_until(lambda: windows(two_hosts).keys() - {pid}, lambda: "no new window", SAID_S)
    assert await_state(two_hosts, "ready")
    assert engines(two_hosts) == there


@pytest.mark.slow
def test_a_short_cut(two_hosts: TwoHosts) -> None:
    """Fault 29: the wire is cut for some seconds; the same processes serve after it."""
    bring_up(two_hosts)
    there = engines(two_hosts)
    two_hosts.cut()
    time.sleep(4.0)
    two_hosts.mend()
    assert await_state(two_hosts, "ready")
    assert engines(two_hosts) == there


@pytest.mark.slow
def test_a_cut_for_good(two_hosts: TwoHosts) -> None:
    """Fault 31: what is here ends and says why; what is there ends by itself, although nobody can tell it."""
    set_launch(two_hosts.spec, host_lease="8s")
    bring_up(two_hosts)
    two_hosts.cut()
    status = await_state(two_hosts, "failed", limit_s=SAID_S)
    assert "engine-1 on far" in status["because"]
    assert "could not be queried" in status["because"]
    wait_until(lambda: not two_hosts.processes("b"), lambda: f"{two_hosts.processes('b')} is left there", SAID_S)


# --- the nodes -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_second_host_dies(two_hosts: TwoHosts) -> None:
    bring_up(two_hosts)
    two_hosts.die()
    status = await_state(two_hosts, "failed")
    assert "engine-1 on far" in status["because"]
    wait_until(lambda: not two_hosts.processes("a"), lambda: f"{two_hosts.processes('a')} is left here", SAID_S)
    two_hosts.mend()
    two_hosts.start_sshd()
    down = two_hosts.moonpad("down", "two")
    assert down.code == 0, down.stderr
    assert not list(two_hosts.far.iterdir()), "what the dead host has kept is cleared away once it is back"


def test_a_rank_there_dies(two_hosts: TwoHosts) -> None:
    """The whole group fails together."""
    bring_up(two_hosts)
    pid, start = max(engines(two_hosts).items(), key=lambda engine: engine[1])
    assert send_signal(pid, start, signal.SIGKILL)
    await_state(two_hosts, "failed")
    wait_until(gone_on_both(two_hosts), lambda: "something is left", SAID_S)


@pytest.mark.slow
def test_the_head_dies(two_hosts: TwoHosts) -> None:
    bring_up(two_hosts)
    pid = state_of(two_hosts)["pid"]
    seen = read_stat(pid)
    assert seen is not None
    assert send_signal(pid, seen[1], signal.SIGKILL)
    await_state(two_hosts, "failed")
    wait_until(gone_on_both(two_hosts), lambda: "something is left", SAID_S)


@pytest.mark.slow
def test_a_keeper_there_is_killed(two_hosts: TwoHosts) -> None:
    """Its engine dies with it, or is ended from here by what it wrote down."""
    bring_up(two_hosts)
    (folder,) = two_hosts.far.iterdir()
    own = json.loads((folder / "keeper.json").read_text())["keeper"]
    assert send_signal(own["pid"], own["start"], signal.SIGKILL)
    await_state(two_hosts, "failed")
    wait_until(gone_on_both(two_hosts), lambda: "something is left", SAID_S)


@pytest.mark.slow
def test_our_own_keeper_is_killed(two_hosts: TwoHosts) -> None:
    """What is here dies with it; `down` ends and clears away what is there."""
    bring_up(two_hosts)
    (run_dir,) = (two_hosts.moonpad.state / "runs").iterdir()
    own = json.loads((run_dir / "keeper.json").read_text())["keeper"]
    assert send_signal(own["pid"], own["start"], signal.SIGKILL)
    down = two_hosts.moonpad("down", "two")
    assert down.code == 0, down.stderr
    assert gone_on_both(two_hosts)()
    assert not list(two_hosts.far.iterdir())


@pytest.mark.slow
def test_down_of_a_host_that_is_away(two_hosts: TwoHosts) -> None:
    """Exit code 6 while it cannot be told; once it is back, the same command finishes."""
    bring_up(two_hosts)
    (run_dir,) = (two_hosts.moonpad.state / "runs").iterdir()
    own = json.loads((run_dir / "keeper.json").read_text())["keeper"]
    two_hosts.cut()
    assert send_signal(own["pid"], own["start"], signal.SIGKILL)
    down = two_hosts.moonpad("down", "two")
    assert down.code == 6, down.stderr
    assert "may still run on far" in down.stderr
    two_hosts.mend()
    down = two_hosts.moonpad("down", "two")
    assert down.code == 0, down.stderr
    assert gone_on_both(two_hosts)()
    assert not list(two_hosts.far.iterdir())


@pytest.mark.slow
def test_a_late_node(two_hosts: TwoHosts) -> None:
    """Fault 32, the first half: late is not lost."""
    two_hosts.set_far_env(FAKE_LATE_S="3")
    bring_up(two_hosts)


@pytest.mark.slow
def test_a_node_that_never_comes(two_hosts: TwoHosts) -> None:
    """Fault 32, the second half: the rendezvous is bounded, and nothing is left on either host."""
    set_launch(two_hosts.spec, start_timeout="5s")
    two_hosts.set_far_env(FAKE_LATE_S="600")
    up = two_hosts.moonpad("up", str(two_hosts.spec))
    assert up.code == 4, up.stderr
    assert gone_on_both(two_hosts)()
    assert not list(two_hosts.far.iterdir())


@pytest.mark.slow
def test_cut_during_the_start(two_hosts: TwoHosts) -> None:
    """Fault 30: cut while the far end is being started; asked for, not assumed: one engine at the end."""
    set_launch(two_hosts.spec, start_timeout="40s")
    up = two_hosts.moonpad.start("up", str(two_hosts.spec))
    wait_until(lambda: two_hosts.far.is_dir() and any(two_hosts.far.iterdir()), lambda: "nothing is placed", SAID_S)
    two_hosts.cut()
    time.sleep(3.0)
    two_hosts.mend()
    errors = up.communicate(timeout=90.0)
    if up.returncode == 0:
        assert len([pid for pid in engines(two_hosts) if b"--headless" in words(pid)]) >= 1
    else:
        assert up.returncode in (4, 6), errors
        assert gone_on_both(two_hosts)()
    again = two_hosts.moonpad("up", str(two_hosts.spec))
    assert again.code == 0, again.stderr
    assert len(list(two_hosts.far.iterdir())) == 1


# --- before anything is started --------------------------------------------------------------------------------------


def refused(hosts: TwoHosts, code: int = 3) -> str:
    up = hosts.moonpad("up", str(hosts.spec))
    assert up.code == code, up.stderr
    assert "Traceback" not in up.stderr
    assert gone_on_both(hosts)()
    return up.stderr


def test_unreachable(two_hosts: TwoHosts) -> None:
    two_hosts.cut()
    errors = refused(two_hosts, code=6)
    assert "node-1 (far)" in errors


def test_another_host_key(two_hosts: TwoHosts) -> None:
    """Fault 34: ssh's own refusal holds, and says where the old key stands."""
    known = two_hosts.folder / "ssh" / "known"
    other = two_hosts.folder / "other"
    make_keys(other)
    known.write_text((other / "known").read_text())
    errors = refused(two_hosts, code=3)
    assert "Host key verification failed" in errors
    assert str(known) in errors


def test_another_checkpoint(two_hosts: TwoHosts) -> None:
    """Fault 33."""
    other = two_hosts.folder / "checkpoint"
    run("cp", "-r", str(embedded_checkpoint("kimi-k2-tiny")), str(other))
    config = other / "config.json"
    config.write_text(config.read_text().replace("32768", "16384"))
    two_hosts.spec.write_text(two_hosts.spec.read_text() + f'checkpoint_folder = "{other}"\n')
    assert "a different checkpoint from" in refused(two_hosts)


def test_no_engine_there(two_hosts: TwoHosts) -> None:
    text = two_hosts.spec.read_text().replace(f'engine_folder = "{two_hosts.engine}"', 'engine_folder = "/nowhere"')
    two_hosts.spec.write_text(text)
    assert "there is no engine" in refused(two_hosts)


def test_an_address_of_somebody_else(two_hosts: TwoHosts) -> None:
    text = two_hosts.spec.read_text().replace(f'address = "{THERE}"', 'address = "10.77.0.9"')
    two_hosts.spec.write_text(text)
    assert "10.77.0.9 is not an address of" in refused(two_hosts)


def test_the_network_is_named(two_hosts: TwoHosts) -> None:
    """Each rank is told which interface has its address: gloo takes the one of the host's name otherwise."""
    bring_up(two_hosts)
    named = {
        variable
        for pid in (*two_hosts.processes("a"), *two_hosts.processes("b"))
        for variable in environment(pid)
        if variable.startswith(b"GLOO_SOCKET_IFNAME=")
    }
    assert named == {f"GLOO_SOCKET_IFNAME={two_hosts.tag}{which}".encode() for which in "ab"}


def environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
