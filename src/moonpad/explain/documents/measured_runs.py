"""Results of benchmark clients behind a start: what was measured there was served."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.programs import is_server
from moonpad.values.records import replace

_ANSWERED: Final = re.compile(
    r"\s*(?:Successful requests:\s+[1-9]\d*|Output (?:token )?throughput(?: \(tok(?:en)?s?/s\))?:\s+[1-9][\d.]*)"
)
"""As the clients of vLLM and SGLang print it (`bench serve`, `sglang.bench_serving`, `few_shot_gsm8k`)."""
_FENCE: Final = re.compile(r"\s*(?:`{3}|~{3})")
_LONGEST: Final = 200


def with_measured(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    """The commands; the last server above such results, and those of its fence and program that stand before it, with
    it that they serve."""
    result = list(commands)
    measured = [at for at, line in enumerate(lines, 1) if _ANSWERED.match(line[:_LONGEST])]
    servers = [at for at, command in enumerate(result) if is_server(command.program)] if measured else []
    for number in measured:
        above = [at for at in servers if result[at].line < number]
        if not above:
            continue
        last = result[above[-1]]
        begun = next((at for at in range(last.line, 0, -1) if _FENCE.match(lines[at - 1])), last.line)
        for at in above:
            command = result[at]
            if begun <= command.line and command.program == last.program and command.held_tokens is None:
                result[at] = replace(command, held_tokens=0, serves=True)
    return result
