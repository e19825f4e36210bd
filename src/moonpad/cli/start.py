"""A start, from the spec to the first real token: what `moonpad up` does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moonpad.cli.foreground import Foreground
from moonpad.cli.interrupts import Interrupts, Terminated
from moonpad.cli.output import busy, emit, next_command, note, note_findings
from moonpad.cli.progress_display import StartDisplay
from moonpad.cli.starting import command_age_s, is_up, say_taken_over
from moonpad.facts.probe import Unknown
from moonpad.run.down import tidy_up
from moonpad.run.endpoints import endpoint_of
from moonpad.run.host_agreement import with_hosts
from moonpad.run.launch import interrupts_blocked, refuse_other_systems
from moonpad.run.memory_check import Expected
from moonpad.run.prepare import Prepared, prepare
from moonpad.run.prepare_router import prepare_group
from moonpad.run.run_status import read_status
from moonpad.run.start_checks import check_start
from moonpad.run.start_source import budget_of, note_source
from moonpad.run.up import START_PATIENCE_S, Started, await_ready, launch, note_facts, stop_after_interrupt
from moonpad.spec.loader import load_spec
from moonpad.store.run_folder import RunFolder, current_run
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding
from moonpad.values.platform import Platform
from moonpad.values.records import as_dict
from moonpad.values.visible_text import shell_word

if TYPE_CHECKING:
    from moonpad.cli.speed_after_start import SpeedAfterStart


@dataclass(frozen=True, slots=True)
class Start:
    """One `moonpad up` of a spec."""

    spec: Path
    interrupts: Interrupts
    no_wait: bool
    foreground: bool
    json: bool

    def run(self, despite: frozenset[Code]) -> None:
        refuse_other_systems()
        loaded = load_spec(self.spec)
        if loaded.spec.router is not None:
            from moonpad.cli.start_group import GroupStart

            GroupStart(self, prepare_group(loaded, despite)).run()
            return
        prepared = prepare(loaded, despite)
        running = current_run(prepared.spec.name)
        if running is not None and is_up(running):
            self._show_unchanged(running, prepared)
            return
        if running is not None:
            tidy_up(running)
        prepared, findings = _ask_hosts(prepared)
        self._start(prepared, _preflight(prepared, findings))

    def _show_unchanged(self, folder: RunFolder, prepared: Prepared) -> None:
        """A second `up` changes nothing and says so; with another spec under the same name it is refused."""
        about = folder.about()
        if about.get("digest") != prepared.digest:
            raise PreflightRefused(
                f"{folder.name} is up with another spec or engine", remedy=f"moonpad down {folder.name}, then up again"
            )
        status = read_status(folder, endpoint_of(folder, prepared.key))
        text = f"No change: {folder.name} is up already ({status.state}), pid {status.engine_pid or 'unknown'}."
        emit(text, _document(folder, prepared, status.state, changed=False), json=self.json)
        if self.json:
            return
        if about.get("policy") not in (None, as_dict(prepared.policy)):
            note("note: [launch] of the spec has changed since; it takes effect at the next start")
        if status.state == "ready":
            next_command(f"moonpad verify {shell_word(self.spec)}")
        elif not self.no_wait:
            next_command("moonpad status")

    def _start(self, prepared: Prepared, expected: Expected | Unknown) -> None:
        stay = Foreground(prepared) if self.foreground else None
        folder: RunFolder | None = None
        try:
            self.interrupts.raise_lost()
            with interrupts_blocked():
                folder = launch(prepared, command_age_s=command_age_s(), foreground=self.foreground)
            say_taken_over(folder)
            note_facts(folder, expected)
            on_devices = prepared.engine.platform is not Platform.CPU
            note_source(folder, prepared.checkpoint, has_loaders=on_devices)
            if self.no_wait and stay is None:
                self.interrupts.end()
                text = f"{prepared.spec.name} is starting; its log is {folder.log_path}"
                self._show(text, _document(folder, prepared, "starting"), "moonpad status")
                return
            with StartDisplay(prepared.spec.name, stay.show if stay else None) as display:
                ticks = (self.interrupts.raise_lost, stay.tick) if stay else (self.interrupts.raise_lost,)
                started = await_ready(folder, prepared, display.show, expected, ticks)
            if stay is None:
                self.interrupts.end()  # it is up and said so: a Ctrl-C from here on comes too late to mean the start
            text = f"{prepared.spec.name} is ready at {prepared.endpoint.base_url} after {started.seconds:.1f} s"
            budget = budget_of(folder)
            if budget is not None:
                text += f"\n{budget.line()}"
                text += f"\n{budget.advice}" if budget.advice else ""
            if prepared.open_port:
                text += f"\nOthers reach its API, and nothing else of it, at port {prepared.open_port}."
            speed = None if stay is not None else self._speed(folder, prepared)
            document = _started_document(started, prepared)
            document["speed"] = None if speed is None else speed.as_json()
            document["start"] = None if budget is None else budget.as_json()
            self._show(text, document, f"moonpad verify {shell_word(self.spec)}")
            if stay is not None:
                stay.follow(folder)
        except KeyboardInterrupt as interrupt:
            _stop(folder, prepared, stay)
            if stay is None or not isinstance(interrupt, Terminated):
                raise

    def _speed(self, folder: RunFolder, prepared: Prepared) -> SpeedAfterStart | None:
        """Asked while it has no user yet: their requests would make it slow."""
        from moonpad.cli.speed_after_start import speed_after_start

        speed = speed_after_start(prepared.planned, prepared.endpoint, folder.log_path)
        if speed is not None and speed.far_slower:
            note(f"warning: {speed.warning(self.spec)}")
        return speed

    def _show(self, text: str, document: dict[str, Any], following: str) -> None:
        emit(text, document, json=self.json)
        if not self.json:
            next_command(following)


def _ask_hosts(prepared: Prepared) -> tuple[Prepared, tuple[Finding, ...]]:
    """With what the other hosts report, and the findings that follow from it."""
    if not prepared.far:
        return prepared, ()
    with busy(f"asking {', '.join(host.target for host in prepared.far.values())}"):
        return with_hosts(prepared)


def _preflight(prepared: Prepared, findings_of_hosts: tuple[Finding, ...]) -> Expected | Unknown:
    expected, findings = check_start(prepared, findings_of_hosts)
    note_findings(findings)
    return expected


def _stop(folder: RunFolder | None, prepared: Prepared, stay: Foreground | None) -> None:
    if folder is None:
        return
    if stay is not None:
        stay.say_stopping()
    # Once it is ready it has requests, and the time of any other stop.
    patience_s = None if stay is not None and stay.is_ready else START_PATIENCE_S
    stop_after_interrupt(folder, prepared, patience_s=patience_s)


def _document(folder: RunFolder, prepared: Prepared, state: str, *, changed: bool = True) -> dict[str, Any]:
    return {"changed": changed, "run": folder.run_id, "state": state, "base_url": prepared.endpoint.base_url}


def _started_document(started: Started, prepared: Prepared) -> dict[str, Any]:
    return {
        **_document(started.folder, prepared, "ready"),
        "open_port": prepared.open_port,
        "model": prepared.deployment.served_name,
        "start_s": round(started.seconds, 3),
        "first_token_s": round(started.token_s, 4),
        "kv_tokens": started.kv_tokens,
    }
