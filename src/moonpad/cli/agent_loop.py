"""`moonpad verify --loop CALLS`: does the model go on calling, turn after turn, with all of its history?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moonpad.cli.endpoint import EndpointOptions
from moonpad.cli.output import bar, clean, emit_json, next_command, note, out
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, ContactLost, Interrupted, UsageError

if TYPE_CHECKING:
    from moonpad.verify.loop import LoopResult, Turn

MOST_CALLS = 10_000
TURNS_FILE = "turns.jsonl"
VERDICT_FILE = "verdict.json"


def verify_loop(
    spec: Path | None,
    at: EndpointOptions,
    calls: int,
    seed: int,
    *,
    gate: bool,
    out_folder: Path | None,
    json: bool,
) -> None:
    """
    Raises:
        CheckFailed: a turn drifts, or the loop cannot go on; with `gate`, where it made too few calls.
        ContactLost: nothing answers any more; the turns before are kept.
        Interrupted: the user stopped it; the turns before are kept.
    """
    from moonpad.cli.verdict import check_gate, endpoint_of, folder_for, gate_of, with_gate, words_of
    from moonpad.store.files import replace_json
    from moonpad.verify.loop import LoopResult

    if not 1 <= calls <= MOST_CALLS:
        raise UsageError(f"--loop {calls}: from 1 to {MOST_CALLS} calls", remedy="--loop 300")
    limits = gate_of(spec, at) if gate else None
    endpoint = endpoint_of(spec, at, gate=gate)
    folder = folder_for(spec, at, out_folder)
    turns = _Turns(folder, {"calls": calls, "seed": seed})
    lost: ContactLost | Interrupted | None = None
    try:
        result = _run(endpoint, calls, seed, turns)
    except ContactLost as error:
        lost = error
    except KeyboardInterrupt:
        lost = Interrupted(f"stopped after {len(turns.all)} turns; the same command with --out {folder} goes on")
    if lost:
        result = LoopResult(calls, tuple(turns.all), lost.message)
    broken = limits.of_loop(result) if limits else None
    document = with_gate(result.as_json(), broken)
    try:
        replace_json(folder / VERDICT_FILE, {**turns.head, **document})
    except OSError as error:
        note(f"{folder} cannot be written: {error.strerror or error}")
    if json:
        emit_json({**document, "turns": str(folder / TURNS_FILE)})
    else:
        out().print(clean(_said(result)), markup=False, highlight=False)
        note(f"written: {folder / TURNS_FILE}")
    if lost:
        raise lost
    check_gate(broken)
    if broken is None:
        _judge(result)
    next_command("moonpad bench" + words_of(spec, at, gate=gate))


class _Turns:
    """The file of the turns: a head, and a line for each turn as it comes. What a run before it made is `all`."""

    def __init__(self, folder: Path, head: Mapping[str, Any]) -> None:
        """
        Raises:
            UsageError: the folder cannot be written, or is of another loop.
        """
        from moonpad.store.files import read_lines
        from moonpad.verify.loop import turn_of

        self.path = folder / TURNS_FILE
        self.head = dict(head)
        self.all: list[Turn] = []
        rows = list(read_lines(self.path)) if self.path.exists() else []
        if not rows:
            self._append(self.head)
            return
        if any(rows[0].get(name) != value for name, value in head.items()):
            raise UsageError(f"{self.path} is of another loop", remedy="--out ANOTHER_FOLDER, or the same --seed")
        for row in rows[1:]:
            turn = turn_of(row)
            if turn is not None and not turn.because and turn.number == len(self.all) + 1:
                self.all.append(turn)

    def add(self, turn: Turn) -> None:
        self.all.append(turn)
        self._append(turn.as_json())

    def _append(self, row: Mapping[str, Any]) -> None:
        from moonpad.store.files import append_line

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            append_line(self.path, row)
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be written: {error.strerror or error}", remedy="--out FOLDER"
            ) from error


def _run(endpoint: Endpoint, calls: int, seed: int, turns: _Turns) -> LoopResult:
    import asyncio

    from moonpad.verify.api import connect
    from moonpad.verify.loop import run_loop
    from moonpad.verify.subject import subject_of

    async def run() -> LoopResult:
        async with connect(endpoint, None) as api:
            named, _ = await subject_of(api)
            with bar("calling", calls) as show:
                show(len(turns.all))

                def on_turn(turn: Turn) -> None:
                    turns.add(turn)
                    show(min(calls, turn.number), f"{turn.seconds:.1f} s a call")

                past = tuple(turns.all)
                return await run_loop(replace(api, endpoint=named), calls, seed, past, on_turn)

    return asyncio.run(run())


def _said(result: LoopResult) -> str:
    head = f"{result.made} of {result.calls} calls right, {result.prompt_tokens} tokens of history at the last"
    if result.drift is not None:
        return f"{head}\nturn {result.drift.number}: {result.drift.because}"
    return f"{head}\n{result.ended}" if result.ended else f"{head}; the answer came when there was nothing left to call"


def _judge(result: LoopResult) -> None:
    if result.drift is not None:
        raise CheckFailed(
            f"the loop drifts at turn {result.drift.number} of {result.calls}",
            remedy="moonpad verify: the parsers first; then temperature, template and context",
        )
    if result.ended:
        raise CheckFailed(
            f"the loop ended after {result.made} of {result.calls} calls: {result.ended}",
            remedy="serve a longer context: max_model_len, about 80 tokens a call",
        )
