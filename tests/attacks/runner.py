"""Runs a verb as a process of its own, with a deadline, a limit on its address space and an empty home folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DEADLINE_S = 20.0
"""A process that is still there is killed: it hangs."""
MEASURE = str(Path(__file__).with_name("measure.py"))
MOST_S = 3.0
"""Of a processor's time."""
MOST_WALL_S = 10.0
"""The machine may be busy with other tests."""
MOST_MB = 500.0
REFUSALS = frozenset({2, 3, 5})


@dataclass(frozen=True, slots=True)
class Outcome:
    """`code` is None where the process was killed at its deadline; `peak_mb` is its largest resident size."""

    code: int | None
    out: str
    err: str
    seconds: float
    cpu_s: float
    peak_mb: float

    def problems(self, codes: frozenset[int] = REFUSALS, most_s: float = MOST_WALL_S) -> list[str]:
        """What a user may not see; empty for a good answer."""
        rows = []
        if self.code is None:
            rows.append(f"hangs: killed after {self.seconds:.1f} s")
        elif self.code not in codes:
            rows.append(f"exit {self.code}, not one of {sorted(codes)}")
        if "Traceback (most recent call last)" in self.err + self.out:
            rows.append("a traceback")
        if "please report" in self.err:
            rows.append("an error that was not foreseen")
        if self.code not in (0, None) and not self.err.strip():
            rows.append("not a word of what is wrong")
        if self.cpu_s > MOST_S or self.seconds > most_s:
            rows.append(f"{self.seconds:.1f} s, {self.cpu_s:.1f} s of them at work")
        if self.peak_mb > MOST_MB:
            rows.append(f"{self.peak_mb:.0f} MB")
        if len(self.err) > 20_000:
            rows.append(f"{len(self.err)} characters of complaint")
        return rows


def run_verb(
    words: Sequence[str | bytes],
    folder: Path,
    env: Mapping[str, str | bytes] | None = None,
    stdin: int = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
) -> Outcome:
    """`moonpad WORDS` in the folder, whose `home` is the home folder; `env` comes on top."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    variables = {b"HOME": os.fsencode(home), b"PATH": os.environb[b"PATH"], b"LANG": b"C.UTF-8", b"TERM": b"dumb"}
    variables |= {os.fsencode(name): os.fsencode(value) for name, value in (env or {}).items()}
    if not variables[b"HOME"].startswith(b"/"):  # the user database then says where the home is, and that one is real
        for name, below in ((b"XDG_STATE_HOME", ".local/state"), (b"XDG_CACHE_HOME", ".cache")):
            variables.setdefault(name, os.fsencode(home / below))
    out, err = (folder / "stdout").open("w+b"), (folder / "stderr").open("w+b")
    reader, writer = os.pipe()
    command = (sys.executable, "-I", "-S", MEASURE, str(writer), sys.executable, "-m", "moonpad", *words)
    with out, err, os.fdopen(reader, "rb") as result:
        process = subprocess.Popen(
            command, cwd=folder, env=variables, stdin=stdin, stdout=out, stderr=err, pass_fds=(writer, *pass_fds),
            start_new_session=True,
        )  # fmt: skip
        os.close(writer)
        try:
            process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        row = json.loads(result.read() or b'{"code": null, "seconds": 0, "cpu_s": 0, "peak_kb": 0}')
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(1 << 22).decode("utf-8", "replace"))
    return Outcome(
        row["code"], *texts, seconds=row["seconds"] or DEADLINE_S, cpu_s=row["cpu_s"], peak_mb=row["peak_kb"] / 1024
    )
