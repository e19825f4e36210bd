"""Variables and the words that come out of them, without running anything.

What the script does not say stays as it is written, and is unresolved. The environment of its user is unknown:
`${TP:-8}` is 8 unless the script sets TP.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from moonpad.engines.value_checks import SWITCHED
from moonpad.explain.commands import Piece, Word, concatenated, cut, join_words, whole_number
from moonpad.explain.input_limits import Budget, too_large
from moonpad.explain.shell.arithmetic import evaluate
from moonpad.explain.shell.scope import Scope, Value, text_of, unresolved
from moonpad.explain.shell.tokens import Array, Here, LiteralText, Opaque, Segment, Token, Variable
from moonpad.explain.shell.trimmed_values import trimmed
from moonpad.explain.source_text import IGNORED, Problems, Source
from moonpad.values.records import replace

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]]*)\])?(\+?)=", re.ASCII)
_LONGEST_ARRAY: Final = 1_000
_BLANK: Final = re.compile(r"[ \t\n]")
_COMMAND: Final = re.compile(r"\$\(.*\)|`.*`", re.DOTALL)
"""`NODES=($(scontrol show hostnames))`: how many words a command puts out is not known, nor which is the first."""
_INNER: Final = re.compile(r"'[^']*'|\$\{(?P<name>[A-Za-z_]\w*)\}|\$(?P<bare>[A-Za-z_]\w*)", re.ASCII)
_PLAIN: Final = re.compile(r"(?:[\w./:@%+,-]|\$[A-Za-z_]|\$\{[A-Za-z_]\w*\})+", re.ASCII)
_FIELD: Final = re.compile(r"[^ \t\n]+")
_LONGEST_SUM: Final = 200
_FOLDERS: Final = re.compile(r"\w*PATH|LD_PRELOAD", re.ASCII)
_OF_ZSH: Final = re.compile(r"#![^\n]{0,60}\bzsh\b")
_SWALLOWED: Final = re.compile(r"[\w./:,-]*?(?P<program>python3?(?:\.\d{1,2})?)")


def assignment_of(token: Token) -> re.Match[str] | None:
    """`NAME=value`, `NAME+=value`, `NAME=( … )`, `NAME[0]=value`: what stands before the value."""
    first = token.segments[0] if token.segments else None
    return _ASSIGNMENT.match(first.text) if isinstance(first, LiteralText) and not first.quoted else None


def _checked(words: tuple[Word, ...]) -> tuple[Word, ...]:
    if len(words) > _LONGEST_ARRAY:
        raise too_large(f"an array of the script has more than {_LONGEST_ARRAY:,} elements", "shorten it")
    return words


class Expander:
    """Expands the words of one source. Substituted text is paid for from the budget."""

    def __init__(
        self, source: Source, scope: Scope, budget: Budget, output: Callable[[Opaque], Word | None] | None = None
    ) -> None:
        """`output`: what a command in `$(…)` writes, where that is known."""
        self.source, self.scope, self.budget, self.output = source, scope, budget, output
        self.list_of_folders = ""
        """The variable that is being added to, `PATH` of `PATH=/opt/bin:${PATH:-}`: the caller's value stays in it."""

    def fields(self, token: Token) -> list[Word]:
        """What a shell makes of a word of a command: none, one or several."""
        known = self.source.literals.get(token.start)
        if known is not None and known[0] is token:
            self.budget.work(1, "its words")
            return list(known[1])
        fields = _FieldBuilder(self.source, token.start, token.end)
        self.budget.work(20 + 10 * len(token.segments), "its words")  # measured: 15 to 25 µs
        for segment in token.segments:
            self._expand(segment, fields, split=True)
        words = fields.close()
        if all(isinstance(segment, LiteralText) for segment in token.segments):
            self.source.literals[token.start] = (token, tuple(words))
        return words

    def scalar(self, segments: Sequence[Segment], start: int, end: int) -> Word:
        """The same without splitting, as for assignments; `start:end` is what the word stands for."""
        fields = _FieldBuilder(self.source, start, end)
        fields.exists = fields.written_here = True
        self.budget.work(10 + 6 * len(segments), "its words")
        for segment in segments:
            self._expand(segment, fields, split=False)
        return fields.close()[0]

    def here(self, here: Here) -> Word:
        """The body of a heredoc."""
        word = self.scalar(here.segments, here.start, here.end)
        if not here.strip_tabs:
            return word
        return replace(word, text=re.sub(r"^\t+", "", word.text, flags=re.M), pieces=())

    def assignment(self, token: Token) -> tuple[str, Value] | None:
        """The name and its new value, at the place of the whole assignment; None where it is not an assignment."""
        match = assignment_of(token)
        if match is None:
            return None
        (first, *rest), (name, index, plus) = token.segments, match.groups()
        before = self.scope.variables.get(name)
        elements = before if isinstance(before, tuple) else () if before is None else (before,)
        self.budget.work(len(elements) // 20, "its arrays")
        if rest and isinstance(rest[0], Array):
            words = tuple(word for element in rest[0].words for word in self.fields(element))
            return name, _checked((*elements, *words) if plus else words)
        start = first.start + match.end()
        if start < first.end:
            rest = [LiteralText(match.string[match.end() :], start, first.end, False), *rest]
        with self._adding_to(name, rest):
            value = self.scalar(rest, token.start, token.end)
        if index is not None:
            elements = before if isinstance(before, tuple) else ()
            at = whole_number(index)
            if at is None or at > len(elements):
                return name, unresolved(name, value)
            return name, _checked((*elements[:at], value, *elements[at + 1 :]))
        if not plus or before is None:
            return name, value
        if isinstance(before, tuple):
            return name, _checked((*before, value))
        self.budget.spend(1, len(before.text))
        self.budget.work(len(before.pieces), "what its variables, loops and functions expand to")
        return name, concatenated((before, value), value)

    @contextmanager
    def _adding_to(self, name: str, segments: Sequence[Segment]) -> Iterator[None]:
        """While the value of a list of folders is read to which this adds, `PATH=/opt/bin:${PATH:-}`."""
        text = "".join(segment.text for segment in segments if isinstance(segment, LiteralText))
        before, self.list_of_folders = self.list_of_folders, name if _FOLDERS.fullmatch(name) and text else ""
        yield
        self.list_of_folders = before

    # --- segments ---

    def _expand(self, segment: Segment, fields: _FieldBuilder, *, split: bool) -> None:
        match segment:
            case LiteralText(text, start, end, quoted):
                fields.add(text, start, end, quoted, self.source.unknown_in(text))
            case Opaque(name, start, end) if self.output is not None and (word := self.output(segment)) is not None:
                stripped = cut(word, 0, len(word.text.rstrip("\n")))
                fields.substitute(stripped, start, end, split and not segment.quoted)
            case Opaque(name, start, end) if (left := trimmed(name, self.scope)) is not None:
                self.budget.work(20, "its words")
                fields.add(left, start, end, segment.quoted)
            case Opaque(name, start, end):
                value = None if segment.arithmetic is None else evaluate(segment.arithmetic, self.number)
                text = self._filled_in(name) if value is None else str(value)
                fields.add(text, start, end, True, (text,) if value is None else ())
            case Variable():
                self._variable(segment, fields, split)
            case Array(_, start, end):
                fields.add(self._written(start, end), start, end, True)

    def _filled_in(self, command: str) -> str:
        """`$(getent hosts $DNS)` with the value of DNS: where it is shown, nothing sets that."""
        if "$" not in command[1:] or len(command) > _LONGEST_SUM:
            return command

        def value_of(match: re.Match[str]) -> str:
            text = text_of(self.scope.variables.get(match["name"] or match["bare"] or "", Word("")))
            return text if _PLAIN.fullmatch(text) and len(text) < _LONGEST_SUM else match[0]

        return command[0] + _INNER.sub(value_of, command[1:])

    def number(self, name: str) -> str | None:
        value = self.scope.variables.get(name)
        return None if value is None else value.text if isinstance(value, Word) and not value.unresolved else "?"

    def _variable(self, segment: Variable, fields: _FieldBuilder, split: bool) -> None:
        value = self._value(segment)
        if value is None and segment.name == self.list_of_folders and self._has_nothing_else(segment):
            value = self._marker(segment)
            value = replace(value, unresolved=(*value.unresolved, value.text))
        elif segment.operator:
            fields.exists |= segment.quoted
            value = self._operated(segment, value, fields, split and not segment.quoted)
        if isinstance(value, tuple) and (not split or (segment.quoted and "*" in (segment.subscript, segment.name))):
            value = join_words(value)
        if isinstance(value, tuple):
            self.budget.spend(len(value), sum(len(word.text) for word in value))
            fields.extend(value, segment.start, segment.end)
        elif value is not None:
            split = split and not segment.quoted
            self.budget.spend(len(value.text.split()) if split else 1, len(value.text))
            fields.substitute(value, segment.start, segment.end, split)

    def _has_nothing_else(self, segment: Variable) -> bool:
        """`${PATH:-}`, `${PATH:+:$PATH}`: of the caller's value alone."""
        return segment.operator.endswith("+") or (segment.operator.endswith("-") and not segment.operand)

    def _value(self, segment: Variable) -> Value | None:
        """What it stands for without its operator; None where nothing does, and the operator decides."""
        name, index, arguments = segment.name, segment.subscript, self.scope.arguments
        value = self.scope.variables.get(name)
        if name in ("@", "*"):
            value, index = arguments, "@"
        elif name.isdigit() and name.strip("0") and arguments is not None:
            value, index = (Word(""), *arguments), name
        elif name == "#":
            value = self.scope.count
        if index in ("@", "*") and name not in ("@", "*") and value is not None and not segment.operator:
            return _of_all(name, value)
        if isinstance(value, tuple):
            if not index and not segment.operator and not segment.quoted and _OF_ZSH.match(self.source.text):
                return _of_all(name, value)  # bash takes the first element
            if index not in ("@", "*"):
                at = whole_number(index or "0")
                open_ended = len(value) == 1 and _COMMAND.fullmatch(value[0].text) and value[0].unresolved
                value = value[at] if at is not None and at < len(value) and not open_ended else None
        elif index not in ("", "0", "@", "*"):
            value = None
        return self._marker(segment) if value is None and not segment.operator else value

    def _operated(self, segment: Variable, value: Value | None, fields: _FieldBuilder, split: bool) -> Value | None:
        """The value to be substituted; None where the operand was, or nothing is."""
        sign = segment.operator.removeprefix(":")
        if (
            sign == "+"
            and isinstance(value, Word)
            and value.unresolved == (value.text,)
            and SWITCHED.fullmatch(value.text)
        ):
            return value
        is_set = value is not None and (text_of(value) != "" or sign == segment.operator)
        if is_set == (sign == "+"):
            if sign == "?":
                return self._marker(segment)
            if sign == "-" and not segment.operand and self._is_given_by_caller(segment):
                return self.source.word(f"${segment.name}", segment.start, segment.end, (segment.name,))
            if sign == "=":
                self.scope.variables[segment.name] = self.scalar(segment.operand, segment.start, segment.end)
            if split:
                # Split like the variable, where it is not quoted.
                quoted = all(isinstance(inner, LiteralText) and inner.quoted for inner in segment.operand)
                operand = self.scalar(segment.operand, segment.start, segment.end)
                fields.substitute(operand, segment.start, segment.end, split=not quoted)
            for inner in () if split else segment.operand:
                self._expand(inner, fields, split=False)
            return None
        return value if is_set else None

    def _is_given_by_caller(self, segment: Variable) -> bool:
        """`${1:-}` of a script that nobody calls in the text: it may be anything, and is not empty for sure."""
        return segment.name.isdigit() and bool(segment.name.strip("0")) and self.scope.arguments is None

    def _marker(self, segment: Variable) -> Word:
        text = self._written(segment.start, segment.end)
        text = f"${{{segment.name}}}" if _BLANK.search(text) else text  # `${TP:?set TP}`
        return self.source.word(text, segment.start, segment.end, (segment.name,))

    def _written(self, start: int, end: int) -> str:
        return self.source.text[start:end].replace(IGNORED, "")


def _of_all(name: str, value: Value) -> Value:
    """The elements of an array; those of it that are not known as what stands for them alone."""
    if isinstance(value, Word):
        return _slice(name, value, "${%s[@]}") if _is_marker(name, value) else value
    at = next((at for at, word in enumerate(value) if _is_marker(name, word)), None)
    if at is None:
        return value
    behind = len(value) - at - 1
    length = f":${{#%s[@]}}-{at + behind}" if behind else ""
    text = f"${{%s[@]:{at}{length}}}" if at or behind else "${%s[@]}"
    return (*value[:at], _slice(name, value[at], text.replace("#%s", f"#{name}")), *value[at + 1 :])


def _is_marker(name: str, word: Word) -> bool:
    return word.text == f"${name}" and word.unresolved == (name,)


def _slice(name: str, word: Word, text: str) -> Word:
    whole = text % name
    return replace(word, text=whole, unresolved=(name, whole) if "#" in whole else (name,))


class _FieldBuilder:
    """The words that come out of the word written at `start:end` of the source, the last one still open."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source, self.start, self.end = source, start, end
        self.words: list[Word] = []
        self._begin()

    def _begin(self) -> None:
        self.parts: list[Word] = []
        self.exists = False
        self.written_here = False
        """Not only out of an array or of a variable with several words, which have the place of their definition."""

    def add(self, text: str, start: int, end: int, exists: bool, names: Sequence[str] = ()) -> None:
        """Text for `start:end` of the source. `exists`: it is a word even when it is empty."""
        self.exists |= exists or bool(text)
        self.written_here = True
        pieces = (Piece(0, len(text), *self.source.origin(start, end)),)
        self.parts.append(Word(text, unresolved=tuple(names), pieces=pieces))

    def substitute(self, value: Word, start: int, end: int, split: bool) -> None:
        """A variable's value in its place `start:end`; `split` at blanks, where it is not quoted."""
        spans = [match.span() for match in _FIELD.finditer(_masked(value))] if split else [(0, len(value.text))]
        if value.text and (not spans or spans[0][0] > 0):
            self.close()
        if len(spans) == 1:
            first, last = spans[0]
            self.add(value.text[first:last], start, end, not split, value.unresolved)
        else:
            fields = [cut(value, *span) for span in spans]
            names = [tuple(name for name in field.unresolved if name in field.text) for field in fields]
            self.extend([replace(field, unresolved=own) for field, own in zip(fields, names, strict=True)], start, end)
        if spans and spans[-1][1] < len(value.text):
            self.close()

    def extend(self, words: Sequence[Word], start: int, end: int) -> None:
        """Several words in the place `start:end`: the first joins what stands before it, the last what comes behind."""
        for number, word in enumerate(words):
            if number > 0:
                self.close()
            self.exists = True
            pieces = word.pieces or (Piece(0, len(word.text), *self.source.origin(start, end)),)
            self.parts.append(replace(word, pieces=pieces))

    def close(self) -> list[Word]:
        """All words up to here."""
        if self.exists and len(self.parts) == 1 and not self.written_here and self.parts[0].line:
            self.words += self.parts
        elif self.exists:
            pieces = [piece for part in self.parts for piece in part.pieces if piece.end > piece.start]
            start, end = self.source.origin(self.start, self.end)
            if pieces and not self.written_here:
                start, end = pieces[0].source_start, pieces[-1].source_end
            self.words.append(concatenated(self.parts, self.source.whole.word("", start, end)))
        self._begin()
        return self.words


def _masked(value: Word) -> str:
    """The text without the blanks of what is unresolved: `$(hostname -I)` is one word."""
    text = value.text
    for name in value.unresolved:
        if _BLANK.search(name):
            text = text.replace(name, _BLANK.sub("_", name))
    return text


def with_program(words: list[Word], scope: Scope, problems: Problems) -> list[Word]:
    """`NAME=1python -m module`: the program that the value in front of the words has swallowed, as it was meant."""
    name = next(reversed([*scope.exports.maps[0]]), "") if words and words[0].text == "-m" else ""
    value = scope.exports.maps[0].get(name)
    match = _SWALLOWED.fullmatch(value.text) if isinstance(value, Word) and not value.unresolved else None
    if match is None or not isinstance(value, Word) or not value.pieces:
        return words
    at = value.pieces[-1].source_end - len(match["program"])
    message = f"a blank is missing: the shell sets {name} to {value.text}, and looks for a program called -m"
    problems.add("missing-blank", at, at + 1, message, f"write a blank in front of {match['program']}")
    scope.set(name, cut(value, 0, match.start("program")), export=True)
    program = cut(value, match.start("program"), len(value.text))
    return [replace(words[0], text=program.text, pieces=program.pieces), *words]
