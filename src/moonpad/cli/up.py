"""`moonpad up`: from a spec to a running endpoint."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from moonpad.cli.interrupts import Interrupts, Terminated
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code

if TYPE_CHECKING:
    from moonpad.cli.foreground import Foreground
    from moonpad.facts.probe import Unknown
    from moonpad.run.memory_check import Expected
    from moonpad.run.prepare import Prepared
    from moonpad.run.up import Started
    from moonpad.store.run_folder import RunFolder
    from moonpad.values.finding import Finding


def up(
    spec: Path = Path("moonpad.toml"),
    *,
    no_wait: Annotated[bool, Parameter(negative=())] = False,
    foreground: Annotated[bool, Parameter(negative=())] = False,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    despite: Annotated[list[Code] | None, Parameter(negative=())] = None,
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
        Stay, show the log, and stop the engine with this command: under systemd, or as a container's first process.
    dry_run
        Judge the spec and show what would be started; look at neither the engine nor the devices, start nothing.
    despite
        The code of an error to override, like does-not-fit; `status` shows it.
    json
        Print one JSON document on stdout.
    """
    overridden = frozenset(despite or ())
    if dry_run:
        _show_only(spec, overridden, json=json)
        return
    from moonpad.run.launch import interrupts_blocked, refuse_other_systems

    with interrupts_blocked():  # extension modules do not like a KeyboardInterrupt in the middle of their import
        from moonpad.run.down import tidy_up
        from moonpad.run.prepare import prepare
        from moonpad.spec.loader import load_spec
        from moonpad.store.run_folder import current_run

        import_module("moonpad.run.up")
        interrupts = Interrupts()
    refuse_other_systems()
    prepared = prepare(load_spec(spec), overridden)
    running = current_run(prepared.spec.name)
    if running is not None and _is_up(running):
        _already(running, prepared, spec, no_wait=no_wait, json=json)
        return
    if running is not None:
        tidy_up(running)
    prepared, host_findings = _ask_hosts(prepared)
    expected = _preflight(prepared, host_findings)
    _start(prepared, spec, expected, interrupts, no_wait=no_wait, foreground=foreground, json=json)


def _show_only(spec: Path, despite: frozenset[Code], *, json: bool) -> None:
    from moonpad.cli.output import emit_json, next_command, note_findings, out
    from moonpad.engines import ENGINES
    from moonpad.report.plan_commands import commands_of
    from moonpad.run.planning import plan_spec
    from moonpad.spec.loader import load_spec
    from moonpad.values.deployment import Executable

    loaded = load_spec(spec)
    planned = plan_spec(loaded, despite=despite)
    engine = ENGINES[planned.plan.engine]
    deployment = engine.processes(planned.plan, Executable((engine.command,)))
    commands = commands_of(deployment, loaded.spec.model, here=True)
    if json:
        findings = [finding.as_json() for finding in planned.findings]
        emit_json({"changed": False, "processes": [command.as_json() for command in commands], "findings": findings})
        return
    note_findings(planned.findings)
    for command in commands:
        for line in command.lines():
            out().print(line)
    next_command(f"moonpad up {spec}")


def _is_up(folder: RunFolder) -> bool:
    """Raises PreflightRefused where it is being stopped: in a moment the name is free."""
    from moonpad.run.run_status import read_status

    truth = read_status(folder, None)
    if truth.stopping:
        raise PreflightRefused(
            f"{folder.name} {truth.because if 'is being stopped' in truth.because else 'is being stopped'}",
            remedy="try again in a moment; moonpad status says how far it is",
        )
    return truth.up


def _already(folder: RunFolder, prepared: Prepared, spec: Path, *, no_wait: bool, json: bool) -> None:
    """A second `up` changes nothing and says so; with another spec under the same name it is refused."""
    from dataclasses import asdict

    from moonpad.cli.output import emit_json, next_command, note, out
    from moonpad.run.endpoints import endpoint_of
    from moonpad.run.run_status import read_status

    about = folder.about()
    if about.get("digest") != prepared.digest:
        raise PreflightRefused(
            f"{folder.name} is up with another spec or engine", remedy=f"moonpad down {folder.name}, then up again"
        )
    truth = read_status(folder, endpoint_of(folder, prepared.key))
    if json:
        emit_json(
            {"changed": False, "run": folder.run_id, "state": truth.state, "base_url": prepared.endpoint.base_url}
        )
        return
    out().print(f"No change: {folder.name} is up already ({truth.state}), pid {truth.engine_pid or 'unknown'}.")
    if about.get("policy") not in (None, asdict(prepared.policy)):
        note("note: [launch] of the spec has changed since; it counts from the next start on")
    if truth.state == "ready":
        next_command(f"moonpad verify {spec}")
    elif not no_wait:
        next_command("moonpad status")


def _preflight(prepared: Prepared, host_findings: tuple[Finding, ...]) -> Expected | Unknown:
    from moonpad.cli.output import note_findings
    from moonpad.facts.devices import devices
    from moonpad.plan.from_spec import exposure_findings
    from moonpad.run.memory_check import expect, start_findings
    from moonpad.run.preflight import check, check_devices
    from moonpad.values.finding import errors_of
    from moonpad.values.platform import Platform

    plan = prepared.plan
    # Asked once: a driver's tool takes a second or more.
    there = None if prepared.engine.platform is Platform.CPU else devices()
    expected = expect(prepared, there)
    findings = (
        *exposure_findings(prepared.spec),
        *check(prepared.deployment, prepared.ports, prepared.far),
        *host_findings,
        *check_devices(there, plan.layout.world_size // plan.nodes),
        *start_findings(prepared, expected),
    )
    if errors := errors_of(findings):
        raise PreflightRefused("refused before anything was started", findings=errors)
    note_findings(findings)
    return expected


def _ask_hosts(prepared: Prepared) -> tuple[Prepared, tuple[Finding, ...]]:
    """With what the other hosts say of themselves, and what of it is in the way."""
    from dataclasses import replace

    from moonpad.cli.output import busy
    from moonpad.run.host_agreement import ask_hosts, host_findings

    if not prepared.far:
        return prepared, ()
    with busy(f"asking {', '.join(host.target for host in prepared.far.values())}"):
        hosts = ask_hosts(prepared)
    interfaces = {host.node: host.interface for host in hosts if host.interface is not None}
    return replace(prepared, interfaces=interfaces), host_findings(prepared, hosts)


def _start(
    prepared: Prepared,
    spec: Path,
    expected: Expected | Unknown,
    interrupts: Interrupts,
    *,
    no_wait: bool,
    foreground: bool,
    json: bool,
) -> None:
    from moonpad.cli.output import emit_json, next_command, out
    from moonpad.cli.start_display import StartDisplay
    from moonpad.run.launch import interrupts_blocked
    from moonpad.run.up import await_ready, launch, note_facts

    stay = _foreground(prepared) if foreground else None
    folder: RunFolder | None = None
    try:
        interrupts.raise_lost()
        with interrupts_blocked():
            folder = launch(prepared, command_age_s=_command_age_s(), foreground=foreground)
        _say_taken_over(folder)
        note_facts(folder, expected)
        if no_wait and stay is None:
            interrupts.end()
            _say_spawned(folder, prepared, json)
            return
        with StartDisplay(prepared.spec.name, stay.show if stay else None) as display:
            ticks = (interrupts.raise_lost, stay.tick) if stay else (interrupts.raise_lost,)
            started = await_ready(folder, prepared, display.show, expected, ticks)
        if stay is None:
            interrupts.end()  # it is up and said so: a Ctrl-C from here on comes too late to mean the start
        if json:
            emit_json(_as_json(started, prepared))
        else:
            out().print(f"{prepared.spec.name} is ready at {prepared.endpoint.base_url} after {started.seconds:.1f} s")
            if prepared.open_port:
                out().print(f"Others reach its API, and nothing else of it, at port {prepared.open_port}.")
            next_command(f"moonpad verify {spec}")
        if stay is not None:
            stay.follow(folder)
    except KeyboardInterrupt as interrupt:
        _stop(folder, prepared, stay)
        if stay is None or not isinstance(interrupt, Terminated):
            raise


def _foreground(prepared: Prepared) -> Foreground:
    from moonpad.cli.foreground import Foreground

    return Foreground(prepared)


def _stop(folder: RunFolder | None, prepared: Prepared, stay: Foreground | None) -> None:
    from moonpad.run.up import START_PATIENCE_S, stop_after_interrupt

    if folder is None:
        return
    if stay is not None:
        stay.say_stopping()
    # Once it is ready it has requests, and the time of any other stop.
    patience_s = None if stay is not None and stay.is_ready else START_PATIENCE_S
    stop_after_interrupt(folder, prepared, patience_s=patience_s)


def _say_taken_over(folder: RunFolder) -> None:
    """Fault 17: the lock of a keeper that was killed stood no more in the way."""
    from moonpad.cli.output import note

    if (event := folder.event("lock_taken_over")) is None:
        return
    holder = event.get("holder") or {}
    who = f"{holder.get('user', 'somebody')} on {holder.get('host', 'this host')}"
    since = f"at {holder.get('at', 'an unknown time')}, and whose keeper (pid {holder.get('pid', 'unknown')}) is gone"
    note(f"warning: took over the lock of run {holder.get('run', 'unknown')}, which {who} started {since}")


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
        "open_port": prepared.open_port,
        "model": prepared.deployment.served_name,
        "start_s": round(started.seconds, 3),
        "first_token_s": round(started.token_s, 4),
        "kv_tokens": started.kv_tokens,
    }


def _command_age_s() -> float:
    """Seconds since this command's process was created, its imports included."""
    import psutil

    return max(0.0, time.time() - psutil.Process().create_time())
