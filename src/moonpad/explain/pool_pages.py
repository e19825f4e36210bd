"""Prefill and decode servers of models that are not planned, and the pages that attention backends choose by
themselves: what the rules for a pair of pools do not see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import as_published, fp8_block, other_model
from moonpad.engines.value_checks import unresolved
from moonpad.explain.grouping import value_of
from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.pools import PoolFacts, PoolPair
from moonpad.values.versions import since

_BACKENDS: Final = ("--attention-backend", "--prefill-attention-backend", "--decode-attention-backend")
_PAGES: Final = "--page-size"
_OWN_PAGES: Final = re.compile(
    r"v3\.2|v4|glm-?5|next|qwen3\.[5-9]|linear|nemotron|falcon-h1|granite|gpt-oss|minimax|llama-?4|gemma", re.IGNORECASE
)
"""Models whose pages the engine chooses in ways of its own: sparse attention, recurrent state, sliding windows."""


def title_of_other(written: str) -> str:
    """What a model that is not planned is called, whoever converted its weights; "" where it is not known."""
    known = other_model(written) if written and not unresolved(written) else None
    return known.title if known is not None else ""


def plain_cache(written: str) -> str:
    """The format of the KV cache that engines take for such a model by themselves; "" where it is not known."""
    known = other_model(written) if written and not unresolved(written) else None
    if known is None or not known.kv_heads or _OWN_PAGES.search(written):
        return ""
    return "bf16" if as_published(written) or fp8_block(known, written) else ""


def pages_of_backends(prefill: Judged, decode: Judged, pair: PoolPair) -> Iterator[Finding]:
    """Where both name their backends: each takes pages of its own size, whatever `--page-size` says."""
    facts = pair.facts
    if not facts.pages or any(_OWN_PAGES.search(each.model_written or "") for each in (prefill, decode)):
        return
    sizes = [_page(each, facts) for each in (prefill, decode)]
    if sizes[0] is None or sizes[1] is None or sizes[0][0] == sizes[1][0]:
        return
    (first, by_first), (second, by_second) = sizes[0], sizes[1]
    message = (
        f"pages of the KV cache have {first} tokens in prefill (attention by {by_first}) and {second} in decode (by "
        f"{by_second}), and must be equal"
    )
    remedy = f"write the same attention backend on both sides, or {_PAGES} {max(first, second)}"
    if facts.pages[by_first] and facts.pages[by_second] and max(first, second) not in _common(facts, sizes):
        remedy = "write the same attention backend on both sides"
    known = facts.pages_compared_since and all(
        each.version and since(each.version, facts.pages_compared_since) for each in (prefill, decode)
    )
    yield Finding(Severity.ERROR if known else Severity.WARNING, Code.CONFLICT, "block_size", message, remedy)


def _common(facts: PoolFacts, sizes: list[tuple[int, str] | None]) -> set[int]:
    """Pages that both backends take."""
    taken = [{*facts.pages[size[1]]} for size in sizes if size is not None]
    return set.intersection(*taken) if taken else set()


def _page(judged: Judged, facts: PoolFacts) -> tuple[int, str] | None:
    """The tokens of a page, and the backend that it follows from; None where one is not known."""
    argv = judged.sources[0].argv
    backends = [word.text for flag in _BACKENDS if (word := value_of(argv, (flag,))) is not None]
    if not backends or any(unresolved(name) or name not in facts.pages for name in backends):
        return None
    if len(backends) == 1 and value_of(argv, _BACKENDS[:1]) is None:
        return None  # the other half is chosen by the engine
    given = value_of(argv, (_PAGES,))
    if given is not None and (unresolved(given.text) or not given.text.isdecimal()):
        return None
    page, by = int(given.text) if given is not None else 1, backends[0]
    for name in backends:
        taken = facts.pages[name]
        if taken and page > max(taken):
            return None  # later releases take larger ones too
        if taken and page not in taken:
            page, by = taken[0], name
    return page, by
