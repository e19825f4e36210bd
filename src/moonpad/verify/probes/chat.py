"""One plain answer, by the chat API and by the older completions API."""

from moonpad.load.openai_schema import Usage, completion_text, usage_of
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.probe import Outcome, failed, failed_if_able, passed, probe, skipped
from moonpad.verify.probe_helpers import (
    ANSWER_TOKENS,
    CALCULATION,
    USAGE_CHANGED,
    ask,
    completion_tokens,
    greedy,
    no_answer,
)


@probe("chat")
async def chat(api: Api) -> Outcome:
    answer = await ask(api, greedy(CALCULATION))
    if answer.finish_reason == "length":
        message = f"the answer to {CALCULATION!r} did not end within {ANSWER_TOKENS} tokens"
        remedy = "check the chat template, and that generation_config.json lists both end tokens, 163585 and 163586"
        return failed_if_able(Code.WRONG_ANSWER, "generation_config.json", message, remedy)
    if answer.finish_reason != "stop":
        message = f"finish_reason is {answer.finish_reason!r}, expected 'stop'"
        return failed(Code.WRONG_ANSWER, "finish_reason", message, "update the engine: clients rely on this field")
    if answer.reasoning and not answer.content.strip():
        message = f"content is empty: all {len(answer.reasoning)} characters are in `{answer.reasoning_field}`"
        remedy = "leave --reasoning-parser out for a model that does not think; for one that does, use kimi_k2"
        return failed_if_able(Code.REASONING_LOST, "--reasoning-parser", message, remedy)
    if not answer.content.strip():
        remedy = "check that the chat template is the model's own (--chat-template), and the weights: moonpad logs"
        return failed(Code.WRONG_ANSWER, "content", "content is empty", remedy)
    if message := _usage_fault(answer.usage):
        return failed(Code.WRONG_ANSWER, "usage", message, USAGE_CHANGED)
    return passed(
        f"{len(answer.content)} characters of content, {completion_tokens(answer)} tokens, finish_reason stop"
    )


def _usage_fault(usage: Usage | None) -> str:
    """What is wrong with the counts by which clients are billed and limited; "" where nothing is."""
    if usage is None:
        return "usage is missing"
    prompt, completion, total = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
    if not prompt or not completion or total is None:
        return f"usage reports {prompt} prompt, {completion} completion and {total} total tokens"
    if prompt + completion != total:
        return f"usage does not add up: {prompt} prompt + {completion} completion tokens, {total} total"
    if completion > ANSWER_TOKENS:
        return f"usage reports {completion} completion tokens, the limit was {ANSWER_TOKENS}"
    if (usage.reasoning_tokens or 0) > completion:
        return f"usage reports {usage.reasoning_tokens} reasoning tokens of {completion} completion tokens"
    return ""


@probe("completions")
async def completions(api: Api) -> Outcome:
    limit, where = 8, "/v1/completions"
    reply = await api.post("/completions", {"prompt": "One, two, three,", "max_tokens": limit, "temperature": 0})
    if reply.status in (404, 405):
        return skipped("there is no /v1/completions here; some gateways leave it out on purpose")
    if reply.status != 200:
        return no_answer(api, reply)
    document = reply.json()
    tokens = usage_of(document).completion_tokens
    text = completion_text(document)
    if text is None:
        return failed(Code.WRONG_ANSWER, where, "the answer has no choice with a text", "ask the engine directly")
    if not tokens or tokens > limit:
        message = f"usage reports {tokens} completion tokens, the limit was {limit}"
        return failed(Code.WRONG_ANSWER, "usage", message, USAGE_CHANGED)
    return passed(f"{len(text)} characters in {tokens} tokens")
