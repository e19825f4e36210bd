"""Something answers, names its model and reports its load."""

from moonpad.engines import ENGINES
from moonpad.load.openai_schema import Malformed, model_cards, names_of
from moonpad.observe.metrics import EngineLoad, read_load
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.probe import Outcome, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import LOOK_AT_LOG, no_answer

METRICS = tuple(dict.fromkeys(engine.metrics for engine in ENGINES.values() if engine.metrics.running))


@probe("health")
async def health(api: Api) -> Outcome:
    reply = await api.get_root("/health")
    if reply.status == 200:
        return passed("/health answers 200")
    if reply.status in (401, 403, 404, 405):
        return passed(f"alive; /health is not open (HTTP {reply.status}), as is usual behind a gateway")
    message = f"/health answers {reply.status}: {reply.error_text()}"
    remedy = "wait until the engine is ready, or look at its log: moonpad logs"
    return failed(Code.UNREACHABLE, "/health", message, remedy)


@probe("models")
async def models(api: Api) -> Outcome:
    reply = await api.get("/models")
    if reply.status in (401, 403):
        return no_answer(api, reply)
    if reply.status != 200:
        message = f"/v1/models answers {reply.status}: {reply.error_text()}"
        return failed(Code.WRONG_ANSWER, "/v1/models", message, "check that the address ends in /v1")
    cards = model_cards(reply.json())
    if isinstance(cards, Malformed):
        message = f"/v1/models is not a model list: {cards.because}"
        return failed(Code.WRONG_ANSWER, "/v1/models", message, "check that the address is that of an OpenAI API")
    if any(card["id"] == api.endpoint.model for card in cards):
        return passed(f"{api.endpoint.model} is served")
    message = f"{api.endpoint.model!r} is not served; these are: {names_of(cards)}"
    remedy = f"ask for one of those (--model NAME), or start the engine with --served-model-name {api.endpoint.model}"
    return failed(Code.MODEL_NAME, "--served-model-name", message, remedy)


@probe("metrics")
async def metrics(api: Api) -> Outcome:
    reply = await api.get_root("/metrics")
    if reply.status in (401, 403, 404, 405):
        return skipped(f"no /metrics here (HTTP {reply.status}): it is switched off, or a proxy does not pass it on")
    if reply.status != 200:
        message = f"/metrics answers {reply.status}: {reply.error_text()}"
        return failed(Code.WRONG_ANSWER, "/metrics", message, LOOK_AT_LOG)
    count = running(reply.text)
    if count is None:
        message = f"/metrics has none of {', '.join(names.running for names in METRICS)}"
        remedy = "ask the engine directly: this may be a gateway's own page"
        return failed(Code.WRONG_ANSWER, "/metrics", message, remedy)
    return passed(f"requests running: {count:.0f}")


def running(text: str) -> float | None:
    """Running requests over all data-parallel ranks; None where no engine's figure is in the text."""
    loads = (read_load(text.encode(), names) for names in METRICS)
    return next((load.running for load in loads if isinstance(load, EngineLoad) and load.running is not None), None)
