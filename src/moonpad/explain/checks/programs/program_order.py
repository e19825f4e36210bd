"""What a program does before and after it makes an engine: variables that come too late, processes that begin anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.foreign_names import VARIABLES
from moonpad.engines.python_names import (
    ALWAYS_SPAWNS,
    ENGINE_CLASSES,
    MAKE_ENGINES,
    SPAWNS_BEHIND_CUDA,
)
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.python_blocks import Block, calls, keywords, python_blocks
from moonpad.explain.python.data import dotted
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_BEGINS_CUDA: Final = frozenset({
    *("get_device_name", "get_device_properties", "get_device_capability", "mem_get_info", "set_device", "init"),
    *("current_device", "synchronize"),
})  # fmt: skip
_STARTS: Final = frozenset({
    *("Popen", "run", "system", "call", "check_call", "Process", "Pool", "spawn", "start", "launch", "init"),
    *("ProcessPoolExecutor", "create_subprocess_exec", "create_subprocess_shell"),
})  # fmt: skip
_OF_HUB: Final = "HF_"
"""Variables that what is downloaded later reads too."""
_SERVED_BY_OTHERS: Final = ("fastapi", "gradio", "streamlit", "pytest", "modal", "ray", "bentoml", "runpod")
"""Packages whose programs are imported by another one, which is then the main module."""
_CELL: Final = ("# %%", "# In[", "# COMMAND")
"""What a notebook is saved with as a program."""


def variable_too_late(case: Case) -> Iterator[Remark]:
    """`os.environ["CUDA_VISIBLE_DEVICES"] = "3"` behind the line that makes the engine."""
    for block in _programs(case):
        for body in _bodies(block):
            found = _late(block, body)
            if found is not None:
                line, name, engine = found
                message = f"{case.script.where(line)}: {name} is set behind the engine, which line {engine} has made: "
                message += "it has no effect"
                remedy = f"set it before line {engine}, best before the imports"
                remark = make_remark(Severity.WARNING, Code.DEAD_ENV, name, message, remedy)
                yield replace(remark, command=None)
                return


def unguarded_start(case: Case) -> Iterator[Remark]:
    """An engine that spawns its processes, made by a script that has no `if __name__ == "__main__":`."""
    for block in _programs(case):
        if not block.whole or _is_imported(block) or any(line.startswith(_CELL) for line in case.script.lines):
            continue
        for at, statement in enumerate(block.tree.body):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If):
                continue
            call = next((each for each in ast.walk(statement) if _makes(block, each)), None)
            if not isinstance(call, ast.Call):
                continue
            root, name = block.class_of(call)
            reason = _spawns(block, root, block.tree.body[: at + 1])
            if not reason:
                break
            what = f"{name} starts processes that import this program again{reason}, and nothing keeps them from "
            message = f"{case.script.where(block.line(call))}: {what}making the engine too: RuntimeError"
            remedy = 'put it into a function that is called below if __name__ == "__main__":'
            remark = make_remark(Severity.WARNING, Code.CONFLICT, "__main__", message, remedy)
            yield replace(remark, command=None)
            return


def engine_per_worker(case: Case) -> Iterator[Remark]:
    """`uvicorn.run("app:app", workers=4)` over a module that makes an engine when it is imported."""
    for block in _programs(case):
        if not any(_makes(block, each) for statement in _top(block) for each in ast.walk(statement)):
            continue
        for call in calls(block):
            if dotted(call.func) != "uvicorn.run" or not call.args or not isinstance(call.args[0], ast.Constant):
                continue
            workers = keywords(call).get("workers")
            count = workers.value.value if workers and isinstance(workers.value, ast.Constant) else None
            if workers is not None and type(count) is int and count > 1:
                message = f"{case.script.where(block.line(workers))}: each of the {count} workers imports the module, "
                message += f"and makes an engine of its own on the same devices: {count} times the memory"
                remark = make_remark(
                    Severity.WARNING, Code.CONFLICT, "workers", message, "write workers=1: the engine batches requests"
                )
                yield replace(remark, command=None)
                return


def _programs(case: Case) -> Iterator[Block]:
    if case.commands[0].embedded and is_first_server(case.commands, case.script):
        yield from python_blocks(case.script)


def _makes(block: Block, node: ast.AST) -> bool:
    """Whether a call makes an engine, not only its arguments."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in MAKE_ENGINES:
        return True
    root, name = block.class_of(node)
    return name in ("LLM", "Engine") and any(root == each.root and name in each.names for each in ENGINE_CLASSES)


def _top(block: Block) -> Iterator[ast.stmt]:
    for statement in block.tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If):
            yield statement


def _bodies(block: Block) -> Iterator[Sequence[ast.stmt]]:
    yield block.tree.body
    for node in block.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.body


def _late(block: Block, body: Sequence[ast.stmt]) -> tuple[int, str, int] | None:
    """The line of the variable, its name, and the line of the engine, which is the last one of the body."""
    made = [
        (at, node.lineno + block.before)
        for at, statement in enumerate(body)
        if isinstance(statement, ast.Assign | ast.Expr | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and _makes(block, node)
    ]
    if len(made) != 1:
        return None
    at, engine = made[0]
    rest = body[at + 1 :]
    if any(_starts_more(node) for statement in rest for node in ast.walk(statement)):
        return None
    for statement in rest:
        name = _variable(statement)
        if VARIABLES.fullmatch(name) and not name.startswith(_OF_HUB):
            return statement.lineno + block.before, name, engine
    return None


def _starts_more(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _STARTS


def _variable(statement: ast.stmt) -> str:
    """What `os.environ["NAME"] = "…"` sets."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Subscript) or dotted(target.value) not in ("os.environ", "environ"):
        return ""
    return target.slice.value if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str) else ""


def _is_imported(block: Block) -> bool:
    """Whether another program may be the main module: a server of applications, a runner of tests, a cluster."""
    modules = (*block.imports.modules.values(), *(module for module, _ in block.imports.members.values()))
    return any(module.partition(".")[0] in _SERVED_BY_OTHERS for module in modules)


def _spawns(block: Block, root: str, before: Sequence[ast.stmt]) -> str:
    """Why its processes are spawned; "" where they are not, or it is not known."""
    if root == ALWAYS_SPAWNS.root:
        return " by spawn"
    if root != SPAWNS_BEHIND_CUDA.root:
        return ""
    for statement in before:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(statement):
            name = dotted(node.func) if isinstance(node, ast.Call) else ""
            if name.startswith("torch.cuda.") and name.rpartition(".")[2] in _BEGINS_CUDA:
                return f", since {name}() has begun to use CUDA before"
    return ""
