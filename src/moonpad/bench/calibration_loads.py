"""The short loads that tell the constants of a step apart. Pure.

One short request after the other is what a step and a request cost at the least; a few at once is what experts cost
that are touched at all; many is what weights and sequences add; long prompts are arithmetic; long contexts together are
the KV cache.
"""

from __future__ import annotations

from typing import Final

from moonpad.bench.config import BenchConfig

SHORT: Final = 128
ANSWER: Final = 64
LONG: Final = 4096
MANY: Final = 16
ALONE: Final = 10
"""Requests of a load with one client."""
ROUNDS: Final = 6
"""Requests for each client of a larger one."""


def calibration_loads(context: int, sequences: int | None) -> tuple[BenchConfig, ...]:
    """For an endpoint with so long a context, and at most so many sequences at once.

    Raises:
        ValueError: the context is too short to tell anything.
    """
    if context < 2 * ANSWER:
        raise ValueError(f"a context of {context} tokens is too short to calibrate with")
    short = min(SHORT, context // 2)
    long = max(short, min(LONG, context * 3 // 4 - ANSWER))
    many = max(1, min(MANY, sequences or MANY))
    few = max(1, min(4, many))
    return (
        _load(short, ANSWER, 1),
        *([_load(short, ANSWER, few)] if 1 < few < many else []),
        _load(short, ANSWER, many),
        _load(long, ANSWER // 4, 1),
        _load(long // 2, ANSWER, few),
        _load(max(short, long // 8), ANSWER, many),
    )


def _load(prompt: int, answer: int, clients: int) -> BenchConfig:
    return BenchConfig(
        input_tokens=prompt,
        output_tokens=answer,
        ignore_eos=True,
        temperature=0.0,
        requests=ALONE if clients == 1 else ROUNDS * clients,
        concurrency=clients,
        measure_client=False,
        warmup=2,
    )
