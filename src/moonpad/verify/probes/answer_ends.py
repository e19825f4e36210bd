"""An answer ends where it should: at a limit, before a stop string, at either end token."""

import re
from typing import Final

from moonpad.load.openai_schema import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.probe import Outcome, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import CALCULATION, FIELD_DROPPED, ask, completion_tokens, greedy, tokenize

LIMIT: Final = 5
ENDS: Final = ("[EOS]", "<|im_end|>")
"""Of the family's vocabulary: 163585 and 163586 in Kimi-K2's tokenizer_config.json."""


@probe("limit")
async def limit(api: Api) -> Outcome:
    body = {name: value for name, value in greedy(CALCULATION).items() if name != "max_tokens"}
    for name in ("max_tokens", "max_completion_tokens"):
        answer = await ask(api, {**body, name: LIMIT})
        tokens = completion_tokens(answer)
        if tokens is not None and tokens > LIMIT:
            return failed(Code.PARAMETER_IGNORED, name, f"{name}={LIMIT} gives {tokens} tokens", FIELD_DROPPED)
        if answer.finish_reason != "length":
            message = f"{name}={LIMIT} cuts the answer with finish_reason {answer.finish_reason!r}, expected 'length'"
            return failed(Code.WRONG_ANSWER, "finish_reason", message, "update the engine: clients rely on this field")
    return passed(f"{LIMIT} tokens and finish_reason length with max_tokens and with max_completion_tokens")


@probe("stop")
async def stop(api: Api) -> Outcome:
    whole = await ask(api, greedy(CALCULATION))
    word = stop_word(whole)
    if not word:
        return skipped("no piece of the answer occurs in it only once, so there is nothing to use as a stop string")
    stopped = await ask(api, greedy(CALCULATION, stop=[word]))
    expected = whole.content[: whole.content.index(word)]
    if word in stopped.content or len(stopped.content) > len(expected):
        message = f"stop={word!r} does not stop: the answer is {stopped.content[:120]!r}"
        return failed(Code.PARAMETER_IGNORED, "stop", message, FIELD_DROPPED)
    if stopped.finish_reason != "stop":
        message = f"finish_reason is {stopped.finish_reason!r} after a stop string, expected 'stop'"
        return failed(Code.WRONG_ANSWER, "finish_reason", message, "update the engine")
    if stopped.content.rstrip() != expected.rstrip():
        if (await ask(api, greedy(CALCULATION))).content != whole.content:
            return skipped("greedy answers to one question differ: a stopped one cannot be judged")
        message = f"the text before the stop string is {stopped.content[-60:]!r}, without stop {expected[-60:]!r}"
        return failed(Code.WRONG_ANSWER, "stop", message, "update the engine: text before a stop string must be kept")
    return passed(f"the answer ends before {word!r}, with finish_reason stop")


def stop_word(answer: Message) -> str:
    """A piece of the content, as late as possible, that does not occur before: stop strings count in the thinking too.

    A whole word where there is one, else any few characters.
    """
    end = max(0, len(answer.content) - 4096)  # each piece is looked for in the whole
    words = list(re.compile(r"[^\W_]{2,}|\d").finditer(answer.content, end))
    pieces = [(match.start(), match[0]) for match in reversed(words)]
    pieces += [(at, answer.content[at : at + 6]) for at in range(len(answer.content) - 6, end, -1)]
    for at, piece in pieces:
        if at > 0 and piece not in answer.reasoning and answer.content.index(piece) == at:
            return piece
    return ""


@probe("end_tokens")
async def end_tokens(api: Api) -> Outcome:
    for token in ENDS:
        tokens = (await tokenize(api, prompt=token, add_special_tokens=False)).get("tokens")
        if not isinstance(tokens, list) or [type(number) for number in tokens] != [int]:
            return skipped(f"there is no /tokenize that has {token}, so it cannot be forced")
        answer = await ask(api, greedy("Hello!", max_tokens=6, logit_bias={str(tokens[0]): 100}))
        if answer.finish_reason != "stop":
            got = f"{completion_tokens(answer)} tokens, finish_reason {answer.finish_reason!r}"
            message = f"the token {tokens[0]} ({token}) does not end an answer: {got}"
            remedy = "list both end tokens in generation_config.json: eos_token_id = [163585, 163586]"
            return failed(Code.WRONG_ANSWER, "generation_config.json", message, remedy)
        if token in answer.content:
            remedy = "use the model's own tokenizer files"
            return failed(Code.WRONG_ANSWER, "tokenizer_config.json", f"{token} is visible as text", remedy)
    return passed(f"{' and '.join(ENDS)}, forced by logit_bias, each end the answer and are not shown")
