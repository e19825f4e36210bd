"""Two servers that one script starts on one machine at the same time: their ports and their devices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.engines.surrounding_names import CHOOSE_DEVICES
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module, is_worker
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import program_named
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_PORT: Final = ("--port",)
_RANKS: Final = ("--data-parallel-size", "-dp")
_RANKS_HERE: Final = ("--data-parallel-size-local", "-dpl")
BACKGROUND: Final = re.compile(r"&[ \t]*(?:#.*)?$")
ENDS: Final = re.compile(
    r"(?<![\w-])(?:kill\w*|pkill|wait|stop\w*|shut\w*|clean\w*|fuser|exit|return|ssh|srun)(?![\w-])|\(\)[ \t]*\{"
    r"|^[ \t]*(?:function[ \t]|esac\b|;;)|docker[ \t]+(?:rm|stop|kill)|compose[ \t]+(?:down|stop|rm)"
)
"""What may end the first server before the second is started, or start them in other runs of the script."""
MACHINES: Final = re.compile(r"^[ \t]*#.*(?:\b(?:node|machine|host|box|vm|pod|rank)s?\b|节点|机器|主机)", re.IGNORECASE)
"""A comment between them that speaks of another machine."""
_HERE: Final = ("--host", "--data-parallel-address", "--master-addr", "--dist-init-addr")
_APART: Final = frozenset({"ssh", "srun", "mpirun", "pdsh", "clush", "docker run", "docker exec", "bash -c", "sh -c"})
_CHOOSES: Final = ("--base-gpu-id", "--device", "--gpu-id-step", "--headless", "--node-rank", "--data-parallel-rank")
_SHARES: Final = ("--gpu-memory-utilization", "--mem-fraction-static", "--kv-cache-memory-bytes", "--max-total-tokens")
_ROLE: Final = "--disaggregation-mode"
_BOOTSTRAP: Final = "--disaggregation-bootstrap-port"
_TRANSFER: Final = "--kv-transfer-config"
_NEAREST: Final = 8
"""Servers above that are looked at."""
_LONGEST: Final = 1000
_DEFAULT: Final = 0.85
FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_NUMBERS: Final = re.compile(r"\d{1,3}(?:,\d{1,3})*")


def one_port(case: Case) -> Iterator[Remark]:
    """`vllm serve … --port 8000 &`, and below another server with the same."""
    command = case.commands[0]
    for other in _running(case):
        mine, its = (_port(each, case) for each in (command, other))
        if mine is None or mine != its:
            continue
        line = case.script.where(other.line)
        message = f"the server of {line} still runs on this machine and has port {mine} too: address already in use"
        place = case.option(*_PORT)
        remedy = "give one of them another --port"
        at = place.index if place is not None else None
        yield make_remark(Severity.WARNING, Code.CONFLICT, "--port", message, remedy, at=at)
        return


def one_set_of_devices(case: Case) -> Iterator[Remark]:
    """Two servers on the same devices, whose shares of the memory are more than the whole."""
    command = case.commands[0]
    for other in _running(case, workers=True):
        if any(value_of(each.argv, (flag,)) is not None for each in (command, other) for flag in _CHOOSES):
            continue
        mine, its = _devices(command), _devices(other)
        if by_module(command) and not (_names_devices(command) and _names_devices(other)):
            continue  # what starts a worker may give it devices
        shares = [share_of(each) for each in (command, other)]
        if mine is None or its is None or not mine & its or None in shares:
            continue
        whole = sum(share for share in shares if share is not None)
        if whole <= 1:
            continue
        common = ", ".join(map(str, sorted(mine & its)))
        line = case.script.where(other.line)
        message = f"the server of {line} still runs and takes most of device {common}, which this one takes too: "
        message += "there is no memory left for its weights"
        remedy = f"give each its own devices by {CHOOSE_DEVICES[0]}, or smaller shares of the memory"
        yield make_remark(Severity.WARNING, Code.CONFLICT, CHOOSE_DEVICES[0], message, remedy)
        return


def one_side_channel(case: Case) -> Iterator[Remark]:
    """Two servers of one machine whose connectors wait for each other's handshake at the same port."""
    command = case.commands[0]
    for other in (*_running(case), *_by_devices(case)):
        mine, its = (_side_channel(each) for each in (command, other))
        if mine is None or its is None or mine[:2] != its[:2] or mine[3] != its[3]:
            continue
        connector, variable, port, _ = mine
        if mine != its:
            spans = [_ports_of_ranks(each, at[2]) for each, at in ((command, mine), (other, its))]
            if variable == around.PORT_OF_RANKS[1] or not spans[0] or not spans[1] or not {*spans[0]} & {*spans[1]}:
                continue
            here, there = (f"{span[0]} to {span[-1]}" if len(span) > 1 else str(span[0]) for span in spans)
            message = f"{connector} waits at one port for each data-parallel rank, {here} here and {there} in the "
            message += f"server of {case.script.where(other.line)}: address already in use"
            remedy = f"give each its own {variable}, as far apart as there are ranks"
            yield make_remark(Severity.WARNING, Code.CONFLICT, variable, message, remedy)
            return
        at = f"both at {port}" if port else "both at its default, since neither sets it"
        message = f"{connector} here and in the server of {case.script.where(other.line)} waits at {variable}, {at}: "
        message += "address already in use, and no cache is handed over"
        yield make_remark(Severity.WARNING, Code.CONFLICT, variable, message, f"give each its own {variable}")
        return


def one_bootstrap_port(case: Case) -> Iterator[Remark]:
    """Two prefill servers of one machine, each with a bootstrap server at the same port."""
    command = case.commands[0]
    for other in _running(case):
        roles = [word.text for each in (command, other) if (word := value_of(each.argv, (_ROLE,))) is not None]
        ports = [value_of(each.argv, (_BOOTSTRAP,)) for each in (command, other)]
        if roles != ["prefill", "prefill"] or any(word is not None and word.unresolved for word in ports):
            continue
        texts = {word.text if word is not None else "" for word in ports}
        if len(texts) > 1:
            continue
        line = case.script.where(other.line)
        message = f"the prefill server of {line} has the same bootstrap port, {texts.pop() or 'the default'}: decode "
        message += "servers find the ranks of one of them"
        remedy = f"give each its own {_BOOTSTRAP}, and the router the same numbers"
        yield make_remark(Severity.WARNING, Code.CONFLICT, _BOOTSTRAP, message, remedy)
        return


def _by_devices(case: Case) -> Iterator[Command]:
    """Servers of a guide that are on one machine, since they share its devices out: `0` here, `1` there."""
    command, script = case.commands[0], case.script
    mine = _devices(command) if any(name in command.env for name in CHOOSE_DEVICES) else None
    if not script.markdown or mine is None or not _is_local(command, case) or len(script.commands) > 200:
        return
    for other in script.commands:
        its = _devices(other) if any(name in other.env for name in CHOOSE_DEVICES) else None
        if other.line >= command.line or its is None or mine & its or not _is_local(other, case):
            continue
        if _port(other, case) != _port(command, case) and not _elsewhere(command, other):
            yield other


def _side_channel(command: Command) -> tuple[str, str, str, str] | None:
    """The connector, its variable, the port that it is given and the address."""
    config = value_of(command.argv, (_TRANSFER,))
    for connector, (port, host) in around.SIDE_CHANNELS.items():
        if config is None or f'"{connector}"' not in config.text:
            continue
        given = command.env.get(port), command.env.get(host)
        if any(word is not None and word.unresolved for word in given):
            return None
        texts = [word.text.rpartition("=")[2].strip("'\"") if word is not None else "" for word in given]
        return connector, port, texts[0], texts[1]
    return _own_port(config.text) if config is not None and around.PORT_OF_RANKS[0] in config.text else None


def _ports_of_ranks(command: Command, first: str) -> range:
    """From the port that is given on; none where that is not known."""
    local = value_of(command.argv, _RANKS_HERE) or value_of(command.argv, _RANKS)
    number = local.text.rpartition("=")[2] if local is not None else "1"
    known = first.isascii() and first.isdigit() and number.isascii() and number.isdigit() and len(number) < 5
    return range(int(first), int(first) + int(number)) if known else range(0)


def _own_port(config: str) -> tuple[str, str, str, str] | None:
    """Of a connector whose ranks listen from a port of its own settings on."""
    (connector, key), document = around.PORT_OF_RANKS, as_json(config)
    if not isinstance(document, dict) or document.get("kv_connector") != connector or key not in document:
        return None
    return connector, key, str(document[key]), str(document.get("kv_ip", ""))


def _names_devices(command: Command) -> bool:
    return any(name in command.env for name in CHOOSE_DEVICES)


def _running(case: Case, *, workers: bool = False) -> Iterator[Command]:
    """Servers that the same script has started in the background above, and with `workers` those of Dynamo."""
    command, script = case.commands[0], case.script
    if script.objects or not _is_local(command, case, workers=workers) or len(script.commands) > 200:
        return
    line, (name, _) = command.line, script.place(command.line)
    own = {each.line for each in case.commands}
    above = [other for other in script.commands if other.line < line and other.line not in own]
    for other in above[-_NEAREST:]:
        last = max((word.end_line for word in other.words), default=other.line)
        if not last < line or script.place(other.line)[0] != name or not _is_local(other, case, workers=workers):
            continue
        if other.program != command.program or not together(command.arms, other.arms):
            continue
        if not 0 < last <= len(script.lines) or not BACKGROUND.search(script.lines[last - 1][-_LONGEST:]):
            continue
        between = [text for _, text in numbered(script, last + 1, line - 1)]
        if script.markdown and any(FENCE.match(text) for text in between):
            continue  # another part of a guide may be for another machine
        ended = any(ENDS.search(text) or MACHINES.search(text) for text in between)
        if not ended and not _elsewhere(command, other):
            yield other


def _elsewhere(one: Command, two: Command) -> bool:
    """Whether they name different addresses of their own."""
    named = [[word.text for flag in _HERE if (word := value_of(each.argv, (flag,))) is not None] for each in (one, two)]
    own = [
        {name: word.text for name, word in each.env.items() if around.OWN_ADDRESS.search(name)} for each in (one, two)
    ]
    return named[0] != named[1] or own[0] != own[1]


def _is_local(command: Command, case: Case, *, workers: bool = False) -> bool:
    program = program_named(command.program)
    if program is None or program.kind != "server" or is_fragment(command) or command.embedded or command.guessed:
        return False
    if case.engine.facts.gguf_only or command.more or command.custom:
        return False
    if is_worker(command, case.script) and not (workers and by_module(command)):
        return False
    return not any(wrapper.kind in _APART for wrapper in command.wrappers) and not any(
        word.text == "--headless" for word in command.argv
    )


def together(one: Sequence[tuple[int, int]], two: Sequence[tuple[int, int]]) -> bool:
    """Whether no condition has them in different branches."""
    branches = dict(one)
    return all(branches.get(condition, branch) == branch for condition, branch in two)


def _port(command: Command, case: Case) -> int | None:
    word = value_of(command.argv, _PORT)
    if word is None:
        whole = all(not each.unresolved or each.text.startswith("-") for each in command.argv)
        return case.engine.command_line.port if whole and not any(n.endswith("PORT") for n in command.env) else None
    return int(word.text) if word.text.isdigit() and not word.unresolved else None


def _devices(command: Command) -> set[int] | None:
    """Without a variable a server begins with device 0."""
    given = [command.env[name] for name in CHOOSE_DEVICES if name in command.env]
    if not given:
        return {0}
    text = given[0].text.partition("=")[2].strip("'\"") or given[0].text
    known = len(given) == 1 and not given[0].unresolved and _NUMBERS.fullmatch(text)
    return {int(each) for each in text.split(",")} if known else None


def share_of(command: Command) -> float | None:
    words = [word for flag in _SHARES if (word := value_of(command.argv, (flag,))) is not None]
    if not words:
        return _DEFAULT if not any(word.text == "" or "$" in word.text[:1] for word in command.argv) else None
    try:
        share = float(words[0].text)
    except ValueError:
        return None
    return share if 0 < share <= 1 and not unresolved(words[0].text) else None
