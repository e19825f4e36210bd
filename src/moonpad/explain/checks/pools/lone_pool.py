"""A server that only prefills or only decodes, in a text that has nothing of the other side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.dynamo_names import UNDECLARED_SINCE, named_release
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import by_module
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import is_server_or_router, program_named
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.roles import ROLES
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_MODE: Final = "--disaggregation-mode"
_OPTION: Final = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_OF_MODE: Final = re.compile(r"(--disaggregation-mode[ =]+[\"']?)(?:prefill|decode)\b")
_OTHERS: Final = re.compile(
    r"prefill|decod|disagg|rout(?:er|ing)\b|\bpd\b|\bp/d\b|\d+p\d+d|mini.?lb|proxy|gateway|load.?balanc|bootstrap"
    r"|dynamo|预填|解码|分离|网关|路由",
    re.IGNORECASE,
)
"""Whatever may mean another server of the same deployment, or what sends to it."""
_LONGEST: Final = 2000
_ABOVE: Final = 4
"""Lines above a command that say what it is."""
_TRANSFER: Final = "--kv-transfer-config"
_KV_ROLE: Final = re.compile(r"[\"']?kv_role[\"']?\s*:\s*[\"']?(kv_\w+)")
_ONE_SIDED: Final = {
    "kv_producer": ("none takes the cache that they send", re.compile(r"decod|解码", re.IGNORECASE), "kv_consumer"),
    "kv_consumer": ("none sends them a cache", re.compile(r"prefill|预填", re.IGNORECASE), "kv_producer"),
}
"""A role → what lacks where all have it, how a text speaks of the other side, and the other role."""
_GROUP: Final = ("kv_rank", "kv_parallel_size")


def lone_pool(case: Case) -> Iterator[Remark]:
    """No word of the text but the options of this one server speaks of two sides: it is a server that stands alone."""
    role, command = case.text(_MODE), case.commands[0]
    if role not in ROLES or case.base != names.EXPERTS_BY_OPTION or is_fragment(command) or command.custom:
        return
    if len(case.script.origins) > 1 or any(_serves(other.program) for other in _others(case)):
        return
    script = case.script
    script.budget.work(3 * len(script.lines), "the text around its engine commands")
    if any(_OTHERS.search(_OPTION.sub("", _OF_MODE.sub(r"\1", line[:_LONGEST]))) for line in script.lines):
        return
    place, other = case.option(_MODE), next(side for side in ROLES if side != role)
    message = f"the only server here is for {role} alone: nothing in the text is for {other} or sends it requests"
    own = [each.written for each in case.first.parsed.occurrences if each.written.startswith("--disaggregation-")]
    remedy = (
        f"leave {', '.join(dict.fromkeys(own))} out where it stands alone, else start a {other} server and a router"
    )
    at = place.index if place is not None else None
    # A thread may show one side alone, and so does the command of one process.
    severity = Severity.NOTE if script.markdown or _is_alone(case) else Severity.WARNING
    yield make_remark(severity, Code.CONFLICT, _MODE, message, remedy, at=at)


def no_consumer(case: Case) -> Iterator[Remark]:
    """Two servers or more, each of which only sends its cache, the last below words about decoding: a line was copied
    and its role was not changed."""
    mine = _kv_role(case.commands[0])
    if mine not in _ONE_SIDED or not case.script.commands:
        return
    others = [other for other in _others(case) if program_named(other.program) is not None and _kv_role(other)]
    alike = [other for other in others if _kv_role(other) == mine]
    if not alike or len(alike) != len(others) or any(other.line > case.commands[0].line for other in alike):
        return
    title, said, right = _ONE_SIDED[mine]
    last = case.commands[0].line
    if not any(said.search(line[:_LONGEST]) for line in case.script.lines[max(0, last - _ABOVE) : last]):
        return
    place = case.option(_TRANSFER)
    message = f"each of the {len(alike) + 1} servers here is a {mine}: {title}"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.CONFLICT, _TRANSFER, message, f"write {right} for the other side", at=at)


def shared_transfer_rank(case: Case) -> Iterator[Remark]:
    """Two servers of one group of `kv_parallel_size` with the same `kv_rank`: the second is a copy of the first."""
    mine, command = _kv_rank(case.commands[0]), case.commands[0]
    if mine is None or mine[1] < 2 or is_fragment(command):
        return
    others = [other for other in _others(case) if program_named(other.program) is not None and _kv_role(other)]
    if len(others) != 1 or _kv_rank(others[0]) != mine or others[0].line > command.line:
        return
    ports = [written.text for each in (command, others[0]) if (written := value_of(each.argv, ("--port",))) is not None]
    if len({*ports}) != 2:
        return  # one may be shown in place of the other
    place = case.option(_TRANSFER)
    message = f"both servers here are kv_rank {mine[0]} of a group of {mine[1]}: they wait for another rank"
    remedy = f"write kv_rank {1 if mine[0] == 0 else 0} for the other side"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.CONFLICT, _TRANSFER, message, remedy, at=at)


def _kv_rank(command: Command) -> tuple[int, int] | None:
    """The rank and the size of the group, where both are numbers."""
    written = value_of(command.argv, (_TRANSFER,))
    if written is None:
        return None
    rank, size = (re.search(rf"[\"']?{key}[\"']?\s*:\s*[\"']?(\d{{1,3}})\b", written.text) for key in _GROUP)
    return (int(rank[1]), int(size[1])) if rank is not None and size is not None else None


def _kv_role(command: Command) -> str:
    written = value_of(command.argv, (_TRANSFER,))
    match = _KV_ROLE.search(written.text) if written is not None else None
    return match[1] if match else ""


def _is_alone(case: Case) -> bool:
    """Whether the text is one command and nothing else."""
    lines = [number for command in case.commands for word in command.words for number in (word.line, word.end_line)]
    first, last = min(lines, default=0), max(lines, default=0)
    return not any(text.strip() for number, text in enumerate(case.script.lines, 1) if not first <= number <= last)


def _others(case: Case) -> Iterator[Command]:
    own = {command.line for command in case.commands}
    return (other for other in case.script.commands if other.line not in own)


def _serves(name: str) -> bool:
    return name == "fragment" or is_server_or_router(name)


def decode_without_transfer(case: Case) -> Iterator[Remark]:
    """A worker for decode that is told of no way for the cache, beside one for prefill that is."""
    command = case.commands[0]
    if not by_module(command) or _side(command) != "decode" or case.open_ended or is_fragment(command):
        return
    if _gives_a_way(command) or command.unresolved or command.more:
        return
    sends = [
        other
        for other in _others(case)
        if other.program == command.program and by_module(other) and _side(other) == "prefill" and _gives_a_way(other)
    ]
    if not sends:
        return
    message = (
        f"the worker for prefill ({case.script.where(sends[0].line)}) has {_TRANSFER}, and this one for decode has "
    )
    message += "none: it cannot take the cache, and computes each prompt again"
    remedy = f"give {_TRANSFER} to both"
    at = next((at for at, word in enumerate(command.argv) if word.text.startswith(_MODE)), None)
    yield make_remark(Severity.WARNING, Code.CONFLICT, _MODE, message, remedy, at=at)


def _side(command: Command) -> str:
    word = value_of(command.argv, (_MODE,))
    return word.text.partition("=")[2] or word.text if word is not None else ""


def _gives_a_way(command: Command) -> bool:
    written = [word.text.replace("_", "-") for word in command.argv]
    return any(word.startswith((_TRANSFER, "--connector", "--config", "--kv-offloading")) for word in written)


def decode_without_mode(case: Case) -> Iterator[Remark]:
    """A worker that its manifest or a comment calls the one for decode, and that is started for both phases."""
    command = case.commands[0]
    if not by_module(command) or command.role != "decode" or case.open_ended or is_fragment(command):
        return
    written = [word.text.replace("_", "-") for word in command.argv]
    given = any(word.startswith((_MODE, "--is-decode", "--config", "--dyn-")) for word in written)
    if given or command.unresolved or command.more:
        return
    beside = [
        other
        for other in _others(case)
        if other.program == command.program and by_module(other) and _side(other) == "prefill"
    ]
    release = named_release(case.script.lines)
    if not beside or release is None or not since(release, UNDECLARED_SINCE):
        return
    message = "the text calls this worker the one for decode, beside one that only prefills "
    message += f"({case.script.where(beside[0].line)}): without {_MODE} it serves both phases by itself"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _MODE, message, f"add {_MODE} decode")
