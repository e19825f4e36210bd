"""Arguments that the classes of some engines' libraries do not have, the names of another engine; and what programs ask
of an engine without saying it. Those of the engine that has a reader of its own are in options/program_calls.py."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Final

from moonpad.engines.python_names import (
    EXTERNAL_LAUNCHER,
    ONE_PROCESS,
    OTHER_CLASSES,
    SAMPLING_CLASS,
    SAMPLING_OF_TABLE,
    TOKENS_BY_DEFAULT,
    PythonClass,
)
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.python_blocks import Block, calls, is_open, keywords, python_blocks, value_of
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_ASKS: Final = frozenset({"generate", "chat", "async_generate"})
_CUT_OFF: Final = "max_tokens"
_OTHER_LENGTHS: Final = frozenset(
    {"prompt_logprobs", "max_new_tokens", "max_length", "max_output_tokens", "num_predict", "extra_args"}
)
"""Arguments by which the number of tokens is given, wrongly or elsewhere, or the prompt alone is looked at."""
_BACKEND: Final = "distributed_executor_backend"


def argument_of_other_library(case: Case) -> Iterator[Remark]:
    """`Engine(tensor_parallel_size=8)`, `LLM(max_model_len=65536)` of the one that calls it otherwise."""
    for block in _blocks(case):
        for call in calls(block):
            known = _class(block, call, OTHER_CLASSES)
            name = next((name for name in keywords(call) if known is not None and name in known.wrong), "")
            if known is None or not name:
                continue
            what = f"{known.title}'s {block.class_of(call)[1]} has no argument {name}: the program ends by an error"
            remedy = f"write {known.wrong[name]}"
            yield _told(case, block.line(keywords(call)[name]), name, what, remedy, Severity.WARNING)
            return


def sampling_of_other_library(case: Case) -> Iterator[Remark]:
    """`SamplingParams(max_new_tokens=64)`, `{"max_tokens": 64}` for the engine that calls it otherwise."""
    for block in _blocks(case):
        engines = _engines(block, (SAMPLING_OF_TABLE,))
        for call in calls(block):
            found = _in_class(block, call) or _in_table(block, call, engines)
            if found is not None:
                line, name, title, right = found
                what = f"the sampling parameters of {title} have no {name}: the request ends by an error"
                yield _told(case, line, name, what, f"write {right}", Severity.WARNING)
                return


def few_tokens(case: Case) -> Iterator[Remark]:
    """`SamplingParams(temperature=0.6)`, by which every answer ends after 16 tokens."""
    for block in _blocks(case):
        asked = [call for call in calls(block) if isinstance(call.func, ast.Attribute) and call.func.attr in _ASKS]
        set_later = any(isinstance(node, ast.Attribute) and node.attr == _CUT_OFF for node in block.nodes)
        for call in calls(block):
            root, name = block.class_of(call)
            if name != "SamplingParams" or root not in TOKENS_BY_DEFAULT or is_open(call) or set_later or not asked:
                continue
            given = keywords(call)
            if given and _CUT_OFF not in given and not _OTHER_LENGTHS & given.keys():
                what = f"SamplingParams without max_tokens ends each answer after {TOKENS_BY_DEFAULT[root]} tokens"
                yield _told(case, block.line(call), _CUT_OFF, what, "give max_tokens", Severity.NOTE)
                return


def copies_in_one_process(case: Case) -> Iterator[Remark]:
    """`LLM(data_parallel_size=2)` in a program of one process."""
    for block in _blocks(case):
        for call in calls(block):
            if block.class_of(call) != (ONE_PROCESS.root, "LLM"):
                continue
            given = keywords(call)
            backend = value_of(given["distributed_executor_backend"].value, block) if _BACKEND in given else None
            size = value_of(given["data_parallel_size"].value, block) if "data_parallel_size" in given else None
            if isinstance(backend, ast.Constant) and backend.value == EXTERNAL_LAUNCHER:
                continue
            if isinstance(size, ast.Constant) and type(size.value) is int and size.value > 1:
                what = f"LLM in one process runs one copy of the model: data_parallel_size {size.value} is refused, "
                what += "and hangs in older releases"
                remedy = "start one process for each copy, or a server with --data-parallel-size"
                line = block.line(given["data_parallel_size"])
                yield _told(case, line, "data_parallel_size", what, remedy, Severity.WARNING)
                return


def messages_for_prompts(case: Case) -> Iterator[Remark]:
    """`llm.generate([{"role": "user", "content": …}])`: roles are for `chat`."""
    for block in _blocks(case):
        engines = _engines(block, OTHER_CLASSES)
        for call in calls(block):
            function = call.func
            if not isinstance(function, ast.Attribute) or function.attr not in ("generate", "async_generate"):
                continue
            if not isinstance(function.value, ast.Name) or function.value.id not in engines or not call.args:
                continue
            if _has_roles(value_of(call.args[0], block)):
                what = "generate() takes prompts, not messages with roles: the request is refused"
                remedy = "apply the tokenizer's chat template first"
                yield _told(case, block.line(call), "generate", what, remedy, Severity.WARNING)
                return


def _has_roles(node: ast.expr | None) -> bool:
    if isinstance(node, ast.List) and node.elts:
        return _has_roles(node.elts[0])
    return isinstance(node, ast.Dict) and any(
        isinstance(key, ast.Constant) and key.value == "role" for key in node.keys
    )


def _blocks(case: Case) -> Iterator[Block]:
    if case.commands[0].embedded and is_first_server(case.commands, case.script):
        yield from python_blocks(case.script)


def _class(block: Block, call: ast.Call, known: tuple[PythonClass, ...]) -> PythonClass | None:
    root, name = block.class_of(call)
    return next((each for each in known if each.root == root and name in each.names), None)


def _engines(block: Block, known: tuple[PythonClass, ...]) -> set[str]:
    """Names of the program that hold an engine."""
    return {
        target.id
        for node in block.nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _class(block, node.value, known)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _in_class(block: Block, call: ast.Call) -> tuple[int, str, str, str] | None:
    known = _class(block, call, (SAMPLING_CLASS,))
    given = keywords(call)
    name = next((name for name in given if known is not None and name in known.wrong), "")
    return (block.line(given[name]), name, known.title, known.wrong[name]) if known is not None and name else None


def _in_table(block: Block, call: ast.Call, engines: Collection[str]) -> tuple[int, str, str, str] | None:
    """Of the dictionary that is handed to `generate` of an engine that takes one."""
    function, known = call.func, SAMPLING_OF_TABLE
    if not isinstance(function, ast.Attribute) or function.attr not in ("generate", "async_generate"):
        return None
    if not isinstance(function.value, ast.Name) or function.value.id not in engines:
        return None
    given = keywords(call)
    place = given["sampling_params"].value if "sampling_params" in given else call.args[1] if call.args[1:] else None
    table = value_of(place, block)
    for key in table.keys if isinstance(table, ast.Dict) else ():
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value in known.wrong:
            return block.line(key), key.value, known.title, known.wrong[key.value]
    return None


def _told(case: Case, line: int, where: str, what: str, remedy: str, severity: Severity) -> Remark:
    message = f"{case.script.where(line)}: {what}"
    return replace(make_remark(severity, Code.INVALID_VALUE, where, message, remedy), command=None)
