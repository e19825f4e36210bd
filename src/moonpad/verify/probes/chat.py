"""One plain answer."""

from moonpad.load.wire import Message, Usage
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ANSWER_TOKENS, ask, greedy
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed

QUESTION = "What is 84 * 3 / 2?"


async def run(api: Api) -> Outcome:
    answer = await ask(api, greedy(QUESTION))
    if isinstance(answer, Outcome):
        return answer
    return without_end(answer) or without_content(answer) or wrong_usage(answer.usage) or passed(_evidence(answer))


def without_end(answer: Message) -> Outcome | None:
    if answer.finish_reason == "stop":
        return None
    if answer.finish_reason == "length":
        message = f"the answer to {QUESTION!r} did not end within {ANSWER_TOKENS} tokens"
        remedy = "check that generation_config.json lists both end tokens, 163585 and 163586, and the chat template"
        return failed_if_able(Code.WRONG_ANSWER, "generation_config.json", message, remedy)
    message = f"finish_reason is {answer.finish_reason!r}, expected 'stop'"
    return failed(Code.WRONG_ANSWER, "finish_reason", message, "update the engine: clients decide by this field")


def without_content(answer: Message) -> Outcome | None:
    if answer.content.strip():
        return None
    if answer.reasoning:
        message = f"content is empty: all {len(answer.reasoning)} characters are in `{answer.reasoning_field}`"
        remedy = "leave --reasoning-parser out for a model that does not think; for one that does, use kimi_k2"
        return failed_if_able(Code.REASONING_LOST, "--reasoning-parser", message, remedy)
    remedy = "check that the chat template is the model's own (--chat-template), and the weights: moonpad logs"
    return failed(Code.WRONG_ANSWER, "content", "content is empty", remedy)


def wrong_usage(usage: Usage | None) -> Outcome | None:
    """The counts that clients are billed and limited by."""
    if usage is None:
        return _bad_usage("usage is missing")
    prompt, completion, total = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
    if not prompt or not completion or total is None:
        return _bad_usage(f"usage says {prompt} prompt, {completion} completion and {total} total tokens")
    if prompt + completion != total:
        return _bad_usage(f"usage does not add up: {prompt} prompt + {completion} completion tokens, {total} total")
    if completion > ANSWER_TOKENS:
        return _bad_usage(f"usage says {completion} completion tokens where at most {ANSWER_TOKENS} were asked for")
    if (usage.reasoning_tokens or 0) > completion:
        return _bad_usage(f"usage says {usage.reasoning_tokens} reasoning tokens of {completion} completion tokens")
    return None


def _bad_usage(message: str) -> Outcome:
    return failed(Code.WRONG_ANSWER, "usage", message, "ask the engine itself: a gateway may drop or rewrite usage")


def _evidence(answer: Message) -> str:
    tokens = answer.usage.completion_tokens if answer.usage else None
    return f"{len(answer.content)} characters of content, {tokens} tokens, finish_reason stop"


PROBE = Probe(
    id="chat",
    proves="a question gets an answer with content, an end and a token count",
    matters="an engine can be healthy and fail at its first request",
    mend=Mend(
        each="the first error in the engine's log; both ends in generation_config.json; the model's own chat template",
        gateway="pass max_tokens and usage on",
    ),
    known=("dynamo#9227", "Kimi-K2#128"),
    run=run,
)
