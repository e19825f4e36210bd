"""Text that is none."""

import re
from typing import Final

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ask, greedy
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed
from moonpad.verify.subject import claimed_context

LINE: Final = "The ferry to the island leaves at nine in the morning and comes back at six in the evening. "
QUESTION: Final = "When does the ferry leave?"
LEAST: Final = 600
MOST: Final = 24_000
"""Characters of the text before the question: a quarter of the context that is claimed, of about four a token."""
NAN: Final = re.compile(r"!{8,}")
"""Token 0 of many vocabularies, which is what the largest of NaN's is."""
SAME: Final = re.compile(r"([^\s\-_=*#.])\1{19,}")
AGAIN: Final = re.compile(r"(.{4,80}?)\1{7,}", re.DOTALL)


async def run(api: Api) -> Outcome:
    context = await claimed_context(api)
    size = max(LEAST, min(MOST, (context or 0)))
    answer = await ask(api, greedy(f"{LINE * (size // len(LINE))}\n\n{QUESTION}", max_tokens=256))
    if isinstance(answer, Outcome):
        return answer
    text = answer.reasoning + answer.content
    if found := NAN.search(text) or SAME.search(text):
        message = f"behind {size} characters of text comes {found[0][:24]!r}, {len(found[0])} times the same character"
        fail = failed if NAN.search(text) else failed_if_able
        remedy = "look for NaN: another KV-cache type or attention backend (vllm#42426); moonpad verify --numerics"
        return fail(Code.WRONG_ANSWER, "--kv-cache-dtype", message, remedy)
    if found := AGAIN.search(text):
        message = f"behind {size} characters of text {found[1][:40]!r} is said {len(found[0]) // len(found[1])} times"
        remedy = "check temperature and template; a quantized build may be why (ktransformers#1577)"
        return failed_if_able(Code.WRONG_ANSWER, "sampling", message, remedy)
    return passed(f"behind {size} characters of text comes {answer.content[:80]!r}")


PROBE = Probe(
    id="gibberish",
    proves="behind a longer text comes no row of one character, and nothing that repeats itself",
    matters="a kernel that fails at length gives !!!! with HTTP 200",
    mend=Mend(
        each="moonpad verify --numerics tells a wrong kernel from a model that repeats itself",
        vllm="--kv-cache-dtype auto; another --attention-backend",
        sglang="--kv-cache-dtype auto; another --attention-backend",
    ),
    known=("vllm#42426", "ktransformers#1577"),
    run=run,
)
