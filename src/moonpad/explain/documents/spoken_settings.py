"""Settings that the text itself speaks against: they are not offered as better ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.suggestions import Improvement

_AGAINST: Final = (
    r"not (?:yet )?(?:support|work|us)|unsupported|unusable|\bdo(?:es)? not\b|\bdon'?t\b|\bdoesn'?t\b"
    r"|\bavoid\b|\bbroken\b"
    r"|\bdrops? to\b|garbage|gibberish|\bcrash|\bnever use\b|\bfails?\b|\bslow(?:er|s)?\b|不支持|不要|禁止|报错|乱码"
)
_SETTINGS: Final[Mapping[str, re.Pattern[str]]] = {
    "kv_cache_dtype": re.compile(
        r"\bfp8(?:_e\dm\d)?[ -]{1,2}(?:kv|cache)|\b(?:kv|cache)[ -]?(?:cache|dtype)?[^.;|]{0,20}\bfp8"
        r"|--kv[-_]cache[-_]dtype fp8",
        re.IGNORECASE,
    ),
    "dcp": re.compile(r"\bdcp\b|decode[- _]context[- _]parallel", re.IGNORECASE),
}
_WORDS: Final = re.compile(_AGAINST, re.IGNORECASE)
_LONGEST: Final = 400
_NEAR: Final = 90
"""Characters between the setting and what is said of it."""


def not_spoken_against(improvements: Sequence[Improvement], script: Script) -> tuple[Improvement, ...]:
    """Those that change no setting of which a line of the text warns."""
    if not improvements:
        return ()
    script.budget.once("settings it speaks against", 2 * len(script.lines), "the search for better settings")
    against = set(_spoken_against(script))
    return tuple(each for each in improvements if against.isdisjoint(dict(each.changes)))


def _spoken_against(script: Script) -> Iterator[str]:
    for name, pattern in _SETTINGS.items():
        for line in script.lines:
            named = pattern.search(line[:_LONGEST])
            if named is not None and _WORDS.search(line[max(0, named.start() - _NEAR) : named.end() + _NEAR]):
                yield name
                break
