"""The older API, with a prompt that is text."""

from moonpad.load.wire import completion_text
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import no_answer
from moonpad.verify.mend import FIELDS
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

WHERE = "/v1/completions"


async def run(api: Api) -> Outcome:
    body = {"model": api.endpoint.model, "prompt": "One, two, three,", "max_tokens": 8, "temperature": 0}
    reply = await api.post("/completions", body)
    if reply.status in (404, 405):
        return skipped("there is no /v1/completions here: behind a gateway that may be meant")
    if reply.status != 200:
        return no_answer(api, reply)
    document = reply.json()
    usage = document.get("usage") if isinstance(document, dict) else None
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    text = completion_text(document)
    if text is None:
        return failed(Code.WRONG_ANSWER, WHERE, "the answer has no choice with a text", "ask the engine itself")
    if not isinstance(tokens, int) or not 0 < tokens <= 8:
        message = f"usage says {tokens} completion tokens, where 8 were asked for"
        return failed(Code.WRONG_ANSWER, "usage", message, "ask the engine itself: a gateway may rewrite usage")
    return passed(f"{len(text)} characters in {tokens} tokens")


PROBE = Probe(
    id="completions",
    proves="a prompt of plain text is continued, and counted",
    matters="evaluation tools use this API, because it has no chat template between",
    mend=FIELDS,
    run=run,
)
