"""How long a measurement's requests are, against the context of the only server; and a data set that is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import MEASURES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.asked_at_once import AT_ONCE, sequences_at_once
from moonpad.explain.checks.clients.asked_server import is_shown_to_fail
from moonpad.explain.checks.clients.request_limits import context_of
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.commands import Command
from moonpad.explain.documents.slow_complaints import complains_of_speed
from moonpad.explain.grouping import value_of
from moonpad.explain.programs import program_named
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_INPUT: Final = ("--random-input-len", "--random-input", "--input-len")
_DATA: Final = ("--dataset-name",)
_PATH: Final = ("--dataset-path", "--dataset")
_FROM_FILE: Final = "sharegpt"
_WIDTH: Final = ("--max-concurrency",)
_MOST: Final = 60


def length_of_measurement(case: Case) -> Iterator[Remark]:
    """`--random-input-len 65536` of a server with `--max-model-len 32768`."""
    context, option = context_of(case)
    if context < 1 or not is_one_group(case) or case.open_ended:
        return
    for command in _measurements(case):
        text = _text(command, _INPUT)
        if not text.isdigit() or int(text) < context or _text(command, _DATA) not in ("random", "random-ids"):
            continue
        if is_shown_to_fail(case, command.line):
            continue
        message = (
            f"{case.script.where(command.line)}: prompts of {int(text):,} tokens, and the context is {context:,}: "
        )
        message += "the server refuses them with 400"
        remedy = f"measure with shorter prompts, or give {option} more"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, _INPUT[0], message, remedy)
        yield replace(remark, command=None)
        return


def data_of_measurement(case: Case) -> Iterator[Remark]:
    """`vllm bench serve --dataset-name sharegpt` without the file: it ends."""
    if not is_one_group(case):
        return
    for command in _measurements(case):
        if command.program != MEASURES or _text(command, _DATA) != _FROM_FILE or command.more:
            continue
        if _text(command, _PATH) or any(word.text.startswith("$") for word in command.argv):
            continue
        message = (
            f"{case.script.where(command.line)}: {_DATA[0]} {_FROM_FILE} wants {_PATH[0]}, and downloads nothing: "
        )
        message += "the measurement ends"
        remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, _PATH[0], message, f"add {_PATH[0]} FILE.json")
        yield replace(remark, command=None)
        return


def width_of_measurement(case: Case) -> Iterator[Remark]:
    """`--max-concurrency 256` of a server with `--max-num-seqs 16`; one at a time, in a text that wants throughput."""
    place = case.option(*AT_ONCE)
    if not is_one_group(case) or case.open_ended:
        return
    most = sequences_at_once(case) if case.laid_out else 0
    for command in _measurements(case):
        asked = _text(command, _WIDTH)
        if not asked.isdigit() or is_shown_to_fail(case, command.line):
            continue
        where = case.script.where(command.line)
        if place is not None and 0 < most < int(asked):
            message = (
                f"{where}: {int(asked):,} requests are sent at once, and the server runs {most:,} ({place.written}): "
            )
            message += f"{int(asked) - most:,} wait in its queue, and the time to the first token is mostly that"
            for_all = -(-int(asked) * (case.first.settings.max_num_seqs or most) // most)
            remedy = f"write {place.written} {for_all}, or measure with {most}"
            remark = make_remark(Severity.WARNING, Code.SUBOPTIMAL, _WIDTH[0], message, remedy)
        elif int(asked) == 1 and complains_of_speed(case.script):
            message = (
                f"{where}: one request at a time measures how fast a single answer is, and not the throughput of the "
            )
            message += "server: that of many requests together is many times as much"
            remedy = f"write {_WIDTH[0]} 64 and more to compare it with numbers of throughput"
            remark = make_remark(Severity.NOTE, Code.SUBOPTIMAL, _WIDTH[0], message, remedy)
        else:
            continue
        yield replace(remark, command=None)
        return


def _measurements(case: Case) -> Iterator[Command]:
    for command in case.script.commands[:_MOST]:
        program = program_named(command.program)
        if program is not None and program.kind == "client":
            yield command


def _text(command: Command, flags: tuple[str, ...]) -> str:
    word = value_of(command.argv, flags)
    return word.text.strip("'\"") if word is not None else ""
