"""Options read from what somebody kept of a parser: the text of `--help`, or its actions as JSON.

Help shows names, whether a value follows, and choices; not types. It serves where there is no better source, and to
check a record against the engine's own words.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

OPTION = re.compile(r"^ {0,4}(?P<spec>-{1,2}[A-Za-z][^\s].*?)(?:\s{2,}.*)?$")
NAME = re.compile(r"^-{1,2}[A-Za-z][\w.-]*$")
CLICK_TYPES = {"INTEGER": "int", "FLOAT": "float", "TEXT": "text", "PATH": "text"}


def read_help(text: str) -> dict[str, dict[str, Any]]:
    """{name: {"names", "value", "choices", "type"}} from the option sections of an argparse or click help."""
    options: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        match = OPTION.match(line)
        if match is None or line.startswith("Usage"):
            continue
        names, shown = [], ""
        for part in re.split(r", (?=-)", match["spec"]):
            name, _, rest = part.partition(" ")
            names.append(name)
            shown = shown or rest.strip()
        if not all(NAME.match(name) for name in names):
            continue
        choices = re.match(r"\{(.*)\}$", shown)
        for name in names:
            options[name] = {
                "names": names,
                "value": bool(shown),
                "choices": choices[1].split(",") if choices else None,
                "type": CLICK_TYPES.get(shown, "text"),
            }
    return options


def read_actions(path: Path) -> dict[str, dict[str, Any]]:
    """The same, from a JSON object {dest: {"opts", "default", "choices", "cls"}}."""
    options: dict[str, dict[str, Any]] = {}
    for action in json.loads(path.read_text()).values():
        value = not any(part in action["cls"] for part in ("StoreTrue", "StoreFalse", "BooleanOptional", "_Help"))
        for name in action["opts"]:
            options[name] = {"names": action["opts"], "value": value, "choices": action["choices"], "type": "text"}
    return options


def differences(raw: dict[str, dict[str, Any]], recorded: dict[str, Any]) -> list[str]:
    """Where a record (one release, as `ask.py` prints it) says something else than what was kept."""
    ours = {name: action for action in recorded["actions"] for name in [*action["names"], *action["negations"]] if name}
    differences = []
    for name, seen in raw.items():
        if name not in ours:
            differences.append(f"{name} is not recorded")
            continue
        action = ours[name]
        if seen["value"] != (action["nargs"] != 0):
            differences.append(f"{name}: value {seen['value']}, recorded nargs {action['nargs']}")
        differ = set(map(str, seen["choices"] or ())) ^ set(action["choices"] or ())
        if seen["choices"] and differ:
            differences.append(f"{name}: choices {sorted(differ)} differ")
    return differences + [f"{name} is recorded only" for name in ours if name not in raw]
