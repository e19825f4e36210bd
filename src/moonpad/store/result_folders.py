"""Where results go without `--out`: measurements and verdicts, each under a name that sorts by time."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from moonpad.store.atomic_files import replace_as_is
from moonpad.store.paths import state_home

ROOM_BYTES: Final = 1 << 20
"""A disk with less is full: it would break the measurement halfway, and not only its files."""


def benches_folder() -> Path:
    return state_home() / "benches"


def evals_folder() -> Path:
    return state_home() / "evals"


def bench_name(at_s: float) -> str:
    """Of an instant, in seconds since 1970: in UTC, with the 65536ths of its second, so that it sorts by time."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(at_s))}-{int(at_s % 1 * 65536):04x}"


def new_bench_folder() -> Path:
    """Raises OSError: it cannot be made, or there is no room for a run in it."""
    return _new_folder(benches_folder())


def new_eval_folder() -> Path:
    """As `new_bench_folder`, for an evaluation."""
    return _new_folder(evals_folder(), "eval-")


def _new_folder(above: Path, prefix: str = "") -> Path:
    above.mkdir(parents=True, mode=0o700, exist_ok=True)
    while True:
        folder = above / f"{prefix}{bench_name(time.time())}"
        with suppress(FileExistsError):  # of another process, in this 65536th of a second
            folder.mkdir(mode=0o700)
            break
    try:
        _ensure_room(folder)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _ensure_room(folder: Path) -> None:
    file = folder / ".room"
    with file.open("wb") as room:
        room.write(bytes(ROOM_BYTES))
        room.flush()
        os.fsync(room.fileno())
    file.unlink()


def bench_names() -> list[str]:
    """Oldest first."""
    folder = benches_folder()
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def verdict_folder(run: Path | None) -> Path:
    """Beside the run that is judged, or below `verdicts/` if the endpoint is not ours. The folder is not made yet."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    above = run / "verdicts" if run else state_home() / "verdicts"
    return above / f"{stamp}-{secrets.token_hex(2)}"


def keep_verdict(folder: Path, files: Mapping[str, str]) -> None:
    """Each file is complete, or not there at all; its values are redacted already. Raises OSError: one of
    them could not be written."""
    for name, text in files.items():
        replace_as_is(folder / name, text)
