"""The model behind an endpoint and the engine that serves it, as the endpoint's model list names them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import PurePosixPath
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.api_facts import ApiFacts
from moonpad.load.openai_schema import Malformed, count_of, model_cards, names_of
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, UsageError
from moonpad.values.records import replace
from moonpad.verify.api import Api, connect

# Our own test models. `root` in vLLM's model list is the path of the checkpoint, whatever the served name is.
SMALL_MODELS: Final = ("kimi-k2-tiny",)

CONTEXT_FIELDS: Final = ("max_model_len", "context_length")
MOST_CONTEXT: Final = 1 << 21
"""Tokens: probes send prompts of the claimed length. Eight times the longest context of the family."""

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
    listed = model_cards(reply.json()) if reply.status == 200 else reply
    cards = listed if isinstance(listed, tuple) else ()
    if api.endpoint.model:
        card = next((card for card in cards if card["id"] == api.endpoint.model), {})
        return api.endpoint, await _with_path(api, card)
    if len(cards) == 1:
        return replace(api.endpoint, model=str(cards[0]["id"])), await _with_path(api, cards[0])
    url = f"{api.endpoint.base_url}/models"
    if reply.status in (401, 403):
        raise UsageError(f"{url} wants a key (HTTP {reply.status})", remedy="--key-env VAR")
    if not isinstance(listed, tuple):
        raise UsageError(f"no model was named, and {url} lists none: {listed.because}", remedy="--model NAME")
    raise UsageError(f"no model was named, and {url} lists {len(cards)}: {names_of(cards)}", remedy="--model NAME")


@asynccontextmanager
async def connect_named(endpoint: Endpoint) -> AsyncIterator[tuple[Api, Card]]:
    """A client of the endpoint with its model named, and that model's card. Raises as `subject_of`."""
    async with connect(endpoint) as api:
        named, card = await subject_of(api)
        yield replace(api, endpoint=named), card


async def cards_of(api: Api) -> tuple[Card, ...]:
    """The model list; empty where there is none."""
    cards = model_cards((await api.get("/models")).json())
    return () if isinstance(cards, Malformed) else cards


async def served_by(api: Api) -> ApiFacts | None:
    """The engine that the model list names as the owner; None if it is unknown or not named."""
    return next((facts for card in await cards_of(api) if (facts := facts_by_card(card))), None)


def owner_of(card: Card) -> str:
    """The engine that a card of the model list names as its owner; "" if it is unknown or not named."""
    return facts.owned_by if (facts := facts_by_card(card)) else ""


def facts_by_card(card: Card) -> ApiFacts | None:
    """The engine that a card of the model list names as its owner; None if it is unknown or not named."""
    return next((engine.api for engine in ENGINES.values() if card.get("owned_by") == engine.api.owned_by), None)


async def claimed_context(api: Api) -> int | None:
    """Tokens of context by the model list; None where it names none."""
    card = next((card for card in await cards_of(api) if card["id"] == api.endpoint.model), {})
    sizes = (size for name in CONTEXT_FIELDS if (size := count_of(card.get(name))) is not None)
    return size if 2 < (size := next(sizes, 0)) <= MOST_CONTEXT else None


async def _with_path(api: Api, card: Card) -> Card:
    """The card with the checkpoint's path as `root`: SGLang has the served name there, and the path on another page."""
    facts = facts_by_card(card)
    if not facts or not facts.model_path_page:
        return card
    try:
        document = (await api.get_root(facts.model_path_page)).json()
    except ContactLost:
        return card
    path = document.get("model_path") if isinstance(document, dict) else None
    return {**card, "root": path} if isinstance(path, str) else card


def too_small(card: Card) -> str:
    """Why a model is too small to be judged by its answers; "" if it is not known to be."""
    root = card.get("root")
    names = {str(card.get("id", "")), PurePosixPath(root).name if isinstance(root, str) else ""}
    small = next((name for name in SMALL_MODELS if name in names), "")
    return f"{small} is too small to judge" if small else ""
