"""What is judged: the model behind an endpoint, as the endpoint itself lists it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from moonpad.load.wire import Malformed, model_cards
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, UsageError
from moonpad.verify.api import Api

# Our own test models. `root` in vLLM's model list is the path of the checkpoint, whatever the served name is.
SMALL_MODELS: Final = ("kimi-k2-tiny",)

CONTEXT_FIELDS: Final = ("max_model_len", "context_length")

ENGINES: Final = ("vllm", "sglang")

Card = Mapping[str, object]


async def subject_of(api: Api) -> tuple[Endpoint, Card]:
    """The endpoint with its model named, and that model's card, empty where it is not listed.

    Raises:
        UsageError: no model was named, and the endpoint does not list exactly one.
        ContactLost: no model was named, and the list does not come.
    """
    try:
        reply = await api.get("/models")
    except ContactLost:
        if api.endpoint.model:
            return api.endpoint, {}
        raise
    cards = (
        model_cards(reply.json()) if reply.status == 200 else Malformed(f"HTTP {reply.status}: {reply.error_text()}")
    )
    known = () if isinstance(cards, Malformed) else tuple([await _with_path(api, card) for card in cards])
    if wanted := api.endpoint.model:
        return api.endpoint, next((card for card in known if card["id"] == wanted), {})
    if len(known) == 1:
        return replace(api.endpoint, model=str(known[0]["id"])), known[0]
    url = f"{api.endpoint.base_url}/models"
    if reply.status in (401, 403):
        raise UsageError(f"{url} wants a key (HTTP {reply.status})", remedy="--key-env VAR")
    if isinstance(cards, Malformed):
        raise UsageError(f"no model was named, and {url} lists none: {cards.because}", remedy="--model NAME")
    names = ", ".join(str(card["id"]) for card in known) or "none"
    raise UsageError(f"no model was named, and {url} lists {len(known)}: {names}", remedy="--model NAME")


async def made_by(api: Api) -> str:
    """The engine by the owner in its model list, "vllm" or "sglang"; "" where another or none is named."""
    cards = model_cards((await api.get("/models")).json())
    return "" if isinstance(cards, Malformed) else next((owner for card in cards if (owner := owner_of(card))), "")


def owner_of(card: Card) -> str:
    """The engine that a card of the model list names as its owner, "" where it is another or none."""
    return next((engine for engine in ENGINES if card.get("owned_by") == engine), "")


async def claimed_context(api: Api) -> int | None:
    """Tokens of context by the model list; None where it names none."""
    cards = model_cards((await api.get("/models")).json())
    rows = () if isinstance(cards, Malformed) else cards
    card = next((row for row in rows if row["id"] == api.endpoint.model), {})
    found = next((card[field] for field in CONTEXT_FIELDS if isinstance(card.get(field), int)), None)
    return found if isinstance(found, int) and found > 2 else None


async def _with_path(api: Api, card: Card) -> Card:
    """SGLang's list has the served name for `root`, and another page the path."""
    if card.get("owned_by") != "sglang":
        return card
    try:
        found = (await api.get_root("/model_info")).json()
    except ContactLost:
        return card
    path = found.get("model_path") if isinstance(found, dict) else None
    return {**card, "root": path} if isinstance(path, str) else card


def too_small(card: Card) -> str:
    """Why a model is too small to be judged by what it answers, "" where it is not known to be."""
    root = card.get("root")
    names = {str(card.get("id", "")), PurePosixPath(root).name if isinstance(root, str) else ""}
    small = next((name for name in SMALL_MODELS if name in names), "")
    return f"{small} is too small to judge" if small else ""
