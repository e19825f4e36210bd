"""How a program in Python starts a server: what `subprocess` and `os.system` make of its arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.foreign_names import MENTION
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.python_blocks import Block, calls, is_open, keywords, python_blocks, value_of
from moonpad.explain.python.data import dotted
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_STARTS: Final = frozenset({"run", "Popen", "call", "check_call", "check_output"})
_OF_SHELL: Final = re.compile(
    r"[ \t]*(?:export[ \t]+(?P<name>\w+)=|cd[ \t]+\S|source[ \t]+\S|conda[ \t]+activate\b)[^;&|\n]*"
)
_MOST: Final = 20
"""Starts of a text that are looked at."""
_SECONDS: Final = 64
_WINDOWS: Final = re.compile(r"\b[A-Za-z]:\\|\.exe\b|\bwin32\b|\bos\.name\b")
"""There the list becomes one line for the shell."""
_LONGEST: Final = 1000


def list_with_shell(case: Case) -> Iterator[Remark]:
    """`Popen(["vllm", "serve", …], shell=True)`: the shell runs the first word alone."""
    for block, call, words in _started(case):
        shell = keywords(call).get("shell")
        if shell is None or not isinstance(shell.value, ast.Constant) or shell.value.value is not True:
            continue
        first = words.elts[0] if words.elts else None
        whole = isinstance(first, ast.Constant) and isinstance(first.value, str) and " " in first.value.strip()
        if len(words.elts) > 1 and not whole and not is_in_lines(_WINDOWS, case.script.lines, _LONGEST):
            what = "with shell=True only the first item of the list is the command: its options are lost"
            yield _told(case, block.line(shell), "shell=True", what, "leave shell=True out, or pass one string")
            return


def dictionary_as_text(case: Case) -> Iterator[Remark]:
    """`str({"method": "mtp"})` where the server reads JSON: Python writes single quotes."""
    for block, _, words in _started(case):
        for item in words.elts:
            given = _written(item)
            if given is not None and isinstance(value_of(given, block), ast.Dict):
                what = "Python writes a dictionary with single quotes, True and None: that is not JSON, and is refused"
                yield _told(case, block.line(item), "str", what, "write json.dumps(…)")
                return


def environment_replaced(case: Case) -> Iterator[Remark]:
    """`Popen([…], env={"CUDA_VISIBLE_DEVICES": "1"})`: the process has these variables and no others."""
    for block, call, _ in _started(case):
        given = keywords(call).get("env")
        table = value_of(given.value, block) if given is not None else None
        if given is None or not isinstance(table, ast.Dict) or not table.keys:
            continue
        names = {key.value for key in table.keys if isinstance(key, ast.Constant)}
        filled = isinstance(given.value, ast.Name) and _is_filled(given.value.id, block)
        if len(names) == len(table.keys) and not {"PATH", "HOME"} & names and not filled:
            what = "env= takes the place of the whole environment: PATH, HOME and LD_LIBRARY_PATH are gone, and the "
            what += "program, its libraries or its cache are not found"
            yield _told(case, block.line(given), "env", what, "write env={**os.environ, …}")
            return


def pipe_not_read(case: Case) -> Iterator[Remark]:
    """`Popen([…], stdout=PIPE)` of a server, whose output nothing reads."""
    for block, call, _ in _started(case):
        given = keywords(call)
        pipes = [name for name in ("stdout", "stderr") if name in given and _is_pipe(given[name].value)]
        if not pipes or not dotted(call.func).endswith("Popen"):
            continue
        read = {node.attr for node in block.nodes if isinstance(node, ast.Attribute)}
        if not read & {"communicate", "stdout", "stderr"} and _stays(call, block):
            what = f"nothing reads the pipe of {pipes[0]}: after {_SECONDS} KiB of log the server stands still"
            remedy = f"write {pipes[0]} to a file, or leave it out"
            yield _told(case, block.line(given[pipes[0]]), pipes[0], what, remedy)
            return


def setting_of_lost_shell(case: Case) -> Iterator[Remark]:
    """`os.system("export A=1")` above `os.system("vllm serve …")`: each has a shell of its own."""
    if not is_first_server(case.commands, case.script):
        return
    for block in python_blocks(case.script):
        lost: tuple[ast.Call, str] | None = None
        for call in sorted(calls(block), key=lambda each: each.lineno):
            if dotted(call.func) != "os.system" and not _has_shell(call):
                continue
            text = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else ""
            if not isinstance(text, str):
                continue
            if lost is None and (match := _OF_SHELL.fullmatch(text)):
                lost = call, match["name"] or text.split()[0]
            elif lost is not None and MENTION.search(text):
                what = f"each call has a shell of its own: {lost[1]} is lost before the server starts"
                name = lost[1] if lost[1].isupper() else ""
                remedy = f'write os.environ["{name}"] = "…"' if name else "join both by && in one call"
                yield _told(case, block.line(lost[0]), lost[1], what, remedy)
                return


def _started(case: Case) -> Iterator[tuple[Block, ast.Call, ast.List]]:
    """Calls of subprocess that start an engine by a list of words."""
    if not is_first_server(case.commands, case.script):
        return
    found = 0
    for block in python_blocks(case.script):
        for call in calls(block):
            module, name = block.imports.resolved(dotted(call.func))
            if module != "subprocess" or name not in _STARTS or not call.args or is_open(call):
                continue
            words = value_of(call.args[0], block)
            if isinstance(words, ast.List) and any(
                isinstance(item, ast.Constant) and isinstance(item.value, str) and MENTION.search(item.value)
                for item in words.elts
            ):
                found += 1
                if found > _MOST:
                    return
                yield block, call, words


def _has_shell(call: ast.Call) -> bool:
    shell = keywords(call).get("shell")
    return shell is not None and isinstance(shell.value, ast.Constant) and shell.value.value is True


def _written(item: ast.expr) -> ast.expr | None:
    """What `str(x)`, `repr(x)` or `f"{x}"` writes."""
    if isinstance(item, ast.Call) and dotted(item.func) in ("str", "repr") and len(item.args) == 1:
        return item.args[0]
    if isinstance(item, ast.JoinedStr) and len(item.values) == 1 and isinstance(item.values[0], ast.FormattedValue):
        return item.values[0].value
    return None


def _is_filled(name: str, block: Block) -> bool:
    """Whether the program adds to a dictionary: `env.update(os.environ)`, `env["PATH"] = …`."""
    for node in block.nodes:
        if isinstance(node, ast.Call) and dotted(node.func) in (f"{name}.update", f"{name}.setdefault"):
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and dotted(node.value) == name:
            return True
        if isinstance(node, ast.AugAssign) and dotted(node.target) == name:
            return True
    return False


def _stays(call: ast.Call, block: Block) -> bool:
    """Whether the process is kept under a name that the program hands to nothing else."""
    kept = [node for node in block.nodes if isinstance(node, ast.Assign) and node.value is call]
    names = {target.id for node in kept for target in node.targets if isinstance(target, ast.Name)}
    handed = {each.id for node in block.nodes for each in _handed(node) if isinstance(each, ast.Name)}
    return bool(names) and not names & handed


def _handed(node: ast.AST) -> Sequence[ast.expr | None]:
    """What a call is given, or a function gives back."""
    if isinstance(node, ast.Call):
        return node.args
    return [node.value] if isinstance(node, ast.Return | ast.Yield) else []


def _is_pipe(node: ast.expr) -> bool:
    return dotted(node) in ("subprocess.PIPE", "PIPE")


def _told(case: Case, line: int, where: str, what: str, remedy: str) -> Remark:
    message = f"{case.script.where(line)}: {what}"
    return replace(make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy), command=None)
