"""`moonpad up`: from a spec to a running endpoint."""

from __future__ import annotations

import signal
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from moonpad.values.errors import PreflightRefused

if TYPE_CHECKING:
    from moonpad.facts.probe import Unknown
    from moonpad.run.expected import Expected
    from moonpad.run.prepare import Prepared
    from moonpad.run.up import Started
    from moonpad.store.run_folder import RunFolder


def up(
    spec: Path = Path("moonpad.toml"),
    *,
    no_wait: Annotated[bool, Parameter(negative=())] = False,
    foreground: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Start what a spec says, and wait until it answers with a real token.

    Parameters
    ----------
    spec
        The spec to start.
    no_wait
        Return once the engine is spawned; `moonpad status` says when it is ready.
    foreground
        Stay, show the log, and stop the engine with this command.
    json
        Print one JSON document on stdout.
    """
    from moonpad.run.launch import interrupts_held
    from moonpad.run.system import refuse_other_systems

    with interrupts_held():  # extension modules do not like a KeyboardInterrupt in the middle of their import
        from moonpad.run.prepare import prepare
        from moonpad.spec.load import load_spec
        from moonpad.store.run_folder import current_run

        import_module("moonpad.run.up")
        _stop_on_signals()
    refuse_other_systems()
    prepared = prepare(load_spec(spec))
    running = current_run(prepared.spec.name)
    if running is not None and _is_up(running):
        _already(running, prepared, spec, json)
        return
    expected = _preflight(prepared)
    _start(prepared, spec, expected, no_wait=no_wait, foreground=foreground, json=json)


def _is_up(folder: RunFolder) -> bool:
    from moonpad.run.truth import UP, truth_of

    return truth_of(folder, None).state in UP


def _already(folder: RunFolder, prepared: Prepared, spec: Path, json: bool) -> None:
    """A second `up` changes nothing and says so; with another spec under the same name it is refused."""
    from moonpad.cli.output import emit_json, next_command, out
    from moonpad.run.endpoints import endpoint_of
    from moonpad.run.truth import truth_of

    if folder.about().get("digest") != prepared.digest:
        raise PreflightRefused(
            f"{folder.name} is up with another spec or engine", remedy=f"moonpad down {folder.name}, then up again"
        )
    truth = truth_of(folder, endpoint_of(folder, prepared.key))
    if json:
        emit_json(
            {"changed": False, "run": folder.run_id, "state": truth.state, "base_url": prepared.endpoint.base_url}
        )
        return
    out().print(f"No change: {folder.name} is up already ({truth.state}), pid {truth.engine_pid or 'unknown'}.")
    next_command(f"moonpad verify {spec}" if truth.state == "ready" else "moonpad status")


def _preflight(prepared: Prepared) -> Expected | Unknown:
    from moonpad.cli.output import note
    from moonpad.facts.devices import devices
    from moonpad.plan.legality import exposure_findings
    from moonpad.run.expected import expect, memory_findings
    from moonpad.run.preflight import check, check_devices
    from moonpad.values.finding import errors_of
    from moonpad.values.plan import Platform

    plan = prepared.plan
    # Asked once: a driver's tool takes a second or more.
    there = None if prepared.engine.platform is Platform.CPU else devices()
    findings = (
        *prepared.findings,
        *exposure_findings(prepared.spec),
        *check(prepared.deployment, prepared.ports),
        *check_devices(there, plan.layout.world_size // plan.nodes),
    )
    expected = expect(prepared, there)
    findings = (*findings, *memory_findings(expected, plan.layout))
    if errors := errors_of(findings):
        raise PreflightRefused("refused before anything was started", findings=errors)
    for finding in findings:
        note(f"{finding.severity}: {finding.where}: {finding.message}")
    return expected


def _start(
    prepared: Prepared, spec: Path, expected: Expected | Unknown, *, no_wait: bool, foreground: bool, json: bool
) -> None:
    from moonpad.cli.output import emit_json, next_command, out
    from moonpad.cli.start_display import StartDisplay
    from moonpad.run.launch import interrupts_held
    from moonpad.run.up import await_ready, launch, note_facts, stop_after_interrupt

    folder: RunFolder | None = None
    try:
        with interrupts_held():
            folder = launch(prepared, command_age_s=_command_age_s(), foreground=foreground)
        note_facts(folder, expected)
        if no_wait:
            _ignore_signals()
            _say_spawned(folder, prepared, json)
            return
        with StartDisplay(prepared.spec.name) as display:
            started = await_ready(folder, prepared, display.show, expected)
        if not foreground:
            _ignore_signals()  # it is up and said so: a Ctrl-C from here on comes too late to mean the start
        if json:
            emit_json(_as_json(started, prepared))
        else:
            out().print(f"{prepared.spec.name} is ready at {prepared.endpoint.base_url} after {started.seconds:.1f} s")
            next_command(f"moonpad verify {spec}")
        if foreground:
            _follow(folder)
    except KeyboardInterrupt:
        if folder is not None:
            stop_after_interrupt(folder, prepared)
        raise


def _say_spawned(folder: RunFolder, prepared: Prepared, json: bool) -> None:
    from moonpad.cli.output import emit_json, next_command, out

    if json:
        emit_json({"changed": True, "run": folder.run_id, "state": "starting", "base_url": prepared.endpoint.base_url})
        return
    out().print(f"{prepared.spec.name} is starting; its log is {folder.log_path}")
    next_command("moonpad status")


def _as_json(started: Started, prepared: Prepared) -> dict[str, Any]:
    return {
        "changed": True,
        "run": started.folder.run_id,
        "state": "ready",
        "base_url": prepared.endpoint.base_url,
        "model": prepared.deployment.served_name,
        "start_s": round(started.seconds, 3),
        "first_token_s": round(started.token_s, 4),
        "kv_tokens": started.kv_tokens,
    }


def _follow(folder: RunFolder) -> None:
    """The log on stdout until the run ends or Ctrl-C."""
    from moonpad.cli.logs import follow
    from moonpad.run.truth import is_kept
    from moonpad.values.errors import LaunchFailed

    follow(folder, lambda: is_kept(folder))
    ended = folder.event("failed")
    if ended is not None:
        raise LaunchFailed(f"{folder.name}: {ended['reason']}", remedy=f"the log is {folder.log_path}")


def _command_age_s() -> float:
    """Seconds since this command's process was created, its imports included."""
    import psutil

    return max(0.0, time.time() - psutil.Process().create_time())


def _ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _stop_on_signals() -> None:
    """`kill` and a closed terminal stop a start as Ctrl-C does."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
