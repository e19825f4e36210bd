"""A request in the text that asks for another model than the server is called."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.programs import is_server_or_router
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_REQUEST: Final = re.compile(r"\bcurl\b.*|/v1/(?:chat/)?completions\b")
_ASKS: Final = re.compile(r"[\"']model[\"']\s*:\s*[\"'](?P<name>[^\"'\\\n]{1,120})[\"']")
_BELOW: Final = 25
"""Lines of a request's body."""
_PORT: Final = re.compile(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|//[^/\s:\"']{1,100}):(\d{2,5})")
_RENAMES: Final = re.compile(r"litellm|nginx|envoy|haproxy|model_list|model-alias|semantic[- ]router|ollama", re.I)
"""What may turn one name into another, or answer by itself."""
_LORA: Final = ("--enable-lora", "--lora-modules")
_LOADED: Final = re.compile(r"[\"']lora_name[\"']\s*:\s*[\"']([^\"'\\\n]{1,120})[\"']")
"""An adapter that a request hands to the running server."""
_SEVERAL: Final = 2
_LONGEST: Final = 2000
_OPEN: Final = re.compile(r"[<>{}$*]|%[sd(]|your|xxx|\.\.\.", re.IGNORECASE)
_SERVES: Final = re.compile(r"(?:\S*/)?[\w.-]*(?:serve|start|launch)[\w.-]*\.sh")


def request_names(case: Case) -> Iterator[Remark]:
    """Of the only server in a text: engines that compare the two answer with 404."""
    script = case.script
    if case.base != names.EXPERTS_BY_VARIABLE or case.open_ended or case.option(*_LORA) is not None:
        return
    if not is_one_group(case) or not case.first.model:
        return
    place = case.option("--served-model-name")
    known = _values(place.value) if place is not None else [case.first.model.strip("'\"")]
    for reading in case.readings[1:]:  # a node that answers by another name
        other = reading.parsed.occurrence("--served-model-name")
        known += _values(other.value) if other is not None else [reading.model.strip("'\"")]
    if not known or any(unresolved(name) or _OPEN.search(name) for name in known):
        return
    script.budget.work(len(script.lines), "the text around its engine commands")
    behind = max(word.end_line for command in case.commands for word in command.words)
    for asked, line in _asked(script, case.text("--port"), behind):
        if asked in known or _OPEN.search(asked) or _has_another(script, behind, line):
            continue
        wanted, called = shortened(asked, 60), shortened(known[0], 60)
        message = f"a request (line {line}) asks for {wanted}, and the server is called {called}: it answers 404"
        remedy = f"add --served-model-name {asked}, or ask for {shortened(known[0], 60)}"
        at = place.index if place is not None else None
        yield make_remark(Severity.WARNING, Code.MODEL_NAME, "--served-model-name", message, remedy, at=at)
        return


def _has_another(script: Script, first: int, last: int) -> bool:
    """Whether something is started between two lines that may serve by another name: a container with devices or a
    script, of which the text does not show what it runs."""
    between = (command for command in script.commands if first < command.line < last)
    return any(_takes_devices(command) or _runs_script(command) for command in between)


def _takes_devices(command: Command) -> bool:
    container = command.container if command.program == "docker" else None
    return container is not None and any(container.values(option) for option in ("--gpus", "--device", "--runtime"))


def _runs_script(command: Command) -> bool:
    return command.program == "other" and any(_SERVES.fullmatch(word.text) for word in command.words[:3])


def all_but_a_name(case: Case) -> Iterator[Remark]:
    """A request below several servers for `k2.5`, which all are called `k2_5` or otherwise."""
    script = case.script
    if case.base != names.EXPERTS_BY_VARIABLE or not is_first(case.commands, script):
        return
    servers = [command for command in script.commands if is_server_or_router(command.program)]
    if len(servers) < _SEVERAL:
        return
    known = set[str]()
    for command in servers:
        words = [word.text for word in command.argv]
        called = _all_behind(words, "--served-model-name") or words[:1]
        if command.program != case.commands[0].program or command.more or {*words} & {*_LORA} or not called:
            return
        if any(unresolved(name) or _OPEN.search(name) or name.startswith("-") for name in called):
            return
        known |= {*called}
    script.budget.work(len(script.lines), "the text around its engine commands")
    letters = {_letters(name): name for name in sorted(known)}
    for asked, line in _asked(script, None, servers[0].line):
        meant = letters.get(_letters(asked))
        if asked in known or meant is None or asked.lower() == meant.lower() or "/" in asked:
            continue
        message = f"a request ({script.where(line)}) asks for {shortened(asked, 60)}, and the servers are called "
        message += f"{', '.join(shortened(name, 60) for name in sorted(known)[:3])}: they answer 404"
        remedy = f"ask for {shortened(meant, 60)}, or write --served-model-name {shortened(asked, 60)}"
        yield make_remark(Severity.WARNING, Code.MODEL_NAME, "--served-model-name", message, remedy)
        return


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _all_behind(words: Sequence[str], flag: str) -> list[str]:
    """The values of an option, `--flag a b` or `--flag=a`."""
    for at, word in enumerate(words):
        if word.startswith(f"{flag}="):
            return [word.partition("=")[2].strip("'\"")]
        if word == flag:
            return [text.strip("'\"") for text in takewhile(lambda text: not text.startswith("-"), words[at + 1 :])]
    return []


def is_only_server(case: Case) -> bool:
    """Whether the text starts no other server and no router."""
    return sum(is_server_or_router(command.program) for command in case.script.commands) == 1


def is_one_group(case: Case) -> bool:
    """Whether all servers of the text are nodes of this one deployment."""
    own = defaultdict[int, list[Command]](list)
    for command in case.commands:
        own[command.line].append(command)
    serving: list[Command] = []
    for command in case.script.commands:
        if is_server_or_router(command.program):
            if command.line not in own:  # the lines first: two commands are compared word by word
                return False
            serving.append(command)
    return bool(serving) and all(command in own[command.line] for command in serving)


def _values(value: object) -> list[str]:
    values = value if isinstance(value, tuple) else (value,)
    return [text.strip("'\"") for text in values if isinstance(text, str)]


def _asked(script: Script, port: str | None, behind: int) -> Iterator[tuple[str, int]]:
    """Names that requests below the command ask for, each with its line. Another port is another server;
    None is any."""
    until = 0
    lines: Sequence[str] = script.lines
    loaded = {adapter[1] for line in lines for adapter in _LOADED.finditer(line[:_LONGEST])}
    for number, line in enumerate(lines, 1):
        if number <= behind:
            continue
        text = line[:_LONGEST]
        if _REQUEST.search(text):
            sent = _PORT.search(text)
            until = number + _BELOW if port is None or sent is None or sent[1] == (port or "8000") else 0
        if number <= until and (found := _ASKS.search(text)):
            until = 0
            if found["name"] not in loaded:
                yield found["name"], number


def name_of_all(case: Case) -> Iterator[Remark]:
    """Several servers, all of one name, and a request for another model: workers behind a frontend that knows them by
    that name, or servers behind a proxy that passes names on."""
    script = case.script
    if not is_first(case.commands, script) or case.open_ended:
        return
    servers = [command for command in script.commands if is_server_or_router(command.program)]
    called = [_all_behind([word.text for word in command.argv], "--served-model-name") for command in servers]
    if len(servers) < _SEVERAL or any(command.more for command in servers) or not all(called):
        return
    workers = all(by_module(command) for command in servers)
    if not workers and (case.base != names.EXPERTS_BY_VARIABLE or any(not _is_like(case, one) for one in servers)):
        return
    known = {name for each in called for name in each}
    if len(known) != 1 or any(unresolved(name) or _OPEN.search(name) for name in known):
        return
    if any(word.text in _LORA for command in servers for word in command.argv):
        return
    script.budget.work(len(script.lines), "the text around its engine commands")
    if not workers and is_in_lines(_RENAMES, tuple(script.lines), _LONGEST):
        return
    (name,) = known
    behind = max(word.end_line for command in servers for word in command.words)
    asked = [one for one in _asked(script, None, behind) if not _OPEN.search(one[0])]
    if not workers and any(one == name for one, _ in asked):
        return  # another server that is not shown may answer the others
    for one, line in asked:
        if one == name:
            continue
        wanted = shortened(one, 60)
        message = f"a request ({script.where(line)}) asks for {wanted}, and all {'workers' if workers else 'servers'} "
        message += f"are called {shortened(name, 60)}: {'the frontend answers' if workers else 'they answer'} 404"
        remedy = f"ask for {shortened(name, 60)}"
        yield make_remark(Severity.WARNING, Code.MODEL_NAME, "--served-model-name", message, remedy)
        return


def _is_like(case: Case, command: Command) -> bool:
    """Whether it is another server of the same program that is not guessed from a fragment."""
    return command.program == case.commands[0].program and not command.embedded
