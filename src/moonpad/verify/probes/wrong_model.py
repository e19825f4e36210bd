"""A model that is not there."""

from typing import Final

from moonpad.load.wire import Reply
from moonpad.values.errors import ContactLost
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped
from moonpad.verify.subject import made_by

NAME: Final = "moonpad-no-such-model"


async def run(api: Api) -> Outcome:
    reply = await api.post("/chat/completions", greedy("Hello!", model=NAME, max_tokens=1))
    if reply.status == 200 and await made_by(api) == "sglang":  # 0.5.23 looks in it for a LoRA adapter at most
        return skipped("SGLang answers to every name: let clients check /v1/models first")
    return (
        wrong_status(api, reply) or unclear(reply) or await dead_after(api) or passed(f"HTTP 404: {reply.error_text()}")
    )


def wrong_status(api: Api, reply: Reply) -> Outcome | None:
    if reply.status == 404:
        return None
    if reply.status == 200:
        message = f"a request for {NAME!r} was answered as if that model were served"
        remedy = "let clients check /v1/models first; behind a gateway, mend its routes"
        return failed(Code.MODEL_NAME, "/v1/chat/completions", message, remedy)
    if reply.status in (401, 403):
        return no_answer(api, reply)
    message = f"a request for {NAME!r} is answered {reply.status}, expected 404: {reply.error_text()}"
    return failed(Code.MODEL_NAME, "/v1/chat/completions", message, "ask the engine itself: vLLM answers 404")


def unclear(reply: Reply) -> Outcome | None:
    if reply.json() is not None and NAME in reply.error_text():
        return None
    message = f"the 404 does not name the model: {reply.error_text()}"
    return failed(Code.MODEL_NAME, "/v1/chat/completions", message, "check the path: the 404 may come from a gateway")


async def dead_after(api: Api) -> Outcome | None:
    try:
        reply = await api.get("/models")
    except ContactLost as error:
        message = f"the server is gone after the request: {error.message}"
        return failed(Code.UNREACHABLE, "/v1/models", message, "look at the engine's log: moonpad logs")
    if reply.status == 200:
        return None
    message = f"after the request /v1/models answers {reply.status}: {reply.error_text()}"
    return failed(Code.UNREACHABLE, "/v1/models", message, "look at the engine's log: moonpad logs")


PROBE = Probe(
    id="wrong_model",
    proves="an unknown model name is a 404 that says so, and the server lives on",
    matters="a name that is silently accepted hides a wrong configuration until the answers are wrong",
    mend=Mend(sglang="it answers to every name: let a gateway check", gateway="no default route for unknown names"),
    run=run,
)
