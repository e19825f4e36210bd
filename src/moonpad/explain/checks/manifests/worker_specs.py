"""The sizes of a KServe runtime of several nodes, against the command that is to have them.

KServe makes variables of `pipelineParallelSize` and `tensorParallelSize` of a workerSpec, and no options: a runtime
whose command reads neither starts on one device, whatever number of pods waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_RUNTIME: Final = re.compile(r"[ \t-]*kind:[ \t]*[\"']?(?:Cluster)?ServingRuntime\b")
_SPEC: Final = re.compile(r"(?P<indent>[ \t]*)workerSpec:[ \t]*(?:#.*)?$")
_SIZE: Final = re.compile(r"(?P<indent>[ \t]*)(?P<name>pipeline|tensor)ParallelSize:[ \t]*(?P<size>\d{1,4})\b")
_BELOW: Final = 6
_LONGEST: Final = 1000


def size_of_worker_spec(case: Case) -> Iterator[Remark]:
    """A size above one of the runtime that nothing in the command reads."""
    script, command = case.script, case.commands[0]
    if not is_first_server(case.commands, script) or case.open_ended or command.more:
        return
    script.budget.work(len(script.lines) // 2, "its YAML")
    if not any(_RUNTIME.match(line[:_LONGEST]) for line in script.lines):
        return
    sizes = list(_sizes(script.lines))
    read = {number for number, _, _ in sizes}
    own = " ".join(word.text for word in command.words if word.line not in read)
    for number, name, size in sizes:
        flag = case.engine.command_line.options.get({"pipeline": "pp", "tensor": "tp"}[name], "")
        if size < 2 or not flag:
            continue
        variable = f"{name}_parallel_size"
        if re.search(
            rf"{variable.replace('_', '[-_]')}|{flag}\b|{flag.replace('-', '_')}|-{flag[2]}p\b|_ARGS|--config",
            own,
            re.I,
        ):
            continue
        message = f"{script.where(number)}: {name}ParallelSize: {size} of workerSpec becomes the variable "
        message += (
            f"{variable.upper()} in the pods and no option, and this command does not read it: it runs without {flag}"
        )
        remedy = f"write {flag} ${{{variable.upper()}}} into the command"
        remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, flag, message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _sizes(lines: tuple[str, ...]) -> Iterator[tuple[int, str, int]]:
    for at, line in enumerate(lines):
        spec = _SPEC.match(line[:_LONGEST]) if "workerSpec" in line else None
        for below in range(at + 1, min(at + 1 + _BELOW, len(lines))) if spec is not None else ():
            size = _SIZE.match(lines[below][:_LONGEST])
            if size is not None and spec is not None and len(size["indent"]) > len(spec["indent"]):
                yield below + 1, size["name"], int(size["size"])
