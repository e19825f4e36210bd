"""Log-probabilities, which also count the tokens."""

import math
from typing import Any

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

TOP = 3
TOKENS = 12


async def run(api: Api) -> Outcome:
    body = greedy("What is 84 * 3 / 2?", logprobs=True, top_logprobs=TOP, max_tokens=TOKENS)
    reply = await api.post("/chat/completions", {"model": api.endpoint.model, **body})
    if reply.status == 400 and "logprob" in reply.error_text().lower():
        return skipped(f"log-probabilities are refused: {reply.error_text()}")
    if reply.status != 200:
        return no_answer(api, reply)
    rows, counted = _rows(reply.json())
    if rows is None:
        message = "logprobs were asked for, and none came"
        return failed(Code.PARAMETER_IGNORED, "logprobs", message, "ask the engine itself: a gateway may drop them")
    for place, row in enumerate(rows):
        if fault := _fault(row):
            return failed(Code.WRONG_ANSWER, "logprobs", f"token {place}: {fault}", "look for NaN in the weights")
    if counted is not None and counted != len(rows):
        message = f"usage counts {counted} completion tokens, the log-probabilities {len(rows)}"
        return failed(Code.WRONG_ANSWER, "usage", message, "ask the engine itself: a gateway may rewrite usage")
    return passed(f"{len(rows)} tokens, as usage counts; each is the likeliest of {TOP}")


def _rows(document: Any) -> tuple[list[Any] | None, int | None]:
    try:
        rows = document["choices"][0]["logprobs"]["content"]
        counted = document["usage"]["completion_tokens"]
    except (KeyError, IndexError, TypeError):
        return None, None
    return (rows if isinstance(rows, list) and rows else None), (counted if isinstance(counted, int) else None)


def _fault(row: Any) -> str:
    value = row.get("logprob") if isinstance(row, dict) else None
    if not isinstance(value, int | float) or not math.isfinite(value) or value > 1e-6:
        return f"its log-probability is {value!r}"
    tops = row.get("top_logprobs")
    values = [top.get("logprob") for top in tops if isinstance(top, dict)] if isinstance(tops, list) else []
    numbers = [one for one in values if isinstance(one, int | float)]
    if not numbers:
        return "none of the likeliest tokens is named"
    # Decoded greedily: what was chosen is the likeliest, but for a tie.
    return "" if max(numbers) <= value + 1e-3 else f"it was chosen with {value:.3f}, and {max(numbers):.3f} was there"


PROBE = Probe(
    id="logprobs",
    proves="log-probabilities are numbers, greedy takes the likeliest, and they are as many as usage counts",
    matters="evaluations by likelihood read them, and a NaN shows here first",
    mend=Mend(
        each="look for NaN in the weights and in a quantized KV cache",
        vllm="--max-logprobs 20 or more",
        gateway="pass logprobs and top_logprobs on",
    ),
    run=run,
)
