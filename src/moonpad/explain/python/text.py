"""Commands in a Python program: lists of words for subprocess, strings that a shell would read, and the options that it
hands to an engine. Nothing is run: statements are read in their order, branches as alternatives."""

from __future__ import annotations

import ast
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.input_limits import NESTING
from moonpad.explain.python.commands import emit
from moonpad.explain.python.conditions import truth
from moonpad.explain.python.data import Either, Listing, Names, Places, Table, Text, Value, dotted, spread
from moonpad.explain.python.engines import EngineOptions, Imports
from moonpad.explain.python.functions import Function, FunctionReader, without_twins
from moonpad.explain.python.loops import bind, has_one_round, only_adds, rounds_of
from moonpad.explain.python.settings import read_settings
from moonpad.explain.python.word_types import numbers_among_words
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.source_text import Source

_LONGEST: Final = 200_000
"""Characters: of more, the tree takes too much memory."""
_CONDITIONAL: Final = (ast.For, ast.AsyncFor, ast.While, ast.Try)


def parsed(text: str) -> ast.Module | None:
    """None for what is no Python, and for what is too long."""
    try:
        return ast.parse(text.replace("\0", " ")) if len(text) <= _LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parsed_block(text: str, indent: int) -> ast.Module | None:
    """A text whose lines are all indented, where it stands in another one: its nodes have their places in that."""
    tree = parsed(f"if True:\n{text}")
    if tree is None or len(tree.body) != 1 or not isinstance(block := tree.body[0], ast.If) or block.orelse:
        return None
    tree.body = block.body
    for node in ast.walk(ast.increment_lineno(tree, -1)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            node.value = node.value.replace(f"\n{' ' * indent}", "\n")
    return tree


def read_python(
    text: str, start: int, state: ScriptState, env: Mapping[str, Word] | None = None, indent: int = 0
) -> bool:
    """Adds the servers that the program starts, in the environment `env`. False where it is no Python. `indent`: what
    all its lines have in front of them."""
    if (tree := _parsed_block(text, indent) if indent else parsed(text)) is None:
        return False
    state.budget.work(len(text) // 4, "its Python")
    places = Places(text, start)
    reader = _Reader(places, state)
    try:
        reader.module(tree)
    except RecursionError:
        return False
    reader.environment = {**(env or {}), **reader.of_image(tree), **reader.environment}
    options = EngineOptions(reader.imports, state, reader.environment)
    commands = state.commands
    before = len(commands)
    for value in reader.made:
        emit(value, options, reader.environment, Source.block(state.text, start, text))
    if any(command.program != "other" for command in commands[before:]):
        numbers_among_words(tree, places, state)
    else:
        read_settings(reader.made, options)
    commands[before:] = sorted(without_twins(commands[before:]), key=lambda command: command.line)
    return True


class _Reader(FunctionReader):
    """Reads statements."""

    def __init__(self, places: Places, state: ScriptState) -> None:
        super().__init__(places, state)
        self.imports = Imports()
        self.leaves = False
        """The rest of this round of a loop is not run."""
        self.round_arms = -1
        """In how many branches a loop stands that is read round by round; -1 in no such one."""
        self.environment: dict[str, Word] = {}
        """Variables that the program sets for what it starts."""

    def module(self, tree: ast.Module) -> None:
        names: Names = ChainMap({})
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.imports.add(node)
        self.gather(tree)
        self.statements(tree.body, names)
        self.read_uncalled(names)

    # --- statements ---

    def statements(self, body: Sequence[ast.stmt], names: Names, depth: int = 0) -> None:
        for node in body if depth < NESTING else ():
            self.state.budget.work(10, "its Python")
            self._statement(node, names, depth + 1)
            if self.leaves:
                return

    def _statement(self, node: ast.stmt, names: Names, depth: int) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._decorated(node, names)
            case ast.ClassDef():
                self._decorated(node, names)
                inner: Names = names.new_child()
                self.statements(node.body, inner, depth)
                names[node.name] = self.class_of(node, inner)
            case ast.Assign():
                value = self.value(node.value, names)
                for target in node.targets:
                    self._assign(target, value, names)
            case ast.AnnAssign(value=ast.expr() as given):
                self._assign(node.target, self.value(given, names), names)
            case ast.AugAssign():
                self._added(node, names)
            case ast.Expr(value=ast.Call() as call) if self._method(call, names):
                pass
            case ast.Continue():
                self.leaves = self.round_arms == len(self.state.arms)
            case ast.If():
                self._if(node, names, depth)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.value(item.context_expr, names)
                self.statements(node.body, names, depth)
            case ast.Return(value=ast.expr() as answer):
                returned = self.value(answer, names)
                if self.stack:
                    self.given.append(returned)
            case ast.Match():
                self.value(node.subject, names)
                for number, branch in enumerate(node.cases):
                    self.state.arms.append((id(node), number))
                    self.statements(branch.body, names.new_child(), depth)
                    self.state.arms.pop()
            case _ if isinstance(node, _CONDITIONAL):
                self._loop(node, names, depth)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(child, names)

    def _loop(self, node: ast.stmt, names: Names, depth: int) -> None:
        """Its body is read once; what a loop goes through is unknown, but where it only adds known words to a list."""
        is_read = isinstance(node, ast.For) and (only_adds(node) or has_one_round(node.iter, names))
        if isinstance(node, ast.For) and is_read and (rounds := rounds_of(self, node.iter, names)) is not None:
            before, self.round_arms = self.round_arms, len(self.state.arms)
            for value in rounds:
                bind(self, node.target, value, names)
                self.statements(node.body, names, depth)
                self.leaves = False
            self.round_arms = before
            return
        before, self.round_arms = self.round_arms, -1
        if isinstance(node, ast.For | ast.AsyncFor):
            self.value(node.iter, names)
            for target in ast.walk(node.target):
                if isinstance(target, ast.Name):
                    names[target.id] = self.unknown(target)
        for part in ("body", "orelse", "finalbody"):
            self.statements(getattr(node, part, []), names, depth)
        for handler in getattr(node, "handlers", []):
            self.statements(handler.body, names.new_child(), depth)
        self.round_arms = before

    def _if(self, node: ast.If, names: Names, depth: int) -> None:
        holds = truth(self, node.test, names)
        if holds is not None:
            self.statements(node.body if holds else node.orelse, names, depth)
            return
        condition, _ = self.state.conditions.setdefault(id(node.body), (len(self.state.conditions), node.body))
        branches: list[dict[str, Value]] = []
        for arm, body in enumerate((node.body, node.orelse)):
            inner: Names = names.new_child()
            self.state.arms.append((condition, arm))
            self._unsure(body, node.test, inner, depth)
            self.state.arms.pop()
            branches.append(dict(inner.maps[0]))
        for name in dict.fromkeys(name for branch in branches for name in branch):
            values = [branch.get(name, names.get(name)) for branch in branches]
            names[name] = self._either(node.test, name, values)

    def _either(self, test: ast.expr, name: str, values: Sequence[Value | None]) -> Value:
        lists = [value for value in values if isinstance(value, Listing)]
        if len(lists) == len(values):
            return Either(lists)
        texts = [value for value in values if isinstance(value, Text)]
        if len(texts) == len(values) and len({text.word.text for text in texts}) == 1:
            return texts[0]
        return self.unknown(test, name)

    def _unsure(self, body: Sequence[ast.stmt], test: ast.expr, names: Names, depth: int) -> None:
        """A branch that may not be taken: a list of before gets a piece that is not known, or nothing."""
        last: tuple[Listing | Either | None, Value | None] = None, None
        for node in body if depth < NESTING else ():
            listing, items = self._addition(node, names)
            if listing is None or any(listing is value for value in names.maps[0].values()):
                self._statement(node, names, depth + 1)
            else:
                added = Listing([one for item in items for one in spread(item)])
                behind = last[1] if last[0] is listing else None
                for each in _each(listing):
                    self.extend(each, self.perhaps(test, [added], behind).items)
                last = listing, next(reversed(added.items), None)

    def _addition(self, node: ast.stmt, names: Names) -> tuple[Listing | Either | None, list[Value]]:
        """`cmd.append(x)`, `cmd.extend(x)`, `cmd += x`: the list and what it gets."""
        target: ast.expr | None = None
        given: list[ast.expr] = []
        whole = False
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method), args=arguments)) if method in (
                "append",
                "extend",
            ):
                target, given, whole = owner, arguments, method == "append"
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="insert"), args=[ast.BinOp(), item])):
                target, given, whole = owner, [item], True  # `cmd.insert(len(cmd) - 2, x)`
            case ast.AugAssign(op=ast.Add()):
                target, given = node.target, [node.value]
        if not isinstance(target, ast.Name | ast.Attribute) or not given:
            return None, []
        listing = names.get(target.id) if isinstance(target, ast.Name) else self.attribute(target, names)
        if not isinstance(listing, Listing | Either):
            return None, []
        values = [self.value(item, names) for item in given]
        return listing, values if whole else [item for value in values for item in spread(value)]

    def _method(self, call: ast.Call, names: Names) -> bool:
        """What changes a list or a table; False for every other call."""
        listing, items = self._addition(ast.Expr(call), names)
        if listing is not None:
            for each in _each(listing):
                self.extend(each, items)
            return True
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="update"), args=[given]):
                owner, value = names.get(name), self.value(given, names)
                if isinstance(owner, Table) and isinstance(value, Table):
                    value.used = True
                    owner.fields |= value.fields
                    return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="insert"), args=[ast.Constant(), given]):
                owner = names.get(name)
                if isinstance(owner, Listing):
                    owner.items.insert(0, self.value(given, names))
                    return True
        return False

    def _added(self, node: ast.AugAssign, names: Names) -> None:
        listing, items = self._addition(node, names)
        if listing is not None:
            for each in _each(listing):
                self.extend(each, items)
        elif isinstance(node.target, ast.Name):
            before = ast.copy_location(ast.Name(node.target.id), node.target)
            sum_of = ast.copy_location(ast.BinOp(before, node.op, node.value), node)
            names[node.target.id] = self.value(sum_of, names)

    def _assign(self, target: ast.expr, value: Value, names: Names) -> None:
        match target:
            case ast.Name():
                if isinstance(value, Table) and not value.call:
                    value.call = target.id
                names[target.id] = value
            case ast.Attribute():
                self.set_attribute(target, value, names)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
                owner = names.get(name)
                if isinstance(owner, Table):
                    owner.fields[str(key)] = value
                elif name.endswith(("env", "environ")):
                    self._set(key, value)
            case ast.Subscript(value=ast.Attribute() as owner_of, slice=ast.Constant(value=key)):
                if dotted(owner_of) == "os.environ":
                    self._set(key, value)
            case ast.Tuple() | ast.List():
                values = value.items if isinstance(value, Listing) else []
                if isinstance(value, Listing):
                    value.used = True
                for number, part in enumerate(target.elts):
                    fits = len(values) == len(target.elts)
                    self._assign(part, values[number] if fits else self.unknown(part), names)

    def of_image(self, tree: ast.AST) -> dict[str, Word]:
        """`Image.from_registry(…).env({"NAME": "1"})`: what is run in the image has it."""
        tables = (
            self.value(call.args[0], ChainMap())
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "env"
            if len(call.args) == 1 and isinstance(call.args[0], ast.Dict)
        )
        fields = (item for table in tables if isinstance(table, Table) for item in table.fields.items())
        return {name: value.word for name, value in fields if isinstance(value, Text)}

    def _set(self, name: object, value: Value) -> None:
        if isinstance(name, str) and isinstance(value, Text) and not self.state.arms:
            self.environment[name] = value.word

    def _decorated(self, node: Function | ast.ClassDef, names: Names) -> None:
        """What a platform is asked for: `@app.function(gpu="H100:8")`, on several machines where it is clustered."""
        tables = [value for item in node.decorator_list if isinstance(value := self.value(item, names), Table)]
        nodes = 1
        for table in tables:
            size = table.fields.get("size", table.fields.get("#0"))
            if table.call.endswith("clustered") and isinstance(size, Text) and type(size.value) is int:
                nodes = min(max(size.value, 1), 9_999)
        for table in tables:
            gpu = table.fields.get("gpu")
            if isinstance(gpu, Text) and isinstance(gpu.value, str) and (machine := _machine(gpu.value, nodes)):
                self.state.machines.append((gpu.word.line, machine))


def _each(value: Listing | Either) -> Iterator[Listing]:
    yield from (value,) if isinstance(value, Listing) else value.values


def _machine(gpu: str, nodes: int) -> str:
    """`H100:8`, `H100!:8` and `B200` of Modal as a cluster."""
    match = re.fullmatch(r"([A-Za-z][\w-]{1,30}?)!?(?::(\d{1,3}))?", gpu.strip())
    if match is None:
        return ""
    machine = f"{match[2] or 1}x{match[1].removesuffix('-80GB')}"
    return f"{nodes}x{machine}" if nodes > 1 else machine
