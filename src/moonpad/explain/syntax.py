"""Statements of bash, as far as launch scripts use them. Text that is no bash (outputs in a document) becomes simple
commands of unknown programs; nothing is refused but too deep a nesting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.explain.labels import node_in
from moonpad.explain.limits import NESTING, too_deep
from moonpad.explain.source import Problems, Source
from moonpad.explain.tokens import Here, RawWord, Token


@dataclass(frozen=True, slots=True)
class Redirect:
    operator: str
    target: RawWord
    here: Here | None


@dataclass(frozen=True, slots=True)
class Simple:
    words: tuple[RawWord, ...]
    redirects: tuple[Redirect, ...]
    comments: tuple[str, ...]
    """Comment lines since the simple command before."""
    label: str | None
    """The nearest comment line above in the same paragraph; one that names a node goes on to the next comment."""
    connector: str
    """What stands before it: `&&`, `||`, `|`, or ""."""


@dataclass(frozen=True, slots=True)
class For:
    name: str
    values: tuple[RawWord, ...] | None
    """None where the loop runs over the script's arguments, or counts as in C."""
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Branches:
    """`if`, `case` and `while`: the conditions, the bodies, and whether one of them is certain to run."""

    conditions: tuple[Node, ...]
    bodies: tuple[tuple[Node, ...], ...]
    exhaustive: bool


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Group:
    body: tuple[Node, ...]
    subshell: bool


Node = Simple | For | Branches | Function | Group

_CLOSERS: Final = frozenset({"then", "do", "done", "fi", "else", "elif", "esac", "}", "in"})


def parse(tokens: Sequence[Token], source: Source, problems: Problems) -> tuple[Node, ...]:
    """Raises UsageError when blocks stand too deep in one another."""
    parser = _Parser(tokens, source, problems)
    nodes: list[Node] = []
    while parser.peek() is not None:
        nodes += parser.statements(frozenset(), 0)
        parser.position += 1  # a closer that nothing opened
    return tuple(nodes)


class _Parser:
    def __init__(self, tokens: Sequence[Token], source: Source, problems: Problems) -> None:
        self.tokens, self.source, self.problems = tokens, source, problems
        self.position = 0
        self.comments: list[str] = []
        self.label: str | None = None

    def peek(self, ahead: int = 0) -> Token | None:
        at = self.position + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def statements(self, stops: frozenset[str], depth: int) -> list[Node]:
        """Up to a stop word or operator at the place of a command, which is left there, or to the end."""
        if depth > NESTING:
            raise too_deep("blocks")
        nodes: list[Node] = []
        connector = ""
        while (token := self.peek()) is not None:
            if token.kind == "comment":
                self._comment(token)
            elif token.kind == "newline":
                self._newline()
            elif token.kind == "op":
                if token.text in stops:
                    break
                if token.text == "(":
                    nodes.append(self._parenthesis(depth))
                    connector = ""
                    continue
                connector = token.text if token.text in ("&&", "||", "|", "|&") else ""
            else:
                word = _reserved(token)
                if word in stops:
                    break
                if word not in _CLOSERS and word != "!":
                    nodes.append(self._command(word, connector, depth))
                    connector = ""
                    continue
            self.position += 1
        return nodes

    def _comment(self, token: Token) -> None:
        text = token.text.lstrip("#").strip().rstrip(":").strip()
        if token.own_line and text and not token.text.startswith("#!"):
            self.comments.append(text)
            self.label = text

    def _newline(self) -> None:
        """An empty line ends what a comment is about, unless it names a node."""
        before = self.tokens[self.position - 1] if self.position else None
        if before is not None and before.kind == "newline" and self.label and node_in(self.label) is None:
            self.label = None

    def _command(self, word: str | None, connector: str, depth: int) -> Node:
        match word:
            case "if":
                return self._if(depth)
            case "while" | "until":
                return self._while(depth)
            case "for" | "select":
                return self._for(connector, depth)
            case "case":
                return self._case(depth)
            case "{":
                self.position += 1
                return Group(self._until("}", depth), subshell=False)
            case "function":
                return self._function(depth)
            case "[[":
                return self._test(connector)
        name = self.peek(1), self.peek(2)
        if word is not None and all(t is not None and t.text == p for t, p in zip(name, "()", strict=True)):
            self.position += 3
            return Function(word, self._function_body(depth))
        return self._simple(connector)

    def _simple(self, connector: str) -> Simple:
        words: list[RawWord] = []
        redirects: list[Redirect] = []
        while (token := self.peek()) is not None and token.kind in ("word", "redirect"):
            if token.word is not None:
                if token.kind == "word":
                    words.append(token.word)
                else:
                    redirects.append(Redirect(token.text, token.word, token.here))
            self.position += 1
        if token is not None and token.text == "(":
            self._problem(token, "a shell stops at this bracket", "quote it")
            self._skip_line()
        return self._made(words, redirects, connector)

    def _made(self, words: Sequence[RawWord], redirects: Sequence[Redirect], connector: str) -> Simple:
        comments, self.comments = tuple(self.comments), []
        return Simple(tuple(words), tuple(redirects), comments, self.label, connector)

    def _test(self, connector: str) -> Simple:
        """`[[ … ]]`, inside which `&&`, `<` and brackets are its own."""
        words: list[RawWord] = []
        while (token := self.peek()) is not None and token.kind != "newline":
            self.position += 1
            if token.word is not None:
                words.append(token.word)
            if _reserved(token) == "]]":
                break
        return self._made(words, (), connector)

    def _parenthesis(self, depth: int) -> Node:
        opener, following = self.peek(), self.peek(1)
        self.position += 1
        if opener and following and following.text == "(" and following.start == opener.end:
            self._skip_brackets()
            return self._made((), (), "")
        return Group(self._until(")", depth), subshell=True)

    def _if(self, depth: int) -> Node:
        conditions: list[Node] = []
        bodies: list[tuple[Node, ...]] = []
        exhaustive = False
        word: str | None = "if"
        while word in ("if", "elif", "else"):
            opener = self.peek()
            self.position += 1
            if word == "else":
                exhaustive = True
            else:
                conditions += self.statements(frozenset({"then", "fi"}), depth + 1)
                if (then := self.peek()) is None or _reserved(then) == "fi":
                    self._problem(opener, "this if has no then", "")
                    break
                self.position += 1
            bodies.append(tuple(self.statements(frozenset({"elif", "else", "fi"}), depth + 1)))
            token = self.peek()
            word = _reserved(token) if token else None
            if token is None:
                self._problem(opener, f"nothing ends this {_reserved(opener)}", "end it with fi")
        if self.peek() is not None:
            self.position += 1
        return Branches(tuple(conditions), tuple(bodies), exhaustive)

    def _while(self, depth: int) -> Node:
        self.position += 1
        conditions = tuple(self.statements(frozenset({"do", "done"}), depth + 1))
        token = self.peek()
        if token is not None and _reserved(token) == "do":
            self.position += 1
        return Branches(conditions, (self._until("done", depth),), exhaustive=False)

    def _for(self, connector: str, depth: int) -> Node:
        start = self.position
        self.position += 1
        name = self._taken_word()
        values: tuple[RawWord, ...] | None = None
        token = self.peek()
        if not name and token is not None and token.text == "(":
            self._skip_brackets()
        self._skip_blank_lines()
        if (token := self.peek()) is not None and _reserved(token) == "in":
            self.position += 1
            listed: list[RawWord] = []
            while (token := self.peek()) is not None and token.kind == "word" and token.word is not None:
                listed.append(token.word)
                self.position += 1
            values = tuple(listed)
        while (token := self.peek()) is not None and (token.kind in ("newline", "comment") or token.text == ";"):
            self.position += 1
        if token is None or _reserved(token) not in ("do", "{"):
            self.position = start
            return self._simple(connector)
        closer = "done" if _reserved(token) == "do" else "}"
        self.position += 1
        return For(name, values, self._until(closer, depth))

    def _case(self, depth: int) -> Node:
        self.position += 1
        self._taken_word()
        self._skip_blank_lines()
        token = self.peek()
        if token is None or _reserved(token) != "in":
            return self._simple("")
        self.position += 1
        bodies: list[tuple[Node, ...]] = []
        exhaustive = False
        while (token := self.peek()) is not None and _reserved(token) != "esac":
            pattern = ""
            while (token := self.peek()) is not None and token.text != ")" and _reserved(token) != "esac":
                pattern += (token.word.plain or "?") if token.word else ""
                self.position += 1
            if token is None or token.text != ")":
                break
            self.position += 1
            exhaustive |= pattern == "*"
            bodies.append(tuple(self.statements(frozenset({";;", ";&", ";;&", "esac"}), depth + 1)))
            if (token := self.peek()) is not None and token.kind == "op":
                self.position += 1
        self.position += 1
        return Branches((), tuple(bodies), exhaustive)

    def _function(self, depth: int) -> Node:
        start = self.position
        self.position += 1
        name = self._taken_word()
        for bracket in "()":
            if (token := self.peek()) is not None and token.text == bracket:
                self.position += 1
        self._skip_blank_lines()
        token = self.peek()
        if not name or token is None or (_reserved(token) != "{" and token.text != "("):
            self.position = start
            return self._simple("")
        return Function(name, self._function_body(depth))

    def _function_body(self, depth: int) -> tuple[Node, ...]:
        self._skip_blank_lines()
        token = self.peek()
        if token is None:
            return ()
        if depth >= NESTING:
            raise too_deep("blocks")
        if token.text == "(":
            return (self._parenthesis(depth + 1),)
        return (self._command(_reserved(token), "", depth + 1),) if token.kind in ("word", "redirect") else ()

    # --- small steps ---

    def _until(self, closer: str, depth: int) -> tuple[Node, ...]:
        opener = self.tokens[self.position - 1] if self.position else None
        nodes = tuple(self.statements(frozenset({closer}), depth + 1))
        if self.peek() is None:
            self._problem(opener, "nothing ends this block", f"end it with {closer}")
        self.position += 1
        return nodes

    def _taken_word(self) -> str:
        token = self.peek()
        if token is None or token.kind != "word" or token.word is None:
            return ""
        self.position += 1
        return token.word.plain or "?"

    def _skip_blank_lines(self) -> None:
        while (token := self.peek()) is not None and token.kind in ("newline", "comment"):
            self.position += 1

    def _skip_line(self) -> None:
        while (token := self.peek()) is not None and token.kind != "newline":
            self.position += 1

    def _skip_brackets(self) -> None:
        open_brackets = 0
        while (token := self.peek()) is not None and token.kind != "newline":
            open_brackets += (token.text == "(") - (token.text == ")")
            self.position += 1
            if open_brackets <= 0:
                break
        # The outer bracket of `((` was taken by the caller or belongs to the pair that was just closed.
        if (token := self.peek()) is not None and token.text == ")":
            self.position += 1

    def _problem(self, token: Token | None, message: str, remedy: str) -> None:
        if token is not None:
            self.problems.add("syntax", *self.source.origin(token.start, token.end), message, remedy)


def _reserved(token: Token | None) -> str | None:
    return token.word.plain if token is not None and token.kind == "word" and token.word is not None else None
