"""The served model's name, where the user gave none."""

from __future__ import annotations

from moonpad.load.endpoint_url import Target
from moonpad.load.json_request import fetch
from moonpad.load.openai_schema import Malformed, model_cards
from moonpad.values.errors import CheckFailed, UsageError

TIMEOUT_S = 30.0


async def only_model(target: Target) -> str:
    """The one model of `GET /v1/models`.

    Raises:
        UsageError: the endpoint serves no model, or several.
        CheckFailed: it refuses the request.
        RequestFailed: it does not answer.
    """
    answer = await fetch(target, target.get(f"{target.api_path}/models"), timeout_s=TIMEOUT_S)
    if answer.status in (401, 403):
        raise CheckFailed(
            f"the endpoint requires a key: HTTP {answer.status}", remedy="name its variable with --key-env"
        )
    if answer.status != 200:
        raise CheckFailed(
            f"GET {target.api_path}/models answered HTTP {answer.status}: {answer.text[:200]}",
            remedy="name the model with --model, and check that the URL ends where /v1 begins",
        )
    cards = model_cards(answer.json)
    names = [] if isinstance(cards, Malformed) else [str(card["id"]) for card in cards]
    if len(names) != 1:
        serves = f"{len(names)} models: {', '.join(names[:8])}" if names else "no model"
        raise UsageError(f"the endpoint serves {serves}", remedy="name one with --model")
    return names[0]
