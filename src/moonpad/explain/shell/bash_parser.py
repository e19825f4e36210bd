"""Statements of bash, as far as launch scripts use them. Text that is not bash (outputs in a document) becomes simple
commands of unknown programs; only blocks nested too deep are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from moonpad.explain.documents.node_labels import node_in
from moonpad.explain.input_limits import NESTING, too_deep
from moonpad.explain.shell.tokens import LiteralText, Opaque, Token
from moonpad.explain.source_text import Problems, Source
from moonpad.values.records import replace


class Simple(Struct, frozen=True):
    words: tuple[Token, ...] = ()
    redirects: tuple[Token, ...] = ()
    comments: tuple[str, ...] = ()
    """Comment lines since the simple command before."""
    label: str | None = None
    """The nearest comment line above in the same paragraph; one that names a node goes on to the next comment."""
    connector: str = ""
    """What stands before it: `&&`, `||`, `|`, or ""."""
    arithmetic: str = ""
    """The inside of `(( … ))`."""


class For(Struct, frozen=True):
    name: str
    values: tuple[Token, ...]
    """Empty where the loop runs over the script's arguments, or counts as in C."""
    body: tuple[Node, ...]


class Branches(Struct, frozen=True):
    """`if`, `case` and `while`: the conditions, the bodies, and whether one of them is certain to run; of a `case` what
    is compared, and the patterns of each body."""

    conditions: tuple[Node, ...]
    bodies: tuple[tuple[Node, ...], ...]
    exhaustive: bool
    subject: Token | None = None
    patterns: tuple[str, ...] = ()
    loops: bool = False
    """It is a `while`."""


class Function(Struct, frozen=True):
    name: str
    body: tuple[Node, ...]


class Compound(Struct, frozen=True):
    """`{ … }`, or `( … )` with variables of its own."""

    body: tuple[Node, ...]
    subshell: bool
    connector: str = ""


Node = Simple | For | Branches | Function | Compound

_CLOSERS: Final = {"if": "fi", "while": "done", "until": "done", "do": "done", "{": "}", "(": ")"}
_SECTIONS: Final = {"if": ("then", "elif", "else"), "while": ("do",), "until": ("do",)}
"""The words that divide a block into sections."""
_SKIPPED: Final = frozenset({"then", "do", "done", "fi", "else", "elif", "esac", "}", "in", "!"})
"""Where a command could stand, these words are stepped over."""


_TERRAFORM: Final = re.compile(
    r'^(?:locals|(?:resource|module|variable|output|data|provider)(?: "[^"\n]{1,99}"){1,2}) \{$', re.M
)
"""Its functions have brackets that no shell reads."""


_ASSIGNS: Final = re.compile(r"[A-Za-z_]\w*=")
_LONGEST: Final = 400
_SET_OFF: Final = ("  ", "\t", " \t")
_REMARK: Final = re.compile(r"\([\w ,.:@/×~+-]{3,120}\)[ \t]*")
"""`(one A100 80G)` behind a command."""
_PYTHON: Final = re.compile(
    r"[ \t]*(?:async )?(?:for \w{1,40}(?:, ?\w{1,40})* in|with|if|elif|while|def|class) [^\n]{1,380}:[ \t]*"
)
AT_BRACKET: Final = "the shell reports a syntax error at this bracket"
"""What stands behind it in its line is not known to belong to the command."""
_LINKED: Final = re.compile(r"\[[^\[\]]{1,200}\]$")
_ADDRESS: Final = re.compile(r"\((?:https?://|[./#])[^\s()]{1,300}\)")


def _lacks_a_sign(tokens: Sequence[Token]) -> bool:
    """`[[ "$A" "$B" ]]`: two words, the first of which is no `-z` and no `!`; also before and behind `||`. `<` and `>`
    compare there, although they are read as redirects."""
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token.text in ("||", "&&"):
            parts.append([])
        else:
            parts[-1] += (token.text, "") if token.kind == "redirect" else (token.text,)
    return any(len(part) == 2 and part[0] != "!" and not part[0].startswith("-") for part in parts)


def _choice(test: Node, one: Node, other: Node) -> Branches | None:
    """`TEST && ROLE=head || ROLE=worker`: an assignment does not fail, so this is `if` with `else`."""
    nodes = (test, one, other)
    if not isinstance(test, Simple) or not isinstance(one, Simple) or not isinstance(other, Simple):
        return None
    if [node.connector for node in nodes if isinstance(node, Simple)] != ["", "&&", "||"]:
        return None
    if not test.words or test.words[0].text not in ("[", "[[", "test"):
        return None
    assigns = all(map(_assigns, (*one.words, *other.words)))
    if not (assigns and one.words and other.words):
        return None
    return Branches((test,), tuple((replace(node, connector=""),) for node in (one, other)), exhaustive=True)


def _assigns(token: Token) -> bool:
    first = token.segments[0] if token.segments else None
    runs = any(isinstance(segment, Opaque) for segment in token.segments)  # whose end would count
    return isinstance(first, LiteralText) and not first.quoted and bool(_ASSIGNS.match(first.text)) and not runs


class Parser:
    """Reads the tokens of one source. Raises UsageError when blocks are nested too deep."""

    def __init__(self, tokens: Sequence[Token], source: Source, problems: Problems) -> None:
        self.tokens = (*tokens, *[Token("end", "", len(source.text), len(source.text))] * 3)
        self.source, self.problems = source, problems
        source.whole.budget.work(3 * len(tokens), "its words")
        self.position = 0
        self.is_shell = _TERRAFORM.search(source.text) is None
        self.comments: list[str] = []
        self.label: str | None = None

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    @property
    def ended(self) -> bool:
        return self.token.kind == "end"

    def take(self) -> Token:
        token = self.token
        self.position += token.kind != "end"
        return token

    def statements(self, stops: Sequence[str] = (), depth: int = 0) -> tuple[Node, ...]:
        """Up to a stop word or operator at the place of a command, which is left there, or to the end."""
        if depth > NESTING:
            raise too_deep("blocks")
        nodes: list[Node] = []
        connector = ""
        while (token := self.token).kind != "end" and token.text not in stops:
            if token.text == "(" or (token.kind in ("word", "redirect") and token.text not in _SKIPPED):
                nodes.append(self._command(connector, depth))
                if len(nodes) > 2 and (choice := _choice(*nodes[-3:])) is not None:
                    nodes[-3:] = [choice]
                connector = ""
                continue
            self.take()
            if token.kind == "comment":
                self._comment(token)
            elif token.kind == "newline":
                self._newline()
            elif token.kind == "op":
                connector = token.text if token.text in ("&&", "||", "|", "|&") else ""
        return tuple(nodes)

    def _comment(self, token: Token) -> None:
        text = token.text.lstrip("#").strip().rstrip(":").strip()
        if token.own_line and text and not token.text.startswith("#!"):
            self.comments.append(text)
            self.label = text

    def _newline(self) -> None:
        """An empty line ends what a comment is about, unless it names a node."""
        after_newline = self.position > 1 and self.tokens[self.position - 2].kind == "newline"
        if after_newline and self.label and node_in(self.label) is None:
            self.label = None

    def _command(self, connector: str, depth: int) -> Node:
        start = self.position
        match self.token.text:
            case "if" | "while" | "until":
                return self._branches(depth)
            case "{":
                return Compound(self._body(depth), False, connector)
            case "(":
                return self._parenthesis(depth, connector)
            case "for" | "select":
                node = self._for(depth)
            case "case":
                node = self._case(depth)
            case _:
                node = self._function(depth)
        if node is None:
            self.position = start
            return self._simple(connector)
        return node

    def _simple(self, connector: str) -> Simple:
        """A command; `[[ … ]]` ends with its line, and `&&`, `<` and brackets inside it are its own."""
        taken: list[Token] = []
        is_test = self.token.text == "[["
        while self.token.kind not in ("newline", "end") if is_test else self.token.kind in ("word", "redirect"):
            taken.append(self.take())
            if is_test and taken[-1].text == "]]":
                break
        if is_test and taken[-1].text == "]]" and _lacks_a_sign(taken[1:-1]):
            self._problem(
                taken[1],
                "no sign stands between these two words: the shell reports a syntax error",
                "write == or != there",
            )
        if self.token.text == "(" and not is_test:
            if self.is_shell and not self._is_of_no_shell():
                self._problem(self.token, *self._about_bracket(taken))
            while self.token.kind not in ("newline", "end"):
                self.take()
        words = tuple(token for token in taken if token.kind == "word")
        redirects = tuple(token for token in taken if token.kind == "redirect")
        comments, self.comments = tuple(self.comments), []
        return Simple(words, redirects, comments, self.label, connector)

    def _is_of_no_shell(self) -> bool:
        """Whether the bracket holds a remark at the end of its line, set off by blanks, or stands in one of Python."""
        text, at = self.source.text, self.token.start
        end = text.find("\n", at)
        begin, end = text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end
        line = text[begin:end]
        if _PYTHON.fullmatch(line[:_LONGEST]):
            return True
        return (
            line[: at - begin].endswith(_SET_OFF)
            and bool(_REMARK.fullmatch(line[at - begin :][:_LONGEST]))
            and (not self.source.whole.clean.startswith("#!"))
        )

    def _about_bracket(self, taken: Sequence[Token]) -> tuple[str, str]:
        """What is wrong with it, and what to do."""
        behind = self.source.text[self.token.start :]
        if taken and taken[-1].end == self.token.start and _LINKED.search(taken[-1].text) and _ADDRESS.match(behind):
            return (
                "a link of Markdown: the shell reports a syntax error at its bracket",
                "write the text of the link alone",
            )
        return AT_BRACKET, "quote it"

    # --- blocks ---

    def _sections(self, depth: int) -> list[tuple[str, tuple[Node, ...]]]:
        """A block from its first word to its closer: the statements behind each word that divides it."""
        opener = self.take()
        closer, dividers = _CLOSERS[opener.text], _SECTIONS.get(opener.text, ())
        sections = [(opener.text, self.statements((*dividers, closer), depth + 1))]
        while self.token.text in dividers:
            sections.append((self.take().text, self.statements((*dividers, closer), depth + 1)))
        if self.ended:
            self._problem(opener, f"this {opener.text} is never closed", f"close it with {closer}")
        elif dividers and len(sections) == 1:
            self._problem(opener, f"this {opener.text} has no {dividers[0]}", "")
        self.take()
        return sections

    def _body(self, depth: int) -> tuple[Node, ...]:
        return self._sections(depth)[0][1]

    def _branches(self, depth: int) -> Node:
        sections = self._sections(depth)
        openers = ("if", "elif", "while", "until")
        conditions = tuple(node for word, nodes in sections if word in openers for node in nodes)
        bodies = tuple(nodes for word, nodes in sections if word in ("then", "else", "do"))
        loops = sections[0][0] == "while"
        return Branches(conditions, bodies, any(word == "else" for word, _ in sections), loops=loops)

    def _parenthesis(self, depth: int, connector: str) -> Node:
        following = self.tokens[self.position + 1]
        if following.text == "(" and following.start == self.token.end:
            self._skip_brackets()
            self.comments.clear()
            inside = self.source.text[following.end : self.tokens[self.position - 1].end].removesuffix("))")
            return Simple(connector=connector, arithmetic=inside.strip()[:_LONGEST])
        return Compound(self._body(depth), True, connector)

    def _for(self, depth: int) -> Node | None:
        self.take()
        name = self._name()
        if not name and self.token.text == "(":
            self._skip_brackets()
        self._skip("newline", "comment")
        values: list[Token] = []
        if self.token.text == "in":
            self.take()
            while self.token.kind == "word":
                values.append(self.take())
        while self.token.kind in ("newline", "comment") or self.token.text == ";":
            self.take()
        if self.token.text not in ("do", "{"):
            return None
        return For(name, tuple(values), self._body(depth))

    def _case(self, depth: int) -> Node | None:
        self.take()
        subject = self.token if self.token.kind == "word" else None
        self._name()
        self._skip("newline", "comment")
        if self.token.text != "in":
            return None
        self.take()
        bodies: list[tuple[Node, ...]] = []
        patterns: list[str] = []
        exhaustive = False
        while not self.ended and self.token.text != "esac":
            pattern = ""
            while not self.ended and self.token.text not in (")", "esac"):
                pattern += self._pattern() if self.token.kind == "word" else self.take().text
            if self.token.text != ")":
                break
            self.take()
            exhaustive |= pattern.strip() == "*"
            patterns.append(pattern.strip())
            bodies.append(self.statements((";;", ";&", ";;&", "esac"), depth + 1))
            if self.token.kind == "op":
                self.take()
        self.take()
        return Branches((), tuple(bodies), exhaustive, subject, tuple(patterns))

    def _function(self, depth: int) -> Node | None:
        """`name() …` or `function name …`; None for every other command."""
        keyword = self.token.text == "function"
        if keyword:
            self.take()
        name = self.take().text if self.token.kind == "word" else ""
        brackets = [token.text for token in self.tokens[self.position : self.position + 2]] == ["(", ")"]
        if not name or not (keyword or brackets):
            return None
        self.position += 2 * brackets
        self._skip("newline", "comment")
        if keyword and self.token.text not in ("{", "("):
            return None
        if depth >= NESTING:
            raise too_deep("blocks")
        is_command = self.token.kind in ("word", "redirect") or self.token.text == "("
        return Function(name, (self._command("", depth + 1),) if is_command else ())

    # --- small steps ---

    def _name(self) -> str:
        """Takes a word: its text, `?` where only running would tell, "" where there is no word."""
        return (self.take().text or "?") if self.token.kind == "word" else ""

    def _pattern(self) -> str:
        """Takes a word of a pattern: its text, `?` where only running would tell."""
        parts = self.take().segments
        texts = [
            part.text for part in parts if isinstance(part, LiteralText) and not (part.quoted and "*" in part.text)
        ]
        return "".join(texts) if len(texts) == len(parts) else "?"

    def _skip(self, *kinds: str) -> None:
        while self.token.kind in kinds:
            self.take()

    def _skip_brackets(self) -> None:
        """`((…))` on one line."""
        depth = 0
        while self.token.kind not in ("newline", "end"):
            depth += {"(": 1, ")": -1}.get(self.take().text, 0)
            if depth <= 0:
                break

    def _problem(self, token: Token, message: str, remedy: str) -> None:
        self.problems.add("syntax", *self.source.origin(token.start, token.end), message, remedy)
