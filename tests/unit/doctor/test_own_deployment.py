"""What a spec's own deployment holds is told to the checks only while it is up."""

from __future__ import annotations

from typing import Any

import pytest

from moonpad.doctor import own_deployment
from moonpad.doctor.examine import Host
from moonpad.doctor.need import Held, Need
from moonpad.doctor.needs import Needs
from moonpad.doctor.own_deployment import with_own_deployment
from moonpad.run.run_status import RunStatus
from moonpad.run.ssh_hosts import SshHost
from moonpad.values.records import replace
from moonpad.values.supervision import State

UP = RunStatus(State.READY, "", keeper_pid=7, engine_pid=8, owned={8: 1, 9: 1})
NEEDS = Needs(
    (Host("node-0"), Host("node-1", ssh=SshHost("node-1", "b"))),
    {"node-0": Need(ports={8000: "api", 29500: "master"}), "node-1": Need(ports={29600: "rpc"})},
)


class Folder:
    def about(self) -> dict[str, Any]:
        return {"base_url": "http://127.0.0.1:8000/v1"}


def held(monkeypatch: pytest.MonkeyPatch, status: RunStatus, needs: Needs = NEEDS) -> list[Held | None]:
    monkeypatch.setattr(own_deployment, "current_run", lambda name: Folder())
    monkeypatch.setattr(own_deployment, "read_status", lambda folder, endpoint: status)
    return [need.held for need in with_own_deployment(needs, "k2").of_node.values()]


def test_while_it_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    by = "k2, which is up"
    assert held(monkeypatch, UP) == [
        Held(by, frozenset({8, 9}), frozenset({8000, 29500})),
        Held(by, frozenset(), frozenset({29600})),
    ]


def test_another_port_than_it_has_is_not_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = Needs(NEEDS.hosts[:1], {"node-0": Need(ports={8001: "api"})})
    (only,) = held(monkeypatch, UP, moved)
    assert only is not None
    assert only.ports == frozenset()


def test_while_it_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    down = replace(UP, state=State.STOPPED, keeper_pid=None, engine_pid=None, owned={})
    assert held(monkeypatch, down) == [None, None]
    monkeypatch.setattr(own_deployment, "current_run", lambda name: None)
    assert with_own_deployment(NEEDS, "k2") is NEEDS
