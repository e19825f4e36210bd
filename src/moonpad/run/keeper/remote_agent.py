"""The other host's end of a run: starts that host's keeper, shows its log, stops it.

Everything that it needs is in one folder there, so each command can be repeated: after a cut connection it is run
again, and nothing is started twice (the keeper's lock sees to that).

    facts           what a JSON on standard input asks of this host; see `host_facts`
    survey          the same for `moonpad doctor`; see `host_survey`
    listen A S P …  listens at address A on ports P for S seconds, or until standard input ends; see `host_survey`
    place           a job as JSON on standard input → a folder with the files to run it; prints its path
    attach FOLDER   starts the keeper where it has not run yet; prints the engine's log until it has ended.
                    Anything that comes on standard input renews the keeper's lease
    window FOLDER   the same, but starts nothing, and shows only what is new
    ask FOLDER      prints the keeper's state while it runs, nothing once it has ended
    stop FOLDER S   stops whatever runs, within S seconds; attach starts it again
    remove FOLDER S the same, and removes the folder
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from moonpad.run.keeper.control_socket import request
from moonpad.run.keeper.host_facts import gather_facts
from moonpad.run.keeper.host_survey import serve_reach, take_survey
from moonpad.run.keeper.shared_memory import RESERVE, read_reserve
from moonpad.run.keeper.state_file import find_living, has_keeper
from moonpad.run.keeper.stop import remove_leftovers, stop_all
from moonpad.store.atomic_files import read_json, replace_as_is
from moonpad.store.paths import state_home

ARCHIVE = Path(__file__).parents[3]
"""The zipapp that this module is read from."""
POLL_S = 0.1
ANSWER_LIMIT_S = 5.0
START_LIMIT_S = 20.0
INCOMPLETE = 3
"""Exit status of `stop` where something is left: it has to be repeated."""


def main(words: list[str]) -> int:
    command, *rest = words
    if command == "facts":
        print(json.dumps(gather_facts(json.load(sys.stdin))))
        return 0
    if command == "survey":
        print(json.dumps(take_survey(json.load(sys.stdin))))
        return 0
    if command == "listen":
        serve_reach(rest[0], [int(port) for port in rest[2:]], float(rest[1]))
        return 0
    if command == "place":
        print(json.dumps({"folder": place(json.load(sys.stdin))}))
        return 0
    folder = Path(rest[0])
    if command == "ask":
        return print_state(folder)
    if command == "stop":
        return stop(folder, float(rest[1]))
    if command == "remove":
        return stop(folder, float(rest[1])) or remove(folder)
    if command in ("attach", "window"):
        return attach(folder, only_new=command == "window")
    print(f"{command} is not one of facts, survey, listen, place, attach, window, ask, stop, remove", file=sys.stderr)
    return 2


def place(job: dict[str, Any]) -> str:
    """Writes the files of one process of one run. The job holds secrets, so only its owner may read it."""
    folder = state_home() / "far" / job["id"]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = folder / f".keeper.pyz.{os.getpid()}.part"
    draft.write_bytes(ARCHIVE.read_bytes())
    draft.replace(folder / "keeper.pyz")
    for path, text, mode in job.pop("files"):
        replace_as_is(folder / path, text, mode)
    job.update(run_dir=str(folder), lock=str(folder / "run.lock"))
    for process in job["processes"]:
        process["log"] = str(folder / "engine.log")
    replace_as_is(folder / "job.json", json.dumps(job))
    return str(folder)


def read_state(folder: Path) -> dict[str, Any]:
    return read_json(folder / "keeper.json") or {}


def is_kept(folder: Path) -> bool:
    """Whether the folder's keeper lives: its state is written before it says that it works."""
    return has_keeper(read_state(folder))


def attach(folder: Path, *, only_new: bool) -> int:
    """Prints the log as it grows, until the keeper ends or the other end has gone. 0 where the run was stopped."""
    log = folder / "engine.log"
    offset = log.stat().st_size if only_new and log.exists() else 0
    if not only_new and not is_kept(folder):
        log.unlink(missing_ok=True)
        if problem := start(folder):
            print(problem, file=sys.stderr)
            return 1
    other_end = select.poll()
    other_end.register(1, select.POLLERR | select.POLLHUP)
    other_end.register(0, select.POLLIN | select.POLLHUP)
    while True:
        kept = is_kept(folder)  # before the log is read, so that its end is seen
        offset = show(log, offset)
        if not kept:
            break
        events = other_end.poll(POLL_S * 1000)
        if any(stream == 1 for stream, _ in events) or (events and not os.read(0, 4096)):
            return 1  # the connection is gone, and the engine lives on
        if events:
            with contextlib.suppress(OSError, ValueError):
                request(folder, {"do": "attend"}, ANSWER_LIMIT_S)
    state = read_state(folder)
    if not folder.is_dir():
        return 0  # it was stopped and removed
    print(f"moonpad: on {socket.gethostname()}: {state.get('because', 'its keeper was killed')}", flush=True)
    return 0 if state.get("state") == "stopped" else 1


def start(folder: Path) -> str:
    """ "" where the keeper runs, else why not."""
    job = read_json(folder / "job.json")
    if not job:
        return f"{folder} holds no job"
    for process in job["processes"]:
        process["env"] = {**os.environ, **process["env"]}
    command = (sys.executable, "-I", "-S", str(folder / "keeper.pyz"), "keep", str(folder))
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    output, _ = child.communicate(json.dumps(job).encode(), START_LIMIT_S)
    answer = json.loads(output or b"{}")
    if answer.get("ok") or answer.get("why") == "locked":  # another attach was faster: one engine all the same
        return ""
    return f"the keeper could not start: {answer.get('error') or answer.get('why') or 'it gave no answer'}"


def show(log: Path, offset: int) -> int:
    """Prints what follows `offset`; where the log ends now. A log that was cut is shown from its new start."""
    try:
        with log.open("rb") as file:
            file.seek(offset if offset <= os.fstat(file.fileno()).st_size else 0)
            while piece := file.read(1 << 16):
                os.write(1, piece)
            return file.tell()
    except FileNotFoundError:
        return offset


def print_state(folder: Path) -> int:
    if is_kept(folder):
        print(read_state(folder).get("state", "starting"))
    return 0


def stop(folder: Path, limit_s: float) -> int:
    """Asks the keeper; where it was killed, finishes its work from what it wrote down."""
    until = time.monotonic() + limit_s
    while is_kept(folder):
        with contextlib.suppress(OSError, ValueError):
            request(folder, {"do": "stop"}, ANSWER_LIMIT_S)
        time.sleep(POLL_S)
        if time.monotonic() > until:
            return INCOMPLETE
    state, log = read_state(folder), str(folder / "engine.log")
    result = stop_all(lambda: find_living(state, log), set(), 0.0, reap=lambda: None, hurry=lambda: True)
    if result["left"]:
        return INCOMPLETE
    remove_leftovers(state, read_reserve(str(folder / RESERVE)))
    return 0


def remove(folder: Path) -> int:
    gone = folder.with_name(f".{folder.name}.gone")
    folder.rename(gone)  # in one step, for a concurrent reader
    shutil.rmtree(gone)
    return 0
