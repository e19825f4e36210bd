"""A turn that had calls and no words."""

from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import prompt_tokens
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed
from moonpad.verify.tools import WEATHER

CALL: Final = {
    "id": "functions.get_weather:0",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
}
EMPTY: Final[Sequence[tuple[str, Mapping[str, object]]]] = (
    ("null", {"content": None}),
    ("an empty text", {"content": ""}),
    ("left out", {}),
)


async def run(api: Api) -> Outcome:
    counted: dict[str, int] = {}
    for how, content in EMPTY:
        messages = (
            {"role": "user", "content": "What is the weather in Paris?"},
            {"role": "assistant", **content, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": CALL["id"], "content": "Sunny, 23 degrees."},
        )
        tokens = await prompt_tokens(api, messages, tools=[WEATHER])
        if isinstance(tokens, Outcome):
            return tokens
        counted[how] = tokens
    if len(set(counted.values())) > 1:
        said = ", ".join(f"{how}: {tokens} tokens" for how, tokens in counted.items())
        message = f"the same turn without words is another prompt by how its content is empty ({said})"
        remedy = "use the checkpoint's chat template of 2025-10-28 or later, and vLLM 0.11.1 or later"
        return failed(Code.WRONG_ANSWER, "--chat-template", message, remedy)
    return passed(f"content null, empty and left out are one prompt of {counted['null']} tokens")


PROBE = Probe(
    id="empty_content",
    proves="a turn with calls and no words is rendered the same, however its content is empty",
    matters="agents send it back each turn; a wrongly rendered one made vLLM lose calls (its blog of 2025-10-28)",
    mend=Mend(
        each="the checkpoint's chat template of 2025-10-28 or later",
        vllm="0.11.1 or later",
        gateway="leave an empty content as it is",
    ),
    run=run,
)
