"""The conversation reaches the model, by the number of prompt tokens."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from moonpad.load.openai_schema import count_of
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.offered_tools import TEMPLATE, WEATHER, call_turns
from moonpad.verify.probe import Outcome, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import ANSWER_TOKENS, USAGE_CHANGED, ask, greedy, prompt_tokens, tokenize

Messages = Sequence[Mapping[str, object]]

USER: Final = {"role": "user", "content": "And now?"}
RULES: Final = "Answer in one short sentence. " * 12
CASES: Final[Sequence[tuple[str, Messages, int]]] = (
    ("a system message of 12 sentences", ({"role": "system", "content": RULES}, USER), 24),
    ("two earlier turns", ({"role": "user", "content": RULES}, {"role": "assistant", "content": RULES}, USER), 48),
    ("content in parts", ({"role": "user", "content": [{"type": "text", "text": RULES}]}, USER), 24),
)
"""What is added to a question, and how many tokens it has at least."""

COUNTED: Final = "What is 84 * 3 / 2? Think about it in one sentence."

EMPTY: Final[Mapping[str, dict[str, Any]]] = {
    "null": {"content": None},
    "an empty text": {"content": ""},
    "left out": {},
}


@probe("history")
async def history(api: Api) -> Outcome:
    alone = await prompt_tokens(api, (USER,))
    grown = []
    for what, messages, least in CASES:
        added = await prompt_tokens(api, messages) - alone
        if added < least:
            message = f"{what} makes the prompt {added} tokens longer, expected at least {least}: it is lost"
            remedy = "use the checkpoint's own chat template, and let no gateway shorten the conversation"
            return failed(Code.WRONG_ANSWER, TEMPLATE, message, remedy)
        grown.append(f"{what}: {added} tokens more")
    return passed("; ".join(grown))


@probe("count")
async def count(api: Api) -> Outcome:
    body = greedy(COUNTED)
    tokens = await prompt_tokens(api, body["messages"])
    expected = await _tokenized(api, body["messages"], opened=True)
    if expected is None:
        return skipped("there is no /tokenize that takes messages, so there is no second count of the prompt")
    if tokens != expected:
        if tokens == await _tokenized(api, body["messages"], opened=False):
            message = f"the prompt ends before the assistant's turn: {tokens} tokens; with its beginning {expected}"
            remedy = "update the engine: without add_generation_prompt most tool calls are lost (found on K2, 2025-10)"
            return failed(Code.TOOL_CALL_LOST, TEMPLATE, message, remedy)
        message = f"usage counts {tokens} prompt tokens, /tokenize {expected} for the same messages"
        remedy = "use one chat template in gateway and engine; a gateway may also add a system message"
        return failed(Code.WRONG_ANSWER, "usage", message, remedy)
    usage = (await ask(api, body)).usage
    message = ""
    if usage is None or usage.prompt_tokens != tokens:
        message = f"the same prompt counts {tokens} tokens once and {usage and usage.prompt_tokens} the next time"
    elif (usage.cached_tokens or 0) > tokens:
        message = f"usage reports {usage.cached_tokens} cached tokens of {tokens} prompt tokens"
    elif not 0 < (usage.completion_tokens or 0) <= ANSWER_TOKENS:
        message = f"usage reports {usage.completion_tokens} completion tokens"
    if message:
        return failed(Code.WRONG_ANSWER, "usage", message, USAGE_CHANGED)
    return passed(f"the prompt has {tokens} tokens by usage and by /tokenize, including the assistant's turn")


async def _tokenized(api: Api, messages: Messages, *, opened: bool) -> int | None:
    """The prompt's tokens by the server's own tokenizer; None where it has no such path."""
    tokens = (await tokenize(api, messages=messages, add_generation_prompt=opened)).get("count")
    return count_of(tokens)


@probe("empty_content")
async def empty_content(api: Api) -> Outcome:
    counts = {how: await prompt_tokens(api, call_turns(content), tools=[WEATHER]) for how, content in EMPTY.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{how}: {tokens} tokens" for how, tokens in counts.items())
        message = f"the prompt of a turn without text depends on how its content is empty ({listed})"
        remedy = "use the checkpoint's chat template of 2025-10-28 or later, and a newer release of the engine"
        return failed(Code.WRONG_ANSWER, TEMPLATE, message, remedy)
    return passed(f"content null, empty and left out all give a prompt of {counts['null']} tokens")
