"""Two people, or one twice: one engine a name and a port, and who comes second is told who was first."""

from __future__ import annotations

import getpass
import json
import platform
import re
import signal
from pathlib import Path

import pytest

from moonpad.facts.processes import send_signal
from tests.conftest import Moonpad
from tests.faults.helpers import (
    await_event,
    await_gone,
    events_of,
    everybody,
    invariants,
    keeper_of,
    owned_of,
)

pytestmark = pytest.mark.usefixtures("clean_world")


def says_who(errors: str) -> bool:
    """User, host and time."""
    return (
        getpass.getuser() in errors
        and platform.node() in errors
        and re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", errors) is not None
    )


def two_at_once(moonpad: Moonpad, spec: Path) -> None:
    both = [moonpad.start("up", str(spec), "--json") for _ in range(2)]
    results = [(*process.communicate(timeout=60), process.returncode) for process in both]
    codes = sorted(code for _, _, code in results)
    assert codes in ([0, 3], [0, 0]), results
    if codes == [0, 3]:
        loser = next(errors for _, errors, code in results if code == 3)
        assert says_who(loser), loser
    else:
        assert sorted(json.loads(output)["changed"] for output, _, _ in results) == [False, True]
    assert len(events_of(moonpad, "spawned")) == 1, "exactly one engine"
    assert len(list(moonpad.state.glob("runs/*"))) == 1, "the one who lost has left nothing"
    invariants(moonpad)
    assert moonpad("down", "fake").code == 0


@pytest.mark.parametrize("turn", range(3))
def test_two_at_once(moonpad: Moonpad, fake_spec: Path, turn: int) -> None:
    """Fault 17, reduced: one wins, the other is told who."""
    two_at_once(moonpad, fake_spec)


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(20))
def test_two_at_once_in_full(moonpad: Moonpad, fake_spec: Path, turn: int) -> None:
    """Fault 17, in full."""
    two_at_once(moonpad, fake_spec)


def test_stale_lock_is_taken_over(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 17: a lock whose holder was killed is taken over, with a note whose it was."""
    assert moonpad("up", str(fake_spec)).code == 0
    living = everybody(moonpad)
    for pid, start in ((keeper_of(moonpad)), *owned_of(moonpad).items()):
        send_signal(pid, start, signal.SIGKILL)
    await_gone(living, 5.0)
    lock = moonpad.state / "endpoints" / "fake.lock"
    former = json.loads(lock.read_text())
    again = moonpad("up", str(fake_spec))
    assert again.code == 0, again.stderr
    assert former["user"] in again.stderr
    assert former["at"] in again.stderr
    event = await_event(moonpad, "lock_taken_over")
    assert event["holder"]["pid"] == former["pid"]
    assert moonpad("down", "fake").code == 0


def test_two_users_one_port(moonpad: Moonpad, fake_spec: Path, tmp_path: Path) -> None:
    """Fault 17: another home knows nothing of this one's runs. The port's claim is the machine's, and says whose it is,
    before there is anything that listens there."""
    home = tmp_path / "other"
    home.mkdir()
    other = Moonpad(home, {**moonpad.env, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")})
    first = moonpad("up", str(fake_spec), "--no-wait", "--json", FAKE_LOAD_S="4")
    assert first.code == 0, first.stderr
    second = other("up", str(fake_spec))
    assert second.code == 3, second.stderr
    assert says_who(second.stderr), second.stderr
    assert first.json["run"] in second.stderr
    assert not list(other.state.glob("runs/*"))
    assert not list(other.state.glob("endpoints/*"))
    assert moonpad("down", "fake").code == 0


def test_same_command_twice(moonpad: Moonpad, fake_spec: Path) -> None:
    """Fault 67: the second changes nothing and says so; another spec of that name is refused."""
    assert moonpad("up", str(fake_spec)).code == 0
    owned = owned_of(moonpad)
    again = moonpad("up", str(fake_spec))
    assert again.code == 0
    assert "No change" in again.stdout
    assert len(list(moonpad.state.glob("runs/*"))) == 1
    assert owned_of(moonpad) == owned
    fake_spec.write_text(fake_spec.read_text() + "\n[settings]\nmax_num_seqs = 2\n")
    other = moonpad("up", str(fake_spec))
    assert other.code == 3
    assert "another spec" in other.stderr
    assert owned_of(moonpad) == owned
    assert moonpad("down", "fake", "--json").json["was_up"] is True
    second = moonpad("down", "fake", "--json")
    assert (second.code, second.json["was_up"]) == (0, False)
