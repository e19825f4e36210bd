"""What a framework is told of the engine's devices and weights: a service of BentoML, a model of Ray Serve."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.image_devices import image_devices
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.python_blocks import Block, calls, is_open, keywords, python_blocks
from moonpad.explain.python.data import dotted
from moonpad.explain.python.docker_calls import GIVE_DEVICES, STARTS
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_RUNS: Final = re.compile(r"\bcontainers\.(?:run|create)\(")
_GPUS: Final = "--gpus"
_LOADING: Final = re.compile(r"\bmodel_loading_config\b")
_ID: Final = re.compile(
    r"\bmodel_id[\"']?[ \t]*[:=][ \t]*[\"']?(?P<id>[A-Za-z0-9][\w.-]{0,95})[\"']?[ \t]*[,)}]?[ \t]*(?:#.*)?$"
)
_SOURCE: Final = re.compile(r"\bmodel_source\b")
_ENDS: Final = re.compile(r"^[ \t]*[)}]|\b(?:engine_kwargs|deployment_config|accelerator_type)\b")
_MOST: Final = 8
_LONGEST: Final = 500


def devices_of_service(case: Case) -> Iterator[Remark]:
    """`@bentoml.service(resources={"gpu": 1})` around an engine of four ranks."""
    command = case.commands[0]
    if not command.embedded or not case.laid_out or not is_first_server(case.commands, case.script):
        return
    ranks = case.first.layout.tp * case.first.layout.pp
    for block in python_blocks(case.script):
        for node in block.nodes:
            if isinstance(node, ast.ClassDef) and _holds(block, node, command.line):
                for line, count in _counts(block, node):
                    if 0 < count < ranks:
                        message = f"{case.script.where(line)}: the service gets {count} of the {ranks} GPUs that the "
                        message += "engine is started over"
                        remedy = f'write "gpu": {ranks}, or a smaller tensor_parallel_size'
                        remark = make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, "resources", message, remedy)
                        yield replace(remark, command=None)
                        return


def devices_of_docker_call(case: Case) -> Iterator[Remark]:
    """`client.containers.run(image, …)` without device_requests: the container has no GPU."""
    command = case.commands[0]
    image = command.container.image if command.container is not None else None
    if image is None or not is_in_lines(_RUNS, case.script.lines, _LONGEST):
        return
    needed = (row for row in image_devices().values() if re.search(row.image, image.text, re.IGNORECASE))
    if not any(row.missing == _GPUS and not row.command and case.platform not in row.not_on for row in needed):
        return
    for block in python_blocks(case.script):
        for call in calls(block):
            if not dotted(call.func).endswith(STARTS) or is_open(call) or GIVE_DEVICES & keywords(call).keys():
                continue
            if block.line(call) <= command.line <= (call.end_lineno or call.lineno) + block.before:
                message = f"{case.script.where(block.line(call))}: the container gets no GPU: nothing of the call asks "
                message += "for devices"
                remedy = 'add device_requests=[docker.types.DeviceRequest(count=-1, capabilities=[["gpu"]])]'
                remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, "device_requests", message, remedy)
                yield replace(remark, command=None)
                return


def model_without_source(case: Case) -> Iterator[Remark]:
    """`model_loading_config=dict(model_id="kimi")` alone: the id is then taken for the name of the repository."""
    lines = case.script.lines
    if not is_in_lines(_LOADING, lines, _LONGEST) or not is_first_server(case.commands, case.script):
        return
    case.script.budget.once("models of Ray Serve", len(lines), "the text around its engine commands")
    for number, line in enumerate(lines, 1):
        if not _LOADING.search(line[:_LONGEST]):
            continue
        inside = []
        for at in range(number, min(len(lines), number + _MOST) + 1):
            text = lines[at - 1][:_LONGEST]
            if at > number and _ENDS.search(text):
                break
            inside.append((at, text))
        if any(_SOURCE.search(text) for _, text in inside):
            continue
        found = next(((at, match["id"]) for at, text in inside if (match := _ID.search(text))), None)
        if found is not None:
            name = shortened(found[1], 60)
            message = (
                f"{case.script.where(found[0])}: without model_source Ray Serve takes model_id for the weights, and "
            )
            message += f"{name} is not the name of a repository"
            remedy = "add model_source with the repository or the folder"
            remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, "model_id", message, remedy)
            yield replace(remark, command=None)
            return


def _holds(block: Block, node: ast.ClassDef, line: int) -> bool:
    return node.lineno + block.before <= line <= (node.end_lineno or node.lineno) + block.before


def _counts(block: Block, node: ast.ClassDef) -> Iterator[tuple[int, int]]:
    """The devices that a decorator asks for, and its line."""
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call) or not dotted(decorator.func).startswith("bentoml."):
            continue
        given = keywords(decorator).get("resources")
        if given is None or not isinstance(given.value, ast.Dict):
            continue
        for key, value in zip(given.value.keys, given.value.values, strict=True):
            count = value.value if isinstance(value, ast.Constant) else None
            if isinstance(key, ast.Constant) and key.value == "gpu" and isinstance(count, int):
                yield block.line(value), count
