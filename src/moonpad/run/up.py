"""Starts a prepared deployment and follows it until it answers. Whatever goes wrong on the way, nothing is left.

The engine is watched by the run's controller, which goes on doing so; here its events are read and shown.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from moonpad.engines.log_grammar import Failure, LogGrammar, read_progress
from moonpad.facts.gather import gather
from moonpad.facts.probe import Unknown
from moonpad.observe.log_tail import LogTail, bounded_lines, last_lines
from moonpad.observe.start_failure import failure_in
from moonpad.run.down import Stopped, stop_run, tidy_up
from moonpad.run.keeper.state_file import FINAL
from moonpad.run.keeper.stop import run_commands
from moonpad.run.launch import start_keeper
from moonpad.run.memory_check import Expected, keep_measured, write_expected
from moonpad.run.planned_figures import kv_tokens_measured
from moonpad.run.preflight import check
from moonpad.run.run_status import is_kept
from moonpad.run.ssh_hosts import far_log, window
from moonpad.run.startable import Startable
from moonpad.store.atomic_files import replace_json, replace_text
from moonpad.store.run_folder import RunFolder, create_run
from moonpad.values.binding import BoundProcess
from moonpad.values.deployment import Deployment
from moonpad.values.errors import ContactLost, LaunchFailed, PreflightRefused
from moonpad.values.finding import Code
from moonpad.values.records import as_dict
from moonpad.values.visible_text import shell_word

START_PATIENCE_S = 3.0
"""An engine that is still starting has no request to finish, and is deaf to INT for seconds while it imports."""
FOLLOW_S = 0.03
LAST_RESORT_S = 30.0
"""Over the engine's own time: it is the controller that gives a start up, and this is for when it says nothing."""
LETTING_GO_S = 10.0
"""From a keeper's last event to its end it is a matter of milliseconds."""
FIRST_LINES = 20_000
LAST_LINES = 5_000
"""Of a log that is read for its first true error: a flood is not read through."""

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Started:
    """`seconds` from the spawn to the first real token."""

    folder: RunFolder
    seconds: float
    token_s: float
    kv_tokens: int | None


def launch(prepared: Startable, *, command_age_s: float, foreground: bool = False) -> RunFolder:
    """Writes the run folder and starts the keeper. `command_age_s` is how long the calling command has lived.

    Call it with `interrupts_blocked()`.

    Raises:
        PreflightRefused: the name's lock or the port is held by another run, or nothing can be written.
        LaunchFailed: the keeper could not be started.
    """
    folder: RunFolder | None = None
    placed: list[BoundProcess] = []
    try:
        folder = create_run(prepared.name)
        _write_run(folder, prepared)
        folder.append_event("up", command_age_s=round(command_age_s, 3))
        placed.extend(_placed(prepared, folder))
        start_keeper(
            folder,
            placed,
            grace_s=prepared.stop_grace_s,
            policy=prepared.policy,
            ports=prepared.ports,
            foreground=foreground,
        )
    except BaseException as error:
        if folder is not None and not is_kept(folder):
            tidy_up(folder)
            _remove_elsewhere(placed)
            folder.remove()
        if isinstance(error, OSError):
            problem = f"the run's folder cannot be written: {error.strerror or error}"
            raise PreflightRefused(problem, remedy="check its free space and your permission to write there") from error
        raise
    return folder


def _placed(prepared: Startable, folder: RunFolder) -> Iterator[BoundProcess]:
    """What is to be started here: on other hosts everything is put in its place, and a window on it stands here."""
    far, grace_s, lease_s = prepared.far, prepared.stop_grace_s, prepared.loaded.spec.launch.host_lease_s
    for process, bound in zip(prepared.deployment.processes, prepared.bound(folder.path), strict=True):
        if process.node in far:
            yield window(far[process.node], bound, folder.run_id, grace_s=grace_s, lease_s=lease_s)
        else:
            yield bound


def _remove_elsewhere(placed: Sequence[BoundProcess]) -> None:
    """What was put on other hosts, keys among it, for a run that was refused here and never started there."""
    for process in placed:
        if process.reattach:
            run_commands([list(command) for command in process.after_end], os.devnull)


def note_facts(folder: RunFolder, expected: Expected | Unknown) -> None:
    """What there is, and what the plan expects of the memory, written beside the run. After the spawn: it can wait, and
    a disk that is full by now does not end what was started."""
    with suppress(OSError):
        replace_json(folder.path / "facts.json", gather())
        write_expected(folder, expected)


# --- following a start -----------------------------------------------------------------------------------------------


def await_ready(
    folder: RunFolder,
    prepared: Startable,
    show: Callable[[Event], None],
    expected: Expected | Unknown,
    ticks: Sequence[Callable[[], None]] = (),
) -> Started:
    """Follows the run's events until one real token came back; raises where that never comes, and nothing is left then.

    `ticks` are called at every look. Raises LaunchFailed: with the first true error of the log.
    """
    limit_s = max(process.start_budget_s for process in prepared.deployment.processes) + LAST_RESORT_S
    deadline = time.monotonic() + limit_s
    tail = LogTail(folder.events_path)
    while True:
        kept = is_kept(folder)  # asked before the events are read, so that the last ones are seen
        for event in new_events(tail):
            show(event)
            if event["event"] == "ready":
                with suppress(OSError):
                    keep_measured(folder, prepared, expected)
                return started(folder, event)
            if event["event"] in FINAL:
                raise _ended(folder, prepared, event)
        problem = ""
        if not kept:
            problem = f"its keeper was killed while it was {phase_of(folder, prepared.log)}"
        elif time.monotonic() > deadline:
            problem = f"not ready after {limit_s:.0f} s, the last phase was: {phase_of(folder, prepared.log)}; "
            problem += f"its controller reported nothing (see {folder.path / 'controller.log'})"
        if problem:
            _clean_up(folder, prepared)
            raise why_ended(folder, prepared, problem)
        for tick in ticks:
            tick()
        time.sleep(FOLLOW_S)


def new_events(tail: LogTail) -> Iterator[dict[str, Any]]:
    """The events of a run since the last call."""
    for line in tail.lines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # torn by a full disk
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            yield event


def started(folder: RunFolder, ready: Event) -> Started:
    """By its event `ready`, and what was written before it."""
    spawned = folder.event("spawned") or ready
    seconds = float(ready["t_s"]) - float(spawned["t_s"])
    return Started(folder, seconds, float(ready.get("token_s", 0.0)), kv_tokens_measured(folder))


def _ended(folder: RunFolder, prepared: Startable, event: Event) -> LaunchFailed:
    _await_gone(folder, prepared)
    reason = str(event.get("reason", ""))
    if event["event"] == "stopped":
        return LaunchFailed(
            f"{folder.name} was stopped while it was starting: {reason}",
            remedy=f"moonpad up {shell_word(folder.about().get('spec', ''))}",
        )
    given_up = folder.last_event("refused", "overdue")
    if given_up and given_up.get("reason") == reason:
        return why_ended(folder, prepared, reason)
    # It ended by itself, before or after the controller had given it up.
    return why_ended(folder, prepared, f"{prepared.program} ended while {phase_of(folder, prepared.log)} ({reason})")


def _await_gone(folder: RunFolder, prepared: Startable) -> None:
    """The name's lock goes with the keeper: once the end is reported, a new start is possible at once."""
    until = time.monotonic() + LETTING_GO_S
    while is_kept(folder):
        if time.monotonic() > until:
            _clean_up(folder, prepared)
            return
        time.sleep(FOLLOW_S)


def _clean_up(folder: RunFolder, prepared: Startable) -> None:
    with suppress(ContactLost):
        stop_run(folder, prepared.stop_grace_s, patience_s=START_PATIENCE_S)


def stop_after_interrupt(
    folder: RunFolder, prepared: Startable, *, patience_s: float | None = START_PATIENCE_S
) -> Stopped:
    """Ctrl-C: one stops cleanly, a second one at once."""
    try:
        return stop_run(folder, prepared.stop_grace_s, patience_s=patience_s)
    except KeyboardInterrupt:
        return stop_run(folder, prepared.stop_grace_s, patience_s=0.0)


# --- why it ended ----------------------------------------------------------------------------------------------------


def why_ended(folder: RunFolder, prepared: Startable, what: str) -> LaunchFailed:
    """`what` with the cause that can be found: who has the port, and the first true error of the log."""
    failure = failure_of(folder, prepared.log, what)
    # By the check before the start: the process that has taken one of our ports by now.
    findings = check(prepared.deployment, prepared.ports, prepared.far)
    taken = [finding for finding in findings if finding.code is Code.PORT_TAKEN]
    lines = [what, *(finding.message for finding in taken)]
    if failure is not None:
        lines += [] if taken else [failure.message]
        lines.append(f"log: {failure.line[:400]}")
    remedy = taken[0].remedy if taken else failure.remedy if failure is not None else ""
    return LaunchFailed("\n  ".join(lines), remedy=remedy or f"the whole log is {folder.log_path}")


def failure_of(folder: RunFolder, grammar: LogGrammar, what: str = "") -> Failure | None:
    """The first true error of the last start: of the host that `what` names as the first to end, else of any."""
    hosts = (folder.about().get("hosts") or {}).items()
    far = {node: folder.path / far_log(node) for node, target in hosts if f" on {target} " in what}
    logs = [*far.values(), folder.log_path, *(folder.path / far_log(node) for node, _ in hosts if node not in far)]
    failures = (failure_in(_log_lines(folder, log), grammar) for log in logs)
    return next((failure for failure in failures if failure is not None), None)


def phase_of(folder: RunFolder, grammar: LogGrammar) -> str:
    """How far the log says that the last start came, `loading weights 40%`."""
    phase = "starting"
    for line in _log_lines(folder):
        if (progress := read_progress(grammar, line)) is not None:
            phase = progress.phase if progress.percent is None else f"{progress.phase} {progress.percent}%"
    return phase


def _log_lines(folder: RunFolder, log: Path | None = None) -> Iterator[str]:
    log = log or folder.log_path
    head = log.with_name(f"{log.name}.head")
    if head.exists():  # the log was cut, and this was its beginning
        return chain(islice(bounded_lines([head]), FIRST_LINES), last_lines(log, LAST_LINES))
    first = list(islice(bounded_lines([log]), FIRST_LINES))
    return chain(first, last_lines(log, LAST_LINES) if len(first) == FIRST_LINES else ())


# --- what is written down --------------------------------------------------------------------------------------------


def _write_run(folder: RunFolder, prepared: Startable) -> None:
    replace_text(folder.path / "spec.toml", prepared.loaded.text)
    replace_json(folder.path / "plan.json", prepared.plan_json())
    for path, rendered in prepared.rendered.items():
        replace_text(folder.path / "rendered" / path, rendered.text, rendered.mode)
    folder.write_about(
        digest=prepared.digest,
        spec=str(prepared.loaded.path.resolve()),
        base_url=prepared.endpoint.base_url,
        open_port=prepared.open_port,
        served_name=prepared.deployment.served_name,
        ports=sorted(prepared.ports.values()),
        hosts={node: host.target for node, host in prepared.far.items()},
        stop_grace_s=prepared.stop_grace_s,
        drain_s=drain_s(prepared.deployment),
        policy=as_dict(prepared.policy),
        **prepared.about(),
    )


def drain_s(deployment: Deployment) -> float:
    """How long it goes on with running requests once it is told to end, new ones refused; 0: it cannot."""
    return max((process.stop.drain_s for process in deployment.processes), default=0.0)
