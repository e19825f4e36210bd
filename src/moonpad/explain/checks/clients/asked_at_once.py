"""Requests at once that a benchmark of the text sends, against the sequences that the server runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_names import is_one_group
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

AT_ONCE: Final = ("--max-num-seqs", "--max-running-requests", "--max_batch_size")
"""The sequences that a server runs, as its engine writes it."""
_EVALUATION: Final = re.compile(r"\bnum_concurrent=(?P<count>\d{1,6})(?!\d)")
_CLIENT: Final = re.compile(r"\b(?:aiperf|genai-perf)\b")
_OF_CLIENT: Final = re.compile(r"(?<![\w-])--concurrency[= ](?P<count>\d{1,6})(?![\d,])")
_RECIPE: Final = re.compile(r"[ ]*concurrencies:[ ]*[\[\"']*(?P<counts>\d[\dx, ]*)?[\]\"']*[ ]*(?:#.*)?$")
_ITEM: Final = re.compile(r"[ ]*-[ ]*[\"']?(?P<count>\d{1,6})[\"']?[ ]*(?:#.*)?$")
_WORKERS: Final = re.compile(r"[ ]+(?:decode|agg)_workers:[ ]*(?P<count>\d{1,4})[ ]*(?:#.*)?$")
_LONGEST: Final = 1000
_MOST: Final = 20


def sequences_at_once(case: Case) -> int:
    """By the limit that the command writes; 0 where it writes none. A data parallel rank has its own, unless the engine
    deals one out to all of them."""
    most = case.first.settings.max_num_seqs or 0
    return most if case.engine.facts.limits_over_dp else most * case.first.layout.dp


def asked_at_once(case: Case) -> Iterator[Remark]:
    """`num_concurrent=256` of a server with `--max-num-seqs 128`, `concurrencies: [308]` of a recipe for 256."""
    most = sequences_at_once(case)
    if not most or not case.laid_out or case.open_ended or case.commands[0].role == "prefill":
        return
    case.script.budget.once("requests at once", 2 * len(case.script.lines), "the text around its engine commands")
    of_recipe = _of_recipe(case.script.lines)
    if of_recipe is not None:
        most *= _workers(case.script.lines)
    elif not is_one_group(case):
        return
    found = of_recipe or _of_client(case.script.lines)
    if found is None or found[1] <= most:
        return
    line, asked = found
    place = case.option(*AT_ONCE)
    flag = place.written if place is not None else AT_ONCE[-1]
    message = f"{case.script.where(line)}: {asked:,} requests are sent at once, and the server runs {most:,} ({flag}): "
    message += f"{asked - most:,} wait in its queue"
    remedy = f"raise {flag} where the KV cache has room for more, or send {most:,} at once"
    yield replace(make_remark(Severity.NOTE, Code.SUBOPTIMAL, flag, message, remedy), command=None)


def _of_client(lines: Sequence[str]) -> tuple[int, int] | None:
    """The line of the only number that a client's options have, and that number."""
    patterns = [_EVALUATION, *([_OF_CLIENT] if is_in_lines(_CLIENT, lines, _LONGEST) else [])]
    found = [
        (number, int(match["count"]))
        for number, line in enumerate(lines, 1)
        for pattern in patterns
        if not line.lstrip().startswith("#") and (match := pattern.search(line[:_LONGEST]))
    ]
    return found[0] if len({count for _, count in found}) == 1 else None


def _of_recipe(lines: Sequence[str]) -> tuple[int, int] | None:
    """The line of the benchmark's list, and the least of its numbers."""
    for number, line in enumerate(lines, 1):
        match = _RECIPE.match(line[:_LONGEST])
        if match is None:
            continue
        counts = [int(count) for count in re.findall(r"\d{1,6}", match["counts"] or "")]
        for below in lines[number : number + _MOST] if not counts else ():
            if (item := _ITEM.match(below[:_LONGEST])) is None:
                break
            counts.append(int(item["count"]))
        return (number, min(counts)) if counts else None
    return None


def _workers(lines: Sequence[str]) -> int:
    return max((int(match["count"]) for line in lines if (match := _WORKERS.match(line[:_LONGEST]))), default=1) or 1
