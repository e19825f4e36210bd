"""Functions and classes of a Python program: what they are called with, what objects hold, what comes back."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.python.arguments import ProgramArguments, default_of, is_command, of_decorators, usage_of
from moonpad.explain.python.data import Names, Places, Table, Text, Value, dotted
from moonpad.explain.python.values import Evaluator
from moonpad.explain.shell.interpreter import ScriptState

_CALLS: Final = 64
"""Functions of the program that are read with their arguments; and how deep."""
_DEEPEST_CALL: Final = 4
_BASES: Final = 8
_DICTIONARIES: Final = frozenset({"asdict", "vars"})
_DUMPS: Final = frozenset({"model_dump", "dict", "_asdict", "to_dict"})
_DEFAULTS: Final = frozenset({"field", "Field", "attrib", "ib", "Factory"})
"""Calls that give a field of a dataclass its default."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class FunctionReader(Evaluator):
    """What functions are called with is known where the program calls them. An object of a class that the program
    makes nowhere, or once, is that one; of several the attributes that agree are known."""

    def __init__(self, places: Places, state: ScriptState) -> None:
        super().__init__(places, state)
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.owners: dict[int, str] = {}
        """By the identity of a method, its class."""
        self.held: dict[str, dict[str, Value]] = {}
        """By class, the attributes that it has itself."""
        self.objects: dict[str, list[Table]] = {}
        self.arguments = ProgramArguments()
        self.called: set[int] = set()
        self.stack: list[int] = []
        self.calls = 0
        self.given: list[Value] = []
        """What the function that is being read gives back."""

    @abstractmethod
    def statements(self, body: Sequence[ast.stmt], names: Names, depth: int = 0) -> None:
        """Reads them in their order."""

    def gather(self, tree: ast.Module) -> None:
        self.arguments.usage = usage_of(ast.get_docstring(tree) or "")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.setdefault(node.name, node)
            elif isinstance(node, ast.ClassDef):
                self.classes.setdefault(node.name, node)
                for part in node.body:
                    if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                        self.owners[id(part)] = node.name
        self.every = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        self.every.sort(key=lambda node: node.lineno)
        calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        self.called_names = {part.id if isinstance(part, ast.Name) else getattr(part, "attr", "") for part in calls}

    def read_uncalled(self, names: Names) -> None:
        """Those that others call come last: by then they are read with what they get."""
        for function in sorted(self.every, key=lambda node: node.name in self.called_names):
            if id(function) not in self.called:
                self.called.add(id(function))
                owner = self.owners.get(id(function), "")
                first = self._object_of(owner, names) if owner and not _is_static(function) else None
                if first is None or function.name != "__init__":
                    options = of_decorators(self, function, names)
                    called = is_command(function) or bool(options)
                    self._function(function, names, options, (first,) if first is not None else (), called=called)

    # --- calls ---

    def call(self, node: ast.Call, names: Names) -> Value | None:
        if (given := self.arguments.read(self, node, names)) is not None:
            return given
        if (fields := self._as_table(node, names)) is not None:
            return fields
        function, bound = self._called_function(node, names)
        if function is None:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            return self._made(name, node, names) if name in self.classes else None
        if id(function) in self.stack or len(self.stack) >= _DEEPEST_CALL or self.calls >= _CALLS:
            return None
        positional = [*bound, *self._items(node.args, names)]
        keywords = {keyword.arg: self.value(keyword.value, names) for keyword in node.keywords if keyword.arg}
        self.calls += 1
        self.called.add(id(function))
        answers = self._function(function, names, keywords, positional, called=True)
        return answers[0] if len(answers) == 1 else self.unknown(node)

    def _as_table(self, node: ast.Call, names: Names) -> Table | None:
        """`asdict(config)`, `vars(args)`, `config.model_dump()`: what an object holds as a dictionary."""
        held: Table | None = None
        if dotted(node.func).rpartition(".")[2] in _DICTIONARIES and len(node.args) == 1:
            held = self._object(node.args[0], names)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _DUMPS and not node.args:
            held = self._object(node.func.value, names)
        return Table(dict(held.fields), held.at, used=True) if held is not None else None

    def _called_function(self, node: ast.Call, names: Names) -> tuple[Function | None, list[Value]]:
        """And the object that it is called on."""
        match node.func:
            case ast.Name(id=name) if name not in self.classes:
                function = self.functions.get(name)
                return (None, []) if function is None or id(function) in self.owners else (function, [])
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                held = names.get("self")
                kind = held.of_class if isinstance(held, Table) else ""
                bases = [base for base in islice(self._bases(kind), 1, None) if kind]
                method = next((found for base in bases if (found := self._own_method(base, name))), None)
                return method, [held] if held is not None else []
            case ast.Attribute(value=owner, attr=name):
                held = self._object(owner, names)
                method = self._method_of(held.of_class, name) if held is not None else None
                if method is not None and held is not None:
                    return method, [] if _is_static(method) else [held]
        return None, []

    def _function(
        self,
        function: Function,
        names: Names,
        keywords: dict[str, Value],
        positional: Iterable[Value],
        *,
        called: bool = False,
    ) -> list[Value]:
        """Reads the body. A parameter that nothing is given for has its default where it is called."""
        outer: Names = ChainMap(names.maps[-1])
        inner: Names = outer.new_child()
        arguments = [*function.args.posonlyargs, *function.args.args]
        defaults = function.args.defaults
        for argument in (*arguments, *function.args.kwonlyargs):
            inner[argument.arg] = self._parameter(argument)
        if called:
            for argument, default in zip(reversed(arguments), reversed(defaults), strict=False):
                given = default_of(default)
                inner[argument.arg] = self.value(given, outer) if given is not None else self._parameter(argument)
            for argument, given in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
                if given is not None:
                    inner[argument.arg] = self.value(given, outer)
        inner |= {argument.arg: value for argument, value in zip(arguments, positional, strict=False)}
        inner |= {name: value for name, value in keywords.items() if name in inner}
        for extra in (function.args.vararg, function.args.kwarg):
            if extra is not None:
                inner[extra.arg] = self._parameter(extra)
        self.stack.append(id(function))
        before, self.given = self.given, []
        self.statements(function.body, inner)
        answers, self.given = self.given, before
        self.stack.pop()
        return answers

    def _parameter(self, argument: ast.arg) -> Text:
        name = ast.copy_location(ast.Name(argument.arg), argument)
        return self.unknown(name)

    # --- classes ---

    def class_of(self, node: ast.ClassDef, inner: Names) -> Table:
        """The class as a value, whose attributes were read into the names of its body."""
        fields = {name: _default(value) for name, value in inner.maps[0].items()}
        self.held.setdefault(node.name, {name: value for name, value in fields.items() if value is not None})
        word = self.state.text.word("", *self.places.of(node))
        return Table(self._attributes(node.name), word, node.name, used=True, of_class=node.name)

    def _attributes(self, name: str) -> dict[str, Value]:
        """Those of the class and of the classes that it is made from."""
        attributes: dict[str, Value] = {}
        for base in reversed(list(self._bases(name))):
            attributes |= self.held.get(base, {})
        return attributes

    def _bases(self, name: str) -> Iterator[str]:
        """The class, then those that it is made from."""
        queue, seen = [name], list[str]()
        while queue and len(seen) < _BASES:
            one = queue.pop(0)
            if one in self.classes and one not in seen:
                seen.append(one)
                queue += [dotted(base).rpartition(".")[2] for base in self.classes[one].bases]
        yield from seen

    def _own_method(self, name: str, method: str) -> Function | None:
        parts = self.classes[name].body
        found = (part for part in parts if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef))
        return next((part for part in found if part.name == method), None)

    def _method_of(self, name: str, method: str) -> Function | None:
        return next((found for base in self._bases(name) if (found := self._own_method(base, method))), None)

    def _made(self, name: str, node: ast.Call, names: Names) -> Table:
        """An object, by the arguments of the call; those are a table of their own beside it."""
        positional = list(self._items(node.args, names))
        keywords = {keyword.arg: self.value(keyword.value, names) for keyword in node.keywords if keyword.arg}
        word = self.state.text.word("", *self.places.of(node))
        given = {**{f"#{number}": value for number, value in enumerate(positional)}, **keywords}
        self.made.append(Table(given, word, name))
        held = self._new(name, names, positional, keywords, word_of=node)
        if any(keyword.arg is None for keyword in node.keywords):
            held.fields = {field: self.unknown(node, f"{name}.{field}") for field in held.fields}
        self.objects.setdefault(name, []).append(held)
        return held

    def _new(
        self, name: str, names: Names, positional: list[Value], keywords: dict[str, Value], word_of: ast.expr | None
    ) -> Table:
        word = self.state.text.word("", *(self.places.of(word_of) if word_of is not None else (0, 0)))
        held = Table(self._attributes(name), word, name, used=True, of_class=name, branches=len(self.state.arms))
        makes = self._method_of(name, "__init__")
        if makes is None:
            order = list(self._fields(name))
            held.fields |= dict(zip(order, positional, strict=False)) | keywords
        elif id(makes) not in self.stack and len(self.stack) < _DEEPEST_CALL and self.calls < _CALLS:
            self.calls += 1
            self.called.add(id(makes))
            self._function(makes, names, keywords, [held, *positional], called=True)
        return held

    def _fields(self, name: str) -> Iterator[str]:
        """Of a dataclass, in their order."""
        for base in reversed(list(self._bases(name))):
            for part in self.classes[base].body:
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    yield part.target.id

    def _object_of(self, name: str, names: Names) -> Table:
        """What `self` is in a method that nothing of the program calls."""
        made = self.objects.get(name, [])
        if not made:
            held = self._new(name, names, [], {}, None)
            self.objects[name] = [held]
            return held
        if len(made) == 1:
            return made[0]
        fields = dict(made[0].fields)
        for other in made[1:]:
            for field in list(fields):
                if not _alike(fields[field], other.fields.get(field)):
                    del fields[field]
        return Table(fields, made[0].at, name, used=True, of_class=name)

    # --- attributes ---

    def _object(self, node: ast.expr, names: Names) -> Table | None:
        if isinstance(node, ast.Name):
            value = names.get(node.id)
        elif isinstance(node, ast.Attribute):
            value = self.attribute(node, names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.classes:
            value = self.value(node, names)
        else:
            value = None
        return value if isinstance(value, Table) and value.of_class else None

    def attribute(self, node: ast.Attribute, names: Names) -> Value | None:
        held = self._object(node.value, names)
        if held is None:
            return None
        if node.attr in held.fields:
            value = held.fields[node.attr]
            is_foreign = isinstance(value, Table) and not value.of_class and value.call not in ("", "dict", node.attr)
            return None if is_foreign else value  # what a call of another module gave
        method = self._method_of(held.of_class, node.attr)
        if method is not None and _is_property(method) and id(method) not in self.stack and self.calls < _CALLS:
            self.calls += 1
            self.called.add(id(method))
            given = self._function(method, names, {}, (held,), called=True)
            return given[0] if len(given) == 1 else None
        return None

    def set_attribute(self, node: ast.Attribute, value: Value, names: Names) -> None:
        """In a branch that may not be taken it is not known, but where it stays what it was."""
        held = self._object(node.value, names)
        if held is None:
            return
        unsure = len(self.state.arms) > held.branches
        if unsure and not _alike(held.fields.get(node.attr), value):
            value = self.unknown(node)
        held.fields[node.attr] = value


def without_twins(commands: Sequence[Command]) -> list[Command]:
    """What several functions start by the same lines is one."""
    kept = {
        (command.line, command.program, *(word.text for word in command.words), command.arms): command
        for command in reversed(commands)
    }
    return list(reversed(kept.values()))


def _default(value: Value) -> Value | None:
    """Of `field(default=8)`; None where that is not known."""
    if isinstance(value, Table) and value.call.rpartition(".")[2] in _DEFAULTS:
        value.used = True
        return value.fields.get("default", value.fields.get("#0"))
    return value


def _alike(first: Value | None, second: Value | None) -> bool:
    if first is second:
        return True
    return isinstance(first, Text) and isinstance(second, Text) and first.word.text == second.word.text


def _is_static(function: Function) -> bool:
    return any(dotted(item) == "staticmethod" for item in function.decorator_list)


def _is_property(function: Function) -> bool:
    return any(dotted(item).rpartition(".")[2] in ("property", "cached_property") for item in function.decorator_list)
