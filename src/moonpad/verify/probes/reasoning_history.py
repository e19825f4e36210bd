"""Thinking that is sent back."""

from typing import Final

from moonpad.load.wire import REASONING_FIELDS
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ask, greedy, prompt_tokens
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped
from moonpad.verify.probes.empty_content import CALL
from moonpad.verify.tools import WEATHER

THINKING: Final = "The user wants the weather, so I look it up. " * 8
LEAST: Final = 40


async def run(api: Api) -> Outcome:
    answer = await ask(api, greedy("What is 84 * 3 / 2?"))
    if isinstance(answer, Outcome):
        return answer
    if not answer.reasoning:
        return skipped("the model does not think, so there is no thinking to send back")
    counted: dict[str, int] = {}
    for fields in ((), *((field,) for field in REASONING_FIELDS)):
        messages = (
            {"role": "user", "content": "What is the weather in Paris?"},
            {"role": "assistant", "content": "", "tool_calls": [CALL], **dict.fromkeys(fields, THINKING)},
            {"role": "tool", "tool_call_id": CALL["id"], "content": "Sunny, 23 degrees."},
        )
        tokens = await prompt_tokens(api, messages, tools=[WEATHER])
        if isinstance(tokens, Outcome):
            return tokens
        counted[fields[0] if fields else ""] = tokens
    kept = [field for field in REASONING_FIELDS if counted[field] >= counted[""] + LEAST]
    if not kept:
        message = f"{len(THINKING)} characters of thinking between a call and its result are not in the next prompt"
        remedy = "use the checkpoint's own chat template; let no gateway drop fields that it does not know"
        return failed(Code.REASONING_LOST, "--chat-template", message, remedy)
    if answer.reasoning_field not in kept:
        message = f"the thinking comes as `{answer.reasoning_field}`, and is read back as `{kept[0]}` alone"
        remedy = f"let clients send it back under both names ({' and '.join(REASONING_FIELDS)}), or update the engine"
        return failed(Code.REASONING_LOST, answer.reasoning_field, message, remedy)
    return passed(f"sent back as {' or '.join(f'`{field}`' for field in kept)}, it is in the next prompt")


PROBE = Probe(
    id="reasoning_history",
    proves="thinking that is sent back with a call, under the name under which it came, is in the next prompt",
    matters="K2-Thinking goes on from its own thoughts between calls; without them it drifts (inspect_ai#3137)",
    mend=Mend(
        each="send it back under both names; the chat template of the checkpoint's newest revision",
        gateway="pass reasoning and reasoning_content on, also in the messages of a request",
    ),
    known=("inspect_ai#3137", "vllm#27755"),
    run=run,
)
