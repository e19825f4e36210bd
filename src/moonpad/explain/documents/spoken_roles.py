"""Which server only prefills and which only decodes, by what stands above its command in words, by the name of its
container, and by that of its file of options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.programs import is_server
from moonpad.explain.roles import ROLES, roles_of
from moonpad.values.records import replace

_PLACE: Final = (
    r"(?:nodes?|instances?|servers?|workers?|pods?|engines?|machines?|hosts?|replicas?|containers?|process(?:es)?"
    r"|(?<!-)side|side(?:(?![ ]+[a-z])|[ ]+(?:node|instance|server|worker|pod)s?)|role|节点|实例|服务器?|机器?|侧|端)"
)
"""`the largest decode-side lever` speaks of a setting."""
_SIDE: Final = r"(?P<role>prefill(?:er|ing)?|decod(?:er?|ing)|预填充|解码|context|ctx|generation|gen)"
_OF_DRAFTS: Final = r"(?<!\bspec[ ])(?<!\bspeculative[ ])"
"""`Spec Decode Server` is a server with drafts, not the decode side of a pair."""
_NAMED: Final = re.compile(rf"(?<![\w-]){_OF_DRAFTS}{_SIDE}(?:[ -]?only)?[ -]{{0,2}}{_PLACE}(?![a-z])", re.IGNORECASE)
_LETTER: Final = re.compile(rf"(?<![\w/-])(?P<role>[PD])[ -]?(?i:{_PLACE})(?![a-z])")
_ALONE: Final = re.compile(
    rf"(?:(?:run|start|launch|启动|the|on|for)\s+)*{_SIDE}(?:[ _#-]?(?:node|节点)?[ _#-]?\d{{1,2}})?"
    r"(?:\s*[(（][^()（）]{0,80}[)）])?",
    re.IGNORECASE,
)
_KEY: Final = re.compile(r"[ \t]*(?:- )?[\w.-]+:[ \t]*")
_SIDES: Final = re.compile(rf"(?<![\w-]){_OF_DRAFTS}(?:prefill|decod)[a-z]*", re.IGNORECASE)
_COUNTED: Final = re.compile(r"(?:\d{1,2}|[①-⑨])[.)、]?\s+")
_CONFIG_SIDE: Final = re.compile(r"(?:^|[/_-])(prefill|decode|ctx|gen|context|generation)(?:er)?[_.-]", re.IGNORECASE)
_TEST: Final = re.compile(
    r"\s*(?:(?:el)?if\b(?:.*?=[ ]?[\"']?(?P<role>prefill|decode)[\"']?[ ]*\]{1,2})?|(?:else|fi|esac)\b"
    r"|[\"']?(?P<arm>prefill|decode)[\"']?[ ]*\))",
    re.IGNORECASE,
)
"""A line that begins or ends a branch, and the side that it asks for."""
_BRANCH: Final = 8
_MEANS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("prefill", "p", "预填充", "context", "ctx"), "prefill"),
    **dict.fromkeys(("decod", "d", "解码", "generation", "gen"), "decode"),
}
_OF_BOTH: Final = frozenset({"context", "ctx", "generation", "gen"})
"""Words that mean this only where the other side is named so too."""
_FARTHEST: Final = 80
"""Lines above a command in which its side may be told."""
_LONGEST: Final = 160
_CONFIGS: Final = ("--config", "--extra_llm_api_options", "--extra-llm-api-options")


def with_roles(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    """Servers with the role that the text gives them; none where only one word of a pair could say it."""
    servers = [command for command in commands if is_server(command.program)]
    spoken = {id(command): _above(command, commands, lines) for command in servers if not command.role}
    words = {word for word in spoken.values() if word}
    sure = {word for word in words if word not in _OF_BOTH}
    if {_meaning(word) for word in words if word in _OF_BOTH} == {*ROLES}:
        sure |= words & _OF_BOTH
    roles = {at: _meaning(word) for at, word in spoken.items() if word in sure}
    for named in (_by_container(servers), _by_config(servers), _by_test(servers, lines)):
        roles = {**named, **roles}
    return [replace(command, role=command.role or roles.get(id(command), "")) for command in commands]


def _above(command: Command, commands: Sequence[Command], lines: Sequence[str]) -> str:
    """The word for a side in the line nearest above that has one; "" where none has, or where one has both."""
    before = [other.line for other in commands if other.line < command.line and other.program != "other"]
    first = max((*before, command.line - _FARTHEST, 0))
    for number in range(min(command.line, len(lines)) - 1, first, -1):
        if not _is_key(lines, number) and (words := _words_in(lines[number - 1])) is not None:
            return next(iter(words)) if len({_meaning(word) for word in words}) == 1 else ""
    return ""


def _is_key(lines: Sequence[str], number: int) -> bool:
    """Whether a line is a key of YAML, with its mapping below."""
    line, below = lines[number - 1], next((text for text in lines[number : number + 3] if text.strip()), "")
    return bool(_KEY.fullmatch(line)) and len(below) - len(below.lstrip()) > len(line) - len(line.lstrip())


def _words_in(line: str) -> set[str] | None:
    """The sides that a comment, a heading, or a line with a colon at its end names; None where it names none."""
    text = line.strip()
    if not text or len(text) > _LONGEST:
        return None
    told = text.endswith((":", "：")) or text.startswith(("#", "//", "**", "echo "))
    if not told:
        return None
    plain = _COUNTED.sub("", text.strip("#/*`=-~:： \t\"'").removeprefix("echo ").strip("=-#\"' "), count=1)
    found = [match["role"] for pattern in (_NAMED, _LETTER) for match in pattern.finditer(plain)]
    if not found:
        found = [alone["role"] for part in re.split(r"[ ][+&][ ]", plain) if (alone := _ALONE.fullmatch(part))]
    sides = {_stem(word) for word in found}
    if sides & {"prefill", "decod"}:
        sides |= {_stem(word) for word in _SIDES.findall(plain)}  # `prefill and decode nodes`
    return sides or None


def _stem(word: str) -> str:
    word = word.lower()
    return next((stem for stem in ("prefill", "decod") if word.startswith(stem)), word)


def _meaning(word: str) -> str:
    return _MEANS.get(_stem(word), "")


def _by_container(servers: Sequence[Command]) -> Mapping[int, str]:
    """Of containers whose names say it, where there are both."""
    names = {id(command): (command.container.value("--name") or "") if command.container else "" for command in servers}
    roles = roles_of(name for name in names.values() if name)
    return {at: roles[name] for at, name in names.items() if name in roles}


def _by_test(servers: Sequence[Command], lines: Sequence[str]) -> Mapping[int, str]:
    """Of the branches of a script, where there are both: `elif [ "$ROLE" = decode ]; then`, `decode)`."""
    found: dict[int, str] = {}
    for command in servers:
        for number in range(min(command.line, len(lines)) - 1, max(command.line - _BRANCH, 0), -1):
            if match := _TEST.match(lines[number - 1][:_LONGEST]):
                if match["role"] or match["arm"]:
                    found[id(command)] = (match["role"] or match["arm"]).lower()
                break
    return found if {*found.values()} == {*ROLES} else {}


def _by_config(servers: Sequence[Command]) -> Mapping[int, str]:
    """Of files of options whose names say it, where there are both."""
    found: dict[int, str] = {}
    for command in servers:
        for name in _files(command):
            if match := _CONFIG_SIDE.search(name):
                found[id(command)] = _meaning(match[1])
    return found if {*found.values()} == {*ROLES} else {}


def _files(command: Command) -> Iterable[str]:
    words = [word.text for word in command.argv]
    for at, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in _CONFIGS:
            yield value if equals else words[at + 1] if at + 1 < len(words) else ""
