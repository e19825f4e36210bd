"""The model list."""

from moonpad.load.wire import Malformed, model_cards
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed


async def run(api: Api) -> Outcome:
    reply = await api.get("/models")
    if reply.status in (401, 403):
        return no_answer(api, reply)
    if reply.status != 200:
        message = f"/v1/models answers {reply.status}: {reply.error_text()}"
        return failed(
            Code.WRONG_ANSWER, "/v1/models", message, "check that the address ends where the API begins, at /v1"
        )
    cards = model_cards(reply.json())
    if isinstance(cards, Malformed):
        message = f"/v1/models is not a model list: {cards.because}"
        return failed(Code.WRONG_ANSWER, "/v1/models", message, "check that the address is an OpenAI API")
    names = tuple(str(card["id"]) for card in cards)
    if api.endpoint.model in names:
        return passed(f"{api.endpoint.model} is served")
    message = f"{api.endpoint.model!r} is not served; these are: {', '.join(names) or 'none'}"
    remedy = f"ask for one of those (--model NAME), or start vLLM with --served-model-name {api.endpoint.model}"
    return failed(Code.MODEL_NAME, "--served-model-name", message, remedy)


PROBE = Probe(
    id="models",
    proves="/v1/models lists the name that clients will ask for",
    matters="a request for any other name is a 404; vLLM's default name is the path of the checkpoint",
    mend=Mend(
        vllm="--served-model-name NAME; several names may follow it",
        sglang="--served-model-name NAME",
        trtllm="clients ask for the name of the folder: it has no option for another in older releases",
        gateway="one name in its routes and behind it",
    ),
    run=run,
)
