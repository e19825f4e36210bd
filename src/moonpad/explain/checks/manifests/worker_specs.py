"""The sizes of a KServe runtime of several nodes, against the command that is to have them.

KServe makes variables of `pipelineParallelSize` and `tensorParallelSize` of a workerSpec, and no options: a runtime
whose command reads neither starts on one device, whatever number of pods waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import Node

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import Fields, fields_of, items_of, number_of, pod_objects, text_of
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_RUNTIME: Final = re.compile(r"[ \t-]*kind:[ \t]*[\"']?(?:Cluster)?ServingRuntime\b")
_SPEC: Final = re.compile(r"(?P<indent>[ \t]*)workerSpec:[ \t]*(?:#.*)?$")
_SIZE: Final = re.compile(r"(?P<indent>[ \t]*)(?P<name>pipeline|tensor)ParallelSize:[ \t]*(?P<size>\d{1,4})\b")
_PIPELINE: Final = re.compile(r"pipeline[-_]parallel|(?<![\w-])-pp\b")
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


def pipeline_of_one_machine(case: Case) -> Iterator[Remark]:
    """`parallelism: {pipeline: 2}` of an LLMInferenceService without workers, whose preset passes no pipeline."""
    if not case.script.objects or not is_first_server(case.commands, case.script):
        return
    for holder in pod_objects(case.script):
        if holder.kind != "LLMInferenceService" or holder.templated:
            continue
        spec = fields_of(holder.fields.get("spec"))
        node = fields_of(spec.get("parallelism")).get("pipeline")
        size = number_of(node)
        if node is None or size is None or size < 2 or "worker" in spec or _has_own_command(spec):
            continue
        message = (
            f"{case.script.where(holder.offset + node.start_mark.line)}: without worker the service runs in one pod, "
        )
        message += "and what KServe starts there gets no --pipeline-parallel-size: it uses the devices of tensor alone"
        remedy = "write a layout of tensor alone, or add worker for the other machines"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, "pipeline", message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _has_own_command(spec: Fields) -> bool:
    containers = map(fields_of, items_of(fields_of(spec.get("template")).get("containers")))
    return any(_PIPELINE.search(text_of(word)) for each in containers for word in _words(each))


def _words(container: Fields) -> Iterator[Node]:
    for key in ("command", "args"):
        yield from items_of(container.get(key))
    for each in map(fields_of, items_of(container.get("env"))):
        if "value" in each:
            yield each["value"]
