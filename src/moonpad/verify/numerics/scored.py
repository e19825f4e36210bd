"""What an engine, or an oracle, says of one text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Scored:
    """`tokens` of the prompt, as the engine names them; of each after the first its log-probability (natural), and
    the token that the engine finds most likely there. Both are one shorter than `tokens`."""

    tokens: tuple[str, ...]
    logprobs: tuple[float, ...]
    likeliest: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        return {
            "tokens": list(self.tokens),
            "logprobs": [round(one, 6) for one in self.logprobs],
            "likeliest": list(self.likeliest),
        }

    @classmethod
    def of_json(cls, document: Mapping[str, Any]) -> Scored:
        """
        Raises:
            ValueError: the lists do not fit, or hold something else.
        """
        tokens, likeliest = (tuple(map(str, document[name])) for name in ("tokens", "likeliest"))
        logprobs = tuple(map(float, document["logprobs"]))
        if not tokens or not len(tokens) - 1 == len(logprobs) == len(likeliest):
            raise ValueError(
                f"{len(tokens)} tokens with {len(logprobs)} log-probabilities and {len(likeliest)} likeliest"
            )
        return cls(tokens, logprobs, likeliest)
