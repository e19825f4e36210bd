"""Where a verdict on an endpoint is kept: beside its run, or below `verdicts/` if the endpoint is not ours."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from moonpad.store.atomic_files import replace_text
from moonpad.store.paths import state_home


def verdict_folder(run: Path | None) -> Path:
    """A new name that sorts by time; the folder is not made yet."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    above = run / "verdicts" if run else state_home() / "verdicts"
    return above / f"{stamp}-{secrets.token_hex(2)}"


def keep_verdict(folder: Path, files: Mapping[str, str]) -> None:
    """Each file is complete, or not there at all.

    Raises:
        OSError: one of them could not be written.
    """
    for name, text in files.items():
        replace_text(folder / name, text)
