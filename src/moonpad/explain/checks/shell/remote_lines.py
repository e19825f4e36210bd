"""What a shell does with the words behind `ssh HOST`, before the other machine gets them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_SSH: Final = re.compile(
    r"[ \t]*(?:\$[ \t]+)?(?:sshpass[ \t]+-\w+[ \t]*\S+[ \t]+)?ssh[ \t]+"
    r"(?P<options>(?:-[A-Za-z]+[ \t]+(?:(?<=[bcDEeFIiJLlmOopQRSWw][ \t])[^\s-]\S*[ \t]+)?)*)"
    r"(?P<host>[^\s\"'-][^\s]*)[ \t]+(?P<rest>\S.*)"
)
_ONLY_STATE: Final = re.compile(
    r"(?:cd|source|\.|export|conda[ \t]+activate|module[ \t]+load)[ \t][^\"'&|;<>()]*&&[ \t]*\S"
)
_NO_INPUT: Final = re.compile(r"^-\w*[nf]")
_READS: Final = re.compile(
    r"[ \t]*while[ \t]+(?:IFS=\S*[ \t]+)?read\b(?P<rest>.*)|.*\|[ \t]*while[ \t]+(?:IFS=\S*[ \t]+)?read\b(?P<piped>.*)"
)
_DONE: Final = re.compile(r"[ \t]*done\b(?P<rest>.*)")
_GIVEN_INPUT: Final = re.compile(r"<|(?<![&>\d])&[ \t]*(?:#.*)?$|\|[ \t]*ssh")
_ASKED: Final = re.compile(r"(?<!\\)(?P<asked>\$\([ \t]*hostname\b[^)]{0,60}\)|`hostname\b[^`\n]{0,60}`)")
_OWN_BEFORE: Final = re.compile(r"(?:\b(?P<name>[A-Z][A-Z0-9_]*)=|--node-ip-address[ =])[\"'\\]*$")
_QUOTED: Final = re.compile(
    r"(?:\btmux[ \t]+new(?:-session)?\b|\bscreen[ \t]+-\w*d\w*\b|\bssh[ \t]|\b(?:ba|z)?sh[ \t]+-\w*c\b|\bsu[ \t]+-)"
    r"[^\"'#\n]*[ \t]\"(?P<inside>(?:[^\"\\]|\\.)*)\""
)
_SETS: Final = re.compile(
    r"(?:^|[;&|][ \t]*)(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)=(?P<value>[^\s;&|$`]+)(?=[ \t]*(?:;|&&))"
)
_FARTHEST: Final = 40


def behind_unquoted_ssh(case: Case) -> Iterator[Remark]:
    """`ssh host cd /x && vllm serve …`: the shell here splits at &&, and starts the server itself."""
    for number, text in _lines(case):
        match = _SSH.match(text)
        if match is None or _ONLY_STATE.match(match["rest"]) is None:
            continue
        host = match["host"]
        message = f"{case.script.where(number)}: && is read by the shell here: {shortened(host, 40)} runs what stands "
        message += "before it alone, and the rest runs on this machine"
        remedy = f"put the whole command in quotes: ssh {shortened(host, 40)} '…'"
        yield _said("ssh", message, remedy)
        return


def list_eaten_by_ssh(case: Case) -> Iterator[Remark]:
    """`while read host; do ssh $host …; done < hosts.txt`: ssh reads the rest of the list as its input."""
    lines = list(_lines(case))
    for at, (_, text) in enumerate(lines):
        opened = _READS.match(text)
        if opened is None or "-u" in (opened["rest"] or opened["piped"] or ""):
            continue
        body = lines[at + 1 : at + _FARTHEST]
        end = next((place for place, (_, each) in enumerate(body) if _DONE.match(each)), None)
        if end is None:
            continue
        closed = _DONE.match(body[end][1])
        fed = opened["piped"] is not None or (closed is not None and re.match(r"[ \t]*<(?![&(])", closed["rest"]))
        if not fed:
            continue
        for number, each in _joined(body[:end]):
            match = _SSH.match(each)
            if match is None or any(_NO_INPUT.match(word) for word in match["options"].split()):
                continue
            if _GIVEN_INPUT.search(re.sub(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", "", match["rest"])):
                continue
            message = f"{case.script.where(number)}: ssh reads its input from the list that the loop reads: after the "
            message += "first host nothing is left of it"
            yield _said("ssh", message, "write ssh -n, or < /dev/null behind it")
            return


def asked_on_this_machine(case: Case) -> Iterator[Remark]:
    """`ssh host "VLLM_HOST_IP=$(hostname -I) …"`: the shell here fills in its own address."""
    for number, text in _lines(case):
        match = _SSH.match(text)
        if match is None or not match["rest"].startswith('"'):
            continue
        inside = match["rest"]
        for asked in _ASKED.finditer(inside):
            before = _OWN_BEFORE.search(inside[: asked.start()])
            if before is None or (before["name"] and around.OWN_ADDRESS.search(before["name"]) is None):
                continue
            name = before["name"] or "--node-ip-address"
            message = (
                f"{case.script.where(number)}: in double quotes {shortened(asked['asked'], 40)} is asked here, and "
            )
            message += f"not on {shortened(match['host'], 40)}: every machine gets the address of this one as {name}"
            yield _said(name, message, "put the command in single quotes, or write \\$( for $(")
            return


def set_within_quotes(case: Case) -> Iterator[Remark]:
    """`tmux new -d "export PORT=8001; vllm serve … --port $PORT"`: the shell outside fills in a $PORT of its own."""
    lines = list(_lines(case))
    whole = "\n".join(text for _, text in lines)
    case.script.budget.work(len(lines) // 4, "its lines")
    for number, text in lines:
        for quoted in _QUOTED.finditer(text):
            inside = quoted["inside"]
            for match in _SETS.finditer(inside):
                name = match["name"]
                read = re.search(rf"(?<!\\)\$(?:{name}\b|\{{{name}\}})", inside[match.end() :])
                outside = re.search(
                    rf"(?:^|[ \t;&|(]){name}=|\b(?:for|read)[ \t][^;\n]*\b{name}\b",
                    whole.replace(inside, ""),
                    re.MULTILINE,
                )
                if read is None or outside is not None:
                    continue
                message = (
                    f"{case.script.where(number)}: in double quotes the shell outside fills in ${name}, which only "
                )
                message += "the command inside sets: it is empty there"
                yield _said(name, message, f"put the command in single quotes, or write \\${name}")
                return


def _lines(case: Case) -> Iterator[tuple[int, str]]:
    script = case.script
    if not is_first_server(case.commands, script) or not script.commands:
        return
    for number, text in numbered(script, 1, len(script.lines)):
        if not text.lstrip().startswith("#"):
            yield number, text


def _joined(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines that go on below, by a backslash or within a quotation, in one."""
    first, held = 0, ""
    for number, text in lines:
        first, held = first or number, f"{held}{text.rstrip()}"
        if held.endswith("\\") or held.replace('\\"', "").count('"') % 2:
            held = f"{held.removesuffix(chr(92))} "
            continue
        yield first, held
        first, held = 0, ""
    if held:
        yield first, held


def _said(where: str, message: str, remedy: str) -> Remark:
    return Remark(make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy).finding, command=None)


REMOTE_LINES: Final = (behind_unquoted_ssh, list_eaten_by_ssh, asked_on_this_machine, set_within_quotes)
