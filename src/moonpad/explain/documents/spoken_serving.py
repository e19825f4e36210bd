"""A text on one server that says of it: `It starts, one user is fine`, `A small request works`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.programs import is_server
from moonpad.values.records import replace

_SERVES: Final = re.compile(
    r"(?:^|[.!?:][ ]+|\n)(?:(?:it|the[ ](?:server|engine|service))[ ])?starts(?:[ ](?:up|fine|well|normally))?"
    r"(?:[.;]|,(?![ ](?:if|when|only|unless)\b)|[ ]and[ ](?:answers|serves|runs)\b)"
    r"|\b(?:a|an|one|the|first|small|short|single)[ ](?:(?:small|short|single|first)[ ])?"
    r"(?:requests?|prompts?|users?)[ ]"
    r"(?:works?|(?:is|are)[ ](?:fine|right|answered|well)|go(?:es)?[ ]through|succeeds?)\b",
    re.IGNORECASE,
)
_LONGEST: Final = 2000


def with_spoken_serving(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    """The commands; where one alone is a server, with what the text says of its start."""
    servers = [at for at, command in enumerate(commands) if is_server(command.program)]
    result = list(commands)
    if len(servers) != 1:
        return result
    if any(_SERVES.search(line[:_LONGEST]) for line in lines):
        result[servers[0]] = replace(result[servers[0]], serves=True)
    return result
