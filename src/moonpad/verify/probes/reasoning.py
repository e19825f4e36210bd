"""The thinking stays apart from the answer: whole, cut, and sent back."""

from typing import Final

from moonpad.load.openai_schema import REASONING_FIELDS, Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.offered_tools import TEMPLATE, WEATHER, call_turns
from moonpad.verify.probe import Outcome, failed, failed_if_able, passed, probe, skipped
from moonpad.verify.probe_helpers import (
    CALCULATION,
    THINK_TAG,
    ask,
    completion_tokens,
    greedy,
    prompt_tokens,
    special_tokens_in,
)
from moonpad.verify.probes.streaming import stream

PARSER: Final = "--reasoning-parser"
ENABLE_PARSER: Final = "start the engine with its reasoning parser for Kimi (kimi_k2)"
FIELD_LOST: Final = "ask the engine directly: a gateway that does not know the field `reasoning` drops it"
DOES_NOT_THINK: Final = "the model does not think, so there is no thinking to judge"

CUT_AFTER: Final = 4
THINKING: Final = "The user wants the weather, so I look it up. " * 8
THINKING_TOKENS: Final = 40
"""At the least."""


@probe("reasoning")
async def reasoning(api: Api) -> Outcome:
    answer = await ask(api, greedy(CALCULATION))
    if tag := THINK_TAG.search(answer.content):
        message = f"the thinking is in content: {tag.group()} at character {tag.start()}"
        # If a parser took some thinking out, the model itself wrote the tag that is left.
        fail = failed_if_able if answer.reasoning else failed
        return fail(Code.REASONING_LOST, PARSER, message, ENABLE_PARSER)
    if tag := THINK_TAG.search(answer.reasoning):
        message = f"`{answer.reasoning_field}` contains {tag.group()} as text"
        return failed_if_able(Code.REASONING_LOST, PARSER, message, ENABLE_PARSER)
    if tokens := special_tokens_in(answer.content, answer.reasoning):
        message = f"special tokens are visible as text: {', '.join(tokens)}"
        remedy = "use the parsers for Kimi (kimi_k2) of the newest release, and the model's own tokenizer files"
        # Those of tool calls are ordinary tokens to a tokenizer: a confused model may write them without any tool.
        fail = failed_if_able if all(token.startswith("<|tool_call") for token in tokens) else failed
        return fail(Code.WRONG_ANSWER, PARSER, message, remedy)
    if not answer.reasoning:
        message = _dropped(answer)
        return failed(Code.REASONING_LOST, "reasoning", message, FIELD_LOST) if message else skipped(DOES_NOT_THINK)
    size = len(answer.reasoning)
    if not answer.content.strip():
        message = f"after {size} characters of reasoning there is no content: nothing ends the thinking"
        remedy = "leave --reasoning-parser out for a model that does not think; for one that does, use kimi_k2"
        return failed_if_able(Code.REASONING_LOST, PARSER, message, remedy)
    return passed(f"{size} characters in `{answer.reasoning_field}`, none of them in content")


def _dropped(answer: Message) -> str:
    """Tokens that were counted and are missing: a visible token is at least one byte, and few are invisible."""
    if answer.usage and answer.usage.reasoning_tokens:
        return f"usage counts {answer.usage.reasoning_tokens} reasoning tokens, the answer has none"
    tokens, visible_bytes = completion_tokens(answer), len(answer.content.encode())
    if tokens is None or tokens <= visible_bytes + 8:
        return ""
    return f"{tokens} tokens were generated, {visible_bytes} bytes of text arrived: the thinking was dropped"


@probe("reasoning_cut")
async def reasoning_cut(api: Api) -> Outcome:
    if not (await ask(api, greedy(CALCULATION))).reasoning:
        return skipped(DOES_NOT_THINK)
    body = greedy(CALCULATION, max_tokens=CUT_AFTER)
    answers = {"without streaming": await ask(api, body), "streamed": await stream(api, body)}
    for how, answer in answers.items():
        if fault := _misplaced(answer):
            message = f"{how}, cut after {CUT_AFTER} tokens: {fault}"
            return failed(Code.REASONING_LOST, PARSER, message, f"{ENABLE_PARSER}, in its newest release")
    cut = answers["without streaming"]
    return passed(f"the first {CUT_AFTER} tokens are {cut.reasoning!r} in `{cut.reasoning_field}`; content is empty")


def _misplaced(answer: Message) -> str:
    if THINK_TAG.search(answer.content + answer.reasoning):
        return "a <think> tag is visible"
    if answer.content:
        return f"the thinking is in content, {answer.content[:60]!r}, before anything has ended it"
    if not answer.reasoning:
        return "there is neither reasoning nor content"
    return "" if answer.finish_reason == "length" else f"finish_reason is {answer.finish_reason!r}, expected 'length'"


@probe("reasoning_history")
async def reasoning_history(api: Api) -> Outcome:
    answer = await ask(api, greedy(CALCULATION))
    if not answer.reasoning:
        return skipped(DOES_NOT_THINK)
    without = await prompt_tokens(api, call_turns({"content": ""}), tools=[WEATHER])
    read_back = []
    for name in REASONING_FIELDS:
        tokens = await prompt_tokens(api, call_turns({"content": "", name: THINKING}), tools=[WEATHER])
        if tokens >= without + THINKING_TOKENS:
            read_back.append(name)
    if not read_back:
        message = f"{len(THINKING)} characters of thinking between a call and its result are not in the next prompt"
        remedy = "use the checkpoint's own chat template; let no gateway drop fields that it does not know"
        return failed(Code.REASONING_LOST, TEMPLATE, message, remedy)
    if answer.reasoning_field not in read_back:
        message = f"the thinking comes as `{answer.reasoning_field}` and is read back only as `{read_back[0]}`"
        remedy = f"let clients send it back in both fields ({' and '.join(REASONING_FIELDS)}), or update the engine"
        return failed(Code.REASONING_LOST, answer.reasoning_field, message, remedy)
    return passed(f"sent back as {' or '.join(f'`{name}`' for name in read_back)}, it is in the next prompt")
