"""What is so, whatever the files say: the state of a run from its keeper, its processes and its endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from moonpad.facts.probe import Unknown
from moonpad.observe.heartbeat import ask_health, ask_one_token
from moonpad.run import keeper
from moonpad.run.container import running_container
from moonpad.store.run_folder import RunFolder
from moonpad.values.endpoint import Endpoint


class State(StrEnum):
    STARTING = "starting"
    READY = "ready"
    STALLED = "stalled"
    FAILED = "failed"
    STOPPED = "stopped"
    UNATTENDED = "unattended"


UP = frozenset({State.STARTING, State.READY, State.STALLED, State.UNATTENDED})

HEALTH_TIMEOUT_S = 0.2
TOKEN_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class Truth:
    """`owned` is pid → start time of what still runs of the run, the keeper left out.

    `container` is the name of what runs without a keeper and in no process of ours; Unknown where the docker client
    does not say.
    """

    state: State
    because: str
    keeper_pid: int | None
    engine_pid: int | None
    owned: dict[int, int]
    container: str | Unknown | None = None

    @property
    def left(self) -> bool:
        """Whether anything of the run runs, or may run, the keeper left out."""
        return bool(self.owned or self.container)


def is_kept(folder: RunFolder) -> bool:
    """Whether the run's keeper lives."""
    return _lives(folder.keeper())


def truth_of(folder: RunFolder, endpoint: Endpoint | None) -> Truth:
    """The state now. Asks `/health` with a short deadline where the keeper lives; without an endpoint nothing is asked.

    A run that became ready while nobody looked (`up --no-wait`) is noticed here, and the event is written down.
    """
    recorded = folder.keeper()
    owned = living_of(folder)
    kept = _lives(recorded)
    container = None if kept else _container(folder, recorded)
    engine_pid = next((root["pid"] for root in recorded.get("roots", ()) if root["pid"] in owned), None)

    def truth(state: State, because: str) -> Truth:
        return Truth(state, because, recorded["keeper"]["pid"] if kept else None, engine_pid, owned, container)

    if not kept:
        if isinstance(container, Unknown):
            return truth(State.UNATTENDED, f"the keeper is gone, its container could not be asked: {container.reason}")
        if container:
            return truth(State.UNATTENDED, f"the keeper is gone, its container {container} runs")
        if owned:
            return truth(State.UNATTENDED, f"the keeper is gone, {len(owned)} processes of the run live")
        if recorded.get("state") in (State.STOPPED, State.FAILED):
            return truth(State(recorded["state"]), _last_reason(folder))
        return truth(State.FAILED, "the keeper was killed, and none of its processes is left")
    if endpoint is None:
        return truth(State.STARTING, "not asked")
    healthy = ask_health(endpoint, HEALTH_TIMEOUT_S)
    if folder.event("ready") is not None:
        if healthy.ok:
            return truth(State.READY, "/health answers 200")
        return truth(State.STALLED, f"was ready, and /health does not answer: {healthy.text or healthy.status}")
    if healthy.ok and ask_one_token(endpoint, TOKEN_TIMEOUT_S).ok:
        folder.append_event("ready", seen_by="status")
        return truth(State.READY, "/health answers 200, and one token came back")
    return truth(State.STARTING, "no real token yet")


def _lives(recorded: dict[str, Any]) -> bool:
    own: dict[str, int] = recorded.get("keeper") or {}
    return bool(own) and recorded.get("boot_id") == keeper.boot_id() and keeper.is_alive(own["pid"], own["start"])


def living_of(folder: RunFolder) -> dict[int, int]:
    """pid → start time of the run's processes that live.

    By what its keeper wrote down and what descends from that. Of a keeper that was killed the last look may be older
    than an orphan: then whatever writes to the run's log is the run's too, since only its processes were given that.
    """
    recorded = folder.keeper()
    if not recorded or recorded.get("boot_id") != keeper.boot_id():
        return {}
    known = {one["pid"]: one["start"] for one in recorded.get("owned", ())}
    living = {pid: start for pid, start in known.items() if keeper.is_alive(pid, start)}
    if not _lives(recorded) and recorded.get("state") not in (State.STOPPED, State.FAILED):
        living |= keeper.writers_of(str(folder.log_path))
    return {**keeper.descendants(set(living)), **living}


def _container(folder: RunFolder, recorded: dict[str, Any]) -> str | Unknown | None:
    """Asked only where the keeper did not end it: what it ended stands in keeper.json no more."""
    about = folder.about().get("container")
    return running_container(about["client"], folder.run_id) if about and recorded.get("after_stop") else None


def _last_reason(folder: RunFolder) -> str:
    ends = [event for event in folder.events() if event.get("event") in ("stopped", "failed")]
    return str(ends[-1].get("reason", "")) if ends else ""
