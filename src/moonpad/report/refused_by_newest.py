"""What the release that is judged refuses for sure, where the text names none and an older one may be meant."""

from __future__ import annotations

from typing import Final

from moonpad.explain.results import Judged
from moonpad.explain.target_detection import BY_NEWEST, FOREIGN_BUILD
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_OF_OPTIONS: Final = frozenset({Code.REMOVED_FLAG, Code.UNKNOWN_FLAG})
_SERVERS: Final = ("serve", "prefill", "decode")
_ASKS: Final = ": --engine-version says which is meant"
_OF_NONE: Final = ("; no release from ", "; releases before ")
"""What no recorded release has is said before what some have."""
_NO_LONGER: Final = ("Ray is no longer the default", "which is no longer taken by itself")


def refused_by_newest(judged: Judged) -> Finding | None:
    """A warning that is an error of that release, without asking which one is meant; None where there
    is none, or the release is named."""
    if not judged.version_because.endswith(BY_NEWEST) or judged.kind not in _SERVERS:
        return None
    refused = [each for each in judged.findings if each.severity is Severity.WARNING and _is_refusal(each, judged)]
    if not refused:
        return None
    first = min(refused, key=lambda each: not any(words in each.message for words in _OF_NONE))
    return replace(first, message=first.message.removesuffix(_ASKS))


def _is_refusal(finding: Finding, judged: Judged) -> bool:
    if finding.code in _OF_OPTIONS:
        return finding.message.endswith(_ASKS)
    of_machines = judged.cluster is not None and judged.cluster.nodes > 1
    return finding.code is Code.MISSING_FLAG and of_machines and any(each in finding.message for each in _NO_LONGER)


def is_of_others(judged: Judged) -> bool:
    """Whether it is a build of somebody else, whose day is not known: the newest release may refuse what that takes."""
    return judged.version_because.endswith(BY_NEWEST) and any(
        words in judged.version_because for words in FOREIGN_BUILD
    )
