"""Releases that a text names since they are not used: `we can't use 0.22.0`, `0.22.0 does not work for us, so we run
the nightly`; and a build from between two releases, `a version between 0.21.0 and 0.22.0`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_REFUSED: Final = re.compile(
    r"(?:\b(?:c[’']?an[’']?t|can ?not|could(?:n[’']t| not)|do(?:n[’']t| not)|will not|won[’']t|never|not able to"
    r"|unable to|shouldn[’']t|should not)"
    r"(?:[ ](?:yet|currently|really|simply|just|be)){0,2}[ ](?:use|using|take|go (?:to|with)"
    r"|(?:upgrade|move|switch|update) to)|\b(?:avoid(?:ing|ed)?|skip(?:ping|ped)?|stay(?:ing)? away from)"
    r"|(?:不能|无法|不要|没法)(?:使?用|升级到)|避免使用)[ ]?(?:(?:the|any)[ ])?"
    r"(?:(?:version|release)s?[ ])?[`*\"'(]{0,3}$",
    re.IGNORECASE,
)
"""In front of a release. That it cannot be run or started may be what the text is about."""
_UNUSABLE: Final = re.compile(
    r"[`*\"')]{0,3}[ ](?:is|was)[ ](?:not[ ](?:usable|an option)|no option|unusable|out of the question|ruled out)\b"
    r"|[`*\"')]{0,3}[ ]?(?:用不了|不可用|不能用)",
    re.IGNORECASE,
)
_FAULTY: Final = re.compile(
    r"[`*\"')]{0,3}[ ](?:(?:does|do|did)(?:[ ]not|n[’']t)[ ]work|(?:is|was)[ ](?:broken|buggy|too old|too new)"
    r"|has[ ](?:an?|this|the)[ ](?:known[ ])?(?:bug|regression)|crashe[sd]|fail(?:s|ed))\b"
    r"|[`*\"')]{0,3}[ ]?有(?:个)?bug",
    re.IGNORECASE,
)
"""Behind one: it may be the release of the text, unless that says what it runs in its place."""
_OTHER: Final = r"(?:nightly|nightlies|main|master|trunk|HEAD|source|older|earlier|previous|newer|later)\b"
_IN_PLACE: Final = re.compile(
    r"\b(?:so|thus|hence|therefore|instead|that[’']?s why|for now|meanwhile)\b[^.\n]{0,50}"
    rf"\b(?:run|use|using|stay|stick|take|took|build|built|on|with)\b[^.\n]{{0,30}}\b{_OTHER}"
    rf"|\b{_OTHER}[^.\n]{{0,20}}\binstead\b|(?:所以|因此|改)[^。\n]{{0,12}}(?:用|装)[^。\n]{{0,12}}(?:nightly|main)",
    re.IGNORECASE,
)
_OF_COMMIT: Final = re.compile(r":nightly-[0-9a-f]{40}(?![\w.-])", re.ASCII)
_RELEASE: Final = r"v?(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?(?:\.?(?:rc|post)\d{1,3})?)"
_BETWEEN: Final = re.compile(
    r"\b(?:version|release|build|commit|nightly|state|snapshot|main|something|image)s?[ ]"
    r"(?:of[ ](?:the[ ])?[\w.-]{2,20}[ ])?"
    rf"(?:from[ ])?(?:in[ ])?between[ ](?:[A-Za-z][\w.-]{{2,20}}[ ])?{_RELEASE}[ ](?:and|&)[ ]{_RELEASE}(?![\w-]|\.\w)",
    re.IGNORECASE,
)
_NEAR: Final = 60
_LONGEST: Final = 2000


def is_refused(text: str, start: int, end: int) -> bool:
    """Whether a line says that the release between `start` and `end` cannot be used, or should not."""
    return _REFUSED.search(text[max(0, start - _NEAR) : start]) is not None or _UNUSABLE.match(text, end) is not None


def is_faulty(text: str, end: int) -> bool:
    """Whether a line says behind the release that it does not work."""
    return _FAULTY.match(text, end) is not None


def says_what_runs(lines: Iterable[str]) -> bool:
    """Whether a text says that another build takes the place of a release."""
    shown = [line[:_LONGEST] for line in lines]
    return any(_IN_PLACE.search(line) or _BETWEEN.search(line) for line in shown)


def is_of_other_build(lines: Iterable[str]) -> bool:
    """Whether it does, or starts the image of a commit."""
    shown = [line[:_LONGEST] for line in lines]
    return says_what_runs(shown) or any(_OF_COMMIT.search(line) for line in shown)


@lru_cache(maxsize=4)  # each engine command of a text asks
def between(lines: tuple[str, ...]) -> tuple[int, str, str]:
    """The line that speaks of a build from between two releases, and both; (0, "", "") where none does, or several."""
    builds = [
        (number, match[1].lower(), match[2].lower())
        for number, line in enumerate(lines, 1)
        if "between" in line[:_LONGEST].casefold()
        for match in _BETWEEN.finditer(line[:_LONGEST])
    ]
    return builds[0] if len({each[1:] for each in builds}) == 1 else (0, "", "")
