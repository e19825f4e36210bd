"""Where a verdict on an endpoint is kept: beside its run, or, of an endpoint that is not ours, below `verdicts/`."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from moonpad.store.files import replace_text
from moonpad.store.places import state_home


def verdict_folder(run: Path | None) -> Path:
    """A new name that sorts by time; nothing is made yet."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    above = run / "verdicts" if run else state_home() / "verdicts"
    return above / f"{stamp}-{secrets.token_hex(2)}"


def keep_verdict(folder: Path, files: Mapping[str, str]) -> None:
    """Each file is there whole, or not at all.

    Raises:
        OSError: one of them could not be written.
    """
    for name, text in files.items():
        replace_text(folder / name, text)
