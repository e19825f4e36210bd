"""Settings that the text itself speaks against, which are not offered as better ones, and those that it calls needed,
which go with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.suggestions import Improvement
from moonpad.values.configuration import Configuration
from moonpad.values.records import replace

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
_EAGER: Final = re.compile(r"--enforce-eager\b|--disable-cuda-graph\b|\benforce_eager\b")
_NEED: Final = r"(?:critical|required|mandatory|necessary|must\b(?: be| use| have)?)"
_NEEDED: Final = re.compile(rf"\b{_NEED}\b|必须|必需", re.IGNORECASE)
_NOT_NEEDED: Final = re.compile(
    rf"\b(?:not|no longer|isn'?t|never)[ ](?:\w+[ ])?{_NEED}\b"
    r"|\b(?:without|remove|drop|unless|if|when|debug\w*)\b|不需要|无需|不必须",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(_AGAINST, re.IGNORECASE)
_LONGEST: Final = 400
_NEAR: Final = 90
"""Characters between the setting and what is said of it."""


def as_spoken_of(
    improvements: Sequence[Improvement], script: Script, configuration: Configuration
) -> tuple[Improvement, ...]:
    """Those that change no setting of which a line of the text warns, without CUDA graphs where it calls that
    needed."""
    if not improvements:
        return ()
    script.budget.once("settings it speaks against", 3 * len(script.lines), "the search for better settings")
    against = set(_spoken_against(script))
    kept = (each for each in improvements if against.isdisjoint(dict(each.changes)))
    eager = configuration.settings.enforce_eager or not configuration.engine.graphs_option
    return tuple(kept) if eager or not _needs_eager(script) else tuple(map(_eager, kept))


def _eager(improvement: Improvement) -> Improvement:
    """The memory stays as it is counted with graphs, which take some."""
    if "enforce_eager" in dict(improvement.changes):
        return improvement
    why = f"{improvement.why}; without CUDA graphs, as the text asks"
    return replace(improvement, why=why, changes=(*improvement.changes, ("enforce_eager", None)))


def _needs_eager(script: Script) -> bool:
    for text in script.lines:
        line = text[:_LONGEST]
        for named in _EAGER.finditer(line):
            near = line[max(0, named.start() - _NEAR) : named.end() + _NEAR]
            if _NEEDED.search(near) and not _NOT_NEEDED.search(near):
                return True
    return False


def _spoken_against(script: Script) -> Iterator[str]:
    for name, pattern in _SETTINGS.items():
        for line in script.lines:
            named = pattern.search(line[:_LONGEST])
            if named is not None and _WORDS.search(line[max(0, named.start() - _NEAR) : named.end() + _NEAR]):
                yield name
                break
