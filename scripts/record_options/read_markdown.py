"""The options of llama-server from tools/server/README.md of a release, which llama.cpp makes from its own parser.

A row is `| `-c, --ctx-size N` | what it does<br/>(env: LLAMA_ARG_CTX_SIZE) |`. Types are not in it: whether a value is
a number is told by the default, and all else stays a text.
"""

from __future__ import annotations

import io
import re
import sys
import tarfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import fetch  # noqa: E402

ROW = re.compile(r"^\| `(?P<spec>-(?:[^`\\]|\\.)+)` \| (?P<text>.*) \|$")
README = "tools/server/README.md"
DEFAULT = re.compile(r"default: (?P<default>[^,);]+)")


def fetch_readme(package: str, version: str, path: Path) -> None:
    """Keeps the page of one source distribution under `path`."""
    if path.exists():
        return
    _, url = fetch.release_url(package, version)
    with tarfile.open(fileobj=io.BytesIO(fetch.read(url.partition("#")[0]))) as archive:
        member = next(member for member in archive if member.name.endswith(README))
        page = archive.extractfile(member)
        if page is None:
            raise SystemExit(f"{package} {version} has no {README}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page.read())


def read_markdown(path: Path) -> dict[str, Any]:
    """A record as `ask.py` gives it, with the environment variables that set an option."""
    rows = [row for line in path.read_text().splitlines() if (row := ROW.match(line))]
    environment = sorted({name for row in rows for name in re.findall(r"\(env: ([A-Z0-9_]+)\)", row["text"])})
    return {
        "actions": [action(row["spec"].replace("\\|", "|"), row["text"]) for row in rows],
        "positionals": [],
        "prefixes": False,
        "values": {},
        "environment": environment,
    }


def action(spec: str, text: str) -> dict[str, Any]:
    parts = re.split(r",\s+(?=-)", spec.strip())
    names, shown = [], ""
    for part in parts:
        name, _, value = part.partition(" ")
        names.append(name)
        shown = shown or value.strip()
    # `-kvo, --kv-offload, -nkvo, --no-kv-offload`, but `--no-host` alone.
    switch = not shown and any(name.startswith("--") and not name.startswith("--no-") for name in names)
    opposite = switch and any(name.startswith("--no-") for name in names)
    negative = [name for name in names if opposite and re.match(r"--no-|-n", name)]
    positive = [name for name in names if name not in negative]
    match = DEFAULT.search(text)
    default = match["default"].strip().strip("'\"`") if match else None
    return {
        "names": positive,
        "negations": negative,
        "nargs": None if shown else 0,
        "choices": choices_of(shown, text),
        "type": kind_of(shown, default),
        "default": default if shown and default and re.fullmatch(r"[\w.:/+-]+", default) else None,
        "dest": dest_of(positive),
        "deprecated": "DEPRECATED" in text,
        "hidden": False,
    }


def choices_of(shown: str, text: str) -> list[str] | None:
    if listed := re.fullmatch(r"\{([\w,.-]+)\}", shown):
        return listed[1].split(",")
    if allowed := re.search(r"allowed values: ([\w, ]+?)(?:<br/>|$)", text):
        return [value.strip() for value in allowed[1].split(",")]
    return None


def kind_of(shown: str, default: str | None) -> str:
    if not shown:
        return "flag"
    if shown in ("N", "PORT", "SEED") and default is not None:
        if re.fullmatch(r"-?\d+", default):
            return "int"
        if re.fullmatch(r"-?\d*\.\d+", default):
            return "float"
    return "text"


def dest_of(names: list[str]) -> str:
    long = next((name for name in names if name.startswith("--")), names[0])
    return long.lstrip("-").replace("-", "_")
