"""The release with which a text says that it fails, without the name of the engine: `it ran on v0.22.0, and I could
not serve it on v0.23.0`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from moonpad.values.versions import order

_RELEASE: Final = r"v(?P<{}>0\.\d{{1,2}}\.\d{{1,2}}(?:\.?(?:rc|post)\d{{1,3}})?)(?![\w-]|\.\w)"
_STARTED: Final = r"(?:serve[ds]?|start(?:ed|s)?|run|load(?:ed)?|launch(?:ed)?|deploy(?:ed)?|boot|work)"
_FAILS: Final = (
    rf"(?:\b(?:can(?:[ ]?not|[’']t)|(?:could|does|did|will)(?:[ ]not|n[’']t)|won[’']t|unable[ ]to)[ ]"
    rf"(?:be[ ]|even[ ]){{0,2}}{_STARTED}|\bno[ ]longer[ ]{_STARTED}s?|\bstopped[ ]working"
    r"|(?<!longer )(?<!never )(?<!not )(?<!n't )\b(?:fail(?:s|ed)?|crash(?:es|ed)?|broke|broken|hangs?|hung))\b"
)
_IN: Final = (
    r"\b(?:on|in|with|under|since|using|after[ ](?:the[ ])?(?:upgrad|updat|mov|switch)\w{1,4}[ ]to)[ ](?:the[ ])?"
    r"(?:version[ ]|release[ ]|tag[ ])?[`*\"'(]{0,3}"
)
_BETWEEN: Final = r"(?:[^.\n;!?]|\.(?=\w)){0,100}?"
"""Within a sentence, in which names of models have dots."""
_BUT: Final = r"\b(?:but|and|while|whereas|although|though|yet|however|then|so)\b"
_FAILING: Final = re.compile(
    rf"{_FAILS}{_BETWEEN}{_IN}{_RELEASE.format('behind')}(?![`*\"')]{{0,3}}[ ]of\b)"
    rf"|(?<!works )(?<!worked )(?<!fine )(?<!well ){_IN}{_RELEASE.format('ahead')}[`*\"')]{{0,3}}[,:]?[ ](?!of\b)"
    rf"(?:(?!{_BUT})[^.,\n;!?]|\.(?=\w)){{0,60}}?{_FAILS}",
    re.IGNORECASE,
)
_ANY: Final = re.compile(rf"(?<![\w.:/-]){_RELEASE.format('any')}")
_LONGEST: Final = 2000


def failing_release(lines: Iterable[str]) -> str:
    """The only release of which a text says so, and the newest that it names in that way; "" where there is none."""
    texts = [line[:_LONGEST] for line in lines if "v0." in line[:_LONGEST]]
    failing = {(match["behind"] or match["ahead"]).lower() for line in texts for match in _FAILING.finditer(line)}
    named = {match["any"].lower() for line in texts for match in _ANY.finditer(line)}
    if len(failing) != 1 or max(named | failing, key=order) not in failing:
        return ""
    return failing.pop()
