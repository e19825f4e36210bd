"""Options of another program in the command of a measurement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import OPTIONS_OF_OTHER_BENCHES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_MOST: Final = 200


def option_of_bench(case: Case) -> Iterator[Remark]:
    """`python -m sglang.bench_serving --model-path …`, as the server has it."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for command in script.commands[:_MOST]:
        for word in command.argv if command.program in OPTIONS_OF_OTHER_BENCHES else ():
            name = word.text.partition("=")[0]
            own = OPTIONS_OF_OTHER_BENCHES[command.program].get(name)
            if own is None:
                continue
            message = f"{script.where(word.line)}: the measurement has no {name}, and ends (unrecognized arguments)"
            remark = make_remark(Severity.WARNING, Code.UNKNOWN_FLAG, name, message, f"write {own}", word=word)
            yield Remark(remark.finding, command=None)
            return
