"""`moonpad down`: stops a run, and says what it took."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter


def down(
    target: str | None = None,
    *,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Stop a run; nothing of it survives.

    Parameters
    ----------
    target
        A spec or the name of an endpoint; without it, the one that is up.
    json
        Print one JSON document on stdout.
    """
    from moonpad.cli.output import emit_json, err, next_command, out
    from moonpad.run.down import stop_run
    from moonpad.run.endpoints import find_run, name_of
    from moonpad.store.run_folder import current_run
    from moonpad.values.units import duration

    if target is not None and current_run(name_of(target)) is None:
        if json:
            emit_json({"name": name_of(target), "was_up": False})
        else:
            out().print(f"{name_of(target)} was never up here: nothing to stop.")
        return
    folder = find_run(target)
    grace_s = float(folder.about().get("stop_grace_s", 20.0))
    with err().status(f"stopping {folder.name}"):
        try:
            stopped = stop_run(folder, grace_s)
        except KeyboardInterrupt:
            stopped = stop_run(folder, grace_s, patience_s=0.0)
    if json:
        emit_json(
            {
                "name": folder.name,
                "run": folder.run_id,
                "was_up": stopped.was_up,
                "signal": stopped.signal,
                "killed": stopped.killed,
                "seconds": round(stopped.seconds, 3),
            }
        )
        return
    if not stopped.was_up:
        out().print(f"{folder.name} was not up.")
        return
    killed = f", {stopped.killed} processes had to be killed" if stopped.killed else ""
    out().print(f"{folder.name} is down after {duration(stopped.seconds)}{killed}; none of its processes is left.")
    next_command(f"moonpad up {folder.about().get('spec', '')}")
