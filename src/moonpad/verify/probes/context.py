"""The whole context is there, is read, and a long text does not break the answer."""

import re
from typing import Final

from moonpad.load.openai_schema import Reply
from moonpad.values.finding import Code, Finding, Severity
from moonpad.verify.api import Api
from moonpad.verify.judged_model import claimed_context
from moonpad.verify.probe import Outcome, failed, failed_if_able, passed, probe, skipped
from moonpad.verify.probe_helpers import LOOK_AT_LOG, ask, greedy, no_answer

WHERE: Final = "max_model_len"
TOKEN: Final = 100
"""An ordinary token of any vocabulary of the family."""
SPARE: Final = 16
LIMIT_S: Final = 900.0


@probe("context_limit")
async def context_limit(api: Api) -> Outcome:
    claimed = await claimed_context(api)
    if claimed is None:
        return skipped("the model list names no context (max_model_len), so there is no limit to test")
    fits = await _filled(api, claimed - 1)
    if fits.status in (404, 405):
        return skipped("there is no /v1/completions that takes tokens, so no exact length can be sent")
    if fits.status != 200:
        if usable := await _usable(api, fits, claimed):
            message = f"the model list claims {claimed} tokens of context, and {usable} are accepted"
            warning = Finding(Severity.WARNING, Code.WRONG_ANSWER, WHERE, message, f"rely on {usable} tokens only")
            return passed(f"{message}; one more is refused with the limit named", warning)
        message = f"{claimed - 1} tokens and one to generate are refused, the list claims {claimed}: "
        remedy = "lower --max-model-len to what fits: moonpad plan"
        return failed(Code.WRONG_ANSWER, WHERE, message + fits.error_text(), remedy)
    over = await _filled(api, claimed + 1)
    if over.status == 200:
        message = f"{claimed + 1} tokens are accepted, the list claims {claimed}: the prompt is cut silently"
        return failed(Code.WRONG_ANSWER, WHERE, message, "let no gateway shorten prompts")
    if over.status in (401, 403):
        return no_answer(api, over)
    if over.status not in (400, 413, 422):
        message = f"{claimed + 1} tokens are answered {over.status}, expected 400: {over.error_text()}"
        return failed(Code.BAD_REQUEST, WHERE, message, LOOK_AT_LOG)
    if not any(str(number) in over.error_text() for number in (claimed, claimed - 1)):
        message = f"the refusal does not name the limit of {claimed}: {over.error_text()}"
        return failed(Code.BAD_REQUEST, WHERE, message, "ask the engine directly: a gateway may hide its answer")
    return passed(f"{claimed - 1} tokens and one to generate fit, {claimed + 1} are refused with the limit named")


async def _usable(api: Api, refusal: Reply, claimed: int) -> int:
    """The most that is accepted, if a refusal names a limit a few tokens below the claim; 0 otherwise."""
    named = {int(number) for number in re.findall(r"\d+", refusal.error_text())}
    for limit in sorted(named, reverse=True):
        if claimed - SPARE <= limit < claimed - 1:
            for tokens in (limit, limit - 1):
                if (await _filled(api, tokens)).status == 200:
                    return tokens
    return 0


async def _filled(api: Api, tokens: int) -> Reply:
    body = {"prompt": [TOKEN] * tokens, "max_tokens": 1, "temperature": 0}
    return await api.post("/completions", body, answer_s=LIMIT_S)


FERRY: Final = "The ferry to the island leaves at nine in the morning and comes back at six in the evening. "
LEAST: Final = 600
MOST: Final = 24_000
"""Characters of the text before the question: a quarter of the claimed context, at about four a token."""
NAN: Final = re.compile(r"!{8,}")
"""Token 0 of many vocabularies: what the largest of NaNs gives."""
SAME: Final = re.compile(r"([^\s\-_=*#.])\1{19,}")
AGAIN: Final = re.compile(r"(.{4,80}?)\1{7,}", re.DOTALL)


@probe("gibberish")
async def gibberish(api: Api) -> Outcome:
    size = max(LEAST, min(MOST, await claimed_context(api) or 0))
    question = f"{FERRY * (size // len(FERRY))}\n\nWhen does the ferry leave?"
    answer = await ask(api, greedy(question, max_tokens=256))
    text = answer.reasoning + answer.content
    if match := NAN.search(text) or SAME.search(text):
        message = (
            f"after {size} characters of text the answer has {match[0][:24]!r}, one character {len(match[0])} times"
        )
        fail = failed if NAN.search(text) else failed_if_able
        remedy = "look for NaN: try another KV-cache type or attention backend; moonpad verify --numerics"
        return fail(Code.WRONG_ANSWER, "--kv-cache-dtype", message, remedy)
    if match := AGAIN.search(text):
        times = len(match[0]) // len(match[1])
        message = f"after {size} characters of text the answer repeats {match[1][:40]!r} {times} times"
        remedy = "check temperature and chat template; a quantized build may be the cause"
        return failed_if_able(Code.WRONG_ANSWER, "sampling", message, remedy)
    return passed(f"after {size} characters of text the answer is {answer.content[:80]!r}")


DEPTHS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
HAY: Final = "The grass is green, the sky is blue, the sun is yellow. Here we go, there and back again. "
NEEDLE: Final = "The number of the locker at the station is {number}. "
QUESTION: Final = "What is the number of the locker at the station? Answer with the number alone."
RESERVED: Final = 1100
"""Tokens for question, template and answer."""
CHARACTERS: Final = 3.6
"""A token of this text, at the least: 4.1 by the tokenizer of Kimi-K2."""


@probe("needle")
async def needle(api: Api) -> Outcome:
    context = await claimed_context(api)
    if context is None or context < 2 * RESERVED:
        return skipped(f"the claimed context is {context or 'not listed'}: no long text fits")
    missed: list[str] = []
    for place, depth in enumerate(DEPTHS):
        number = str(40_513 + 7919 * place)
        lines = [HAY] * (int((context - RESERVED) * CHARACTERS) // len(HAY))
        lines.insert(int(depth * len(lines)), NEEDLE.format(number=number))
        if number not in (await ask(api, greedy(f"{''.join(lines)}\n\n{QUESTION}"))).content:
            missed.append(f"{depth:.0%}")
    if missed:
        message = f"in {context} tokens of context a number is not found at {', '.join(missed)} of the depth"
        remedy = "check rope scaling (YaRN) in config.json, and the KV-cache type; moonpad verify --numerics"
        return failed(Code.WRONG_ANSWER, "--max-model-len", message, remedy)
    depths = ", ".join(f"{depth:.0%}" for depth in DEPTHS)
    return passed(f"found at {depths} of a text that fills {context} tokens")
