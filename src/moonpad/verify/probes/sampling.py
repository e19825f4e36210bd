"""Several answers, repeatable answers, and the probabilities of their tokens."""

import math
from typing import Any

from moonpad.load.openai_schema import Message, completion_text, read_answer, usage_of
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.judged_model import served_by
from moonpad.verify.probe import Outcome, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import CALCULATION, FIELD_DROPPED, USAGE_CHANGED, ask, greedy, no_answer

COUNT = 3
FIRST_SEED = 20
SEEDS = (1, 1, 2, 3, 4)
TOP = 3


@probe("choices")
async def choices(api: Api) -> Outcome:
    body = greedy("Tell me about a town by the sea.", n=COUNT, temperature=1.0, seed=FIRST_SEED, max_tokens=24)
    reply = await api.post("/chat/completions", body)
    if reply.status != 200:
        return no_answer(api, reply)
    document = reply.json()
    rows = document.get("choices") if isinstance(document, dict) else None
    indices = [row.get("index") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    if sorted(index for index in indices if isinstance(index, int)) != list(range(COUNT)):
        message = f"n={COUNT} gives choices with the indices {indices}"
        return failed(Code.PARAMETER_IGNORED, "n", message, FIELD_DROPPED)
    numbered = (row for row in rows or () if isinstance(row, dict) and isinstance(row.get("index"), int))
    by_index = sorted(numbered, key=lambda row: int(row["index"]))
    answers = [read_answer({"choices": [row]}) for row in by_index]
    texts = [_text(answer) for answer in answers if isinstance(answer, Message)]
    engine = await served_by(api)
    drawn = ""
    if engine is not None and engine.seeds_count_on:
        seeds = range(FIRST_SEED, FIRST_SEED + COUNT)
        alone = [_text(await ask(api, {**body, "n": 1, "seed": number})) for number in seeds]
        if texts != alone and set(texts) <= set(alone):
            places = ", ".join(str(alone.index(text)) for text in texts)
            message = f"the choices 0 to {COUNT - 1} are those that their seeds give alone, but in the order {places}"
            return failed(Code.WRONG_ANSWER, "n", message, "ask the engine directly: a gateway mixes the choices")
        drawn = ", each as its seed gives it alone" if texts == alone else ""
    return passed(f"{COUNT} choices with the indices 0 to {COUNT - 1}{drawn}")


def _text(answer: Message) -> str:
    return f"{answer.reasoning}\n{answer.content}"


@probe("seed")
async def seed(api: Api) -> Outcome:
    texts = []
    for number in SEEDS:
        question = greedy("Tell me about a town by the sea.", temperature=1.0, seed=number, max_tokens=48)
        answer = await ask(api, question)
        texts.append(answer.reasoning + answer.content)
    others = len(set(texts[1:]))
    if others == 1:
        message = f"the seeds {', '.join(map(str, SEEDS[1:]))} at temperature 1 give one text: nothing is sampled"
        return failed(Code.PARAMETER_IGNORED, "temperature", message, FIELD_DROPPED)
    if texts[0] != texts[1] and await _repeats_by_seed(api):
        message = "one seed gives two texts in chats, and one text in plain completions"
        return failed(Code.PARAMETER_IGNORED, "seed", message, FIELD_DROPPED)
    if texts[0] != texts[1]:
        return skipped("one seed gave two texts: it is ignored, or sampling depends on the batch and the cache")
    return passed(f"one seed gives one text; {len(SEEDS) - 1} seeds give {others} texts")


async def _repeats_by_seed(api: Api) -> bool:
    """Whether plain completions, which pass by other ways, obey a seed: three with it are one text, another is not."""
    texts = []
    for number in (1, 1, 1, 2):
        body = {"prompt": "Tell me about a town by the sea.", "temperature": 1.0, "seed": number, "max_tokens": 48}
        reply = await api.post("/completions", body)
        text = completion_text(reply.json()) if reply.status == 200 else None
        if text is None:
            return False
        texts.append(text)
    return len(set(texts[:3])) == 1 and texts[3] != texts[0]


@probe("logprobs")
async def logprobs(api: Api) -> Outcome:
    body = greedy(CALCULATION, logprobs=True, top_logprobs=TOP, max_tokens=12)
    reply = await api.post("/chat/completions", body)
    if reply.status == 400 and "logprob" in reply.error_text().lower():
        return skipped(f"log-probabilities are refused: {reply.error_text()}")
    if reply.status != 200:
        return no_answer(api, reply)
    rows, count = _rows(reply.json())
    if rows is None:
        message = "the request asked for logprobs, the answer has none"
        return failed(Code.PARAMETER_IGNORED, "logprobs", message, FIELD_DROPPED)
    for place, row in enumerate(rows):
        if fault := _fault(row):
            return failed(Code.WRONG_ANSWER, "logprobs", f"token {place}: {fault}", "look for NaN in the weights")
    if count is not None and count != len(rows):
        message = f"usage counts {count} completion tokens, the log-probabilities are of {len(rows)}"
        return failed(Code.WRONG_ANSWER, "usage", message, USAGE_CHANGED)
    return passed(f"{len(rows)} tokens, as usage counts; each is the likeliest of {TOP}")


def _rows(document: Any) -> tuple[list[Any] | None, int | None]:
    try:
        rows = document["choices"][0]["logprobs"]["content"]
    except (KeyError, IndexError, TypeError):
        return None, None
    return (rows if isinstance(rows, list) and rows else None), usage_of(document).completion_tokens


def _fault(row: Any) -> str:
    value = row.get("logprob") if isinstance(row, dict) else None
    if not isinstance(value, int | float) or not math.isfinite(value) or value > 1e-6:
        return f"its log-probability is {value!r}"
    tops = row.get("top_logprobs")
    values = [top.get("logprob") for top in tops if isinstance(top, dict)] if isinstance(tops, list) else []
    numbers = [number for number in values if isinstance(number, int | float)]
    if len(numbers) < TOP:
        return f"top_logprobs names {len(numbers)} tokens, {TOP} were asked for"
    # Decoded greedily, the chosen token is the likeliest, except for a tie.
    likeliest = max(numbers)
    return "" if likeliest <= value + 1e-3 else f"chosen with {value:.3f}, while another token has {likeliest:.3f}"
