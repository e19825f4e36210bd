"""What a folder in a cache of Hugging Face or ModelScope holds, by the names of its folders."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_CACHED: Final = re.compile(
    r".*?(?:\A|/)models--(?P<owner>[\w.-]+?)--(?P<name>[\w.-]+)(?:/snapshots(?:/[\w.-]+)?)?/*", re.ASCII | re.DOTALL
)
_OF_A_COMMIT: Final = re.compile(r"(?P<folder>.*[^/])/+[0-9a-f]{40}/*", re.DOTALL)
OURS: Final = re.compile(r"kimi|moonshot|(?<![a-z0-9])k[23](?![a-z0-9])")
FAMILIES: Final = re.compile(
    r"qwen|qwq|deepseek|llama-?[0-9]|glm|minimax|mi[sx]tral|gpt-?oss|gemma|nemotron|exaone|hunyuan|ernie|internlm|"
    r"internvl|baichuan|granite|olmo|jamba|command-?r|falcon|phi-?[0-9]|step-?[0-9]|longcat|dsv[0-9]|\bds-?(?:r1|v3)"
)
"""What the names of models have in them, in lower case."""
REVISION: Final = re.compile(
    r"v?\d{1,4}|main|master|latest|default|current|final|hf|snapshot", re.ASCII | re.IGNORECASE
)
_OF_A_REVISION: Final = re.compile(
    rf"(?P<folder>.*/(?P<name>[^/]+))/+(?:{REVISION.pattern})/*", re.ASCII | re.IGNORECASE
)
_LONGEST: Final = 2000
_DOT: Final = "___"
"""How ModelScope's cache writes the dots of a name."""


@lru_cache(maxsize=64)
def repository_of(written: str) -> str:
    """`zai-org/GLM-5.3` of `…/models--zai-org--GLM-5.3/snapshots/30333038…/`, the folder above of one that is called
    after a commit or a revision (`…/Qwen3-32B/main`, `…/Kimi-K2.5/001`), `…/ZhipuAI/GLM-4.5` of
    `…/ZhipuAI/GLM-4___5`, and other names as they are written."""
    written = written.replace(_DOT, ".") if _DOT in written[:_LONGEST] else written
    plain = written[:_LONGEST].strip("'\"")
    if cached := _CACHED.fullmatch(plain):
        return f"{cached['owner']}/{cached['name']}"
    if of_a_commit := _OF_A_COMMIT.fullmatch(plain):
        return of_a_commit["folder"]
    revision = _OF_A_REVISION.fullmatch(plain)
    name = revision["name"].casefold() if revision else ""
    return revision["folder"] if revision and (OURS.search(name) or FAMILIES.search(name)) else written
