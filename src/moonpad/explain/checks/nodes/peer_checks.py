"""Programs that have to fit each other: ranks and their roles, workers that listen, what is built and what is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_HERE: Final = ("127.", "localhost", "[::1]")
_COMMENT: Final = re.compile(r"[ \t]*(?:#|//|;)")


def headless_ranks(case: Case) -> Iterator[Remark]:
    """Ranks above 0 that start an API server of their own, by a number or by the one command of all nodes."""
    nodes = case.engine.command_line.nodes
    node = case.first.node
    if nodes is None or case.open_ended or (node.nodes or 0) < 2 or case.first.layout.dp > 1:
        return
    if any(case.option(flag) is not None for flag in names.RANK_SERVERS):
        return
    rank_of_all = case.option("--node-rank", "-r")
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        given = reading.parsed.occurrence("--node-rank") or reading.parsed.occurrence("-r")
        if given is None or reading.node.headless or not isinstance(given.value, str):
            continue
        edit = Edit(len(command.argv), 0, (nodes.headless,))
        if reading.node.node_rank:
            message = f"rank {reading.node.node_rank} of {node.nodes} starts an API server of its own"
            remedy, edits = f"add {nodes.headless}", [edit]
        elif given is rank_of_all and len(case.commands) == 1 and unresolved(given.value) and not _is_decided(case):
            written = f"{given.written} {shortened(given.value)}"
            message = f"{written}: the same command on all {node.nodes} nodes, and every rank starts an API server"
            remedy, edits = f"add {nodes.headless} on all nodes but the first", []
        else:
            continue
        severity, code = Severity.WARNING, Code.MISSING_FLAG
        remark = make_remark(severity, code, nodes.headless, message, remedy, at=given.index, edits=edits)
        yield replace(remark, command=number)


def _is_decided(case: Case) -> bool:
    """Whether code of the text adds the option where it belongs."""
    lines = numbered(case.script, 1, len(case.script.lines))
    return any("--headless" in text and not _COMMENT.match(text) and "`" not in text for _, text in lines)


def worker_on_loopback(case: Case) -> Iterator[Remark]:
    """A worker that listens on its own machine alone, and a head that looks for it on another."""
    asked = case.text(names.RPC_OPTION)
    if not case.engine.facts.gguf_only or not asked or unresolved(asked):
        return
    far = [each for each in asked.strip("'\"").split(",") if each and not each.startswith(_HERE)]
    if not far:
        return
    for number, text in numbered(case.script, 1, len(case.script.lines)):
        worker = None if _COMMENT.match(text) else names.RPC_WORKER.search(text)
        if worker is None or names.NO_WORKER.search(text) or text.rstrip().endswith("\\"):
            continue
        options = worker["options"] or ""
        if "$" not in options and not names.RPC_HOST.search(options):
            started, where = shortened(worker.group().strip(), 50), case.script.where(number)
            message = f"{where}: {started} listens on 127.0.0.1, and {far[0]} is looked for elsewhere"
            remedy = "start it with -H and the address of its machine, in a network of your own: it has no key"
            yield make_remark(Severity.WARNING, Code.MISSING_FLAG, "-H", message, remedy)
            return


def mode_in_comment(case: Case) -> Iterator[Remark]:
    """A role that is commented out, while a router or the other role counts on it."""
    script = case.script
    if not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    live = [text for _, text in lines if not _COMMENT.match(text)]
    roles = {match["role"] for text in live for match in names.MODE.finditer(text)}
    routed = any(names.ROUTERS.search(text) for text in live)
    for number, text in lines:
        match = names.MODE.search(text) if re.match(r"[ \t]*#+[ \t]*--", text) else None
        if match is None or match["role"] in roles or not (roles or routed) or not _among_options(lines, number):
            continue
        who = "the router" if routed else f"the {min(roles)} server"
        message = f"{script.where(number)}: commented out, so no server is for {match['role']}, which {who} counts on"
        where = "--disaggregation-mode"
        remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, where, message, "take the # away")
        yield replace(remark, command=None)
        return


def _among_options(lines: Sequence[tuple[int, str]], line: int) -> bool:
    """Whether options that count stand above and below it, remarks aside: it is not one of a command that is a remark
    as a whole."""
    above = next((text for number, text in reversed(lines) if number < line and not _COMMENT.match(text)), "")
    below = next((text for number, text in lines if number > line and not _COMMENT.match(text)), "")
    return above.lstrip().startswith("--") and below.lstrip().startswith(("--", ")"))


def target_not_built(case: Case) -> Iterator[Remark]:
    """A build of some programs, without the one that is started out of it."""
    command = case.commands[0]
    program = command.prefix[0].text.rpartition("/")[2].removesuffix(".exe") if command.prefix else ""
    if program not in names.BUILT or command.container is not None:
        return
    first, targets = 0, list[str]()
    for number, text in numbered(case.script, 1, len(case.script.lines)):
        build = None if _COMMENT.match(text) else names.BUILDS.search(text)
        if build is not None:
            first, targets = first or number, [*targets, *_targets(build["words"].split())]
    if not targets or program in targets or not names.BUILT & {*targets} or any("$" in each for each in targets):
        return
    message = f"{case.script.where(first)} builds {', '.join(targets[:4])} alone, and not {program}"
    remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, "--target", message, f"add {program} behind --target")
    yield replace(remark, command=None)


def _targets(words: Sequence[str]) -> Iterator[str]:
    """What follows `--target`, up to the next option."""
    inside = False
    for word in words:
        if word.startswith("-"):
            option, _, value = word.partition("=")
            inside = option in names.TARGETS
            if inside and value:
                yield value
        elif inside:
            yield word
