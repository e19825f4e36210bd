"""Stops a run: asks its keeper, and finishes the job where the keeper is gone."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from moonpad.facts.probe import Unknown
from moonpad.run import keeper
from moonpad.run.truth import living_of, truth_of
from moonpad.store.run_folder import RunFolder
from moonpad.values.errors import ContactLost

MARGIN_S = keeper.KILL_LIMIT_S + 5.0
LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class Stopped:
    """`by`: "keeper", or "us" where it was gone; `signal` is the last one that was needed, `killed` counts SIGKILLs."""

    was_up: bool
    by: str
    signal: str
    killed: int
    seconds: float


def stop_run(
    folder: RunFolder,
    grace_s: float,
    *,
    patience_s: float | None = None,
    tick: Callable[[float], None] = lambda _: None,
) -> Stopped:
    """Until none of the run's processes is left. `tick` is called with the seconds passed, for a progress display.

    `grace_s` is what the keeper gives before it kills; where `patience_s` is given, it is told after that to hurry.

    Raises:
        ContactLost: something of the run is left after KILL, the message names the pids; or its container is, or may
            be.
    """
    begun = time.monotonic()
    recorded = folder.keeper()
    now = truth_of(folder, None)
    if now.keeper_pid is None and not now.left and not recorded.get("after_stop"):
        return Stopped(False, "keeper", "", 0, 0.0)
    if now.keeper_pid is not None:
        start = recorded["keeper"]["start"]
        keeper.send(now.keeper_pid, start, signal.SIGTERM)
        hurry_at_s = grace_s if patience_s is None else patience_s
        limit_s = grace_s + MARGIN_S + len(recorded.get("after_stop", ())) * keeper.COMMAND_LIMIT_S
        while keeper.is_alive(now.keeper_pid, start) and time.monotonic() - begun < limit_s:
            passed = time.monotonic() - begun
            tick(passed)
            if passed >= hurry_at_s:
                keeper.send(now.keeper_pid, start, signal.SIGTERM)  # a second one means: now
                hurry_at_s = limit_s
            time.sleep(LOOK_S)
        if not keeper.is_alive(now.keeper_pid, start):
            end = next((event for event in folder.events() if event.get("event") in ("stopped", "failed")), {})
            if not truth_of(folder, None).left:
                passed = time.monotonic() - begun
                return Stopped(True, "keeper", str(end.get("signal", "")), int(end.get("killed", 0)), passed)
        else:
            keeper.send(now.keeper_pid, start, signal.SIGKILL)
    return _finish(folder, grace_s, begun, was_up=now.keeper_pid is not None or now.left)


def _finish(folder: RunFolder, grace_s: float, begun: float, *, was_up: bool) -> Stopped:
    """Without a keeper the set is what it wrote down, what descends from that, and what `after_stop` ends."""
    roots = {root["pid"] for root in folder.keeper().get("roots", ())}
    shared = keeper.shared_memory_of(living_of(folder))
    result = keeper.stop_all(lambda: living_of(folder), roots, grace_s, reap=lambda: None, hurry=lambda: False)
    if result["left"]:
        raise ContactLost(
            f"processes of {folder.name} are left after SIGKILL: {result['left']}",
            remedy="look at them with ps; a process in state D waits for the kernel",
        )
    result["shared_memory_removed"] = keeper.remove_shared_memory(shared)
    commands = folder.keeper().get("after_stop", [])
    if commands:
        keeper.run_commands(commands, str(folder.path / "keeper.log"))
    if container := truth_of(folder, None).container:
        said = f"it could not be asked: {container.reason}" if isinstance(container, Unknown) else "it still runs"
        raise ContactLost(
            f"the container of {folder.name} may be left; {said}",
            remedy=f"{shlex.join(commands[0])}, once it answers",
        )
    folder.append_event("stopped", reason="finished by down: the keeper was gone", **result)
    document = {**folder.keeper(), "state": "stopped", "owned": [], "after_stop": []}
    keeper.replace_json(str(folder.path / "keeper.json"), document)
    lock = keeper.take_lock(str(folder.lock_path), {})
    if lock is not None:
        keeper.release_lock(str(folder.lock_path), lock)
    return Stopped(was_up, "us", str(result["signal"]), int(str(result["killed"])), time.monotonic() - begun)
