"""The one model that a text speaks of: scripts for one model take its repository from a variable (`vllm serve $MODEL`),
and name it in a comment, a name of the server or the path of a download."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from moonpad.explain.commands import Script

_LONGEST: Final = 2000
_NAME: Final = re.compile(
    r"(?<![A-Za-z0-9])(?P<line>Kimi-(?:K[0-9](?:\.[0-9])?|Linear|VL)|Qwen[0-9](?:\.[0-9])?|DeepSeek-(?:V[0-9](?:\.[0-9])?|R1)|"
    r"Llama-[0-9](?:\.[0-9])?|GLM-[0-9](?:\.[0-9])?|MiniMax-M[0-9](?:\.[0-9])?|gpt-oss|MiMo-V[0-9](?:\.[0-9])?|"
    r"Nemotron-[0-9]|Step-[0-9](?:\.[0-9])?|gemma-[0-9])(?P<rest>(?:[-_.][A-Za-z0-9]+)*)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_DRAFT: Final = re.compile(r"eagle|dflash|medusa|draft|assistant", re.IGNORECASE)
_FILE: Final = re.compile(r"[-_.](?:sh|py|ya?ml|json|jinja|md|log|txt|toml|git)\b.*", re.IGNORECASE)


def spoken_model(script: Script) -> str:
    """The longest of its names; "" where none is named, or models of several lines."""
    script.budget.once("models in words", 2 * len(script.lines), "the text around its engine commands")
    return _model_of(tuple(script.lines))


@lru_cache(maxsize=2)  # each engine command of a text asks
def _model_of(lines: tuple[str, ...]) -> str:
    names: dict[str, str] = {}
    for line in lines:
        for match in _NAME.finditer(line[:_LONGEST]):
            name = f"{match['line']}{_FILE.sub('', match['rest'])}"
            if not _DRAFT.search(match["rest"]):
                names.setdefault(name.casefold(), name)
    longest = max(names, key=len, default="")
    return names[longest] if longest and all(longest.startswith(name) for name in names) else ""
