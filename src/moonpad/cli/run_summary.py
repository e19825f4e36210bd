"""The end of `make run`: the seconds of each phase, from the run's own events, and a request to try next."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

from moonpad.cli.output import out
from moonpad.run.endpoints import endpoint_of, find_run
from moonpad.store.run_folder import RunFolder
from moonpad.values.units import duration
from moonpad.values.visible_text import shell_word

QUESTION = "What is 84 * 3 / 2?"
IMPORTING = "importing the engine"
READY = "ready"
NAMES = {"spawned": IMPORTING, "healthy": "answering with one real token", "ready": READY}


def main(spec: Path) -> None:
    folder = find_run(spec)
    endpoint = endpoint_of(folder)
    out().print()
    out().print(f"{endpoint.model} is served by the real {endpoint.engine} at {endpoint.base_url}")
    for line in phases(folder):
        out().print(f"  {line}")
    out().print("Try a request:")
    out().print(f"  {curl(endpoint.base_url, endpoint.model)}")
    out().print("Chat: moonpad chat    Stop: make stop")


def phases(folder: RunFolder) -> list[str]:
    """Seconds of the start, phase by phase, up to the first real token."""
    begun: dict[str, float] = {}
    for event in folder.events():
        name = str(event.get("phase")) if event.get("event") == "phase" else NAMES.get(str(event.get("event")))
        if name is not None:
            begun.setdefault(name, float(event["t_s"]))
    lines = [f"{duration(begun[after] - begun[name]):>8}  {name}" for name, after in pairwise(begun)]
    if READY in begun:
        whole = begun[READY] - begun[IMPORTING]
        lines.append(f"{duration(whole):>8}  in total, from the spawn to the first real token")
    return lines


def curl(base_url: str, model: str) -> str:
    body = f'{{"model": "{model}", "messages": [{{"role": "user", "content": "{QUESTION}"}}]}}'
    return f"curl {base_url}/chat/completions -H 'Content-Type: application/json' -d {shell_word(body)}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
