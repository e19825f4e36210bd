"""Commands in a list that Python has printed: `launcher_cmd: ['vllm serve m --hf-overrides \\'{"a": 1}\\'']`.

The quotes of the list and the backslashes before those of the command are ignored, in a text of the same length.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.source_text import IGNORED

_LIST: Final = re.compile(
    r"^(?P<before>[^\n\['\"]{0,80}\[')(?P<command>(?:[^'\\\n]|\\.){1,8000})'\][ \t]*$", re.MULTILINE
)
_ESCAPE: Final = re.compile(r"\\(?P<character>['\\])")


def as_commands_of_lists(text: str) -> str:
    if "['" not in text:
        return text
    return _LIST.sub(_bare, text)


def _bare(match: re.Match[str]) -> str:
    if SPEAKING.search(match["command"]) is None:
        return match[0]
    command = _ESCAPE.sub(lambda escape: IGNORED + escape["character"], match["command"])
    behind = len(match[0]) - len(match["before"]) - len(match["command"])
    return IGNORED * len(match["before"]) + command + IGNORED * behind
