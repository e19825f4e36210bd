"""`moonpad tune` of what is more than one engine on one machine: over two hosts, and of copies behind a router."""

from __future__ import annotations

import json
import signal
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, set_process_option
from tests.faults.helpers import wait_until
from tests.faults.tuning import OPTIONS, QUICK
from tests.faults.two_hosts import TwoHosts, two_hosts

__all__ = ["two_hosts"]

pytestmark = [pytest.mark.usefixtures("clean_world"), pytest.mark.slow]


@pytest.fixture(autouse=True)
def _nothing_there(two_hosts: TwoHosts, clean_world: None) -> Iterator[None]:
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    yield
    two_hosts.stop_sshd()
    assert two_hosts.processes("a") == {}
    assert two_hosts.processes("b") == {}


def start(hosts: TwoHosts, budget: str) -> subprocess.Popen[str]:
    words = hosts.moonpad.command("tune", str(hosts.spec), *OPTIONS, "--budget", budget)
    env = {**hosts.moonpad.env, **QUICK}
    pipe = subprocess.PIPE
    return subprocess.Popen(words, env=env, cwd=hosts.spec.parent, stdout=pipe, stderr=pipe, text=True, process_group=0)


def test_over_two_hosts(two_hosts: TwoHosts) -> None:
    child = start(two_hosts, "25s")
    output, errors = child.communicate(timeout=240)
    assert child.returncode == 0, errors
    document = json.loads(output)
    assert document["standing"] in ("confirmed", "not confirmed", "the default is best")
    journal = next((two_hosts.folder.parent / "state").rglob("journal.jsonl")).read_text().splitlines()
    visits = [event["visit"] for event in map(json.loads, journal) if event["event"] == "visit"]
    measured = [visit for visit in visits if visit["worths"]]
    assert measured, [visit["problem"] for visit in visits]
    if document.get("spec_written"):
        assert len(tomllib.loads(Path(document["spec_written"]).read_text())["hosts"]) == 2


def test_killed_it_leaves_nothing_on_either_host(two_hosts: TwoHosts) -> None:
    child = start(two_hosts, "2m")
    wait_until(lambda: len(two_hosts.processes("b")) > 1, lambda: "the second host runs nothing", 60.0)
    child.kill()  # `ip netns exec` has become the command
    child.communicate(timeout=30)
    assert child.returncode == -signal.SIGKILL
    wait_until(lambda: not two_hosts.processes("b"), lambda: f"{two_hosts.processes('b')}", 60.0)
    wait_until(lambda: not two_hosts.processes("a"), lambda: f"{two_hosts.processes('a')}", 60.0)
