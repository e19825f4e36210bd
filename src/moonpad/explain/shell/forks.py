"""Forks that are started by the program of the engine that they are of: by their name, or by options of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from moonpad.engines.build_names import BUILD_LINES
from moonpad.engines.foreign_names import MARKING
from moonpad.engines.forks import FORKS_BY_PROGRAM, OWNERS, Fork
from moonpad.explain.commands import Command
from moonpad.values.records import replace

_LONGEST = 2000
"""A longer line is data, not prose."""
_NAMES = "|".join(MARKING)
_OF_COMMIT = re.compile(
    rf"(?<![\w.-])(?P<owner>[A-Za-z0-9][\w-]{{0,38}})/(?P<name>(?:{_NAMES})[\w-]{{0,40}})(?:\.git)?"
    r"[ ]?@[ ]?(?:[\w./-]{1,60}[ ])?(?!sha)[0-9a-f]{7,40}(?![\w:])"
)
"""`neuralmagic/vllm@530c874d64f1`, `someone/sglang-kimi @ amd/kimi-k3 533bff471`."""
_BUILT = re.compile(r"\b(?:built|build|compiled|install(?:ed)?|source|checkout|wheel)\b", re.IGNORECASE)
_LISTED = r"\W*{engine}[ ]+\W?$"
"""In front of it: `#   sglang  `, a list of what runs."""

_OWN_BUILD = re.compile(r"(?:^[ \t>]*(?:version|build): |\bbuild info\b[^\n]{0,120}\bbuild=)(\d{3,6})(?= \(| |$)")
"""`version: 3728 (8ffad187)`, or as a log of llama.cpp has it."""


def with_forks(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    programs = {command.program for command in commands}
    texts = {line[:_LONGEST] for line in lines}
    started = [fork for fork in FORKS_BY_PROGRAM if fork.program in programs]
    named = [fork for fork in started if _is_meant(fork, texts)]
    others = [fork for fork in started if fork.plain and _is_plain(fork, texts)]
    words = {program.removesuffix(" serve") for program in programs}
    built = {engine: title for engine, title in _built_here(lines).items() if engine in words}
    titled = ((command, _fork_of(command, named, others) or _built_for(command, built)) for command in commands)
    return [replace(command, fork=title) if title else command for command, title in titled]


def _built_for(command: Command, built: Mapping[str, str]) -> str:
    """The build that the text names; an image says itself what it holds."""
    return "" if command.container is not None else built.get(command.program.removesuffix(" serve"), "")


def _built_here(lines: Sequence[str]) -> dict[str, str]:
    """Engine → the build of a commit of somebody's own repository that the text runs."""
    built: dict[str, str] = {}
    for at, line in enumerate(lines):
        if "@" not in line or len(line) > _LONGEST or (match := _OF_COMMIT.search(line)) is None:
            continue
        engine = re.match(_NAMES, match["name"])
        if engine is None or match["owner"].casefold() in OWNERS:
            continue
        listed = re.match(_LISTED.format(engine=engine[0]), line[: match.start()], re.IGNORECASE)
        if listed or _BUILT.search(line) or (at > 0 and _BUILT.search(lines[at - 1][:_LONGEST])):
            built.setdefault(engine[0], f"a build of {match['owner']}/{match['name']}")
    return built


def but_of_forks(releases: Mapping[str, str], commands: Sequence[Command]) -> dict[str, str]:
    """Without builds of an engine that is numbered by them, where a fork of one runs, which counts by itself."""
    forked = any(command.fork for command in commands)
    return {name: release for name, release in releases.items() if not (forked and name in BUILD_LINES)}


def with_own_build(fork: str, lines: Sequence[str]) -> str:
    """The fork with its build, where its log or its version names one alone: it counts by itself."""
    builds = {match[1] for line in lines for match in _OWN_BUILD.finditer(line[:_LONGEST])}
    return f"{fork}, build {builds.pop()} by its own count" if len(builds) == 1 else fork


def _is_meant(fork: Fork, texts: Set[str]) -> bool:
    return _is_named(fork.named, texts) and not (fork.otherwise and _is_named(fork.otherwise, texts))


def _is_plain(fork: Fork, texts: Set[str]) -> bool:
    """Whether the text takes what the fork is of, and does not name the fork."""
    return _is_named(fork.plain, texts) and not _is_named(fork.named, texts)


def _is_named(pattern: str, texts: Set[str]) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for text in texts)


def _fork_of(command: Command, named: Sequence[Fork], others: Sequence[Fork]) -> str:
    """ "" for none. A list of flags is known by its options alone."""
    for fork in FORKS_BY_PROGRAM:
        if fork in others:
            continue
        if command.program in (fork.program, "fragment") and any(
            word.text.partition("=")[0] in fork.options for word in command.argv
        ):
            return fork.title
        if command.program == fork.program and fork in named:
            return fork.title
    return ""
