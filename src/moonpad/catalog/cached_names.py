"""What a folder in a cache of Hugging Face or ModelScope holds, by the names of its folders."""

from __future__ import annotations

import re
from typing import Final

_CACHED: Final = re.compile(
    r".*?(?:\A|/)models--(?P<owner>[\w.-]+?)--(?P<name>[\w.-]+)(?:/snapshots(?:/[\w.-]+)?)?/*", re.ASCII | re.DOTALL
)
_OF_A_COMMIT: Final = re.compile(r"(?P<folder>.*[^/])/+[0-9a-f]{40}/*", re.DOTALL)
_LONGEST: Final = 2000
_DOT: Final = "___"
"""How ModelScope's cache writes the dots of a name."""


def repository_of(written: str) -> str:
    """`zai-org/GLM-5.3` of `…/models--zai-org--GLM-5.3/snapshots/30333038…/`, the folder above of one that is called
    after a commit, `…/ZhipuAI/GLM-4.5` of `…/ZhipuAI/GLM-4___5`, and other names as they are written."""
    written = written.replace(_DOT, ".") if _DOT in written[:_LONGEST] else written
    plain = written[:_LONGEST].strip("'\"")
    if cached := _CACHED.fullmatch(plain):
        return f"{cached['owner']}/{cached['name']}"
    of_a_commit = _OF_A_COMMIT.fullmatch(plain)
    return of_a_commit["folder"] if of_a_commit else written
