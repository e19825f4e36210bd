"""The last token that fits, and the first that does not."""

import re
from typing import Final

from moonpad.load.wire import Reply
from moonpad.values.finding import Code, Finding, Severity
from moonpad.verify.api import Api
from moonpad.verify.common import no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped
from moonpad.verify.subject import claimed_context

TOKEN: Final = 100
"""An ordinary token of any vocabulary of the family."""
SPARE: Final = 16
LIMIT_S: Final = 900.0


async def run(api: Api) -> Outcome:
    claimed = await claimed_context(api)
    if claimed is None:
        return skipped("the model list names no context (max_model_len), so no limit can be tried")
    fits = await filled(api, claimed - 1)
    if fits.status in (404, 405):
        return skipped("there is no /v1/completions that takes tokens, so no exact length can be sent")
    if fits.status != 200 and (told := await told_limit(api, fits, claimed)):
        message = f"the list claims {claimed} tokens of context, and {told} are taken"
        remedy = f"count with {told}: SGLang keeps some for itself"
        warning = Finding(Severity.WARNING, Code.WRONG_ANSWER, "max_model_len", message, remedy)
        return passed(f"{message}; one more is refused with the limit named", warning)
    if fits.status != 200:
        message = f"{claimed - 1} tokens and one to make are refused, where the list claims {claimed}: "
        remedy = "lower --max-model-len to what fits: moonpad plan"
        return failed(Code.WRONG_ANSWER, "max_model_len", message + fits.error_text(), remedy)
    over = await filled(api, claimed + 1)
    if over.status == 200:
        message = f"{claimed + 1} tokens are taken, where the list claims {claimed}: a prompt is cut in silence"
        return failed(Code.WRONG_ANSWER, "max_model_len", message, "let no gateway shorten prompts")
    if over.status not in (400, 413, 422):
        if over.status in (401, 403):
            return no_answer(api, over)
        message = f"{claimed + 1} tokens are answered {over.status}, expected 400: {over.error_text()}"
        return failed(Code.BAD_REQUEST, "max_model_len", message, "look at the engine's log: moonpad logs")
    if not any(str(number) in over.error_text() for number in (claimed, claimed - 1)):
        message = f"the refusal does not name the limit of {claimed}: {over.error_text()}"
        return failed(Code.BAD_REQUEST, "max_model_len", message, "ask the engine itself: a gateway may hide it")
    return passed(f"{claimed - 1} tokens and one to make fit, {claimed + 1} are refused with the limit named")


async def told_limit(api: Api, refusal: Reply, claimed: int) -> int:
    """The most that is taken, where a refusal names it, a few tokens below what is claimed; 0 otherwise."""
    named = {int(number) for number in re.findall(r"\d+", refusal.error_text())}
    for limit in sorted(named, reverse=True):
        if claimed - SPARE <= limit < claimed - 1:
            for tokens in (limit, limit - 1):
                if (await filled(api, tokens)).status == 200:
                    return tokens
    return 0


async def filled(api: Api, tokens: int) -> Reply:
    body = {"model": api.endpoint.model, "prompt": [TOKEN] * tokens, "max_tokens": 1, "temperature": 0}
    return await api.post("/completions", body, answer_s=LIMIT_S)


PROBE = Probe(
    id="context_limit",
    proves="the context that is claimed is there to the token, and one more is refused with a clear 400",
    matters="a context that ends early, or a prompt that is cut in silence, shows in wrong answers alone",
    mend=Mend(
        each="a context that the KV cache holds: moonpad plan",
        vllm="--max-model-len",
        sglang="--context-length; leave --allow-auto-truncate out",
        trtllm="--max_seq_len",
    ),
    run=run,
)
