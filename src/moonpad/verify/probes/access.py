"""Who is let in."""

from typing import Final

from moonpad.values.endpoint import Endpoint
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace
from moonpad.values.secret import Secret
from moonpad.verify.api import Api
from moonpad.verify.probe import Outcome, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import greedy, no_answer
from moonpad.verify.remediation import facts_of

OPEN_PATHS: Final = tuple(dict.fromkeys(path for facts in facts_of("") for path in facts.open_paths))
CONTROL_PATHS: Final = tuple(dict.fromkeys(path for facts in facts_of("") for path in facts.control_paths))
KEY: Final = "--api-key"


@probe("auth")
async def auth(api: Api) -> Outcome:
    if api.endpoint.key is None:
        reply = await api.get("/models")
        if reply.status in (401, 403):
            return no_answer(api, reply)
        return skipped("the endpoint asks for no key, so there is none to check: do not expose its address")
    for who, key in (("a wrong key", Secret("moonpad-is-not-the-key")), ("no key", None)):
        stranger = replace(api, endpoint=replace(api.endpoint, key=key))
        for what, reply in (
            ("/v1/models", await stranger.get("/models")),
            ("/v1/chat/completions", await stranger.post("/chat/completions", greedy("Hello!", max_tokens=1))),
        ):
            if reply.status == 200:
                remedy = "start the engine with its key, and let the gateway pass the key on"
                return failed(Code.INSECURE, KEY, f"{what} answers a request with {who}", remedy)
            if reply.status not in (401, 403):
                message = f"{what} answers {reply.status} to {who}, expected 401: {reply.error_text()}"
                return failed(Code.BAD_REQUEST, KEY, message, "ask the engine directly: a gateway may hide its answer")
    keyless = replace(api, endpoint=Endpoint(api.endpoint.base_url, api.endpoint.model))
    readable = [path for path in OPEN_PATHS if (await keyless.get_root(path)).status == 200]
    acting = [path for path in CONTROL_PATHS if (await keyless.get_root(path)).status in (200, 405)]
    evidence = f"a wrong key and no key are refused; open without a key: {', '.join(readable + acting) or 'nothing'}"
    if not acting:
        return passed(evidence)
    message = f"{', '.join(acting)} are reachable beside /v1, where the engine's key protects nothing"
    remedy = "put a proxy before it that passes on /v1 and /health only: expose = true in [endpoint]"
    return passed(evidence, Finding(Severity.WARNING, Code.INSECURE, KEY, message, remedy))
