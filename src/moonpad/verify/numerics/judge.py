"""One endpoint, asked and judged: against a recording, or recorded itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from moonpad.values.errors import UsageError
from moonpad.verify.api import Api
from moonpad.verify.numerics.ask import score_apart, score_together
from moonpad.verify.numerics.compare import Distance, Limits, Place, beyond, distance, limits_of, tokens_differ
from moonpad.verify.numerics.recording import Recording
from moonpad.verify.numerics.scored import Scored
from moonpad.verify.numerics.texts import TEXTS


@dataclass(frozen=True, slots=True)
class Verdict:
    """`floor`: how far the endpoint is from itself. `distance` is None where not even the tokens are the same."""

    model: str
    trusted: str
    floor: Distance
    distance: Distance | None
    limits: Limits
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
            "distance": asdict(self.distance) if self.distance else None,
            "floor": asdict(self.floor),
            "limits": asdict(self.limits),
        }


async def record(api: Api, made_by: str, on_text: Callable[[str], None]) -> Recording:
    """What the endpoint says of every text, and how far it is from itself."""
    texts, floor = await _ask(api, TEXTS, on_text)
    return Recording(api.endpoint.model, made_by, time.strftime("%Y-%m-%d %H:%M:%S"), texts, floor)


async def judge(api: Api, trusted: Recording, known: Distance | None, on_text: Callable[[str], None]) -> Verdict:
    """`known`: how far rounding alone moves this model, where somebody has computed that. An engine that gives the same
    answer each time says nothing of it.

    Raises:
        UsageError: the recording has texts that this moonpad does not have.
    """
    unknown = sorted(set(trusted.texts) - set(TEXTS))
    if unknown:
        raise UsageError(
            f"the recording has {len(unknown)} texts that this moonpad does not know: {', '.join(unknown[:5])}",
            remedy="compare with the moonpad that made it, or record again",
        )
    found, floor = await _ask(api, {name: TEXTS[name] for name in trusted.texts}, on_text)
    limits = limits_of([one for one in (trusted.floor, known) if one is not None])
    said = f"{trusted.made_by}, {trusted.at}"
    if (place := tokens_differ(trusted.texts, found)) is not None:
        return Verdict(api.endpoint.model, said, floor, None, limits, (_other_tokens(trusted.texts, found, place),))
    far = distance(trusted.texts, found)
    because = (*beyond(far, limits, "the recording"), *beyond(floor, limits, "its own second answer"))
    return Verdict(api.endpoint.model, said, floor, far, limits, because)


async def _ask(
    api: Api, texts: Mapping[str, str], on_text: Callable[[str], None]
) -> tuple[dict[str, Scored], Distance]:
    apart = await score_apart(api, texts, on_text)
    together = await score_together(api, texts, on_text)
    return apart, distance(apart, together)


def _other_tokens(wanted: Mapping[str, Scored], found: Mapping[str, Scored], place: Place) -> str:
    def at(scored: Scored) -> str:
        return repr(scored.tokens[place.position]) if place.position < len(scored.tokens) else "the end"

    return (
        f"it reads other tokens: token {place.position} of {place.text} is {at(found[place.text])}, "
        f"recorded was {at(wanted[place.text])}"
    )
