"""Several answers at once."""

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import FIELDS
from moonpad.verify.probe import Outcome, Probe, failed, passed

COUNT = 3


async def run(api: Api) -> Outcome:
    body = {"model": api.endpoint.model, **greedy("Say a colour.", n=COUNT, temperature=1.0, max_tokens=16)}
    reply = await api.post("/chat/completions", body)
    if reply.status != 200:
        return no_answer(api, reply)
    document = reply.json()
    rows = document.get("choices") if isinstance(document, dict) else None
    indices = [row.get("index") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    if sorted(index for index in indices if isinstance(index, int)) != list(range(COUNT)):
        message = f"n={COUNT} gives choices of the indices {indices}"
        return failed(Code.PARAMETER_IGNORED, "n", message, "ask the engine itself: a gateway may drop it")
    return passed(f"{COUNT} choices with the indices 0 to {COUNT - 1}")


PROBE = Probe(
    id="choices",
    proves="n gives so many choices, each with its index",
    matters="sampling several answers is how pass@k is measured",
    mend=FIELDS,
    run=run,
)
