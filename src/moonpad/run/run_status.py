"""The actual state of a run, whatever its files say: from its keeper, its controller, its processes and its endpoint.
Nothing is written here."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moonpad.facts.probe import Unknown
from moonpad.facts.processes import is_alive, read_boot_id, read_stat
from moonpad.observe.readiness import ask_health
from moonpad.run.controller_state import ControllerState, read_controller
from moonpad.run.keeper.state_file import FINAL, find_living, has_keeper
from moonpad.run.keeper_client import tell
from moonpad.store.atomic_files import read_json
from moonpad.store.run_folder import RunFolder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost
from moonpad.values.supervision import State
from moonpad.values.units import duration

HEALTH_TIMEOUT_S = 0.2
KEEPER_TIMEOUT_S = 0.3
ASKED_TO_STOP = "asked to stop"
LOCKS = Path("/proc/locks")


@dataclass(frozen=True, slots=True)
class RunStatus:
    """`owned` is pid → start time of the run's living processes, the keeper and controller left out.

    `container` is the name of what runs without a keeper and in no process of ours; Unknown where the docker client
    gives no answer. `stable` and `restarts` are what the controller reported.
    """

    state: State
    because: str
    keeper_pid: int | None
    engine_pid: int | None
    owned: dict[int, int]
    container: str | Unknown | None = None
    controller_pid: int | None = None
    stable: bool = False
    restarts: int = 0
    stopping: bool = False
    """Its keeper is ending it, or has just ended it."""

    @property
    def left(self) -> bool:
        """Whether anything of the run, beside its keeper, runs or may run."""
        return bool(self.owned or self.container)

    @property
    def up(self) -> bool:
        """Whether the run has a keeper, or something of it is left."""
        return self.keeper_pid is not None or self.left


def is_kept(folder: RunFolder) -> bool:
    """Whether the run's keeper lives."""
    return has_keeper(folder.keeper())


def read_status(folder: RunFolder, endpoint: Endpoint | None) -> RunStatus:
    """The state now. `/health` is requested with a short deadline where the keeper lives and there is an endpoint.
    Raises SchemaTooNew: the run's files are of a layout that this moonpad does not know."""
    recorded = folder.keeper()
    if has_keeper(recorded):
        return _kept(folder, {**recorded, **_ask_keeper(folder)}, endpoint)
    # It may have written its last state between the two looks, and ended.
    return _unkept(folder, folder.keeper())


def find_processes(folder: RunFolder) -> dict[int, int]:
    """pid → start time of the run's processes that live, keeper and controller left out."""
    return find_living(folder.keeper(), str(folder.log_path))


# --- a keeper that lives ---------------------------------------------------------------------------------------------


def _ask_keeper(folder: RunFolder) -> dict[str, Any]:
    """Its own answer: on a full disk its file is old. Empty where it gives none."""
    try:
        answer = tell(folder, "status", timeout_s=KEEPER_TIMEOUT_S)
    except ContactLost:
        return {}
    names = ("state", "because", "generation", "ready", "lost", "controller")
    return {name: answer[name] for name in names if name in answer}


def _kept(folder: RunFolder, recorded: dict[str, Any], endpoint: Endpoint | None) -> RunStatus:
    owned = find_processes(folder)
    controller = read_controller(folder)
    controller_pid = _controller_pid(folder, recorded, controller)
    current = controller if controller is not None and controller.generation == recorded["generation"] else None
    match recorded["state"]:
        case "running" if recorded["lost"]:
            state, because = State.FAILED, f"is being stopped: {_count(owned)} left, {recorded['lost']}"
        case "running":
            state, because = _running(folder, recorded, current, controller_pid is not None, endpoint)
        case "waiting":
            state, because = _waiting(folder, recorded, time.monotonic())
        case _:
            state, because = _ending(recorded, owned)
    return RunStatus(
        state,
        because,
        recorded["keeper"]["pid"],
        _engine_pid(recorded, owned),
        owned,
        controller_pid=controller_pid,
        stable=current is not None and current.stable and state is State.READY,
        restarts=max(int(recorded["generation"]) - 1, controller.restarts if controller else 0),
        stopping=recorded["state"] in ("stopping", *FINAL) or bool(recorded["lost"]),
    )


def _controller_pid(folder: RunFolder, recorded: dict[str, Any], controller: ControllerState | None) -> int | None:
    """The controller's pid where it lives: by its own file, by its keeper's, or by its start, which comes first."""
    if controller is not None and controller.is_alive:
        return controller.pid
    own = recorded["controller"]
    if own and is_alive(own["pid"], own["start"]):
        return int(own["pid"])
    started = folder.last_event("controller_started", "controller_ended") or {}
    stat = read_stat(int(started["pid"])) if started.get("pid") else None
    return started["pid"] if stat and stat.parent == recorded["keeper"]["pid"] and stat.runs else None


def _running(
    folder: RunFolder,
    recorded: dict[str, Any],
    controller: ControllerState | None,
    attended: bool,
    endpoint: Endpoint | None,
) -> tuple[State, str]:
    if recorded["schema"] < 2:
        return _health(folder.event("ready") is not None, "no real token yet", endpoint)
    if not attended:
        if folder.last_event("controller_started", "controller_ended") is not None:
            return State.UNATTENDED, f"its controller ended and will be restarted; {_answer(endpoint)}"
        return State.STARTING, "its controller is about to start"
    if (controller is None or controller.state is State.STARTING) and recorded.get("ready"):
        return _health(True, "one real token came back", endpoint)  # on a full disk the controller's file is old
    if controller is None:
        return State.STARTING, "its controller has not looked at it yet"
    if controller.state is State.READY:
        return _health(True, controller.because, endpoint)
    return controller.state, controller.because


def _health(was_ready: bool, because: str, endpoint: Endpoint | None) -> tuple[State, str]:
    """Ready is what answers now, whatever was recorded. A time-out at our short deadline says nothing: then the
    controller's report stands, which has a longer one."""
    if not was_ready:
        return State.STARTING, because
    if endpoint is None:
        return State.READY, f"{because}; /health not checked"
    answer, path = ask_health(endpoint, HEALTH_TIMEOUT_S), endpoint.health_path
    if answer.ok:
        return State.READY, because if path in because else f"{because}; {path} answers 200"
    if answer.timed_out:
        return State.READY, f"{because}; {path} takes longer than {duration(HEALTH_TIMEOUT_S)} just now"
    if endpoint.replica_urls and answer.status is not None:
        return State.STALLED, f"was ready, and no copy behind it can serve: {path} answers {answer.status}"
    return State.STALLED, f"was ready, and {path} does not answer: {answer.text or answer.status}"


def _answer(endpoint: Endpoint | None) -> str:
    if endpoint is None:
        return "/health not checked"
    answer = ask_health(endpoint, HEALTH_TIMEOUT_S)
    return f"/health answers {answer.status}" if answer.status else f"/health does not answer: {answer.text}"


def _waiting(folder: RunFolder, recorded: dict[str, Any], now_s: float) -> tuple[State, str]:
    """No process of the engine is left, and its controller decides whether it is restarted."""
    because, generation = str(recorded["because"]), recorded["generation"]
    decision = folder.last_event("restarting", "giving_up")
    if decision is None or decision.get("generation") != generation:
        return State.STARTING, f"its controller is deciding whether to restart it, after: {because}"
    if decision["event"] == "giving_up":
        return State.FAILED, str(decision.get("reason") or because)
    left_s = max(0.0, float(decision["t_s"]) + float(decision["delay_s"]) - now_s)
    return State.STARTING, f"restart {decision['restart']} of {decision['of']} in {left_s:.1f} s, after: {because}"


def _ending(recorded: dict[str, Any], owned: dict[int, int]) -> tuple[State, str]:
    because = str(recorded["because"])
    if recorded["state"] in FINAL and not owned:
        return State(recorded["state"]), because
    state = State.STOPPED if because.startswith(ASKED_TO_STOP) else State.FAILED
    return state, f"is being stopped: {_count(owned)} left, {because}"


def _count(owned: dict[int, int]) -> str:
    return f"{len(owned)} process{'es' * (len(owned) != 1)}"


# --- a keeper that has ended -----------------------------------------------------------------------------------------


def _unkept(folder: RunFolder, recorded: dict[str, Any]) -> RunStatus:
    if not recorded and (pid := _pid_of_lock(folder)) is not None:
        return RunStatus(State.STARTING, "its keeper is about to start it", pid, None, {})
    owned = find_processes(folder)
    container = _container(folder, recorded)
    state, because = _what_is_left(folder, recorded, owned, container)
    return RunStatus(state, because, None, _engine_pid(recorded, owned), owned, container)


def _what_is_left(
    folder: RunFolder, recorded: dict[str, Any], owned: dict[int, int], container: str | Unknown | None
) -> tuple[State, str]:
    if isinstance(container, Unknown):
        return State.UNATTENDED, f"the keeper is gone, and its container could not be queried: {container.reason}"
    if container:
        return State.UNATTENDED, f"the keeper is gone, and its container {container} still runs"
    if owned:
        return State.UNATTENDED, f"the keeper is gone, with {_count(owned)} of the run still running"
    ended = folder.last_event(*FINAL)  # a full disk may have taken one of the two
    if recorded.get("state") in FINAL:
        return State(recorded["state"]), str(ended.get("reason", "")) if ended else str(recorded.get("because", ""))
    if ended is not None:
        return State(str(ended["event"])), str(ended.get("reason", ""))
    if not recorded:
        return State.FAILED, "its keeper was killed before it had started anything"
    if recorded.get("boot_id") != read_boot_id():
        return State.FAILED, "the host was rebooted; this run is no longer active"
    return State.FAILED, "the keeper was killed, and none of its processes is left"


def _pid_of_lock(folder: RunFolder) -> int | None:
    """The pid of a keeper that holds the name's lock for this run, and has written nothing else yet; None without."""
    holder = read_json(folder.lock_path) or {}
    pid = holder.get("pid")
    ours = holder.get("run") == folder.run_id and isinstance(pid, int)
    return pid if ours and _is_locked(folder.lock_path) else None


def _is_locked(path: Path) -> bool:
    """Whether some process holds the lock. Looked up, not tried: one that takes it at this moment must succeed."""
    with suppress(OSError):
        inode = f":{path.stat().st_ino} "
        return any(inode in line and "->" not in line for line in LOCKS.read_text().splitlines())  # ->: who waits
    return False


def _container(folder: RunFolder, recorded: dict[str, Any]) -> str | Unknown | None:
    """Queried only where the keeper did not end it: what it ended is in keeper.json no more."""
    about = folder.about().get("container")
    if not about or not recorded.get("after_stop"):
        return None
    from moonpad.run.container import running_container  # here, because `status` has half a second

    return running_container(about["client"], folder.run_id)


def _engine_pid(recorded: dict[str, Any], owned: dict[int, int]) -> int | None:
    return next((root["pid"] for root in recorded.get("roots", ()) if root["pid"] in owned), None)
