"""`moonpad down`: stops a run, and reports what it took."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from moonpad.cli.output import Json, busy, emit, next_command, note
from moonpad.run.down import Stopped, stop_run
from moonpad.run.drain import Drained
from moonpad.run.endpoints import copies_of, find_run, name_of
from moonpad.spec.safe_text import parse_duration
from moonpad.store.run_folder import RunFolder, current_run
from moonpad.values.errors import UsageError
from moonpad.values.records import as_dict
from moonpad.values.units import duration
from moonpad.values.visible_text import shell_word


def down(
    target: str | None = None,
    *,
    drain: str | None = None,
    json: Json = False,
) -> None:
    """Stop a run; nothing of it survives.

    Parameters
    ----------
    target
        A spec or the name of an endpoint; without it, the one that is up.
    drain
        How long running requests may take to finish first, like 10s or 2m.
    """
    try:
        drain_s = parse_duration(drain) if drain is not None else 0.0
    except ValueError as error:
        raise UsageError(f"--drain: {error}") from None
    name = name_of(target) if target is not None else ""
    if name and current_run(name) is None and not copies_of(name):
        emit(f"{name} has no run on this machine: nothing to stop.", {"name": name, "was_up": False}, json=json)
        return
    folder = find_run(target) if current_run(name) or not name else None
    copies = copies_of(folder.name if folder else name)
    if copies:
        _down_group(folder, copies, drain_s, json=json)
        return
    assert folder is not None  # noqa: S101 - for mypy
    stopped = _stop(folder, drain_s)
    for text in _notes(folder, stopped.drained, drain_s):
        note(f"note: {text}")
    emit(_sentence(folder, stopped), _as_json(folder, stopped), json=json)
    if stopped.was_up and not json:
        next_command(f"moonpad up {shell_word(folder.about().get('spec', ''))}")


def _down_group(folder: RunFolder | None, copies: tuple[RunFolder, ...], drain_s: float, *, json: bool) -> None:
    """The router first, which finishes what runs and takes nothing new; then all its copies at once. `folder` None: the
    router was never started."""
    stops: list[tuple[RunFolder, Stopped]] = []
    if folder is not None:
        stops.append((folder, _stop(folder, drain_s)))
    with ThreadPoolExecutor(len(copies)) as pool, busy(f"stopping {', '.join(copy.name for copy in copies)}"):
        stops += zip(copies, pool.map(_stop_copy, copies), strict=True)
    for stopped_folder, stopped in stops:
        for text in _notes(stopped_folder, stopped.drained, drain_s):
            note(f"note: {text}")
    sentences = [_sentence(stopped_folder, stopped) for stopped_folder, stopped in stops]
    rows = [_as_json(stopped_folder, stopped) for stopped_folder, stopped in stops]
    document = {**rows[0], "was_up": any(row["was_up"] for row in rows), "replicas": rows[len(rows) - len(copies) :]}
    emit("\n".join(sentences), document, json=json)
    if document["was_up"] and not json:
        next_command(f"moonpad up {shell_word(copies[0].about().get('spec', ''))}")


def _stop_copy(copy: RunFolder) -> Stopped:
    return stop_run(copy, float(copy.about().get("stop_grace_s", 20.0)))


def _stop(folder: RunFolder, drain_s: float) -> Stopped:
    """Ctrl-C means: at once."""
    grace_s = float(folder.about().get("stop_grace_s", 20.0))
    with busy(f"stopping {folder.name}") as say:
        try:
            return stop_run(folder, grace_s, drain_s=drain_s, say=say)
        except KeyboardInterrupt:
            return stop_run(folder, grace_s, patience_s=0.0)


def _notes(folder: RunFolder, drained: Drained | None, drain_s: float) -> list[str]:
    about = folder.about()
    if drained is None:
        return []
    if drained.running is None:
        return [f"{about.get('engine', 'the engine')} does not report its requests: it was stopped without waiting"]
    if not drained.refuses_new:
        return ["this engine cannot refuse new requests: it also accepted those that came in meanwhile"]
    most_s = float(about.get("drain_s") or 0.0)
    if 0 < most_s < drain_s and drained.cut:
        return [f"the engine itself cuts requests off after {most_s:g} s: [launch] drain of its spec"]
    return []


def _sentence(folder: RunFolder, stopped: Stopped) -> str:
    if not stopped.was_up:
        return f"{folder.name} was not up."
    drained = stopped.drained
    requests = ""
    if drained is not None and drained.running:
        requests = f"; {drained.finished} of {drained.running} running requests finished"
        requests += f", {drained.cut} {'was' if drained.cut == 1 else 'were'} cut off" if drained.cut else ""
    elif drained is not None and drained.cut:
        requests = f"; {drained.cut} requests were cut off"
    count = f"{stopped.killed} process{'es' * (stopped.killed != 1)}"
    killed = f", {count} had to be killed" if stopped.killed and not stopped.eased else ""
    return f"{folder.name} is down after {duration(stopped.seconds)}{requests}{killed}; none of its processes is left."


def _as_json(folder: RunFolder, stopped: Stopped) -> dict[str, Any]:
    return {
        "name": folder.name,
        "run": folder.run_id,
        "was_up": stopped.was_up,
        "signal": stopped.signal,
        "killed": stopped.killed,
        "seconds": round(stopped.seconds, 3),
        "drained": as_dict(stopped.drained) if stopped.drained else None,
    }
