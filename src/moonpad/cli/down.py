"""`moonpad down`: stops a run, and says what it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from moonpad.values.errors import UsageError

if TYPE_CHECKING:
    from moonpad.run.down import Stopped
    from moonpad.run.drain import Drained
    from moonpad.store.run_folder import RunFolder


def down(
    target: str | None = None,
    *,
    drain: str | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Stop a run; nothing of it survives.

    Parameters
    ----------
    target
        A spec or the name of an endpoint; without it, the one that is up.
    drain
        How long the requests that run may take to finish first, like 10s or 2m.
    json
        Print one JSON document on stdout.
    """
    from moonpad.cli.output import emit_json, next_command, note, out
    from moonpad.run.endpoints import find_run, name_of
    from moonpad.store.run_folder import current_run

    drain_s = _drain_s(drain)
    if target is not None and current_run(name_of(target)) is None:
        if json:
            emit_json({"name": name_of(target), "was_up": False})
        else:
            out().print(f"{name_of(target)} was never up here: nothing to stop.")
        return
    folder = find_run(target)
    stopped = _stop(folder, drain_s)
    for text in _notes(folder, stopped.drained, drain_s):
        note(f"note: {text}")
    if json:
        emit_json(_as_json(folder, stopped))
        return
    out().print(_sentence(folder, stopped))
    if stopped.was_up:
        next_command(f"moonpad up {folder.about().get('spec', '')}")


def _drain_s(text: str | None) -> float:
    if text is None:
        return 0.0
    from moonpad.spec.durations import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--drain: {error}") from None


def _stop(folder: RunFolder, drain_s: float) -> Stopped:
    """Ctrl-C means: now."""
    from moonpad.cli.output import clean, err
    from moonpad.run.down import stop_run

    grace_s = float(folder.about().get("stop_grace_s", 20.0))
    with err().status(clean(f"stopping {folder.name}")) as status:
        try:
            return stop_run(folder, grace_s, drain_s=drain_s, say=lambda text: status.update(clean(text)))
        except KeyboardInterrupt:
            return stop_run(folder, grace_s, patience_s=0.0)


def _notes(folder: RunFolder, drained: Drained | None, drain_s: float) -> list[str]:
    about = folder.about()
    if drained is None:
        return []
    if drained.running is None:
        return [f"{about.get('engine', 'the engine')} did not say how many requests it has: none were waited for"]
    if not drained.refuses_new:
        return ["this engine cannot refuse new requests: those that came in meanwhile were taken"]
    most_s = float(about.get("drain_s") or 0.0)
    if 0 < most_s < drain_s and drained.cut:
        return [f"the engine itself cuts after {most_s:g} s: [launch] drain of the spec it was started with"]
    return []


def _sentence(folder: RunFolder, stopped: Stopped) -> str:
    from moonpad.values.units import duration

    if not stopped.was_up:
        return f"{folder.name} was not up."
    drained = stopped.drained
    said = ""
    if drained is not None and drained.running:
        said = f"; {drained.finished} of {drained.running} running requests finished"
        said += f", {drained.cut} {'was' if drained.cut == 1 else 'were'} cut" if drained.cut else ""
    elif drained is not None and drained.cut:
        said = f"; {drained.cut} requests were cut"
    count = f"{stopped.killed} process{'es' * (stopped.killed != 1)}"
    killed = f", {count} had to be killed" if stopped.killed and not stopped.eased else ""
    return f"{folder.name} is down after {duration(stopped.seconds)}{said}{killed}; none of its processes is left."


def _as_json(folder: RunFolder, stopped: Stopped) -> dict[str, Any]:
    drained = stopped.drained
    return {
        "name": folder.name,
        "run": folder.run_id,
        "was_up": stopped.was_up,
        "signal": stopped.signal,
        "killed": stopped.killed,
        "seconds": round(stopped.seconds, 3),
        "drained": None
        if drained is None
        else {
            "running": drained.running,
            "finished": drained.finished,
            "cut": drained.cut,
            "refuses_new": drained.refuses_new,
        },
    }
