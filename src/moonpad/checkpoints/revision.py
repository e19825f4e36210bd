"""Which commit of a repository a folder holds, by what Hugging Face's own tools leave beside the files.

A cache keeps each commit in `snapshots/COMMIT`; `hf download --local-dir` notes the commit of each file in
`.cache/huggingface/download/NAME.metadata`: https://huggingface.co/docs/huggingface_hub/guides/manage-cache.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from moonpad.checkpoints.files import read_bounded
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Code, Finding, Severity

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_PINNED: Final = re.compile(r"[0-9a-f]{7,40}")
MAX_METADATA_BYTES: Final = 10_000


def name_of(folder: Path) -> str:
    """`moonshotai/Kimi-K2-Thinking` for a folder of the cache, else the folder's own name."""
    home = folder.resolve()
    if home.parent.name == "snapshots" and home.parent.parent.name.startswith("models--"):
        return home.parent.parent.name.removeprefix("models--").replace("--", "/")
    return home.name


def revision_of(folder: Path) -> str | None:
    """The commit; None where nothing says it."""
    home = folder.resolve()
    if home.parent.name == "snapshots" and _COMMIT.fullmatch(home.name):
        return home.name
    try:
        note = read_bounded(folder, ".cache/huggingface/download/config.json.metadata", MAX_METADATA_BYTES)
    except (FileNotFoundError, CheckpointError):
        return None
    first = note.split(b"\n", 1)[0].decode("ascii", "replace").strip()
    return first if _COMMIT.fullmatch(first) else None


def revision_findings(folder: Path, pinned: str) -> tuple[Finding, ...]:
    """What is wrong with the folder where a commit is pinned (fault 25). A short commit is enough."""
    commit, remedy = revision_of(folder), f"download revision {pinned}"
    prefix = pinned.strip().lower()
    if not _PINNED.fullmatch(prefix):
        return ()  # a branch or a tag: nothing on this machine says which commit it means
    if commit is None:
        message = f"nothing in {folder} says which commit it holds; the spec pins {pinned}"
        return (Finding(Severity.WARNING, Code.CONFLICT, "revision", message, remedy),)
    message = f"{folder} holds commit {commit}; the spec pins {pinned}"
    finding = Finding(Severity.ERROR, Code.CONFLICT, "revision", message, remedy)
    return () if commit.startswith(prefix) else (finding,)
