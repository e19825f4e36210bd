"""Devices that are too few for the weights, nodes whose commands are missing, options that are given twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.engines import foreign_names as names
from moonpad.engines.argument_values import MOST
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Engine
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.devices_of_makers import device_of_makers, ranks_for
from moonpad.explain.checks.memory.largest_alone import OTHER_WEIGHTS
from moonpad.explain.checks.models.other_families import in_full, is_other
from moonpad.explain.checks.models.repository_names import REPOSITORY
from moonpad.explain.checks.nodes.visible_devices import CUDA
from moonpad.explain.checks.options.placeholders import stand_in_remarks
from moonpad.explain.commands import Command
from moonpad.explain.documents.logged_caches import tells_of_answers
from moonpad.explain.documents.spoken_ranks import tells_of_other_ranks
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.kept_ranks import head_variable, rank_from_outside
from moonpad.explain.left_devices import listed_by
from moonpad.explain.results import NONE_GIVEN, Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.units import GIB

_HERE: Final = ("127.0.0.1", "localhost", "0.0.0.0")  # noqa: S104 - what is written, not what is bound
_BRANCH: Final = re.compile(r"\{[{%]-?[ \t]*(?:if|elif|else|endif|end)\b")
_SIDE: Final = re.compile(r"[ \t]#")
_LONGEST: Final = 2000
_STARTER: Final = re.compile(r"<what (?!the )\S+ adds>")
"""The place of what somebody's own program may add to the options that it is given."""
_LAUNCHERS: Final = frozenset({"srun", "mpirun", "ssh", "pdsh", "clush"})
_OTHER_RANKS: Final = re.compile(
    r"node[-_ ]?rank[ =:]{0,3}(?:[1-9]|\$|<|\{)|\brank[ =]?[1-9]\b"
    r"|rank[`'\"]{0,2}[ ]{0,2}(?:to|is|becomes|改[为成]|设置?[为成]|换[为成]|为|を)[ ]{0,2}[`'\"]{0,2}[1-9](?![0-9.])",
    re.IGNORECASE,
)

_TRACED: Final = re.compile(r"[ \t]*\++ ")
"""What a shell prints of a command that it runs (`set -x`): a log is that of one machine."""


def one_device(case: Case) -> Iterator[Remark]:
    """Too few devices for the weights, whatever their kind."""
    reading, checkpoint, facts = case.first, case.checkpoint, case.engine.facts
    ranks = reading.layout.world_size
    settings = reading.settings
    helped = facts.host_experts or reading.left_to_engine or settings.device_layers is not None
    flag = case.engine.command_line.options.get("tp")
    # A program of somebody's own may add options, and still one rank is what it is given.
    own = (
        not case.whole
        and case.open_ended
        and flag is not None
        and case.text(flag) == "1"
        and any(_STARTER.fullmatch(word.text) for word in case.commands[0].argv)
    )
    if checkpoint is None or case.cluster is not None or reading.takes_all_devices or helped or _is_gguf(reading.model):
        return
    if not own and (is_fragment(case.commands[0]) or not case.whole):
        return
    largest = max(
        row.device.usable_bytes for row in hardware().values() if row.device and row.device.platform in facts.platforms
    )
    largest += round(min(settings.cpu_offload_gib or 0, MOST) * GIB)
    share, holder, within = checkpoint.total_bytes / ranks, "the largest device known", largest
    maker, held = device_of_makers(case)
    if 0 < held < largest and not settings.cpu_offload_gib:
        holder, largest = maker, held
    if flag is None or share <= largest or (case.option(flag) is None and _is_in_a_variable(flag, case)):
        return
    given, container = case.option(flag), case.commands[0].container
    granted = container.devices if container is not None else None
    each = "one device gets all" if ranks == 1 else f"each of {ranks} devices gets at least"
    known = granted is not None and granted * case.commands[0].pods <= ranks
    why = f"{NONE_GIVEN}, so " if given is None and ranks == 1 and not known else ""
    message = f"{why}{each} {share / GIB:,.0f} GiB of weights; {holder} holds {largest / GIB:,.0f} GiB"
    message = f"unless the program adds ranks, {message}" if own else message
    devices = " and give the container as many" if known else ", for as many devices"
    least = ranks_for(checkpoint.total_bytes, largest, max(8, 2 * ranks)) if maker else max(8, 2 * ranks)
    remedy = f"{'write' if given else 'add'} {flag} {least} or more{devices}"
    options = case.engine.command_line.options
    copies, experts = options.get("dp"), options.get("ep", "")
    if given and copies and ranks > 1 and experts == names.EXPERTS_SHARED and case.option(experts) is not None:
        count = reading.layout.dp * max(2, -(-share // largest))
        verb = "add" if case.option(copies) is None else "write"
        remedy = (
            f"{verb} {copies} {count:.0f} or more, on more machines: {experts} shares the experts out over all ranks"
        )
    listed = listed_by(case.commands[0], CUDA)
    if 0 < len(listed) < least:
        remedy += f", and let it see as many: {CUDA} leaves {len(listed)}"
    # A wrapper or an image may supply what is missing here, so that alone is not an error.
    in_whole = not is_other(checkpoint) or in_full(checkpoint.name, reading.model)
    sure = not own and share > within and (given or known) and in_whole
    if given is None and not sure and tells_of_answers(case.script.lines):
        message = f"{message}: the text tells of answers, so its command has left something out"
        yield make_remark(Severity.NOTE, Code.DOES_NOT_FIT, flag, message, remedy)
        return
    severity = Severity.ERROR if sure else Severity.WARNING
    remark = make_remark(severity, Code.DOES_NOT_FIT, flag, message, remedy, at=given.index if given else None)
    plain = REPOSITORY.fullmatch(reading.model) and case.option(*OTHER_WEIGHTS) is None and _is_as_it_stands(case)
    yield replace(remark, stops=not sure, ends_start=severity is Severity.WARNING and bool(plain))


def _is_gguf(model: str) -> bool:
    """A file of fewer bits than the checkpoint that it is called after has."""
    return model.casefold().endswith(".gguf")


def _is_in_a_variable(flag: str, case: Case) -> bool:
    """Whether a line of the script puts it into a variable, `MORE+=(--tensor-parallel-size 8)`, as branches do of which
    the model that is served decides."""
    case.script.budget.once("sizes in variables", len(case.script.lines) // 2, "its lines")
    assigned = re.compile(rf"[ \t]*(?:export[ ]|local[ ])?[A-Za-z_]\w*\+?=[(\"'].*(?<![\w-]){re.escape(flag)}(?![\w-])")
    return any(assigned.match(line[:_LONGEST]) for line in case.script.lines)


def _is_as_it_stands(case: Case) -> bool:
    """Whether nothing can add an option to the command that the text shows."""
    command = case.commands[0]
    wrapped = command.more or command.custom or command.fork or command.arms or command.embedded or command.guessed
    return not wrapped and not case.open_ended and not case.again


def other_nodes(case: Case) -> Iterator[Remark]:
    """Rank 0 of several, the commands of the others missing, or the address where they meet."""
    node, command = case.first.node, case.commands[0]
    if (
        node.nodes is None
        or node.nodes < 2
        or command.pods > 1
        or (is_fragment(command) and case.option("--node-rank", "-r") is None)  # the same list for each of them
        or any(wrapper.kind in _LAUNCHERS for wrapper in command.wrappers)
    ):
        return
    rank = case.option("--node-rank", "-r")
    is_variable = rank is not None and isinstance(rank.value, str) and unresolved(rank.value)
    at = rank.index if rank else None
    taken = rank_from_outside(command, case.script) if rank is not None else ""
    headless = case.engine.command_line.nodes.headless if case.engine.command_line.nodes is not None else ""
    if taken and len(case.readings) == 1 and node.node_rank == 0 and headless:
        if not any(headless in text[:_LONGEST] for text in case.script.lines):
            message = f"this is the script of every machine, by {taken}: ranks above 0 serve no clients"
            remedy = f"add {headless} where the rank is above 0"
            yield make_remark(Severity.NOTE, Code.MISSING_FLAG, "--node-rank", message, remedy, at=at)
    elif len(case.readings) == 1 and not is_variable and not taken and node.node_rank in (None, 0):
        texts = [text[:500] for text in case.script.lines]
        case.script.budget.work(len(texts), "its engine commands")
        own = texts[command.line - 1] if 0 < command.line <= len(texts) else ""
        handed_on = any(word.text.endswith(".sh") for word in command.prefix)  # to a script that may start the others
        twin = _twin(case) if rank is not None else None
        handed_on |= twin is None and tells_of_other_ranks(texts)
        if not handed_on and not any(_OTHER_RANKS.search(text) for text in texts) and not _TRACED.match(own):
            message = f"--nnodes {node.nodes}, and the only command is that of rank 0: it waits for the others"
            others = "1 on the other machine" if node.nodes == 2 else f"1 to {node.nodes - 1} on the other machines"
            remedy = f"start the same with --node-rank {others}"
            if case.engine.command_line.nodes is not None:
                remedy += f", and {case.engine.command_line.nodes.headless}"
            if twin is not None:
                message = f"--nnodes {node.nodes}, and line {twin} starts the same rank 0: both wait for the others"
                remedy = remedy.replace("the same", "one of them")
            yield make_remark(Severity.WARNING, Code.MISSING_FLAG, "--node-rank", message, remedy, at=at)
    if case.base == names.EXPERTS_BY_VARIABLE and case.option("--data-parallel-address") is None:
        place = case.option("--master-addr")
        given = case.text("--master-addr")
        if (place is None and not case.open_ended) or given in _HERE:
            message = f"{given or 'its default 127.0.0.1'} is this machine: rank 1 on another one does not reach it"
            at = place.index if place else None
            remedy, name = "add --master-addr and the address of node 0, on each node", head_variable(case.script)
            word = command.env.get(name)  # in front of the command, where a shell would expand it too early
            outside = word is None or any(f"${{{name}:" in text[:_LONGEST] for text in case.script.lines)
            address = f"${name}" if outside or word is None else word.text.removeprefix(f"{name}=").strip("'\"")
            sure = name and place is None and address not in _HERE
            edits = [Edit(len(command.argv), 0, ("--master-addr", address))] if sure else []
            remedy = f"add --master-addr {address}, which the script has, on each node" if edits else remedy
            warning = make_remark(
                Severity.WARNING, Code.MISSING_FLAG, "--master-addr", message, remedy, at=at, edits=edits
            )
            yield warning


def _twin(case: Case) -> int | None:
    """The line of another command of the same words, but for what makes it a machine without a server."""
    own, nodes = case.commands[0], case.engine.command_line.nodes
    headless = nodes.headless if nodes is not None else ""
    for other in case.script.commands:
        if other.program == own.program and other.line != own.line and _words(other, headless) == _words(own, headless):
            return other.line
    return None


def _words(command: Command, but: str) -> list[str]:
    return [word.text for word in command.argv if word.text != but]


def twice(case: Case) -> Iterator[Remark]:
    """An option that is given twice: the last one counts."""
    for number, reading in enumerate(case.readings):
        seen: dict[str, Occurrence] = {}
        for place in reading.parsed.occurrences:
            if place.flag is None or "." in place.written or place.index >= len(case.commands[number].argv):
                continue  # the last: what the person said beside the command
            if isinstance(place.value, tuple) and place.flag not in names.LISTS_REPLACED:
                continue
            before = seen.get(place.flag)
            seen[place.flag] = place
            if before is None or not _single(case.engine, place) or _is_either(case, number, before, place):
                continue
            same = before.value == place.value
            values = f"{_written(before)} and {_written(place)}"
            message = "given twice" if same else f"given twice, {values}: the last one counts"
            several = isinstance(place.value, tuple)
            edits = [] if several else [Edit(before.index, before.length, ())]
            remedy = f"write all of them behind one {place.written}" if several else "leave one out"
            severity = Severity.NOTE if same else Severity.WARNING
            remark = make_remark(
                severity, Code.REDUNDANT_FLAG, place.written, message, remedy, at=before.index, edits=edits
            )
            yield replace(remark, command=number)


def _written(place: Occurrence) -> str:
    return " ".join(map(str, place.value)) if isinstance(place.value, tuple) else str(place.value)


def _is_either(case: Case, number: int, before: Occurrence, place: Occurrence) -> bool:
    """Whether a template takes one of the two, or a list of options shows the two sides of one: a line each, with a
    comment that says whose it is."""
    argv, lines = case.commands[number].argv, case.script.lines
    if max(before.index, place.index) >= len(argv):
        return False
    first, last = argv[before.index].line, argv[place.index].line
    if not 0 < first < last <= len(lines):
        return False
    case.script.budget.work(last - first, "its engine commands")
    if any(_BRANCH.search(text[:_LONGEST]) for text in lines[first - 1 : last]):
        return True
    both = (lines[first - 1][:_LONGEST], lines[last - 1][:_LONGEST])
    apart = any(not text.strip() for text in lines[first : last - 1])  # two lists, of which one is taken
    return is_fragment(case.commands[number]) and (apart or all(_SIDE.search(text) for text in both))


def _single(engine: Engine, place: Occurrence) -> bool:
    """Whether each further one replaces the one before. llama.cpp gathers several of some."""
    return engine.facts.name in names.CHECKED


def stand_ins(case: Case) -> Iterator[Remark]:
    """Words that a person has to replace before the deployment can start."""
    yield from stand_in_remarks(case.commands, case.script, [reading.model for reading in case.readings])


WHOLE_COMMAND_CHECKS: Final[tuple[Callable[[Case], Iterator[Remark]], ...]] = (
    one_device,
    other_nodes,
    twice,
    stand_ins,
)
