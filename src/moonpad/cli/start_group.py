"""A start of several copies behind a router: the copies, and once each has answered, the router.

Each of them is a run of its own, with its keeper and its controller, so that one that dies is restarted alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from moonpad.cli.foreground import Foreground
from moonpad.cli.interrupts import Terminated
from moonpad.cli.output import emit, next_command, note_findings
from moonpad.cli.progress_display import StartDisplay
from moonpad.cli.starting import command_age_s, is_up, say_taken_over
from moonpad.facts.devices import devices
from moonpad.facts.probe import Unknown
from moonpad.plan.from_spec import exposure_findings
from moonpad.run.down import stop_run, tidy_up
from moonpad.run.endpoints import endpoint_of
from moonpad.run.launch import interrupts_blocked
from moonpad.run.memory_check import Expected, expect, start_findings
from moonpad.run.preflight import check, check_devices, check_memory
from moonpad.run.prepare import Prepared
from moonpad.run.prepare_router import PreparedRouter
from moonpad.run.run_status import read_status
from moonpad.run.startable import Startable
from moonpad.run.up import START_PATIENCE_S, await_ready, launch, note_facts
from moonpad.store.run_folder import RunFolder, current_run
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import errors_of
from moonpad.values.platform import Platform
from moonpad.values.visible_text import shell_word

if TYPE_CHECKING:
    from moonpad.cli.start import Start

NOTHING_EXPECTED = Unknown("a router has no memory of devices")


@dataclass(slots=True)
class GroupStart:
    """One `moonpad up` of a spec with `[router]`. What is up already stays as it is; what is missing is started."""

    command: Start
    router: PreparedRouter
    launched: list[tuple[RunFolder, Startable]] = field(default_factory=list)

    def run(self) -> None:
        everything: tuple[Startable, ...] = (*self.router.copies, self.router)
        missing = [prepared for prepared in everything if not _runs_already(prepared)]
        if not missing:
            self._show("No change: {name} is up already", changed=False)
            return
        copies = [copy for copy in self.router.copies if copy in missing]
        expected = self._preflight(missing, copies)
        stay = Foreground(self.router) if self.command.foreground else None
        try:
            self._start(missing, copies, expected, stay)
        except KeyboardInterrupt as interrupt:
            if stay is not None:
                stay.say_stopping()
            self._stop_launched()
            if stay is None or not isinstance(interrupt, Terminated):
                raise
        except BaseException:
            self._stop_launched()
            raise

    def _start(
        self,
        missing: Sequence[Startable],
        copies: Sequence[Prepared],
        expected: Expected | Unknown,
        stay: Foreground | None,
    ) -> None:
        folders = [self._launch(copy, expected) for copy in copies]
        if self.command.no_wait and stay is None:
            if self.router in missing:
                self._launch(self.router, NOTHING_EXPECTED)
            self.command.interrupts.end()
            self._show("{name} is starting", changed=True)
            return
        for copy, folder in zip(copies, folders, strict=True):
            self._await(copy, folder, expected, stay)
        if self.router in missing:
            folder = self._launch(self.router, NOTHING_EXPECTED)
            self._await(self.router, folder, NOTHING_EXPECTED, stay)
        if stay is None:
            self.command.interrupts.end()
        self._show("{name} is ready", changed=True)
        if stay is not None:
            followed = current_run(self.router.name)
            assert followed is not None  # noqa: S101 - for mypy
            stay.follow(followed)
            self._stop_launched()

    def _launch(self, prepared: Startable, expected: Expected | Unknown) -> RunFolder:
        self.command.interrupts.raise_lost()
        with interrupts_blocked():
            folder = launch(prepared, command_age_s=command_age_s(), foreground=self.command.foreground)
            self.launched.append((folder, prepared))
        say_taken_over(folder)
        note_facts(folder, expected)
        return folder

    def _await(
        self, prepared: Startable, folder: RunFolder, expected: Expected | Unknown, stay: Foreground | None
    ) -> None:
        raise_lost = self.command.interrupts.raise_lost
        is_router = prepared is self.router
        with StartDisplay(prepared.name, stay.show if stay and is_router else None) as display:
            await_ready(folder, prepared, display.show, expected, (raise_lost, stay.tick) if stay else (raise_lost,))

    def _stop_launched(self) -> None:
        """The router first, then the copies, all at once."""
        routers = [each for each in self.launched if each[1] is self.router]
        copies = [each for each in self.launched if each[1] is not self.router]
        for folder, prepared in routers:
            stop_run(folder, prepared.stop_grace_s)
        if copies:
            with ThreadPoolExecutor(len(copies)) as pool:
                stops = [pool.submit(_stop, folder, prepared) for folder, prepared in copies]
                for stop in stops:
                    stop.result()

    def _preflight(self, missing: Sequence[Startable], copies: Sequence[Prepared]) -> Expected | Unknown:
        """One refusal for everything that is missing. Raises PreflightRefused."""
        first = self.router.copies[0]
        there = None if first.engine.platform is Platform.CPU else devices()
        expected = expect(first, there)
        together = sum(process.needs.memory_bytes for copy in copies for process in copy.deployment.processes)
        needed = first.plan.layout.world_size // first.plan.nodes * len(self.router.copies)
        findings = (
            *exposure_findings(self.router.loaded.spec),
            *(finding for prepared in missing for finding in check(prepared.deployment, prepared.ports)),
            *(check_memory(f"{len(copies)} copies together", together) if len(copies) > 1 else ()),
            # The devices of a copy that is up are busy, and may be.
            *(check_devices(there, needed) if len(copies) == len(self.router.copies) else ()),
            *start_findings(first, expected),
        )
        if errors := errors_of(findings):
            raise PreflightRefused("refused before anything was started", findings=tuple(dict.fromkeys(errors)))
        note_findings(tuple(dict.fromkeys(findings)))
        return expected

    def _show(self, what: str, *, changed: bool) -> None:
        router, command = self.router, self.command
        names = ", ".join(copy.name for copy in router.copies)
        text = f"{what.format(name=router.name)}: {router.router.name} at {router.endpoint.base_url} before {names}"
        if router.open_port:
            text += f"\nOthers reach its API, and nothing else of it, at port {router.open_port}."
        emit(text, self._document(changed), json=command.json)
        if not command.json:
            waits = "is starting" in what
            next_command("moonpad status" if waits else f"moonpad verify {shell_word(command.spec)}")

    def _document(self, changed: bool) -> dict[str, Any]:
        folder, router = current_run(self.router.name), self.router
        state = read_status(folder, endpoint_of(folder, router.key)).state if folder else "starting"
        return {
            "changed": changed,
            "run": folder.run_id if folder else None,
            "state": str(state),
            "base_url": router.endpoint.base_url,
            "open_port": router.open_port,
            "model": router.deployment.served_name,
            "replicas": [copy.name for copy in router.copies],
        }


def _stop(folder: RunFolder, prepared: Startable) -> None:
    stop_run(folder, prepared.stop_grace_s, patience_s=START_PATIENCE_S)


def _runs_already(prepared: Startable) -> bool:
    """Raises PreflightRefused: under that name something else is up, or it is just being stopped."""
    running = current_run(prepared.name)
    if running is None:
        return False
    if not is_up(running):
        tidy_up(running)
        return False
    if running.about().get("digest") != prepared.digest:
        raise PreflightRefused(
            f"{prepared.name} is up with another spec or engine",
            remedy=f"moonpad down {prepared.loaded.path}, then up again",
        )
    return True
