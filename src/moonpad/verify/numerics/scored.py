"""What an engine, or an oracle, says of one text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scored:
    """`tokens` of the prompt, as the engine names them; for each after the first its log-probability (natural), and
    the token that the engine finds likeliest there. Both are one shorter than `tokens`."""

    tokens: tuple[str, ...]
    logprobs: tuple[float, ...]
    likeliest: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.tokens or not len(self.tokens) - 1 == len(self.logprobs) == len(self.likeliest):
            raise ValueError(
                f"{len(self.tokens)} tokens with {len(self.logprobs)} log-probabilities and "
                f"{len(self.likeliest)} likeliest tokens"
            )
