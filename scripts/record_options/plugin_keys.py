"""Which keys a plugin reads of the table that its engine hands on, read from its source and not run: vLLM-Ascend's
`--additional-config`.

A key is read where the source asks the table for it: `additional_config.get("x")`, `["x"]`, `"x" in`, or a helper that
is given the table and the name. A table in it is followed into the class or method that it is handed to; what that
class takes by name (`Table(**given)`), or has in `_defaults`, are its keys as well. From 0.27.1rc1 on the tables are
pydantic dataclasses (`@config`), whose fields are the keys, and which refuse any other.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

GIVEN: Final = "additional_config"
ASKED: Final = ("get", "pop", "setdefault")
DEFAULTS: Final = ("_defaults", "_DEFAULTS")
WHOLE: Final = "AscendConfig"
"""The class of the option itself."""
LEFT_OUT: Final = "_NON_USER_INPUT_KEYS"
"""The set of keys that are taken out of the option before its class sees them."""
INJECTED: Final = "kvpp_config"
"""A table that is a field of the class, and that the plugin fills in itself."""
HELPERS: Final = ("_get_config_value", "get_config_value")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Paths = Mapping[str, str]


@dataclass
class Keys:
    """By table (`eplb_config`, "" for the option itself) its keys, and the tables that end the start at another key."""

    tables: dict[str, set[str]] = field(default_factory=dict)
    refusing: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    """Tables of which every key is taken over, so that nothing can be said of one."""
    same: dict[str, str] = field(default_factory=dict)
    """Tables that are looked for in a second place, where they stood before."""
    variables: dict[str, str] = field(default_factory=dict)
    """Variables that a key has taken the place of: they are read where it is not given."""

    def add(self, path: str) -> None:
        table, _, key = path.rpartition(".")
        if key and not key.startswith("_"):
            self.tables.setdefault(table, set()).add(key)


def read_keys(package: Path, keys_file: str) -> Keys:
    """`keys_file` has the classes of the tables; the other files of the package ask for single keys."""
    keys = Keys()
    for path in sorted(package.rglob("*.py")):
        text = source_of(path)
        if GIVEN in text:
            Reader(ast.parse(text), keys).read()
    tables = {*keys.tables, *keys.tables.get("", ())} - {""}
    own = ast.parse(source_of(package / keys_file))
    reader = Reader(own, keys, tables)
    reader.read()
    reader.schema("", WHOLE)
    for former, table in keys.same.items():
        if table in keys.tables:
            keys.tables.setdefault(former, set()).update(keys.tables[table])
            keys.refusing.update({former} if table in keys.refusing else ())
    return keys


class Reader:
    """One module. `tables` are names that stand for a table wherever they are an attribute."""

    def __init__(self, tree: ast.Module, keys: Keys, tables: Collection[str] = ()) -> None:
        self.keys = keys
        self.tables = tables
        self.classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self.tree = tree
        self.done: set[tuple[str, int, str]] = set()

    def read(self) -> None:
        for owner, function in functions(self.tree):
            self.function(function, {}, owner)

    def function(self, function: Function, given: Paths, owner: ast.ClassDef | None) -> None:
        mark = (function.name, function.lineno, repr(sorted(given.items())))
        if mark in self.done:
            return
        self.done.add(mark)
        paths = dict(given)
        for node in in_order(function):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                path = self.path(node.value, paths)
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if path is not None:
                    paths.update({target.id: path for target in targets if isinstance(target, ast.Name)})
            elif isinstance(node, ast.Call):
                self.path(node, paths)
                self.follow(node, paths, owner)
            elif isinstance(node, ast.Subscript):
                self.path(node, paths)
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                path, name = self.path(node.comparators[0], paths), text_of(node.left)
                if path is not None and name:
                    self.keys.add(joined(path, name))

    def path(self, node: ast.expr, paths: Paths) -> str | None:
        """Where in the option the value lies that an expression is, None where it is no part of it."""
        if isinstance(node, ast.Name):
            return paths.get(node.id, "" if node.id == GIVEN else None)
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self.tables
            return "" if node.attr == GIVEN else node.attr if own else None
        if isinstance(node, ast.BoolOp):
            return next((path for path in (self.path(value, paths) for value in node.values) if path is not None), None)
        if isinstance(node, ast.IfExp):
            return self.path(node.body, paths)
        if isinstance(node, ast.Subscript):
            return self.asked(self.path(node.value, paths), text_of(node.slice))
        if isinstance(node, ast.Call):
            return self.call(node, paths)
        return None

    def call(self, node: ast.Call, paths: Paths) -> str | None:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "getattr" and len(node.args) > 1:
            return "" if text_of(node.args[1]) == GIVEN else None
        if isinstance(function, ast.Attribute) and function.attr in ASKED and node.args:
            return self.asked(self.path(function.value, paths), text_of(node.args[0]))
        if isinstance(function, ast.Attribute) and function.attr in HELPERS:
            name, *texts = [text for text in map(text_of, node.args) if text] or [""]
            tables = [self.path(argument, paths) for argument in node.args if not text_of(argument)]
            asked = [path for path in (self.asked(table, name) for table in tables) if path is not None]
            if asked:
                self.keys.variables.update({text: asked[0] for text in texts if text.isupper()})
                self.keys.same.update(dict.fromkeys(asked[1:], asked[0]))
                return asked[0]
        return None

    def asked(self, table: str | None, name: str) -> str | None:
        if table is None or not name:
            return None
        self.keys.add(joined(table, name))
        return joined(table, name)

    def follow(self, node: ast.Call, paths: Paths, owner: ast.ClassDef | None) -> None:
        """Into the class or the method that a table is handed to."""
        function, taken = node.func, owner
        if isinstance(function, ast.Name):
            taken, name = self.classes.get(function.id, owner if function.id == "cls" else None), "__init__"
        elif isinstance(function, ast.Attribute) and function.attr not in HELPERS:
            of, name = getattr(function.value, "id", ""), function.attr
            taken = self.classes.get(of, owner if of in ("self", "cls") else None)
        else:
            return
        if taken is None:
            return
        called = method(taken, name)
        unpacked = [self.path(word.value, paths) for word in node.keywords if word.arg is None]
        for path in (path for path in unpacked if path):
            self.named(taken, called, path)
        if called is None:
            return
        names = [argument.arg for argument in called.args.args if argument.arg not in ("self", "cls")]
        handed = {name: self.path(value, paths) for name, value in zip(names, node.args, strict=False)}
        handed |= {word.arg: self.path(word.value, paths) for word in node.keywords if word.arg}
        given = {name: path for name, path in handed.items() if path is not None}
        if given:
            self.function(called, given, taken)
            self.defaults(taken, called, [path for path in given.values() if path])

    def named(self, owner: ast.ClassDef, called: Function | None, path: str) -> None:
        """`Table(**given)`: its arguments by name are the keys."""
        self.keys.tables.setdefault(path, set())
        if called is None:
            names = list(fields_of(owner))
            self.keys.refusing.add(path)
        else:
            every = (*called.args.args, *called.args.kwonlyargs)
            names = [argument.arg for argument in every if argument.arg != "self"]
            if called.args.kwarg is None:
                self.keys.refusing.add(path)
            else:
                self.function(called, {called.args.kwarg.arg: path}, owner)
        for name in names:
            self.keys.add(joined(path, name))

    def schema(self, path: str, name: str) -> None:
        """A class of which the fields are the keys, and the classes of its fields."""
        owner = self.classes.get(name)
        if owner is None or not any(ast.unparse(each).partition("(")[0] == "config" for each in owner.decorator_list):
            return
        self.keys.tables.setdefault(path, set())
        self.keys.refusing.add(path)
        for key, kind in fields_of(owner).items():
            self.keys.add(joined(path, key))
            if key != INJECTED:
                self.schema(joined(path, key), kind)
        if not path:
            sets = [node for node in ast.walk(self.tree) if isinstance(node, ast.Assign)]
            for node in sets:
                if ast.unparse(node.targets[0]) == LEFT_OUT and isinstance(node.value, ast.Set):
                    for key in map(text_of, node.value.elts):
                        self.keys.add(key)
            inner = {table.partition(".")[2]: table for table in self.keys.tables if table.count(".") == 1}
            self.keys.same.update({key: table for key, table in inner.items() if key in self.keys.tables[""]})

    def defaults(self, owner: ast.ClassDef, called: Function, tables: list[str]) -> None:
        """`_defaults` of the class, and whether it refuses what is not among them, or takes over whatever is there."""
        for table in tables if called.name == "__init__" else ():
            whole = False
            for item in (item for item in owner.body if isinstance(item, ast.Assign)):
                if ast.unparse(item.targets[0]) in DEFAULTS and isinstance(item.value, ast.Dict):
                    whole = True
                    for key in item.value.keys:
                        self.keys.add(joined(table, text_of(key)))
            said = " ".join(ast.unparse(node) for node in ast.walk(called) if isinstance(node, ast.Raise))
            if "has no attribute" in said or "nknown" in said:
                self.keys.refusing.add(table)
            calls = [node for node in ast.walk(called) if isinstance(node, ast.Call)]
            if not whole and any(getattr(node.func, "id", "") == "setattr" for node in calls):
                self.keys.open.add(table)


def source_of(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig")


def functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, Function]]:
    owners = {id(item): node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for item in node.body}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield owners.get(id(node)), node


def in_order(function: Function) -> list[ast.AST]:
    """Assignments before what comes after them."""
    nodes = [node for node in ast.walk(function) if hasattr(node, "lineno")]
    return sorted(nodes, key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))


def fields_of(owner: ast.ClassDef) -> dict[str, str]:
    """The fields of a dataclass that are given, and their kinds."""
    items = [item for item in owner.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
    fields = {ast.unparse(item.target): item for item in items if "ClassVar" not in ast.unparse(item.annotation)}
    return {
        name: ast.unparse(item.annotation)
        for name, item in fields.items()
        if not name.startswith("_") and "init=False" not in ast.unparse(item)
    }


def method(owner: ast.ClassDef, name: str) -> Function | None:
    return next(
        (
            item
            for item in owner.body
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and item.name == name
        ),
        None,
    )


def text_of(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def joined(table: str, name: str) -> str:
    return f"{table}.{name}" if table else name
