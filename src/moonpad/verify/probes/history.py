"""What was said before reaches the model."""

from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import prompt_tokens
from moonpad.verify.mend import TEMPLATES
from moonpad.verify.probe import Outcome, Probe, failed, passed

USER: Final = {"role": "user", "content": "And now?"}
RULES: Final = "Answer in one short sentence. " * 12
TEMPLATE: Final = "--chat-template"
MEND: Final = "use the chat template of the checkpoint itself, and let no gateway shorten the conversation"

Messages = Sequence[Mapping[str, object]]

CASES: Final[Sequence[tuple[str, Messages, int]]] = (
    ("a system message of 12 sentences", ({"role": "system", "content": RULES}, USER), 24),
    (
        "two turns before",
        (
            {"role": "user", "content": RULES},
            {"role": "assistant", "content": RULES},
            USER,
        ),
        48,
    ),
    ("content in parts", ({"role": "user", "content": [{"type": "text", "text": RULES}]}, USER), 24),
)
"""What is added to a question, and how many tokens it is at the least."""


async def run(api: Api) -> Outcome:
    alone = await prompt_tokens(api, (USER,))
    if isinstance(alone, Outcome):
        return alone
    grown = []
    for what, messages, least in CASES:
        tokens = await prompt_tokens(api, messages)
        if isinstance(tokens, Outcome):
            return tokens
        if tokens < alone + least:
            message = f"{what} makes the prompt {tokens - alone} tokens longer, expected {least} or more: it is lost"
            return failed(Code.WRONG_ANSWER, TEMPLATE, message, MEND)
        grown.append(f"{what}: {tokens - alone} tokens more")
    return passed("; ".join(grown))


PROBE = Probe(
    id="history",
    proves="a system message, earlier turns and content in parts are in the prompt",
    matters="a template or a gateway that drops a part of the conversation makes a model seem forgetful",
    mend=TEMPLATES,
    run=run,
)
