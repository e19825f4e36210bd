"""Whether a load of fresh prompts met prompts of an earlier one in the server's prefix cache.

The same seed makes the same prompts. A server that has seen them computes none of them again, and its times to first
token are those of a cache.
"""

from __future__ import annotations

from typing import Any, Final

from moonpad.bench.config import BenchConfig
from moonpad.bench.telemetry import ServerStats

MOST_CACHED: Final = 0.05
"""Of the tokens looked up. More than this share is said."""
HEAD_TOKENS: Final = 32
"""Of every prompt, which may be in the cache for a good reason: what the chat template puts before the text."""


def cached_prompts(config: BenchConfig, server: ServerStats) -> dict[str, Any] | None:
    """The share of the tokens that came from the cache, and a sentence with the remedy; None where the server says
    nothing of it, where the load has prompts that begin alike, and where the share is small."""
    workload = config.workload
    hits, queries = server.growth("prefix_hits"), server.growth("prefix_queries")
    if workload.kind != "random" or workload.turns > 1 or workload.prefix_tokens or not hits or not queries:
        return None
    share, head = hits / queries, HEAD_TOKENS * config.requests / queries
    if share <= MOST_CACHED + head:
        return None
    text = (
        f"{share:.0%} of the prompts' tokens came from the server's prefix cache, although each prompt is new: the "
        f"server has seen those of this seed before, and its times to first token are too short; use another --seed, "
        f"as in --seed {config.seed + 1}, or start the server again"
    )
    return {"share": share, "warning": text}
