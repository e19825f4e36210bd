"""Whether what `status --json` says of a run can be true, judged by two looks at the world around it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.faults import oracle
from tests.faults.oracle import FINAL, Run


@dataclass(frozen=True)
class Look:
    """One run at one moment. `token`: one came back; asked only where something of the run listens."""

    run: Run
    token: bool

    @property
    def alive(self) -> bool:
        return bool(self.run.engine)


@dataclass(frozen=True)
class Complaint:
    """`grace`: what was seen may be younger than the tool's own bound for noticing it, so it may pass by itself."""

    text: str
    grace: bool


def look_at(run: Run, *, ask: bool = True) -> Look:
    inodes = oracle.listening(run.port) if ask and run.engine else set()
    answers = bool(inodes) and any(oracle.holds(pid, inodes) for pid, _ in run.engine)
    return Look(run, answers and oracle.token(run.port, run.model))


def complaint_of(row: Mapping[str, Any], before: Look, after: Look) -> Complaint | None:
    """What cannot be true of this row. A change between the two looks excuses either answer."""
    state, because = row["state"], str(row.get("because", ""))
    survivors = before.run.engine & after.run.engine
    kept = before.run.keeper_lives and after.run.keeper_lives
    attended = (
        before.run.controller == after.run.controller and before.run.controller_lives and after.run.controller_lives
    )
    gone = not before.alive and not after.alive

    def says(what: str, *, grace: bool = False) -> Complaint:
        return Complaint(f"status says {state} ({because}), {what}", grace)

    if row.get("run") != before.run.path.name:
        return says(f"of the run {row.get('run')}, the current one is {before.run.path.name}")
    if state in FINAL:
        if survivors:
            return says(f"and these live: {sorted(survivors)}", grace=_counts_them(because))
        return None
    if state == "unattended":
        if kept and attended:
            return says(f"and its keeper {before.run.keeper} and its controller {before.run.controller} live")
        return says("and nothing of it is left", grace=True) if gone and not kept else None
    if not before.run.keeper_lives and not after.run.keeper_lives:
        return says("and it has no keeper")
    if state == "ready":
        if gone:
            return says("and no process of its engine lives")
        return None if before.token or after.token else says("and no token comes back", grace=True)
    if before.token and after.token:
        return says("and it answers with tokens", grace=True)
    return None


def _counts_them(because: str) -> bool:
    return bool(re.search(r"\d+ process(es)? .*(being stopped|stopping)|being stopped: \d+", because))
