"""What a Python program takes on its own command line: options of argparse and click with their defaults.

A default stands for its option, as `${TP:-8}` does in a shell. An option without one is not given: it counts as None in
a condition, and is unknown where it is written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from moonpad.explain.python.data import Listing, Names, Table, Text, Value, dotted

if TYPE_CHECKING:
    from moonpad.explain.python.functions import Function, FunctionReader

NAMESPACE: Final = "<arguments>"
"""The class of what `parse_args()` gives back."""
_PARSES: Final = frozenset({"parse_args", "parse_known_args"})
_SWITCHES: Final[Mapping[str, bool]] = {"store_true": False, "store_false": True}
_CALL: Final = re.compile(r"[ \t]*(?:\$[ \t]*)?python3?[ \t]+(?:-m[ \t]+)?[\w./-]{1,200}(?=[ \t])")
_PARAMETRIZED: Final = "mark.parametrize"
_PLAIN: Final = re.compile(r"[A-Za-z0-9/][\w./:-]{0,200}")
_LONGEST: Final = 4000
_DEFAULTED: Final = frozenset({"Option", "Argument"})


class ProgramArguments:
    def __init__(self) -> None:
        self.fields: dict[str, Value] = {}
        self.usage: Mapping[str, str] = {}
        """What the program's own docstring calls it with."""

    def read(self, reader: FunctionReader, node: ast.Call, names: Names) -> Value | None:
        """`parser.add_argument(…)` and `parser.parse_args()`; None for other calls."""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method == "add_argument":
            self._add(reader, node, names)
            return reader.unknown(node)
        if method in _PARSES and self.fields:
            word = reader.state.text.word("", *reader.places.of(node))
            given = Table(dict(self.fields), word, NAMESPACE, used=True, of_class=NAMESPACE)
            given.branches = len(reader.state.arms)
            return given if method == "parse_args" else Listing([given, reader.unknown(node)], used=True)
        return None

    def _add(self, reader: FunctionReader, node: ast.Call, names: Names) -> None:
        written = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        if not written:
            return
        name = next((flag for flag in written if flag.startswith("--")), written[0]).lstrip("-").replace("-", "_")
        given = keywords.get("dest")
        dest = str(given.value) if isinstance(given, ast.Constant) else name
        self.fields[dest] = _value(reader, node, dest, keywords, names, is_option=written[0].startswith("-"))


def of_decorators(reader: FunctionReader, function: Function, names: Names) -> dict[str, Value]:
    """What `@click.option("--tp", default=8)` or `@pytest.mark.parametrize("tp", [8])` gives a function; {} for
    neither."""
    found: dict[str, Value] = {}
    for item in function.decorator_list:
        if isinstance(item, ast.Call) and dotted(item.func).endswith(_PARAMETRIZED):
            found |= _of_parameters(reader, item, names)
        if not isinstance(item, ast.Call) or dotted(item.func).rpartition(".")[2] != "option":
            continue
        written = [part.value for part in item.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        plain = [flag for flag in written if not flag.startswith("-")]
        flag = next((flag for flag in written if flag.startswith("--")), "")
        name = plain[0] if plain else flag.partition("/")[0].lstrip("-").replace("-", "_")
        keywords = {keyword.arg: keyword.value for keyword in item.keywords if keyword.arg}
        if name:
            found[name] = _value(reader, item, name, keywords, names, is_option=True)
    return found


def _of_parameters(reader: FunctionReader, item: ast.Call, names: Names) -> dict[str, Value]:
    """The one value that a test is called with; of several each is of a call of its own, and none is known."""
    match item.args:
        case [ast.Constant(value=str(name)), values, *_] if name.isidentifier():
            given = reader.value(values, names)
            if isinstance(given, Listing) and len(given.items) == 1:
                return {name: given.items[0]}
    return {}


def usage_of(docstring: str) -> dict[str, str]:
    """Options with their values where a docstring shows how the program is called, `python gen.py --model owner/name`:
    those that all its lines agree about."""
    found: dict[str, set[str]] = {}
    for line in docstring[:_LONGEST].replace("\\\n", " ").splitlines():
        call = _CALL.match(line)
        if call is None:
            continue
        words = line[call.end() :].split()
        for word, behind in pairwise([*words, "--"]):
            flag, equals, value = word.partition("=")
            text = value if equals else behind
            if flag.startswith("--") and _PLAIN.fullmatch(text):
                found.setdefault(flag[2:].replace("-", "_"), set()).add(text)
    return {name: values.pop() for name, values in found.items() if len(values) == 1}


def is_command(function: Function) -> bool:
    """Whether its parameters are options of a command line: `@app.command()` of Typer."""
    calls = (item.func if isinstance(item, ast.Call) else item for item in function.decorator_list)
    return any(dotted(call).rpartition(".")[2] == "command" for call in calls)


def default_of(node: ast.expr) -> ast.expr | None:
    """The default in `typer.Option(8, "--tp")`, None where it has none; of a parameter that is written as it is, that
    itself."""
    if not isinstance(node, ast.Call) or dotted(node.func).rpartition(".")[2] not in _DEFAULTED:
        return node
    given = next((part.value for part in node.keywords if part.arg == "default"), node.args[0] if node.args else None)
    return None if isinstance(given, ast.Constant) and given.value is ... else given


def _value(
    reader: FunctionReader,
    node: ast.expr,
    name: str,
    keywords: Mapping[str, ast.expr],
    names: Names,
    *,
    is_option: bool,
) -> Value:
    action = keywords.get("action")
    switch = _SWITCHES.get(str(action.value)) if isinstance(action, ast.Constant) else None
    if "default" in keywords:
        return reader.value(keywords["default"], names)
    unknown = reader.unknown(node, f"args.{name}")
    required = keywords.get("required")
    if switch is not None or "is_flag" in keywords:
        return Text(unknown.word, bool(switch))
    if is_option and isinstance(required, ast.Constant) and required.value and name in reader.arguments.usage:
        text = reader.arguments.usage[name]
        return Text(reader.state.text.word(text, *reader.places.of(node)), text)
    if not is_option or (isinstance(required, ast.Constant) and required.value):
        return unknown
    return Text(unknown.word, None)
