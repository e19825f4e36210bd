"""One line in a long text."""

from typing import Final

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ask, greedy
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped
from moonpad.verify.subject import claimed_context

DEPTHS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
LINE: Final = "The grass is green, the sky is blue, the sun is yellow. Here we go, there and back again. "
NEEDLE: Final = "The number of the locker at the station is {number}. "
QUESTION: Final = "What is the number of the locker at the station? Answer with the number alone."
ROOM: Final = 1100
"""Tokens that are left for question, template and answer."""
CHARACTERS: Final = 3.6
"""Of this text a token, at the least: 4.1 by the tokenizer of Kimi-K2."""


async def run(api: Api) -> Outcome:
    context = await claimed_context(api)
    if context is None or context < 2 * ROOM:
        return skipped(f"the context that is claimed is {context}: no long text fits")
    found: list[str] = []
    missed: list[str] = []
    for place, depth in enumerate(DEPTHS):
        number = str(40_513 + 7919 * place)
        size = int((context - ROOM) * CHARACTERS)
        lines = [LINE] * (size // len(LINE))
        lines.insert(int(depth * len(lines)), NEEDLE.format(number=number))
        answer = await ask(api, greedy(f"{''.join(lines)}\n\n{QUESTION}"))
        if isinstance(answer, Outcome):
            return answer
        (found if number in answer.content else missed).append(f"{depth:.0%}")
    if missed:
        message = f"in {context} tokens of context a number is not found at {', '.join(missed)} of its depth"
        remedy = "check rope scaling (YaRN) in config.json, and the KV-cache type; moonpad verify --numerics"
        return failed(Code.WRONG_ANSWER, "--max-model-len", message, remedy)
    return passed(f"found at {', '.join(found)} of a text that fills {context} tokens")


PROBE = Probe(
    id="needle",
    proves="a number is found at five depths of a text that fills the context that is claimed",
    matters="a context may be served and not read: wrong rope scaling shows here",
    mend=Mend(
        each="rope scaling (YaRN) in config.json is the checkpoint's own; moonpad verify --numerics",
        vllm="--kv-cache-dtype auto, and --hf-overrides without rope",
        sglang="--kv-cache-dtype auto, and --json-model-override-args without rope",
    ),
    run=run,
    needs_able_model=True,
)
