"""The thinking is kept apart."""

from moonpad.load.wire import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import THINK_TAG, ask, greedy, special_tokens_in
from moonpad.verify.mend import REASONING_PARSERS
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed, skipped

QUESTION = "What is 84 * 3 / 2?"
PARSER = "--reasoning-parser"


async def run(api: Api) -> Outcome:
    answer = await ask(api, greedy(QUESTION))
    if isinstance(answer, Outcome):
        return answer
    return mixed(answer) or leaked(answer) or dropped(answer) or kept_apart(answer)


def mixed(answer: Message) -> Outcome | None:
    if tag := THINK_TAG.search(answer.content):
        message = f"the thinking is in content: {tag.group()} at character {tag.start()}"
        # Where a parser took some thinking out, the model itself wrote the tag that is left.
        fail = failed_if_able if answer.reasoning else failed
        return fail(Code.REASONING_LOST, PARSER, message, "start the engine with --reasoning-parser kimi_k2")
    if tag := THINK_TAG.search(answer.reasoning):
        message = f"`{answer.reasoning_field}` holds {tag.group()} as text"
        remedy = "use the parser of this family: --reasoning-parser kimi_k2"
        return failed_if_able(Code.REASONING_LOST, PARSER, message, remedy)
    return None


def leaked(answer: Message) -> Outcome | None:
    tokens = special_tokens_in(answer.content, answer.reasoning)
    if not tokens:
        return None
    message = f"special tokens are visible as text: {', '.join(tokens)}"
    remedy = "use the parsers of this family (kimi_k2) and the model's own tokenizer files; update vLLM (vllm#28543)"
    # Those of tool calls are ordinary tokens to a tokenizer: a confused model may write them without any tool.
    fail = failed_if_able if all(token.startswith("<|tool_call") for token in tokens) else failed
    return fail(Code.WRONG_ANSWER, PARSER, message, remedy)


def dropped(answer: Message) -> Outcome | None:
    """Tokens were counted and are nowhere: a visible token is at least one byte, and few are invisible."""
    if answer.usage and answer.usage.reasoning_tokens and not answer.reasoning:
        message = f"usage counts {answer.usage.reasoning_tokens} tokens of reasoning, and none came"
        remedy = "ask the engine itself: a gateway that does not know the field `reasoning` drops it (vllm#27755)"
        return failed(Code.REASONING_LOST, "reasoning", message, remedy)
    tokens = answer.usage.completion_tokens if answer.usage else None
    visible_bytes = len(answer.content.encode()) + len(answer.reasoning.encode())
    if answer.reasoning or tokens is None or tokens <= visible_bytes + 8:
        return None
    message = f"{tokens} tokens were made, {visible_bytes} bytes of text came: the thinking was dropped on the way"
    remedy = "ask the engine itself: a gateway that does not know the field `reasoning` drops it"
    return failed(Code.REASONING_LOST, "reasoning", message, remedy)


def kept_apart(answer: Message) -> Outcome:
    if not answer.reasoning:
        return skipped("the model did not think, so nothing can be said about where its thinking goes")
    if not answer.content.strip():
        message = (
            f"after {len(answer.reasoning)} characters of reasoning there is no content: nothing ends the thinking"
        )
        remedy = "leave --reasoning-parser out for a model that does not think; for one that does, use kimi_k2"
        return failed_if_able(Code.REASONING_LOST, PARSER, message, remedy)
    return passed(f"{len(answer.reasoning)} characters under `{answer.reasoning_field}`, none of them in content")


PROBE = Probe(
    id="reasoning",
    proves="the thinking comes under `reasoning` or `reasoning_content`, apart from an answer without tags and tokens",
    matters="thinking inside content reaches users and poisons the next turn",
    mend=REASONING_PARSERS,
    known=("vllm#27755", "vllm#28543"),
    run=run,
)
