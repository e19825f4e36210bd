"""How builds that are no releases are called: by numbers that a program counts, and by the day of an image."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

BUILD_LINES: Final[Mapping[str, re.Pattern[str]]] = {
    "llama-cpp": re.compile(
        r"(?:^|[^\w.])(?:version|build): ?([1-9][0-9]{3,4}) \([0-9a-f]{7,12}\)"
        r"|\b(?:tag|release|build) b([1-9][0-9]{3,4})\b",
        re.MULTILINE,
    ),
}
"""What a program that counts its builds says of itself, and how people name one: they are called `b6097`."""
LOGGED_BUILD: Final = re.compile(r"\bbuild info\b[^\n]{0,120}\bbuild=([1-9][0-9]{2,4})\b")
"""As a log has it."""
SPOKEN_BUILDS: Final[Mapping[str, re.Pattern[str]]] = {
    "llama-cpp": re.compile(
        r"(?<![\w/-])(?:llama[._-]?cpp|llama-(?:server|cli|bench))"
        r"(?:[ ](?:version|release|build|tag|server|commit)){0,2}"
        r"[ ]?[:(@=-]?[ ]?(?:b([1-9][0-9]{3,4})(?!\w|\.\w)|([1-9][0-9]{3,4})(?=[ ]\([0-9a-f]{7,12}\)))"
        r"|(?<![\w/-])llama[._-]?cpp[ ](?:version|build|release)[ ]?[:=]?[ ]?([1-9][0-9]{3,4})(?!\w|\.\d)"
        r"|llama\.cpp:(?:[a-z0-9.]{1,20}-){0,4}b([1-9][0-9]{3,4})(?![\w.])"
        r"|(?<![\w-])llama-b([1-9][0-9]{3,4})-bin-"
        r"|(?<![\w-])b([1-9][0-9]{3,4})(?:-[0-9a-f]{7,12}(?!\w)|[ ]\([0-9a-f]{7,12}\)|[ ](?:of[ ])?llama\.cpp)"
        r"|(?<![\w.])(?:version|build)[ ]([1-9][0-9]{3,4})(?:[ ]\([0-9a-f]{7,12}\)|,[ ]commit[ ][0-9a-f]{7})",
        re.IGNORECASE,
    ),
}
"""The same in fewer words, `llama.cpp b6097`, and in the tag of an image, where nothing of `BUILD_LINES` is there."""
FAILING_BUILDS: Final[Mapping[str, re.Pattern[str]]] = {
    "llama-cpp": re.compile(
        r"^[ \t>#*-]*(?:Name and Version|(?:llama[._-]?cpp |software )?version|build|release)[*:` \t]*"
        r"(?:\n[ \t`>]*){0,3}[*` \t]*\bb([1-9][0-9]{3,4})(?![\w-]|\.\d)"
        r"|\bfirst (?:known )?bad (?:commit|build|release|version|tag)(?: (?:tag|build|release))?\W{1,12}"
        r"b([1-9][0-9]{3,4})(?!\w|\.\d)"
        r"|\b(?:broken|fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|bug|regression|hangs?|happens|stopped working)"
        r" (?:since|from|in|on|with|starting (?:with|at|from))(?: (?:build|release|tag|version))?[ `]{1,2}"
        r"b([1-9][0-9]{3,4})(?!\w|\.\d)"
        r"|\bbuild=([1-9][0-9]{3,4}) commit=",
        re.IGNORECASE | re.MULTILINE,
    ),
}
"""The same as the forms of reports have it, `### First Bad Commit`, `b7830`, where nothing of both is there."""
BUILDS_OF_OTHERS: Final = re.compile(r"ik_llama|ik-llama")
"""Of a fork that counts by itself."""
SPOKEN_BUILDS_OF_OTHERS: Final = re.compile(
    r"ik[_-]llama(?:[._-]?cpp)?[ ]?[(:,]?[ ]?"
    r"(?:(?:version|build|release|tag)[ ]?[:=]?[ ]?b?|b)([1-9][0-9]{3})(?!\w|\.\d)",
    re.IGNORECASE,
)
"""The same in fewer words than `BUILD_LINES`."""

IMAGES_OF_DAYS: Final[Mapping[str, str]] = {"rocm/sgl-dev": "sglang"}
"""Images whose name has another word for the engine's, and in whose tag is the day that they were built."""


def builds_in_words(engine: str, text: str, runs: Callable[[re.Match[str]], bool]) -> set[str]:
    """Numbers of builds that people name, `runs` says of each whether it is one that runs; else those of a report."""
    named = (match for match in SPOKEN_BUILDS[engine].finditer(text) if runs(match))
    numbers = {next(filter(None, match.groups())) for match in named}
    return numbers or {next(filter(None, match.groups())) for match in FAILING_BUILDS[engine].finditer(text)}
