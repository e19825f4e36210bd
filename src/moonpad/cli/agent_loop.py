"""`moonpad verify --loop CALLS`: does the model go on calling, turn after turn, with all of its history?"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.output import busy, clean, emit_json, next_command, out
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, UsageError
from moonpad.verify.api import connect
from moonpad.verify.loop import LoopResult, run_loop
from moonpad.verify.subject import subject_of

MOST_CALLS = 10_000


def verify_loop(spec: Path | None, at: EndpointOptions, *, calls: int, seed: int, json: bool) -> None:
    """Raises CheckFailed where a turn drifts, or the loop cannot go on."""
    if not 1 <= calls <= MOST_CALLS:
        raise UsageError(f"--loop {calls}: from 1 to {MOST_CALLS} calls", remedy="--loop 300")
    endpoint = resolve_endpoint(spec, at)
    result = asyncio.run(_run(endpoint, calls, seed))
    if json:
        emit_json(result.as_json())
    else:
        out().print(clean(_said(result)), markup=False, highlight=False)
    if result.drift is not None:
        raise CheckFailed(
            f"the loop drifts at turn {result.drift.turn} of {calls}",
            remedy="moonpad verify: the parsers first; then temperature, template and context",
        )
    if result.ended:
        raise CheckFailed(
            f"the loop ended after {result.made} of {calls} calls: {result.ended}",
            remedy="serve a longer context: max_model_len, about 80 tokens a call",
        )
    next_command("moonpad bench" + at.words(spec))


async def _run(endpoint: Endpoint, calls: int, seed: int) -> LoopResult:
    async with connect(endpoint, None) as api:
        named, _ = await subject_of(api)
        with busy("calling") as say:
            return await run_loop(
                replace(api, endpoint=named), calls, seed, lambda made: say(f"call {made + 1} of {calls}")
            )


def _said(result: LoopResult) -> str:
    head = f"{result.made} of {result.calls} calls right, {result.prompt_tokens} tokens of history at the last"
    if result.drift is not None:
        return f"{head}\nturn {result.drift.turn}: {result.drift.because}"
    return f"{head}\n{result.ended}" if result.ended else f"{head}; the answer came when there was nothing left to call"
