"""The user's own deployment: left alone, or with `--in-place` drained, and started again at the end.

What was taken down stands in the journal before it is stopped, so that a tune that was killed brings it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from moonpad.run.down import stop_run, tidy_up
from moonpad.run.prepare import prepare
from moonpad.run.run_status import read_status
from moonpad.spec.loader import LoadedSpec, parse_spec
from moonpad.store.run_folder import RunFolder, current_run
from moonpad.tune.candidate_run import start
from moonpad.tune.journal import TuneFolder
from moonpad.tune.subject import Subject
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code
from moonpad.values.plan import Platform
from moonpad.values.visible_text import shell_word


def running_run(name: str) -> RunFolder | None:
    """The user's run of that name, where it is up."""
    folder = current_run(name)
    return folder if folder is not None and read_status(folder, None).up else None


def make_room(folder: TuneFolder, subject: Subject, *, in_place: bool, say: Callable[[str], None]) -> None:
    """Takes the spec's own deployment down where that was asked for; else leaves it as it is.

    Raises:
        PreflightRefused: it holds the devices, or the ports of hosts, that the candidates need; or it is copies behind
            a router.
    """
    running = running_run(subject.loaded.spec.name)
    if running is None:
        return
    down, copies = f"moonpad down {shell_word(running.name)}", subject.load.copies
    if in_place and copies > 1:
        raise PreflightRefused(
            f"{running.name} is up, and --in-place does not drain the {copies} copies behind a router", remedy=down
        )
    if not in_place:
        # On hosts of its own the port at which the ranks meet is one for all runs.
        if subject.prepared.engine.platform is not Platform.CPU or subject.loaded.spec.hosts:
            drain = "--in-place drains it, and starts it again at the end; or "
            raise PreflightRefused(
                f"{running.name} is up and holds what its candidates need",
                remedy=f"{'' if copies > 1 else drain}{down} first",
            )
        say(f"{running.name} is up and stays as it is; what it serves meanwhile disturbs the measurement")
        return
    about = running.about()
    folder.append(
        "took_down",
        name=running.name,
        run=running.run_id,
        spec=str(about.get("spec", "")),
        text=(running.path / "spec.toml").read_text(encoding="utf-8"),
        despite=list(about.get("despite", ())),
    )
    say(f"draining {running.name}; it is started again at the end")
    stop_run(running, float(about.get("stop_grace_s", 20.0)), drain_s=subject.loaded.spec.launch.drain_s, say=say)


def taken_down(events: list[dict[str, Any]]) -> Mapping[str, Any] | None:
    """What is to be started again; None where nothing is."""
    last = next((event for event in reversed(events) if event.get("event") in ("took_down", "restored")), None)
    return last if last is not None and last["event"] == "took_down" else None


def put_back(folder: TuneFolder, say: Callable[[str], None]) -> bool:
    """Starts what was taken down, and whether there was something. Where its owner has started it again, it stays.

    Raises:
        MoonpadError: it does not start.
    """
    down = taken_down(folder.events())
    if down is None:
        return False
    name = str(down["name"])
    if running_run(name) is None:
        say(f"starting {name} again")
        path = Path(str(down["spec"]))
        text = str(down["text"])
        loaded = LoadedSpec(parse_spec(text, name=name, where=str(path)), text, path)
        if (before := current_run(name)) is not None:
            tidy_up(before)
        start(prepare(loaded, frozenset(map(Code, down["despite"]))), lambda: None, stays=True)
        say(f"{name} is up again: moonpad status {shell_word(name)}")
    folder.append("restored", name=name)
    return True
