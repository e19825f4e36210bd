"""The model that a measurement in the text asks for, against the servers that the same text starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE as MEASURED
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.commands import Command, Word
from moonpad.explain.grouping import model_of, value_of
from moonpad.explain.programs import is_server, program_table
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_SERVED: Final = "--served-model-name"
_OWN_TOKENIZER: Final = ("--tokenizer", "--skip-tokenizer-init", "--tokenizer-mode")
_ELSEWHERE: Final = ("--base-url", "--host")
_EVALUATION: Final = "lm_eval"
_ARGUMENTS: Final = ("--model-args", "-a")
_MORE_NAMES: Final = ("--enable-lora", "--lora-modules", "--config")
"""What may give the server names that do not stand in its command."""
_HERE: Final = re.compile(r"(?:https?://)?(?:127\.0\.0\.1|localhost|0\.0\.0\.0)(?::(?P<port>\d{2,5}))?/?")
_OPEN: Final = re.compile(r"[<>{}$*]|your|xxx|\.\.\.", re.IGNORECASE)
_MOST: Final = 100


def bench_names(case: Case) -> Iterator[Remark]:
    """A measurement whose model is the served name alone has no tokenizer; one of another name is answered by 404."""
    script = case.script
    if case.base != MEASURED or len(script.commands) > _MOST:
        return
    if not is_first(case.commands, script):
        return
    servers = [command for command in script.commands if is_server(command.program)]
    served = {name for server in servers for name in _served(server)}
    models = {(model_of(server) or "").strip("'\"") for server in servers}
    for command in script.commands:
        if command.program == _EVALUATION:
            if (remark := _of_evaluation(case, command)) is not None:
                yield remark
                return
            continue
        if not _is_measurement(command):
            continue
        word = value_of(command.argv, ("--model",))
        if word is None or not _sure(word.text):
            continue
        line, name = script.where(word.line), word.text.strip("'\"")
        own = value_of(command.argv, _OWN_TOKENIZER) is not None
        if "/" not in name and name in served and name not in models and not own:
            message = (
                f"{line}: {shortened(name, 60)} is what the server is called, and no model: the measurement looks "
            )
            message += "for its tokenizer under this name and ends"
            remedy = f"give --model the server's own model, and add {_SERVED} {shortened(name, 60)}"
            remark = make_remark(Severity.WARNING, Code.MODEL_NAME, "--model", message, remedy)
            yield replace(remark, command=None)
            return
        given = value_of(command.argv, (_SERVED,))
        asked = given.text.strip("'\"") if given is not None else name
        if _is_refused(case, command, asked) and _same_port(case, command):
            yield _remark(line, "measurement", "--model", asked, case)
            return


def _of_evaluation(case: Case, command: Command) -> Remark | None:
    """The same of questions whose answers are counted: model and address stand in one argument."""
    word = value_of(command.argv, _ARGUMENTS)
    pairs = dict(part.partition("=")[::2] for part in word.text.strip("'\"").split(",")) if word is not None else {}
    asked, address = pairs.get("model", ""), _HERE.match(pairs.get("base_url", ""))
    if word is None or address is None or (address["port"] or "80") not in _ports(case):
        return None
    if not _is_refused(case, command, asked):
        return None
    return _remark(case.script.where(word.line), "evaluation", "--model_args", asked, case)


def _remark(line: str, what: str, where: str, asked: str, case: Case) -> Remark:
    answered = shortened(sorted(_known(case))[0], 60)
    message = (
        f"{line}: the {what} asks for {shortened(asked, 60)}, and the server is called {answered}: each request is "
    )
    message += "answered by 404"
    remedy = f"ask for {answered}" + (f" with {_SERVED}" if where == "--model" else "")
    return replace(make_remark(Severity.WARNING, Code.MODEL_NAME, where, message, remedy), command=None)


def _is_refused(case: Case, command: Command, asked: str) -> bool:
    """Whether the only deployment of the text does not answer to this name."""
    if not is_one_group(case) or case.open_ended or case.option(*_MORE_NAMES) is not None or not case.first.model:
        return False
    if case.script.objects or any(each.container is not None for each in (*case.commands, command)):
        return False
    known = _known(case)
    return _sure(asked) and asked not in known and all(_sure(name) for name in known)


def _known(case: Case) -> set[str]:
    """What the deployment answers to."""
    return {name for command in case.commands for name in _served(command)} or {case.first.model.strip("'\"")}


def _ports(case: Case) -> set[str]:
    return {text for command in case.commands if (text := _text(command, "--port"))} or {"8000"}


def _same_port(case: Case, bench: Command) -> bool:
    ports = _ports(case)
    asked = _text(bench, "--port") or "8000"
    for flag in _ELSEWHERE:
        if text := _text(bench, flag):
            match = _HERE.fullmatch(text)
            if match is None:
                return False
            asked = match["port"] or asked
    return asked in ports


def _text(command: Command, flag: str) -> str:
    word = value_of(command.argv, (flag,))
    return word.text.strip("'\"") if word is not None else ""


def _served(server: Command) -> Sequence[str]:
    """All names behind the last `--served-model-name`."""
    found: list[str] = []
    words: Sequence[Word] = server.argv
    for at, word in enumerate(words):
        flag, equals, value = word.text.partition("=")
        if flag.replace("_", "-") != _SERVED:
            continue
        found = [value] if equals else []
        for following in () if equals else words[at + 1 :]:
            if following.text.startswith("-"):
                break
            found.append(following.text)
    return [name.strip("'\"") for name in found]


def _sure(name: str) -> bool:
    return bool(name) and not unresolved(name) and not _OPEN.search(name)


def _is_measurement(command: Command) -> bool:
    table = program_table()
    program = table.programs.get(command.program)
    return program is not None and program.kind == "client" and table.engines[command.program] == MEASURED
