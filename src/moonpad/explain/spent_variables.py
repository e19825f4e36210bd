"""Variables that a script sets for its own command line alone, `MODEL=… TP=8` of `vllm serve $MODEL -tp $TP`: once
their values stand in the line that is shown, nothing reads them any more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.results import Judged, Line
from moonpad.values.records import replace

_OF_OPTIONS: Final = re.compile(
    r"(?:MODEL|NAME|ID|PATH|DIR|FOLDER|REPO|REVISION|SERVED|SERVE|SERVER|SERVING|PORT|HOST|BIND|ADDRESS|API"
    r"|TP|PP|DP|EP|DCP|TENSOR|PIPELINE|DATA|EXPERT|PARALLEL|SIZE|DEGREE|WORLDSIZE|RANKS"
    r"|GPU|GPUS|MEM|MEMORY|UTIL|UTILIZATION|FRACTION|FRAC|STATIC|KV|CACHE|DTYPE|QUANT|QUANTIZATION"
    r"|NUM|MAX|MIN|LEN|LENGTH|CTX|CONTEXT|SEQ|SEQS|BATCH|BATCHED|TOKENS|REQUESTS|RUNNING|CHUNK|CHUNKED|PREFILL|DECODE"
    r"|CONC|CONCURRENCY|ISL|OSL|DOWNLOAD|TEMPLATE|CHAT|TOOL|CALL|REASONING|PARSER|SPEC|DRAFT|STEPS|BACKEND|ATTENTION"
    r"|MOE|EXTRA|ARGS|OPTS|OPTIONS|FLAGS|LOG|LEVEL|FILE|DEFAULT|TARGET|WEIGHTS|TOKENIZER)[0-9]?"
)
"""Words of options and of their values. A name of these alone is no library's."""
_MOST_LINES: Final = 400


def without_spent_variables(judged: Judged, script: Script) -> Judged:
    """The lines that are shown without them, where no word of these needs the shell to fill them in."""
    spent = [_spent(command, script) for command in judged.sources]
    if not any(spent):
        return judged
    better = (replace(each, lines=_without(each.lines, spent)) for each in judged.better)
    return replace(
        judged,
        commands=_without(judged.commands, spent),
        corrected=_without(judged.corrected, spent),
        better=tuple(better),
    )


def _spent(command: Command, script: Script) -> frozenset[str]:
    """Those that its own words use. What is set in front of it on its own line is part of what it is."""
    lines = {command.line, *(word.line for word in command.words)}
    names = [
        name
        for name, word in command.env.items()
        if word.line not in lines and all(_OF_OPTIONS.fullmatch(part) for part in name.split("_"))
    ]
    if not names or len(lines) > _MOST_LINES:
        return frozenset()
    script.budget.work(len(names) * len(lines), "the variables of its engine commands")
    text = "\n".join(script.lines[line - 1] for line in sorted(lines) if 1 <= line <= len(script.lines))
    return frozenset(name for name in names if f"${{{name}" in text or f"${name}" in text)


def _without(lines: Sequence[Line], spent: Sequence[frozenset[str]]) -> tuple[Line, ...]:
    numbered = enumerate(lines)
    return tuple(_but(line, spent[number]) if number < len(spent) else line for number, line in numbered)


def _but(line: Line, spent: frozenset[str]) -> Line:
    gone = {name for name in spent if name in line.env and not any(name in each for each in _open(line))}
    return replace(line, env={name: text for name, text in line.env.items() if name not in gone}) if gone else line


def _open(line: Line) -> Iterator[str]:
    """What the shell still fills in: variables and whole substitutions, and the values of other variables."""
    yield from line.unresolved
    yield from (text for text in line.env.values() if "$" in text)
