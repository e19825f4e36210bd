"""Texts that say of their one deployment that it starts or serves, and complain of something else: `It starts, one user
is fine`, `starts up fine but`, `the answers are garbage`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.programs import is_server
from moonpad.values.memory import Memory
from moonpad.values.records import replace

_STARTS: Final = re.compile(
    r"(?<!not )(?<!never )(?<!n't )\b(?:starts|started|comes up|came up|is up|boots)"
    r"(?: up)?(?: (?:fine|normally|successfully|ok|okay|correctly|without (?:errors?|problems?)))?[,;:.]?"
    r" (?:but|yet|then)\b"
    r"|\b(?:starts|started|comes up|came up) (?:up )?(?:fine|normally|successfully|without (?:errors?|problems?))"
    r"|\b(?:answers?|replies|responses|outputs?) (?:are|is|were|was) (?:not )?(?:right|wrong|garbage|gibberish|garbled"
    r"|nonsense|rubbish|empty|bad|broken|good|fine|correct|repeated)\b"
    r"|(?:能够?|可以|正常|成功)启动(?!失败)|启动(?:正常|成功)"
    r"|(?<![不没未])(?:(?:能够?|可以|已经?|成功)跑(?:通|起来)|跑通了|成功复现)(?!吗|么|[ ]?[?？])"
    r"|(?:^|[.!?:] +)(?:(?:it|the (?:server|engine|service)) )?starts(?: (?:up|fine|well|normally))?"
    r"(?:[.;]|,(?! (?:if|when|only|unless)\b)| and (?:answers|serves|runs)\b)"
    r"|\b(?:a|an|one|the|first|small|short|single) (?:(?:small|short|single|first) )?(?:requests?|prompts?|users?) "
    r"(?:works?|(?:is|are) (?:fine|right|answered|well)|go(?:es)? through|succeeds?)\b"
    r"|\b(?:validated|verified|tested|measured) (?:start(?:up)?|launch|serving|production|working) "
    r"(?:profile|recipe|command|config(?:uration)?|setup)\b",
    re.IGNORECASE,
)
_HOLDS: Final = re.compile(
    r"[\s>*|`-]*(?:\(\S+ pid=\d+\) )?GPU KV cache size:?[*`|]*\s+[\d,]{5,} tokens", re.IGNORECASE
)
"""What a start printed of its cache, where no line says that it ended behind it."""
_WORKS: Final = re.compile(
    r"[\s>*_]{0,8}(?:(?:this|that|it|the above|which)(?: (?:one|command|version|setup))? )?"
    r"(?:works|worked|runs|ran|starts|is working)(?: (?:fine|well|perfectly|normally|correctly|as expected|great))?"
    r"(?:[.,;:!]?[ ]*$|[,;.]? (?:but|while|whereas|and then|then|however)\b)",
    re.IGNORECASE,
)
"""`works, while`, below a command."""
_MOST_BELOW: Final = 60
_MOST_SERVERS: Final = 20
_FENCE: Final = re.compile(r"[ \t>]{0,8}(?:```|~~~)")
_LONGEST: Final = 2000


def is_said_to_start(script: Script, commands: Sequence[Command], memory: Memory | None = None) -> bool:
    """Whether no other server in the text can be meant, and the devices hold the weights at least."""
    if memory is not None and memory.weights_bytes >= memory.device_bytes:
        return False
    own = {command.line for command in commands}
    if any(is_server(command.program) and command.line not in own for command in script.commands):
        return False
    script.budget.once("that it starts", len(script.lines), "the text around its engine commands")
    ended = any(error.logged or error.told for error in script.error_lines)
    return is_in_lines(_STARTS, script.lines, _LONGEST) or (not ended and is_in_lines(_HOLDS, script.lines, _LONGEST))


def with_spoken_serving(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    """The commands; where one alone is a server, with what the text says of its start, and of several that of which
    the line below its block says that it works."""
    servers = [at for at, command in enumerate(commands) if is_server(command.program)]
    result = list(commands)
    if len(servers) == 1 and is_in_lines(_STARTS, lines, _LONGEST):
        result[servers[0]] = replace(result[servers[0]], serves=True)
    for at in servers if 1 < len(servers) <= _MOST_SERVERS else ():
        below = _below(lines, result[at].line)[:_LONGEST]
        if _WORKS.match(below) or _STARTS.search(below):
            result[at] = replace(result[at], serves=True)
    return result


def _below(lines: Sequence[str], number: int) -> str:
    """The first line that is not blank behind the fence in which that line of a command stands."""
    rest = lines[number - 1 : number - 1 + _MOST_BELOW]
    end = next((at for at, line in enumerate(rest) if _FENCE.match(line[:_LONGEST])), None)
    return "" if end is None else next((line for line in rest[end + 1 : end + 4] if line.strip()), "")
