"""Variables that a shell does not hand on: blanks at the sign, a hyphen in the name, and what `sudo` leaves behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.explain.checks.check_case import Case
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import block_of, is_first_server, numbered
from moonpad.values.finding import Code, Severity

_BLANKS: Final = re.compile(
    r"[ \t]*(?:[$][ \t]+)?export[ \t]+(?P<name>[A-Za-z_]\w*)(?P<sign>[ \t]+=|=[ \t]+(?=[\w\"'/$]))"
)
_EXPORT: Final = re.compile(r"[ \t]*(?:[$][ \t]+)?export[ \t]+(?P<name>[A-Z][A-Z0-9_]*)=")
_HYPHEN: Final = re.compile(
    r"[ \t]*(?:[$][ \t]+)?(?:(?P<export>export)[ \t]+)?(?P<name>[A-Z][A-Z0-9_]*(?:-[A-Z0-9_]+)+)=(?=\S)"
)
_BEFORE_SSH: Final = re.compile(r"[ \t]*(?:[A-Z][A-Z0-9_]*=\S*[ \t]+)*(?P<name>[A-Z][A-Z0-9_]*)=\S*[ \t]+(?=ssh[ \t])")
_SENDS: Final = re.compile(r"SendEnv|SetEnv|ForwardEnv", re.IGNORECASE)
_OWN_PROFILE: Final = re.compile(
    r"\bsource\b|[\s\"';&]\.[ ]+\S|\b(?:bash|zsh|sh)[ ]+-\w*l|profile|bashrc|env-file|\benv\b|\.sh\b"
)
"""What may set them on the other machine."""
_KEEPS: Final = ("-E", "--preserve-env")


def blanks_in_export(case: Case) -> Iterator[Remark]:
    """`export NAME = 1`, of which the shell takes `=` for a name."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        match = _BLANKS.match(text)
        if match is None:
            continue
        name = match["name"]
        what = "is not set" if match["sign"].endswith("=") else "is empty"
        message = f"{script.where(number)}: blanks beside the = of export: {name} {what}, and the rest is no name"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, f"write export {name}=VALUE")
        yield Remark(remark.finding, command=None)
        return


def hyphen_in_name(case: Case) -> Iterator[Remark]:
    """`VLLM-USE_V1=1`, which the shell takes for a command, and `export` for an error."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        match = _HYPHEN.match(text)
        if match is None:
            continue
        name = match["name"]
        what = "export refuses it" if match["export"] else "the shell takes it for a command"
        message = f"{script.where(number)}: a shell sets no variable with a hyphen in its name: {what}"
        remark = make_remark(
            Severity.WARNING, Code.INVALID_VALUE, name, message, f"write {name.replace('-', '_')}, or leave it out"
        )
        place = next((word for word in case.commands[0].prefix if word.text.startswith(f"{name}=")), None)
        mended = ((place, (place.text.replace(name, name.replace("-", "_"), 1),)),) if place is not None else ()
        yield Remark(remark.finding, command=0 if place is not None else None, around=mended)
        return


def left_by_ssh(case: Case) -> Iterator[Remark]:
    """`export HF_HOME=…` and then `ssh node2 "vllm serve …"`: the shell there has none of it."""
    command, script = case.commands[0], case.script
    wrapper = next((each for each in command.wrappers if each.kind == "ssh"), None)
    if wrapper is None or command.container is not None or any(_SENDS.search(word.text) for word in wrapper.words):
        return
    if any(is_server(each.program) and not any(on.kind == "ssh" for on in each.wrappers) for each in script.commands):
        return  # it may be for that one
    first, _ = block_of(case.commands, script)
    last = max((word.end_line for word in command.words), default=command.line)
    behind = "\n".join(text for _, text in numbered(script, command.line, last))
    if _OWN_PROFILE.search(behind):
        return
    names: list[str] = []
    for _, text in numbered(script, first, command.line):
        match = _EXPORT.match(text) or _BEFORE_SSH.match(text)
        if match is not None and around.READ_BY_SERVERS.match(match["name"]) and match["name"] not in command.env:
            names += (
                [match["name"]] if not re.search(rf"[\s\"';&]{match['name']}=", _BEFORE_SSH.sub("", behind)) else []
            )
    if names:
        listed = ", ".join(dict.fromkeys(names[:3]))
        message = f"ssh hands none of this shell's variables on: the server there starts without {listed}"
        remedy = "set them in the command that ssh runs: ssh HOST 'NAME=… COMMAND'"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, names[0], message, remedy)
        yield Remark(remark.finding, command=0)


def left_by_sudo(case: Case) -> Iterator[Remark]:
    """`export HF_HOME=…` and then `sudo vllm serve`: it starts with an environment of its own."""
    command, script = case.commands[0], case.script
    wrapper = next((each for each in command.wrappers if each.kind == "sudo"), None)
    if wrapper is None or any(word.text.partition("=")[0] in _KEEPS for word in wrapper.words):
        return
    if command.container is not None:
        return  # a container has an environment of its own anyway
    first, _ = block_of(case.commands, script)
    names: list[str] = []
    for _, text in numbered(script, first, command.line - 1):
        match = _EXPORT.match(text)
        if match is not None and around.READ_BY_SERVERS.match(match["name"]) and match["name"] not in command.env:
            names.append(match["name"])
    if names:
        message = f"sudo starts the server without what was exported above: {', '.join(dict.fromkeys(names[:3]))}"
        remedy = "write sudo -E, or the variables behind sudo"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, names[0], message, remedy)
        yield Remark(remark.finding, command=0)
