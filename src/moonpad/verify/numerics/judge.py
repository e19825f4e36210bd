"""One endpoint, asked and judged: against a recording, or recorded itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moonpad.values.errors import CheckFailed, UsageError
from moonpad.values.records import as_dict
from moonpad.verify.api import Api
from moonpad.verify.numerics.compare import (
    Distance,
    NoiseLimits,
    Scored,
    TokenPlace,
    beyond,
    distance,
    limits_of,
    tokens_differ,
)
from moonpad.verify.numerics.recording import Recording
from moonpad.verify.numerics.scoring_client import score_apart, score_together
from moonpad.verify.numerics.texts import TEXTS


@dataclass(frozen=True, slots=True)
class NumericsVerdict:
    """`floor`: how far two of its own answers are apart. `distance` is None if the tokens differ."""

    model: str
    trusted: str
    floor: Distance
    distance: Distance | None
    limits: NoiseLimits
    because: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.because

    def as_json(self) -> dict[str, object]:
        return {
            "model": self.model,
            "against": self.trusted,
            "passed": self.passed,
            "because": list(self.because),
            "distance": as_dict(self.distance) if self.distance else None,
            "floor": as_dict(self.floor),
            "limits": as_dict(self.limits),
        }


async def record(api: Api, made_by: str, on_text: Callable[[str], None]) -> Recording:
    """How the endpoint scores every text, and how far two of its own answers are apart."""
    texts, floor = await _ask(api, TEXTS, on_text)
    return Recording(api.endpoint.model, made_by, time.strftime("%Y-%m-%d %H:%M:%S"), texts, floor)


async def judge(
    api: Api, trusted: Recording, rounding: Distance | None, on_text: Callable[[str], None]
) -> NumericsVerdict:
    """`rounding`: how far rounding alone moves this model, if that was computed. An engine that repeats its answers
    exactly does not show it.

    Raises:
        UsageError: the recording has texts that this moonpad does not have.
    """
    unknown = sorted(set(trusted.texts) - set(TEXTS))
    if unknown:
        raise UsageError(
            f"the recording has {len(unknown)} texts that this release of moonpad lacks: {', '.join(unknown[:5])}",
            remedy="compare with the release that recorded it, or record again",
        )
    answers, floor = await _ask(api, {name: TEXTS[name] for name in trusted.texts}, on_text)
    limits = limits_of([noise for noise in (trusted.floor, rounding) if noise is not None])
    against = f"{trusted.made_by}, {trusted.at}"
    if (place := tokens_differ(trusted.texts, answers)) is not None:
        message = _other_tokens(trusted.texts, answers, place)
        return NumericsVerdict(api.endpoint.model, against, floor, None, limits, (message,))
    apart = distance(trusted.texts, answers)
    because = (*beyond(apart, limits, "the recording"), *beyond(floor, limits, "its own second answer"))
    return NumericsVerdict(api.endpoint.model, against, floor, apart, limits, because)


async def _ask(
    api: Api, texts: Mapping[str, str], on_text: Callable[[str], None]
) -> tuple[dict[str, Scored], Distance]:
    """
    Raises:
        CheckFailed: it splits a text into other tokens the second time, or every text into one.
    """
    one_by_one, together = await score_apart(api, texts, on_text), await score_together(api, texts, on_text)
    if (place := tokens_differ(one_by_one, together)) is not None:
        raise CheckFailed(
            f"the endpoint splits {place.text} into other tokens the second time, from token {place.position} on",
            remedy="ask the engine directly: a gateway may send requests to several models",
        )
    if not any(scored.logprobs for scored in one_by_one.values()):
        raise CheckFailed("each text is a single token there", remedy="ask the engine directly, without the gateway")
    return one_by_one, distance(one_by_one, together)


def _other_tokens(expected: Mapping[str, Scored], answers: Mapping[str, Scored], place: TokenPlace) -> str:
    def at(scored: Scored) -> str:
        return repr(scored.tokens[place.position]) if place.position < len(scored.tokens) else "the end"

    return (
        f"the tokens differ: token {place.position} of {place.text} is {at(answers[place.text])}, "
        f"recorded was {at(expected[place.text])}"
    )
