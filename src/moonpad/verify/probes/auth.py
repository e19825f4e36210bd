"""Who is let in."""

from dataclasses import replace
from typing import Final

from moonpad.load.wire import Reply
from moonpad.values.endpoint import Endpoint
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.secret import Secret
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

WRONG: Final = "moonpad-is-not-the-key"
READABLE: Final = ("/health", "/metrics", "/version", "/load", "/openapi.json", "/server_info", "/get_server_info")
# Asked by GET, which they refuse with 405 where they exist: nothing is done. vLLM's --api-key guards /v1 alone.
ACTING: Final = (
    "/invocations",
    "/pause",
    "/update_weights",
    "/flush_cache",
    "/reset_prefix_cache",
    "/generate",
    "/sleep",
)
KEY: Final = "--api-key"


async def run(api: Api) -> Outcome:
    if api.endpoint.key is None:
        reply = await api.get("/models")
        if reply.status in (401, 403):
            return no_answer(api, reply)
        return skipped("no key is asked for, so there is none to check: keep the address to yourself")
    for who, key in (("a wrong key", Secret(WRONG)), ("no key", None)):
        stranger = replace(api, endpoint=replace(api.endpoint, key=key))
        for what, reply in (
            ("/v1/models", await stranger.get("/models")),
            ("/v1/chat/completions", await _chat(stranger)),
        ):
            if reply.status not in (401, 403):
                return _let_in(who, what, reply)
    nobody = replace(api, endpoint=Endpoint(api.endpoint.base_url, api.endpoint.model))
    readable = [path for path in READABLE if (await nobody.get_root(path)).status == 200]
    acting = [path for path in ACTING if (await nobody.get_root(path)).status in (200, 405)]
    evidence = f"a wrong key and none are refused; open without a key: {', '.join(readable + acting) or 'nothing'}"
    return passed(evidence, *_open_doors(acting))


async def _chat(api: Api) -> Reply:
    return await api.post("/chat/completions", {"model": api.endpoint.model, **greedy("Hello!", max_tokens=1)})


def _let_in(who: str, what: str, reply: Reply) -> Outcome:
    if reply.status == 200:
        message = f"{what} answers to {who}"
        return failed(Code.INSECURE, KEY, message, "start the engine with its key, and let the gateway pass it on")
    message = f"{what} answers {reply.status} to {who}, expected 401: {reply.error_text()}"
    return failed(Code.BAD_REQUEST, KEY, message, "ask the engine itself: a gateway may hide its answer")


def _open_doors(acting: list[str]) -> tuple[Finding, ...]:
    if not acting:
        return ()
    message = f"{', '.join(acting)} are there beside /v1, where the engine's key guards nothing"
    remedy = "put a front before it that passes on /v1 and /health alone: expose = true, or moonpad render"
    return (Finding(Severity.WARNING, Code.INSECURE, KEY, message, remedy),)


PROBE = Probe(
    id="auth",
    proves="a wrong key and no key are refused, and which paths are open without one",
    matters="an engine's key guards /v1 alone; what is beside it can stop the engine or read it out",
    mend=Mend(
        each="a front before it that passes on /v1 and /health alone: expose = true in [endpoint]",
        vllm="--api-key; it guards /v1 alone",
        sglang="--api-key",
        trtllm="it has no key of its own: a front",
    ),
    run=run,
)
