"""Pools that split attention over different numbers of GPUs, and models of which a part of the cache cannot be split
anew on the way: the servers start, and each request between them fails. Or all of it can, at a price."""

from __future__ import annotations

import re
from collections.abc import Iterator

from moonpad.engines.value_checks import unresolved
from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.pools import EqualShares, PoolPair, SlowShares
from moonpad.values.versions import since


def shares_of_pools(prefill: Judged, decode: Judged, pair: PoolPair) -> Iterator[Finding]:
    """Where both releases and both sizes are known, and what carries the cache is one of which that is recorded."""
    sizes = pair.prefill.layout.tp, pair.decode.layout.tp
    if sizes[0] == sizes[1] or not pair.known("tp", "dp", "connector"):
        return
    connector = pair.facts.connectors.get(pair.prefill.connector, pair.prefill.connector)
    for each in pair.facts.equal_shares:
        until = each.until.get(connector)
        if until and all(_concerns(each, until, judged) for judged in (prefill, decode)):
            message = (
                f"attention is split in {sizes[0]} in prefill and in {sizes[1]} in decode: until {until}, the cache of "
                f"{each.part} is not split anew on the way, and each request fails at its transfer"
            )
            yield Finding(Severity.WARNING, Code.CONFLICT, "tp", message, f"use one size, or release {until}")
            return
    slow = pair.facts.slow_shares
    if slow and slow.connector == connector and all(_slow(slow, judged) for judged in (prefill, decode)):
        message = (
            f"attention is split in {sizes[0]} in prefill and in {sizes[1]} in decode: keys and values then go over "
            "token by token and layer by layer, which is slow, and under load transfers time out"
        )
        gathered = since(prefill.version, slow.variable_since) and since(decode.version, slow.variable_since)
        other = f", or set {slow.variable}=1 for both" if gathered else ""
        yield Finding(Severity.NOTE, Code.CONFLICT, "tp", message, f"use one size{other}")


def _slow(slow: SlowShares, judged: Judged) -> bool:
    written = judged.model_written or ""
    return (
        bool(written)
        and not unresolved(written)
        and re.search(slow.models, written.lower()) is not None
        and bool(judged.version)
        and since(judged.version, slow.since)
        and slow.variable not in judged.sources[0].env
    )


def _concerns(each: EqualShares, until: str, judged: Judged) -> bool:
    written, words = judged.model_written or "", {word.text for word in judged.sources[0].argv}
    return (
        bool(written)
        and not unresolved(written)
        and re.search(each.models, written.lower()) is not None
        and bool(judged.version)
        and since(judged.version, each.since)
        and not since(judged.version, until)
        and (not each.unless or each.unless not in words)
    )
