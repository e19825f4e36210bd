"""Starts a prepared deployment and watches it until it answers. Whatever goes wrong on the way, nothing is left."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass

from moonpad.engines.log_grammar import Failure, Progress, first_failure
from moonpad.facts.gather import gather
from moonpad.facts.probe import Unknown
from moonpad.observe.log_tail import LogTail
from moonpad.observe.start import Ended, Healthy, Overdue, Ready, Refused, Sign, watch_start
from moonpad.run.container import ContainerEngine
from moonpad.run.down import stop_run
from moonpad.run.expected import Expected, keep_measured, write_expected
from moonpad.run.launch import start_keeper
from moonpad.run.prepare import Prepared
from moonpad.run.truth import is_kept
from moonpad.store.files import replace_json, replace_text
from moonpad.store.run_folder import RunFolder, create_run, point_to
from moonpad.values.errors import ContactLost, LaunchFailed

START_PATIENCE_S = 3.0
"""An engine that is still starting has no request to finish, and is deaf to INT for seconds while it imports."""


@dataclass(frozen=True, slots=True)
class Started:
    """`seconds` from the spawn to the first real token."""

    folder: RunFolder
    seconds: float
    token_s: float
    kv_tokens: int | None


def launch(prepared: Prepared, *, command_age_s: float, foreground: bool = False) -> RunFolder:
    """Writes the run folder and starts the keeper. `command_age_s` is how long the calling command has lived.

    Call it with `interrupts_held()`.

    Raises:
        PreflightRefused: the name's lock is held.
        LaunchFailed: the keeper could not be started.
    """
    folder = create_run(prepared.spec.name)
    try:
        _write_run(folder, prepared)
        folder.append_event("up", command_age_s=round(command_age_s, 3))
        start_keeper(folder, prepared.bound(folder.path), grace_s=prepared.plan.stop_grace_s, foreground=foreground)
    except BaseException:
        if not is_kept(folder):
            folder.remove()
        raise
    point_to(folder)
    return folder


def note_facts(folder: RunFolder, expected: Expected | Unknown) -> None:
    """What there is, and what the plan expects of the memory, written beside the run. After the spawn: it can wait."""
    replace_json(folder.path / "facts.json", gather())
    write_expected(folder, expected)


def await_ready(
    folder: RunFolder, prepared: Prepared, show: Callable[[Sign], None], expected: Expected | Unknown
) -> Started:
    """Watches until one real token came back; stops the run and raises where it never does.

    Raises:
        LaunchFailed: with the first true error of the log.
    """
    tail = LogTail(folder.log_path)
    kv_tokens: int | None = None
    budget_s = max(process.start_budget_s for process in prepared.deployment.processes)
    signs = watch_start(tail, prepared.engine.log, prepared.endpoint, lambda: not is_kept(folder), budget_s)
    phase = "starting"
    for sign in signs:
        show(sign)
        match sign:
            case Progress():
                phase = sign.phase if sign.percent is None else f"{sign.phase} {sign.percent}%"
                folder.append_event("phase", phase=sign.phase, percent=sign.percent, **sign.figures)
                if "kv_tokens" in sign.figures:
                    kv_tokens = int(sign.figures["kv_tokens"])
            case Healthy():
                folder.append_event("healthy")
            case Ready(token_s):
                ready = folder.append_event("ready", token_s=round(token_s, 4), seen_by="up")
                spawned = folder.event("spawned")
                keep_measured(folder, prepared, expected)
                return Started(folder, ready["t_s"] - spawned["t_s"] if spawned else 0.0, token_s, kv_tokens)
            case Refused(answer):
                said = f"{answer.status or 'no answer'}: {answer.text[:300]}"
                _give_up(folder, prepared, f"/health answered 200, and the first real request failed ({said})")
            case Ended():
                _give_up(folder, prepared, f"the engine ended while {phase}")
            case Overdue(budget_s):
                _give_up(folder, prepared, f"not ready after {budget_s:.0f} s, the last phase was: {phase}")
    raise LaunchFailed("the start ended without a sign")


def stop_after_interrupt(folder: RunFolder, prepared: Prepared) -> None:
    """Ctrl-C during a start: one stops cleanly, a second one at once."""
    try:
        stop_run(folder, prepared.plan.stop_grace_s, patience_s=START_PATIENCE_S)
    except KeyboardInterrupt:
        stop_run(folder, prepared.plan.stop_grace_s, patience_s=0.0)


def failure_of(folder: RunFolder, prepared: Prepared) -> Failure | None:
    """The first true error of the engine's log."""
    if not folder.log_path.exists():
        return None
    with folder.log_path.open(encoding="utf-8", errors="replace") as lines:
        return first_failure(prepared.engine.log, lines)


def _give_up(folder: RunFolder, prepared: Prepared, what: str) -> None:
    ended = folder.event("failed")
    with suppress(ContactLost):
        stop_run(folder, prepared.plan.stop_grace_s, patience_s=START_PATIENCE_S)
    failure = failure_of(folder, prepared)
    how = f" ({ended['reason']})" if ended else ""
    if failure is None:
        raise LaunchFailed(f"{what}{how}", remedy=f"the log is {folder.log_path}")
    raise LaunchFailed(
        f"{what}{how}\n  {failure.message}\n  log: {failure.line[:400]}",
        remedy=failure.remedy or f"the whole log is {folder.log_path}",
    )


def _write_run(folder: RunFolder, prepared: Prepared) -> None:
    spec = prepared.spec
    replace_text(folder.path / "spec.toml", prepared.loaded.text)
    replace_json(folder.path / "plan.json", asdict(prepared.plan))
    for path, rendered in prepared.rendered.items():
        replace_text(folder.path / "rendered" / path, rendered.text, rendered.mode)
    key = {"env": spec.endpoint.api_key_env, "file": prepared.key_file}
    folder.write_about(
        digest=prepared.digest,
        spec=str(prepared.loaded.path.resolve()),
        base_url=prepared.endpoint.base_url,
        served_name=prepared.deployment.served_name,
        engine=prepared.engine.name,
        engine_version=prepared.engine_version,
        container=_container(prepared),
        checkpoint=str(prepared.checkpoint.folder),
        key=key if prepared.key else None,
        stop_grace_s=prepared.plan.stop_grace_s,
    )


def _container(prepared: Prepared) -> dict[str, str] | None:
    """What `status` and `down` need to ask for the run's container."""
    installed = prepared.installed
    return asdict(installed) if isinstance(installed, ContainerEngine) else None
