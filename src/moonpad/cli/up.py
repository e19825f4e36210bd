"""`moonpad up`: from a spec to a running endpoint."""

from __future__ import annotations

from pathlib import Path

from moonpad.cli.interrupts import Interrupts
from moonpad.cli.output import Json
from moonpad.values.finding import Code


def up(
    spec: Path = Path("moonpad.toml"),
    *,
    no_wait: bool = False,
    foreground: bool = False,
    dry_run: bool = False,
    despite: list[Code] | None = None,
    json: Json = False,
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
    """
    overridden = frozenset(despite or ())
    if dry_run:
        from moonpad.cli.plan_from_spec import run_dry

        run_dry(spec, overridden, json=json)
        return
    from moonpad.run.launch import interrupts_blocked

    with interrupts_blocked():  # an interrupt in the middle of an import leaves a broken extension module
        from moonpad.cli.start import Start

        interrupts = Interrupts()
    Start(spec, interrupts, no_wait=no_wait, foreground=foreground, json=json).run(overridden)
