"""What expressions of a Python program come to, as far as its text tells. Nothing is run.

A parameter of a function, an attribute, the answer of a call are unknown, by their name: never their default.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from moonpad.explain.commands import Piece, Word, concatenated
from moonpad.explain.python.conditions import any_decisive, computed, truth
from moonpad.explain.python.data import (
    DEEPEST,
    OF_ENVIRONMENT,
    UNKNOWN,
    Either,
    Listing,
    Names,
    Places,
    Table,
    Text,
    Value,
    dotted,
    environment_in,
    given_to_shell,
    is_default,
    merge,
    plain,
    spread,
    words_in,
)
from moonpad.explain.python.literal_places import pieces_of
from moonpad.explain.python.loops import comprehension
from moonpad.explain.python.paths import path_of
from moonpad.explain.python.strings import filled_by_format, filled_by_percent, quoted, replaced, respelled
from moonpad.explain.python.tested_servers import started_by_test
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.values.records import replace

_NAME: Final = 60
_MOST_ITEMS: Final = 4_096
_MOST_SOURCES: Final = 32
_SAME: Final = frozenset({
    *("str", "int", "float", "repr", "shlex.quote", "Path", "pathlib.Path", "textwrap.dedent", "dedent", "quote"),
    *("os.path.expanduser", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath"),
})  # fmt: skip
"""Calls that leave a text what it is, for a shell."""
_SHELLS: Final = frozenset({
    *("system", "run", "Popen", "popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
    *("create_subprocess_shell", "exec_command", "execute", "sudo", "spawn", "exec", "sh", "bash", "shell"),
})  # fmt: skip
"""Calls that give a text to a shell."""
_EXEC: Final = frozenset({"create_subprocess_exec", "execl", "execlp", "spawnl", "spawnlp"})
"""Calls whose arguments are the words of a command."""
_STRIPS: Final = frozenset({"strip", "rstrip", "lstrip", "as_posix", "expanduser", "encode", "decode"})


class Evaluator:
    """Values of expressions. `made` has the texts and lists that stand for themselves, in the order of the program."""

    def __init__(self, places: Places, state: ScriptState) -> None:
        self.places, self.state = places, state
        self.made: list[Text | Listing | Table] = []
        self.depth = self.rounds = 0

    def value(self, node: ast.expr, names: Names) -> Value:
        self.state.budget.work(6, "its Python")
        if self.depth >= DEEPEST:
            return self.unknown(node)
        self.depth += 1
        try:
            return self._value(node, names)
        finally:
            self.depth -= 1

    def unknown(self, node: ast.expr, name: str = "") -> Text:
        begin, end = self.places.of(node)
        name = name or (node.id if isinstance(node, ast.Name) else self.named(node))
        word = self.state.text.word(f"${{{name}}}", begin, end)
        return Text(replace(word, unresolved=(name,)), UNKNOWN)

    def named(self, node: ast.expr) -> str:
        """What an expression is called in a sentence: as it is written."""
        begin, end = self.places.of(node)
        return " ".join(self.places.written(begin, min(end, begin + 4 * _NAME)).split())[:_NAME]

    def call(self, node: ast.Call, names: Names) -> Value | None:
        """What a function of the program gives back; None for a function that is not."""
        return None

    def attribute(self, node: ast.Attribute, names: Names) -> Value | None:
        """What an object of a class of the program holds; None for any other."""
        return None

    # --- by the kind of node ---

    def _value(self, node: ast.expr, names: Names) -> Value:
        match node:
            case ast.Constant():  # `LLM(model=...)` of a guide says nothing
                return self.unknown(node) if node.value is ... else self._constant(node)
            case ast.Name():
                return names.get(node.id) or self.unknown(node)
            case ast.JoinedStr():
                return self._joined(node, names)
            case ast.List() | ast.Tuple():
                listing = Listing(list(self._items(node.elts, names)), tuple(self.state.arms))
                for option, text in pairwise(listing.items):
                    if isinstance(option, Text) and option.value in ("-c", "-lc", "-ic"):
                        given_to_shell(text)
                self.made.append(listing)
                return listing
            case ast.Dict():
                return self._table(node, names)
            case ast.Call():
                return self._called(node, names)
            case ast.BinOp(op=ast.Add()):
                return self._sum(node, names)
            case ast.BinOp(op=ast.Mod()):
                return self._percent(node, names)
            case ast.ListComp() | ast.GeneratorExp():
                return comprehension(self, node, names)
            case ast.BinOp(op=ast.Div()):
                return path_of(self, node, [self.value(node.left, names), self.value(node.right, names)])
            case ast.BinOp(op=ast.BitOr()):
                return self._merged(node, names)
            case ast.BinOp():
                return self._number(node, names)
            case ast.IfExp():
                return self._chosen(node, names)
            case ast.BoolOp(op=ast.Or(), values=[first, second]) if truth(self, first, names) is not None:
                return self.value(first if truth(self, first, names) else second, names)
            case ast.Subscript():
                return self._part(node, names)
            case ast.Attribute() if dotted(node) == "sys.executable":
                begin, end = self.places.of(node)
                return Text(self.state.text.word("python", begin, end), "python")
            case ast.Attribute() if (held := self.attribute(node, names)) is not None:
                return held
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, names)
        return self.unknown(node)

    def _constant(self, node: ast.Constant) -> Text:
        begin, end = self.places.of(node)
        text = str(node.value)
        literal = self.places.written(begin, end) if isinstance(node.value, str) else ""
        pieces = pieces_of(literal, text, begin) or (Piece(0, len(text), begin, end),)
        made = Text(self.state.text.word(text, begin, end, pieces), node.value)
        if isinstance(node.value, str):
            self.made.append(made)
        return made

    def _joined(self, node: ast.JoinedStr, names: Names) -> Text:
        begin, end = self.places.of(node)
        written, cursor = self.places.written(begin, end), 0
        parts: list[Word] = []
        known, sources = True, list[Listing | Text]()
        for child in node.values:
            if isinstance(child, ast.Constant):
                text = str(child.value)
                found = written.find(text, cursor)
                at = (begin + found, begin + found + len(text)) if found >= 0 else (begin, end)
                cursor = found + len(text) if found >= 0 else cursor
                parts.append(Word(text, pieces=(Piece(0, len(text), *at),)))
            elif isinstance(child, ast.FormattedValue):
                inner = self.value(child.value, names)
                word = inner.word if isinstance(inner, Text) else self.unknown(child.value).word
                inner.used = True
                known &= isinstance(inner, Text) and inner.known
                sources += (inner, *inner.sources) if isinstance(inner, Text) else ()
                parts.append(replace(word, pieces=(Piece(0, len(word.text), begin, end),)))
        return self.text(parts, begin, end, known=known, sources=sources)

    def text(
        self, parts: list[Word], begin: int, end: int, *, known: bool, sources: Sequence[Listing | Text] = ()
    ) -> Text:
        """One text of several. Raises UsageError where texts grow beyond what a person writes."""
        whole = concatenated(parts, self.state.text.word("", begin, end))
        self.state.budget.spend(1, len(whole.text))
        made = Text(whole, whole.text if known else UNKNOWN, sources=tuple(sources[:_MOST_SOURCES]))
        self.made.append(made)
        return made

    def _items(self, nodes: list[ast.expr], names: Names, *, only_shown: bool = False) -> Iterator[Value]:
        """`only_shown`: a list whose items are given to a call, `print(*command)`, goes into no other one."""
        for node in nodes:
            value = self.value(node.value if isinstance(node, ast.Starred) else node, names)
            if isinstance(node, ast.Starred) and not (only_shown and isinstance(value, Listing)):
                yield from spread(value)
            elif isinstance(node, ast.Starred) and isinstance(value, Listing):
                yield from list(value.items)
            else:
                yield value

    def _table(self, node: ast.Dict, names: Names) -> Table:
        begin, end = self.places.of(node)
        table = Table({}, self.state.text.word("", begin, end))
        for key, inner in zip(node.keys, node.values, strict=True):
            value = self.value(inner, names)
            if key is None:
                merge(table, value)
            elif isinstance(key, ast.Constant):
                table.fields[str(key.value)] = value
        self.made.append(table)
        return table

    def _called(self, node: ast.Call, names: Names) -> Value:
        given = self.call(node, names)
        if given is not None:
            return given
        name = dotted(node.func)
        owner = self.value(node.func.value, names) if isinstance(node.func, ast.Attribute) else None
        is_command = name.rpartition(".")[2] in _EXEC
        arguments = list(self._items(node.args, names, only_shown=not is_command))
        first = arguments[0] if arguments else None
        if name == "os.path.join" and len(arguments) > 1:
            return path_of(self, node, arguments)
        if name == "len" and isinstance(first, Listing) and all(isinstance(i, Text) and i.known for i in first.items):
            return self._whole_number(node, len(first.items))
        if name == "json.dumps" and isinstance(first, Table | Listing):
            return self._json(node, first)
        if isinstance(first, Text) and (name in _SAME or (name == "json.dumps" and type(first.value) is int)):
            return first
        if name in OF_ENVIRONMENT and isinstance(first, Text) and len(arguments) == 1:
            return self.unknown(node, str(first.value) if first.known else "")
        if is_default(node, owner, arguments):
            return arguments[1]
        if isinstance(node.func, ast.Attribute) and owner is not None:
            method = node.func.attr
            if method == "join" and isinstance(owner, Text) and isinstance(first, Listing):
                return self._join(node, first, all_quoted=False)
            if isinstance(owner, Text) and (spelled := self._respelled(node, method, owner, arguments, names)):
                return spelled
            if (method in _STRIPS and isinstance(owner, Text)) or (method == "copy" and not arguments):
                return owner
        if name in ("shlex.join", "list", "tuple") and isinstance(first, Listing):
            return self._join(node, first, all_quoted=True) if name == "shlex.join" else first
        if name == "shlex.split" and isinstance(first, Text):
            return first
        if is_command:
            self.made.append(Listing(arguments, tuple(self.state.arms)))
        if name.rpartition(".")[2] in _SHELLS:
            for text in arguments:
                given_to_shell(text)
        table = Table({}, self.state.text.word("", *self.places.of(node)), name)
        for number, value in enumerate(arguments):
            table.fields[f"#{number}"] = value
        for keyword in node.keywords:
            value = self.value(keyword.value, names)
            if keyword.arg is None:
                merge(table, value)
            else:
                table.fields[keyword.arg] = value
        variables = table.fields.get("env")
        if isinstance(variables, Table) and isinstance(first, Text | Listing):
            first.environment |= environment_in(variables)
        self.made.append(started_by_test(table, tuple(self.state.arms)) or table)
        return table if node.keywords else self.unknown(node)

    def _join(self, node: ast.expr, listing: Listing, *, all_quoted: bool) -> Text:
        """A list that is written as one text is read as it is, unless a shell gets the text."""
        words = [quoted(item.word, only_json=not all_quoted) for item in listing.items if isinstance(item, Text)]
        begin, end = self.places.of(node)
        blank = Word(" ", pieces=(Piece(0, 1, begin, begin),))
        parts = [part for word in words for part in (blank, word)][1:]
        return self.text(parts, begin, end, known=False, sources=(listing,))

    def _respelled(self, node: ast.Call, method: str, owner: Text, arguments: list[Value], names: Names) -> Text | None:
        """What a method of a text makes of it; None for others."""
        begin, end = self.places.of(node)
        parts: list[Word] = []
        if method == "format":
            given = {f"#{number}": value for number, value in enumerate(arguments)}
            given |= {keyword.arg: self.value(keyword.value, names) for keyword in node.keywords if keyword.arg}
            parts = filled_by_format(owner.word, lambda name: self._field(node, name, given.get(name)))
        elif method == "replace" and len(arguments) == 2:
            old, new = arguments
            if isinstance(old, Text) and isinstance(new, Text) and isinstance(old.value, str) and old.value:
                parts = replaced(owner.word, old.value, new.word)
        elif owner.known and (text := respelled(owner.word.text, method)) is not None:
            parts = [Word(text, pieces=(Piece(0, len(text), begin, end),))]
        if not parts:
            return None
        owner.used = True
        return self.text(parts, begin, end, known=not any(part.unresolved for part in parts))

    def _field(self, node: ast.expr, name: str, value: Value | None) -> Word:
        if isinstance(value, Text):
            value.used = True
            return value.word
        return self.unknown(node, name.lstrip("#")).word

    def _percent(self, node: ast.BinOp, names: Names) -> Value:
        """`"… %s" % (…)`."""
        left, right = self.value(node.left, names), self.value(node.right, names)
        if not isinstance(left, Text) or not isinstance(left.value, str):
            return self.unknown(node)
        given: dict[str, Value] = {"#0": right}
        if isinstance(right, Listing):
            right.used = True
            given = {f"#{number}": value for number, value in enumerate(right.items)}
        elif isinstance(right, Table):
            given = right.fields
        parts = filled_by_percent(left.word, lambda name: self._field(node, name, given.get(name)))
        if not parts:
            return self.unknown(node)
        left.used = True
        return self.text(parts, *self.places.of(node), known=not any(part.unresolved for part in parts))

    def _json(self, node: ast.expr, value: Value) -> Text:
        begin, end = self.places.of(node)
        text = json.dumps(plain(value))
        unresolved = tuple(name for word in words_in(value) for name in word.unresolved)[:20]
        word = self.state.text.word(text, begin, end, (Piece(0, len(text), begin, end),))
        return Text(replace(word, unresolved=unresolved), UNKNOWN if unresolved else text)

    def extend(self, listing: Listing, items: list[Value]) -> None:
        """Raises UsageError where lists grow beyond what a person writes."""
        self.state.budget.spend(len(items), 0)
        listing.items += items[: max(0, _MOST_ITEMS - len(listing.items))]

    def _sum(self, node: ast.BinOp, names: Names) -> Value:
        terms: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            terms.append(left.right)
            left = left.left
        values = [self.value(term, names) for term in (left, *reversed(terms))]
        begin, end = self.places.of(node)
        if any(isinstance(value, Listing | Either) for value in values):
            listing = Listing([], tuple(self.state.arms))
            self.made.append(listing)
            for value in values:
                self.extend(listing, spread(value))
            return listing
        texts = [value for value in values if isinstance(value, Text)]
        is_text = any(isinstance(text.value, str) or text.sources for text in texts)
        if len(texts) == len(values) and (is_text or any(isinstance(term, ast.JoinedStr) for term in (left, *terms))):
            for text in texts:
                text.used = True
            sources = [source for text in texts for source in (text, *text.sources)]
            known = all(text.known for text in texts)
            return self.text([text.word for text in texts], begin, end, known=known, sources=sources)
        return self._number(node, names)

    def _number(self, node: ast.BinOp, names: Names) -> Text:
        left, right = self.value(node.left, names), self.value(node.right, names)
        numbers = [one.value for one in (left, right) if isinstance(one, Text) and type(one.value) is int]
        if len(numbers) == 2 and all(abs(number) < 1e12 for number in numbers):
            result = computed(node.op, *numbers)
            if result is not None:
                return self._whole_number(node, result)
        return self.unknown(node)

    def _whole_number(self, node: ast.expr, number: int) -> Text:
        begin, end = self.places.of(node)
        text = str(number)
        return Text(self.state.text.word(text, begin, end, (Piece(0, len(text), begin, end),)), number)

    def _merged(self, node: ast.BinOp, names: Names) -> Value:
        left, right = self.value(node.left, names), self.value(node.right, names)
        if not isinstance(left, Table) or not isinstance(right, Table):
            return self.unknown(node)
        table = Table(dict(left.fields), left.at, rest=list(left.rest))
        left.used = True
        merge(table, right)
        self.made.append(table)
        return table

    def _chosen(self, node: ast.IfExp, names: Names) -> Value:
        holds = truth(self, node.test, names)
        if holds is not None:
            return self.value(node.body if holds else node.orelse, names)
        values = [self.value(part, names) for part in (node.body, node.orelse)]
        if all(isinstance(value, Listing) for value in values):
            return self.perhaps(node, [value for value in values if isinstance(value, Listing)])
        return self.unknown(node)

    def perhaps(self, node: ast.expr, listings: list[Listing], behind: Value | None = None) -> Listing:
        """What is added under a condition that is not known: a piece that may be options, where any would be decisive;
        else nothing. `behind` is the word that the branch added before it."""
        for listing in listings:
            listing.used = True
        name = f"if {self.named(node.test if isinstance(node, ast.IfExp) else node)}"
        unsure = any(any_decisive(listing.items, behind) for listing in listings)
        return Listing([self.unknown(node, name)] if unsure else [])

    def _part(self, node: ast.Subscript, names: Names) -> Value:
        owner, key = self.value(node.value, names), self.value(node.slice, names)
        if isinstance(owner, Table) and isinstance(key, Text) and str(key.value) in owner.fields:
            return owner.fields[str(key.value)]
        if dotted(node.value) == "os.environ" and isinstance(key, Text) and key.known:
            return self.unknown(node, str(key.value))
        return self.unknown(node)
