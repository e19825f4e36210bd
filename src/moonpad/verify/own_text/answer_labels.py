"""The id and the model that answers name: whether one answer is that to another request, or of another model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import orjson

from moonpad.values.errors import CheckFailed, ContactLost
from moonpad.verify.api import Api, Asked
from moonpad.verify.judged_model import cards_of


@dataclass(slots=True)
class AnswerLabels:
    """Of all the answers of a run."""

    _requests: dict[str, bytes] = field(default_factory=dict)
    """By the id of their answer."""
    _listed: asyncio.Future[frozenset[str]] | None = None

    async def wrong(self, api: Api, asked: Asked) -> list[str]:
        """What is wrong with those of an answer, in sentences. A label that is missing is not."""
        faults = []
        if asked.id:
            request = orjson.dumps(asked.body, option=orjson.OPT_SORT_KEYS)
            if self._requests.setdefault(asked.id, request) != request:
                faults.append(f"the id of the answer, {asked.id}, is that of the answer to another request")
        if asked.model and asked.model != api.endpoint.model and "model" not in asked.body:
            self._listed = self._listed or asyncio.ensure_future(_names(api))
            if (names := await self._listed) and asked.model not in names:
                faults.append(f"the answer is said to be of {asked.model!r}, which /v1/models does not list")
        return faults


async def _names(api: Api) -> frozenset[str]:
    """Of the models that are listed; empty where there is no list."""
    try:
        return frozenset(str(card["id"]) for card in await cards_of(api))
    except (ContactLost, CheckFailed):
        return frozenset()
