"""YAML as nodes with their places. Nothing is constructed of it, so what its tags say does not matter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

import yaml
from yaml import MappingNode, Mark, MarkedYAMLError, Node, ScalarNode, SequenceNode

from moonpad.explain.commands import Piece, Word
from moonpad.explain.input_limits import ALIASES, NESTING, too_deep, too_large
from moonpad.explain.source_text import IGNORED, InputText
from moonpad.values.records import replace

Fields = Mapping[str, Node]

_REPLACED: Final = ((IGNORED, " "), ("\ufffe", "\ufffd"), ("\uffff", "\ufffd"))
"""What PyYAML refuses as a whole. One after the other: `str.translate` takes a hundred times as long."""
_MERGE: Final = "tag:yaml.org,2002:merge"
_NULL: Final = "tag:yaml.org,2002:null"
_UPPER: Final = re.compile(r"[A-Z][A-Z0-9_]{2,60}")


class YamlSource:
    """The part `text` of the whole, which begins at the offset `start`."""

    def __init__(self, whole: InputText, start: int, text: str) -> None:
        for refused, taken in _REPLACED:
            text = text.replace(refused, taken)
        self.whole, self.start, self.text = whole, start, text
        self.mended = False
        """Whether lines were left out or changed."""
        self.unknown: frozenset[str] = frozenset()
        """Names that stand where a template fills a value in."""
        self._lines = [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))]
        self._fields: dict[int, Fields] = {}

    def documents(self) -> list[Node]:
        """Raises MarkedYAMLError, and UsageError where it is nested too deep or has too many aliases."""
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        level = aliases = 0
        work = self.whole.budget.work
        for event in yaml.parse(self.text, Loader=loader):
            level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            aliases += isinstance(event, yaml.AliasEvent)
            work(25 + len(getattr(event, "value", "")) // 100, "its YAML")
            if level > NESTING:
                raise too_deep("the YAML is")
            if aliases > ALIASES:
                raise too_large(f"the YAML has more than {ALIASES} aliases", "pass only the part with the command")
        return [document for document in yaml.compose_all(self.text, Loader=loader) if document is not None]

    def line_of(self, mark: Mark) -> int:
        """The line of the whole text."""
        return self.whole.place(self.start + self._offset(mark))[0]

    def last_line(self, node: Node) -> int:
        """That of the whole text in which a node ends: its mark stands behind the end of the line, if that has one."""
        end = min(self._offset(node.end_mark), len(self.text))
        return self.whole.place(self.start + end)[0] - self.text[:end].endswith("\n")

    def line(self, error: MarkedYAMLError) -> int:
        """The line of the whole text that is wrong."""
        mark = error.problem_mark or error.context_mark
        return self.whole.place(self.start)[0] + (mark.line if mark else 0)

    def fields(self, node: Node | None) -> Fields:
        """The keys of a mapping, and those that it merges (`<<: *common`); empty for everything else."""
        if not isinstance(node, MappingNode):
            return {}
        if id(node) not in self._fields:
            self._fields[id(node)] = {}  # of a mapping that merges itself
            pairs = [(key, value) for key, value in node.value if isinstance(key, ScalarNode)]
            merges = [value for key, value in pairs if key.tag == _MERGE]
            fields = {key.value: value for key, value in pairs if key.tag != _MERGE}
            for mapping in (mapping for value in merges for mapping in (items(value) or (value,))):
                with self.whole.budget.level("merged mappings of YAML are"):
                    merged = self.fields(mapping)
                self.whole.budget.work(len(merged) + len(fields), "its YAML")
                fields = {**merged, **fields}
            self._fields[id(node)] = fields
        return self._fields[id(node)]

    def inner(self, fields: Fields, *names: str) -> Node | None:
        """`spec.template.spec` of mappings in mappings."""
        for name in names[:-1]:
            fields = self.fields(fields.get(name))
        return fields.get(names[-1])

    def word(self, node: Node) -> Word:
        """The text of a scalar, at its place; for a mapping or a list "" at its beginning."""
        start, end = self._offset(node.start_mark), self._offset(node.end_mark)
        end = start + len(self.text[start:end].rstrip())
        text = scalar(node)
        self.whole.budget.work(4 + len(text) // 100 + text.count("\n"), "its YAML")
        if (name := _stand_in(node)) is not None:
            return replace(self.whole.word(f"{{{name}}}", self.start + start, self.start + end), unresolved=(name,))
        if not text:
            return self.whole.word("", self.start + start, self.start + min(end, start + 1))
        word = self.whole.word(text, self.start + start, self.start + end, self._pieces(text, start, end))
        names = tuple(name for name in self.unknown if f"${name}" in text) if "$" in text else ()
        return replace(word, unresolved=names) if names else word

    def _offset(self, mark: Mark) -> int:
        return min(self._lines[min(mark.line, len(self._lines) - 1)] + mark.column, len(self.text))

    def _pieces(self, text: str, start: int, end: int) -> Sequence[Piece]:
        """Line by line where the lines of the text stand in the source, as they are or folded; escapes do not."""
        pieces: list[Piece] = []
        position = 0
        at = start
        for line in text.split("\n"):
            begin = self.text.find(line, at, end)
            if begin < 0:
                return self._folded_pieces(text, start, end) or (
                    Piece(0, len(text), self.start + start, self.start + end),
                )
            at = begin + len(line)
            # The line with its end, which in the source is followed by the indentation of the next one.
            length = min(len(line) + 1, len(text) - position)
            pieces.append(Piece(position, position + length, self.start + begin, self.start + begin + length))
            position += length
        return pieces

    def _folded_pieces(self, text: str, start: int, end: int) -> Sequence[Piece]:
        """Those of a text whose lines YAML puts behind one another; empty where they are not in it one by one."""
        pieces: list[Piece] = []
        position = behind = 0
        at = start
        quote = self.text[start : start + 1] if self.text[start : start + 1] in ("'", '"') else ""
        for line in self.text[start:end].split("\n"):
            body = line.strip()
            begin = at + len(line) - len(line.lstrip())
            at += len(line) + 1
            if quote and not pieces:
                body, begin = body.removeprefix(quote), begin + 1
            if quote and at > end:
                body = body.removesuffix(quote)
            if not body or (not pieces and body[0] in "|>"):
                continue
            while position < len(text) and text[position].isspace():
                position += 1
            if not text.startswith(body, position):
                return ()
            if position > behind:
                source = pieces[-1].source_end if pieces else self.start + start
                pieces.append(Piece(behind, position, source, self.start + begin))
            behind = position + len(body)
            pieces.append(Piece(position, behind, self.start + begin, self.start + begin + len(body)))
            position = behind
        if pieces and behind < len(text):
            pieces.append(Piece(behind, len(text), pieces[-1].source_end, self.start + end))
        return pieces if behind and not text[behind:].strip() else ()


def items(node: Node | None) -> Sequence[Node]:
    """Of a list; empty for everything else."""
    return node.value if isinstance(node, SequenceNode) else ()


def _stand_in(node: Node) -> str | None:
    """`value: {MODEL_FOLDER}`, which a person replaces: to YAML a mapping with a key alone."""
    if not isinstance(node, MappingNode) or not node.flow_style or len(node.value) != 1:
        return None
    key, value = node.value[0]
    name = key.value if isinstance(key, ScalarNode) else ""
    empty = isinstance(value, ScalarNode) and value.tag == _NULL and not value.value
    return name if empty and _UPPER.fullmatch(name) else None


def scalar(node: Node | None) -> str:
    """The text of a scalar; "" for null and everything else."""
    return node.value if isinstance(node, ScalarNode) and node.tag != _NULL else ""


def is_true(node: Node | None) -> bool:
    return scalar(node).lower() in ("true", "yes", "on")
