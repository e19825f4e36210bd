"""The prompt, counted by somebody else."""

from typing import Final

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ANSWER_TOKENS, ask, greedy, prompt_tokens, tokenize
from moonpad.verify.mend import TEMPLATES
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

MESSAGES: Final = [{"role": "user", "content": "What is 84 * 3 / 2? Think about it in one sentence."}]


async def run(api: Api) -> Outcome:
    told = await prompt_tokens(api, MESSAGES)
    if isinstance(told, Outcome):
        return told
    whole = await tokenized(api, True)
    if whole is None:
        return skipped("there is no /tokenize that takes messages, so nobody else counts the prompt")
    if told != whole:
        return await _other(api, told, whole)
    answer = await ask(api, greedy(str(MESSAGES[0]["content"])))
    if isinstance(answer, Outcome):
        return answer
    usage = answer.usage
    if usage is None or usage.prompt_tokens != told:
        message = f"the same prompt counts {told} tokens once and {usage and usage.prompt_tokens} the next time"
        return failed(Code.WRONG_ANSWER, "usage", message, "ask the engine itself: a gateway may rewrite usage")
    if (usage.cached_tokens or 0) > told:
        message = f"usage says that {usage.cached_tokens} of {told} prompt tokens were in the cache"
        return failed(Code.WRONG_ANSWER, "usage", message, "ask the engine itself: a gateway may rewrite usage")
    if not 0 < (usage.completion_tokens or 0) <= ANSWER_TOKENS:
        message = f"usage says {usage.completion_tokens} completion tokens"
        return failed(Code.WRONG_ANSWER, "usage", message, "ask the engine itself: a gateway may rewrite usage")
    return passed(f"the prompt has {told} tokens by usage and by /tokenize, its turn of the assistant included")


async def tokenized(api: Api, opened: bool) -> int | None:
    """The prompt's tokens by the server's own tokenizer; None where it has no such path."""
    document = await tokenize(api, messages=MESSAGES, add_generation_prompt=opened)
    count = document.get("count") if document else None
    return count if isinstance(count, int) else None


async def _other(api: Api, told: int, whole: int) -> Outcome:
    if told == await tokenized(api, False):
        message = f"the prompt ends before the assistant's turn: {told} tokens, with its beginning {whole}"
        remedy = "update the engine: without add_generation_prompt most tool calls are lost (vLLM's blog, 2025-10-28)"
        return failed(Code.TOOL_CALL_LOST, "--chat-template", message, remedy)
    message = f"usage counts {told} prompt tokens, /tokenize {whole} for the same messages"
    remedy = "check that gateway and engine have one chat template; a gateway may also add a system message"
    return failed(Code.WRONG_ANSWER, "usage", message, remedy)


PROBE = Probe(
    id="count",
    proves="usage counts the prompt as the tokenizer does, the opened turn of the assistant included",
    matters="a prompt without the assistant's turn loses most tool calls; a wrong count is billed",
    mend=TEMPLATES,
    run=run,
)
