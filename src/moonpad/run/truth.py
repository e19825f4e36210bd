"""What is so, whatever the files say: the state of a run from its keeper, its controller, its processes and its
endpoint. Nothing is written here."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moonpad.facts.probe import Unknown
from moonpad.observe.heartbeat import ask_health
from moonpad.run import keeper
from moonpad.run.control import tell
from moonpad.run.controller_state import ControllerState, read_controller
from moonpad.store.files import read_json
from moonpad.store.run_folder import RunFolder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost
from moonpad.values.supervision import State
from moonpad.values.units import duration

FINAL = ("stopped", "failed")
HEALTH_TIMEOUT_S = 0.2
KEEPER_TIMEOUT_S = 0.3
ASKED_TO_STOP = "asked to stop"
LOCKS = Path("/proc/locks")


@dataclass(frozen=True, slots=True)
class Truth:
    """`owned` is pid → start time of what still runs of the run, the keeper and the controller left out.

    `container` is the name of what runs without a keeper and in no process of ours; Unknown where the docker client
    does not say. `stable` and `restarts` are the controller's word.
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
        """Whether anything of the run runs, or may run, the keeper left out."""
        return bool(self.owned or self.container)

    @property
    def up(self) -> bool:
        """Whether somebody keeps the run, or something of it is left."""
        return self.keeper_pid is not None or self.left


def is_kept(folder: RunFolder) -> bool:
    """Whether the run's keeper lives."""
    return _lives(folder.keeper())


def truth_of(folder: RunFolder, endpoint: Endpoint | None) -> Truth:
    """The state now. `/health` is asked with a short deadline where the keeper lives; without an endpoint it is not.

    Raises:
        SchemaTooNew: the run's files are of a layout that this moonpad does not know.
    """
    recorded = folder.keeper()
    if not _lives(recorded):
        recorded = folder.keeper()  # it may have written its last word between the two looks, and gone
        return _unkept(folder, recorded)
    return _kept(folder, {**recorded, **_word_of_keeper(folder)}, endpoint)


# --- a keeper that lives ---------------------------------------------------------------------------------------------


def _word_of_keeper(folder: RunFolder) -> dict[str, Any]:
    """What it says itself: on a full disk its file is old. Nothing where it does not answer."""
    try:
        said = tell(folder, "status", timeout_s=KEEPER_TIMEOUT_S)
    except ContactLost:
        return {}
    known = ("state", "because", "generation", "ready", "lost", "controller")
    return {name: said[name] for name in known if name in said}


def _kept(folder: RunFolder, recorded: dict[str, Any], endpoint: Endpoint | None) -> Truth:
    owned = living_of(folder)
    word = read_controller(folder)
    controller_pid = _controller_pid(folder, recorded, word)
    current = word if word is not None and word.generation == recorded["generation"] else None
    match recorded["state"]:
        case "running" if recorded["lost"]:
            state, because = State.FAILED, f"is being stopped: {_count(owned)} left, {recorded['lost']}"
        case "running":
            state, because = _running(folder, recorded, current, controller_pid is not None, endpoint)
        case "waiting":
            state, because = _waiting(folder, recorded, time.monotonic())
        case _:
            state, because = _ending(recorded, owned)
    return Truth(
        state,
        because,
        recorded["keeper"]["pid"],
        _engine_pid(recorded, owned),
        owned,
        controller_pid=controller_pid,
        stable=current is not None and current.stable and state is State.READY,
        restarts=max(int(recorded["generation"]) - 1, word.restarts if word else 0),
        stopping=recorded["state"] in ("stopping", *FINAL) or bool(recorded["lost"]),
    )


def _controller_pid(folder: RunFolder, recorded: dict[str, Any], word: ControllerState | None) -> int | None:
    """The controller's pid where it lives: by its own file, by its keeper's, or by its start, which comes first."""
    if word is not None and word.is_alive:
        return word.pid
    known = recorded["controller"]
    if known and keeper.is_alive(known["pid"], known["start"]):
        return int(known["pid"])
    started = folder.last_event("controller_started", "controller_ended") or {}
    found = keeper.stat_of(int(started["pid"])) if started.get("pid") else None
    return started["pid"] if found and found[0] == recorded["keeper"]["pid"] and found[2] not in "ZX" else None


def _running(
    folder: RunFolder, recorded: dict[str, Any], word: ControllerState | None, attended: bool, endpoint: Endpoint | None
) -> tuple[State, str]:
    if recorded["schema"] < 2:
        return _health(folder.event("ready") is not None, "no real token yet", endpoint)
    if not attended:
        if _was_attended(folder):
            return State.UNATTENDED, f"its controller is gone, and is started again soon; {_answer(endpoint)}"
        return State.STARTING, "its controller is about to start"
    if (word is None or word.state is State.STARTING) and recorded.get("ready"):
        return _health(True, "one real token came back", endpoint)  # on a full disk the controller's file is old
    if word is None:
        return State.STARTING, "its controller has not looked at it yet"
    if word.state is State.READY:
        return _health(True, word.because, endpoint)
    return word.state, word.because


def _was_attended(folder: RunFolder) -> bool:
    return folder.last_event("controller_started", "controller_ended") is not None


def _health(was_ready: bool, because: str, endpoint: Endpoint | None) -> tuple[State, str]:
    """Ready is what answers now, whoever has seen it ready. No answer within our short deadline is no answer either
    way: then the controller's word stands, which has a longer one."""
    if not was_ready:
        return State.STARTING, because
    if endpoint is None:
        return State.READY, f"{because}; not asked"
    answer = ask_health(endpoint, HEALTH_TIMEOUT_S)
    if answer.ok:
        return State.READY, because if "/health" in because else f"{because}; /health answers 200"
    if answer.timed_out:
        return State.READY, f"{because}; /health takes longer than {duration(HEALTH_TIMEOUT_S)} just now"
    return State.STALLED, f"was ready, and /health does not answer: {answer.text or answer.status}"


def _answer(endpoint: Endpoint | None) -> str:
    if endpoint is None:
        return "/health was not asked"
    answer = ask_health(endpoint, HEALTH_TIMEOUT_S)
    return f"/health answers {answer.status}" if answer.status else f"/health does not answer: {answer.text}"


def _waiting(folder: RunFolder, recorded: dict[str, Any], now_s: float) -> tuple[State, str]:
    """Nothing of the engine is left, and its controller decides what becomes of it."""
    because, generation = str(recorded["because"]), recorded["generation"]
    decided = folder.last_event("restarting", "giving_up")
    if decided is None or decided.get("generation") != generation:
        return State.STARTING, f"its controller decides whether it is started again, after: {because}"
    if decided["event"] == "giving_up":
        return State.FAILED, str(decided.get("reason") or because)
    left_s = max(0.0, float(decided["t_s"]) + float(decided["delay_s"]) - now_s)
    return State.STARTING, f"restart {decided['restart']} of {decided['of']} in {left_s:.1f} s, after: {because}"


def _ending(recorded: dict[str, Any], owned: dict[int, int]) -> tuple[State, str]:
    because = str(recorded["because"])
    state = State.STOPPED if because.startswith(ASKED_TO_STOP) else State.FAILED
    if recorded["state"] in FINAL and not owned:
        return State(recorded["state"]), because
    return state, f"is being stopped: {_count(owned)} left, {because}"


def _count(owned: dict[int, int]) -> str:
    return f"{len(owned)} process{'es' * (len(owned) != 1)}"


# --- a keeper that has gone ------------------------------------------------------------------------------------------


def _unkept(folder: RunFolder, recorded: dict[str, Any]) -> Truth:
    if not recorded and (pid := _pid_of_lock(folder)) is not None:
        return Truth(State.STARTING, "its keeper is about to start it", pid, None, {})
    owned = living_of(folder)
    container = _container(folder, recorded)
    state, because = _what_is_left(folder, recorded, owned, container)
    return Truth(state, because, None, _engine_pid(recorded, owned), owned, container)


def _what_is_left(
    folder: RunFolder, recorded: dict[str, Any], owned: dict[int, int], container: str | Unknown | None
) -> tuple[State, str]:
    if isinstance(container, Unknown):
        return State.UNATTENDED, f"the keeper is gone, its container could not be asked: {container.reason}"
    if container:
        return State.UNATTENDED, f"the keeper is gone, its container {container} runs"
    if owned:
        alive = "1 process of the run lives" if len(owned) == 1 else f"{len(owned)} processes of the run live"
        return State.UNATTENDED, f"the keeper is gone, {alive}"
    ended = folder.last_event(*FINAL)  # a full disk may have taken one of the two
    if recorded.get("state") in FINAL:
        return State(recorded["state"]), str(ended.get("reason", "")) if ended else str(recorded.get("because", ""))
    if ended is not None:
        return State(str(ended["event"])), str(ended.get("reason", ""))
    if not recorded:
        return State.FAILED, "its keeper was killed before it had started anything"
    if recorded.get("boot_id") != keeper.boot_id():
        return State.FAILED, "this machine was started anew since, and nothing of it runs"
    return State.FAILED, "the keeper was killed, and none of its processes is left"


def _pid_of_lock(folder: RunFolder) -> int | None:
    """Of a keeper that holds the name's lock for this run, and has written nothing else yet; None: there is none."""
    holder = read_json(folder.lock_path) or {}
    pid = holder.get("pid")
    ours = holder.get("run") == folder.run_id and isinstance(pid, int)
    return pid if ours and _is_locked(folder.lock_path) else None


def _is_locked(path: Path) -> bool:
    """Whether somebody holds the lock. It is looked up, not tried: whoever wants it in this moment shall get it."""
    with suppress(OSError):
        inode = f":{path.stat().st_ino} "
        return any(inode in line and "->" not in line for line in LOCKS.read_text().splitlines())  # ->: who waits
    return False


def _container(folder: RunFolder, recorded: dict[str, Any]) -> str | Unknown | None:
    """Asked only where the keeper did not end it: what it ended stands in keeper.json no more."""
    about = folder.about().get("container")
    if not about or not recorded.get("after_stop"):
        return None
    from moonpad.run.container import running_container  # here, because `status` has half a second

    return running_container(about["client"], folder.run_id)


# --- both ------------------------------------------------------------------------------------------------------------


def _engine_pid(recorded: dict[str, Any], owned: dict[int, int]) -> int | None:
    return next((root["pid"] for root in recorded.get("roots", ()) if root["pid"] in owned), None)


def _lives(recorded: dict[str, Any]) -> bool:
    own: dict[str, int] = recorded.get("keeper") or {}
    return bool(own) and recorded.get("boot_id") == keeper.boot_id() and keeper.is_alive(own["pid"], own["start"])


def living_of(folder: RunFolder) -> dict[int, int]:
    """pid → start time of the run's processes that live, keeper and controller left out.

    By what its keeper wrote down and what descends from that. Of a keeper that was killed the last look may be older
    than an orphan: then whatever writes to the run's log, or stands in its cgroup, is the run's too.
    """
    recorded = folder.keeper()
    if not recorded or recorded.get("boot_id") != keeper.boot_id():
        return {}
    known = {one["pid"]: one["start"] for one in recorded.get("owned", ())}
    living = {pid: start for pid, start in known.items() if keeper.is_alive(pid, start)}
    if not _lives(recorded) and recorded.get("state") not in FINAL:
        living |= keeper.writers_of(str(folder.log_path))
        living |= keeper.in_cgroup(recorded["cgroup"]) if recorded["cgroup"] else {}
    return {**keeper.descendants(set(living)), **living}
