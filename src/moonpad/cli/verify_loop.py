"""`moonpad verify --loop CALLS`: does the model keep calling, turn after turn, with its whole history?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moonpad.cli.output import bar, emit, note
from moonpad.cli.verify_target import Target, check_gate, with_gate, writing
from moonpad.store.atomic_files import append_line, read_lines, replace_json
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, ContactLost, Interrupted, UsageError
from moonpad.verify.agent_loop import LoopResult, LoopTurn, run_loop, turn_of
from moonpad.verify.judged_model import connect_named

MOST_CALLS = 10_000
TURNS_FILE = "turns.jsonl"
VERDICT_FILE = "verdict.json"


def verify_loop(target: Target, calls: int, seed: int, out_folder: Path | None) -> None:
    """
    Raises:
        CheckFailed: a turn drifts, or the loop cannot continue; with --gate, if it made too few calls.
        ContactLost: nothing answers any more; the turns before are kept.
        Interrupted: the user stopped it; the turns before are kept.
    """
    if not 1 <= calls <= MOST_CALLS:
        raise UsageError(f"--loop {calls}: must be from 1 to {MOST_CALLS} calls", remedy="--loop 300")
    limits, endpoint, folder = target.limits(), target.endpoint(), target.folder(out_folder)
    turns = TurnsFile(folder, {"calls": calls, "seed": seed})
    lost: ContactLost | Interrupted | None = None
    try:
        result = asyncio.run(_run(endpoint, calls, seed, turns))
    except ContactLost as error:
        lost = error
    except KeyboardInterrupt:
        lost = Interrupted(f"stopped after {len(turns.all)} turns; the same command with --out {folder} continues")
    if lost:
        result = LoopResult(calls, tuple(turns.all), lost.message)
    broken = limits.of_loop(result) if limits else None
    document = with_gate(result.as_json(), broken)
    try:
        replace_json(folder / VERDICT_FILE, {**turns.head, **document})
    except OSError as error:
        note(f"{folder} cannot be written: {error.strerror or error}")
    emit(_summary(result), {**document, "turns": str(folder / TURNS_FILE)}, json=target.json)
    if not target.json:
        note(f"written: {folder / TURNS_FILE}")
    if lost:
        raise lost
    check_gate(broken)
    if broken is None:
        _judge(result)
    target.next_is_bench()


class TurnsFile:
    """A head, and a line for each turn as it comes. `all` starts with the right turns of an earlier run."""

    def __init__(self, folder: Path, head: Mapping[str, Any]) -> None:
        """
        Raises:
            UsageError: the folder cannot be written, or is of another loop.
        """
        self.path = folder / TURNS_FILE
        self.head = dict(head)
        self.all: list[LoopTurn] = []
        rows = list(read_lines(self.path)) if self.path.exists() else []
        if not rows:
            self._append(self.head)
            return
        if any(rows[0].get(name) != value for name, value in head.items()):
            raise UsageError(
                f"{self.path} is of a loop with other --loop or --seed", remedy="--out ANOTHER_FOLDER, or the same ones"
            )
        for row in rows[1:]:
            turn = turn_of(row)
            if turn is not None and not turn.because and turn.number == len(self.all) + 1:
                self.all.append(turn)

    def add(self, turn: LoopTurn) -> None:
        self.all.append(turn)
        self._append(turn.as_json())

    def _append(self, row: Mapping[str, Any]) -> None:
        with writing(self.path, "--out FOLDER"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            append_line(self.path, row)


async def _run(endpoint: Endpoint, calls: int, seed: int, turns: TurnsFile) -> LoopResult:
    async with connect_named(endpoint) as (api, _):
        with bar("calling", calls) as show:
            show(len(turns.all))

            def on_turn(turn: LoopTurn) -> None:
                turns.add(turn)
                show(min(calls, turn.number), f"{turn.seconds:.1f} s a call")

            return await run_loop(api, calls, seed, tuple(turns.all), on_turn)


def _summary(result: LoopResult) -> str:
    head = f"{result.made} of {result.calls} calls right, {result.prompt_tokens} tokens of history in the last request"
    if result.drift is not None:
        return f"{head}\nturn {result.drift.number}: {result.drift.because}"
    return f"{head}\n{result.ended}" if result.ended else f"{head}; then the model answered in words, as it should"


def _judge(result: LoopResult) -> None:
    if result.drift is not None:
        raise CheckFailed(
            f"the loop drifts at turn {result.drift.number} of {result.calls}",
            remedy="moonpad verify checks the parsers; then look at temperature, template and context",
        )
    if result.ended:
        raise CheckFailed(
            f"the loop ended after {result.made} of {result.calls} calls: {result.ended}",
            remedy="serve a longer context: max_model_len, about 80 tokens a call",
        )
