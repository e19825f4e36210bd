"""Reads statements in their order, keeping variables, functions and files, and hands each command on. Runs nothing.

Both sides of an `if` are read. A `for` over a written list is read once for each value (up to 32), with the value; a
`while` once. A function is read where it is called, or at the end with its arguments unresolved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from moonpad.explain.assign import Scope, is_assignment, value_of
from moonpad.explain.commands import Command, HereFile, Word, Wrapper
from moonpad.explain.expand import Expander, Variables, unresolved
from moonpad.explain.limits import LOOP_PASSES, LOOP_VALUES, NESTING, SHELLS, Budget, too_deep
from moonpad.explain.programs import base_name
from moonpad.explain.shell_words import tokens_of
from moonpad.explain.source import Problems, Source, Text
from moonpad.explain.syntax import Branches, For, Function, Group, Node, Simple, parse
from moonpad.explain.tokens import Here, RawWord
from moonpad.explain.wrappers import Peeled, peel

_DECLARE: Final = frozenset({"export", "declare", "typeset", "local", "readonly"})
_TESTS: Final = frozenset({"[", "[[", "test"})
_BUILTINS: Final = """
    . : break cd continue echo exit false getopts hash let popd printf pushd pwd read return set shift shopt sleep
    source trap true ulimit umask unset wait
"""
_NO_PROGRAMS: Final = _DECLARE | _TESTS | frozenset(_BUILTINS.split())
_RANGE: Final = re.compile(r"(?:\{(\d{1,6})\.\.(\d{1,6})\}|\$\(seq (\d{1,6}) (\d{1,6})\))", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(slots=True)
class Reading:
    """What all shells of one text share."""

    text: Text
    problems: Problems
    budget: Budget = field(default_factory=Budget)
    commands: list[Command] = field(default_factory=list)
    files: dict[str, HereFile] = field(default_factory=dict)
    containers: dict[str, Wrapper] = field(default_factory=dict)
    heading: str | None = None
    intro: str | None = None
    """The line above the block in a document, where it ends with a colon."""


class Shell:
    """One shell: the script, or a `bash -c` or `ssh` inside it."""

    def __init__(
        self,
        reading: Reading,
        source: Source,
        scope: Scope | None = None,
        *,
        wrappers: tuple[Wrapper, ...] = (),
        outside: Simple | None = None,
        depth: int = 0,
        paid: bool = False,
    ) -> None:
        self.reading, self.source, self.wrappers, self.outside, self.depth = reading, source, wrappers, outside, depth
        self.scope = scope or Scope(Variables(), Variables())
        self.expander = Expander(source, self.scope.variables, reading.budget)
        self.functions: dict[str, tuple[Node, ...]] = {}
        self.called: list[str] = []
        self.ever_called: set[str] = set()
        self.paid = paid
        """Whether this is read again, and costs budget."""
        self.passes = 1
        self.after_test = False
        self.piped: Here | None = None
        self.stdin: Word | None = None
        """What is fed to the inner shell: `ssh host 'bash -s' <<EOF`."""

    def read(self, *, substitutions: bool = False, indent: int = 0) -> None:
        """Raises UsageError beyond the limits."""
        problems = self.reading.problems
        tokens = tokens_of(self.source, problems, substitutions=substitutions, indent=indent)
        self._all(parse(tokens, self.source, problems))
        for name, body in list(self.functions.items()):
            if name not in self.ever_called:
                self._called_with(name, body, None)

    def line(self, words: Sequence[Word], node: Simple, here: Here | None = None) -> None:
        """One command with all its words expanded."""
        if base_name(words[0]) in _NO_PROGRAMS:
            return
        peeled = peel(words, self.scope.environment(), self.reading.containers)
        wrappers = (*self.wrappers, *peeled.wrappers)
        for wrapper in peeled.wrappers:
            if wrapper.kind == "docker run" and wrapper.name:
                self.reading.containers[wrapper.name] = wrapper
        known_before = self.reading.budget.commands
        stdin = self.stdin if here is None or not (peeled.reads_stdin or peeled.nested) else self.expander.here(here)
        inside = peeled.nested or (stdin if peeled.reads_stdin else None)
        if inside is not None and self.depth < SHELLS:
            self._nested(inside, peeled, wrappers, node, None if inside is stdin else stdin)
            if self.reading.budget.commands > known_before or not any(w.kind == "docker run" for w in peeled.wrappers):
                return
            peeled = replace(peeled, program="docker", prefix=tuple(words), argv=())
        self._keep(peeled, wrappers, node)

    # --- statements ---

    def _all(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if self.paid:
                self.reading.budget.spend(1, 0)
            match node:
                case Simple():
                    self._simple(node)
                    self.after_test = not node.words or node.words[0].plain in _TESTS
                    continue
                case For():
                    self._for(node)
                case Branches():
                    self._all(node.conditions)
                    self._branches(node.bodies, node.exhaustive)
                case Function(name, body):
                    self.functions[name] = body
                case Group(body, subshell):
                    if subshell:
                        self.scope.push()
                    self._all(body)
                    if subshell:
                        self.scope.pop()
            self.after_test = False

    def _branches(self, bodies: Sequence[tuple[Node, ...]], exhaustive: bool) -> None:
        layers = []
        for body in bodies:
            self.scope.push()
            self._all(body)
            layers.append(self.scope.pop())
        self.scope.join(layers, exhaustive)

    def _for(self, node: For) -> None:
        values = self._loop_values(node)
        if not values or len(values) > LOOP_VALUES or self.passes * len(values) > LOOP_PASSES:
            at = values[0] if values else Word("")
            values = [unresolved(node.name, at)]
        paid, self.passes = self.paid, self.passes * len(values)
        for number, value in enumerate(values):
            self.paid = paid or number > 0
            self.scope.set(node.name, value)
            self._all(node.body)
        self.paid, self.passes = paid, self.passes // len(values)

    def _loop_values(self, node: For) -> list[Word]:
        """Empty where nobody knows them."""
        words = [word for raw in node.values or () for word in self.expander.fields(raw)]
        if len(words) == 1 and (match := _RANGE.fullmatch(words[0].text)):
            first, last = (int(text) for text in match.groups() if text is not None)
            if first <= last < first + LOOP_VALUES:
                return [replace(words[0], text=str(n), unresolved=(), pieces=()) for n in range(first, last + 1)]
        return [] if any(name[:1] in "$`" for word in words for name in word.unresolved) else words

    def _simple(self, node: Simple) -> None:
        conditional = node.connector == "||" or (node.connector == "&&" and self.after_test)
        if conditional:
            self.scope.push()
        self._run(node)
        if conditional:
            self.scope.join([self.scope.pop()], exhaustive=False)

    def _run(self, node: Simple) -> None:
        count = next((at for at, raw in enumerate(node.words) if not is_assignment(raw)), len(node.words))
        assignments, raw_words = node.words[:count], node.words[count:]
        if not raw_words:
            self._assign(assignments, export=False)
            return
        if (first := raw_words[0].plain) in _DECLARE:
            self._declare(first or "", raw_words[1:])
            return
        words = [word for raw in raw_words for word in self.expander.fields(raw)]
        if self.paid:
            self.reading.budget.spend(len(words), sum(len(word.text) for word in words))
        here = next((redirect.here for redirect in reversed(node.redirects) if redirect.here), None)
        if words:
            self._keep_file(words, node, here or (self.piped if node.connector == "|" else None))
            self._builtin(words)
        self.piped = here
        if not words or self._call(words):
            return
        if assignments:
            self.scope.push()
            self._assign(assignments, export=True)
        self.line(words, node, here)
        if assignments:
            self.scope.pop()

    def _assign(self, assignments: Sequence[RawWord], *, export: bool) -> None:
        """One after the other: `A=1 B=$A`."""
        for raw in assignments:
            if pair := value_of(raw, self.expander):
                self.scope.set(*pair, export=export)

    def _declare(self, name: str, raw_words: Sequence[RawWord]) -> None:
        options = "".join(text for raw in raw_words if (text := raw.plain) and text.startswith("-"))
        export = (name == "export" or "x" in options) and "n" not in options
        for raw in raw_words:
            if pair := value_of(raw, self.expander):
                self.scope.set(*pair, export=export)
            elif export and (text := raw.plain) and _NAME.fullmatch(text):
                at = self.source.word(text, raw.start, raw.end)
                self.scope.export(text, self.scope.variables.get(text) or unresolved(text, at))

    def _builtin(self, words: Sequence[Word]) -> None:
        """Those that change variables."""
        name, texts = words[0].text, [word.text for word in words[1:]]
        if name == "set" and ("-a" in texts or "allexport" in texts):
            self.scope.export_all = "+a" not in texts and "+o" not in texts
        elif name == "set" and "+a" in texts:
            self.scope.export_all = False
        elif name in ("read", "mapfile", "readarray", "unset"):
            for word in words[1:]:
                if _NAME.fullmatch(word.text):
                    self.scope.set(word.text, unresolved(word.text, word))

    # --- functions and inner shells ---

    def _call(self, words: Sequence[Word]) -> bool:
        name = words[0].text
        if name not in self.functions:
            return False
        if name in self.called:
            return True  # what it says when it calls itself has been read
        if len(self.called) >= NESTING:
            raise too_deep("function calls")
        self._called_with(name, self.functions[name], tuple(words[1:]))
        return True

    def _called_with(self, name: str, body: tuple[Node, ...], arguments: tuple[Word, ...] | None) -> None:
        variables = self.scope.variables
        before, variables.arguments = variables.arguments, arguments
        paid, self.paid = self.paid, self.paid or name in self.ever_called
        self.called.append(name)
        self.ever_called.add(name)
        self._all(body)
        self.called.pop()
        self.paid, variables.arguments = paid, before

    def _nested(
        self, inside: Word, peeled: Peeled, wrappers: tuple[Wrapper, ...], node: Simple, stdin: Word | None
    ) -> None:
        scope = self.scope
        if not peeled.wrappers or peeled.wrappers[-1].kind != "eval":
            scope = Scope(Variables(peeled.env.items()), Variables(peeled.env.items()))
        source = Source.inside(inside, self.reading.text)
        label = replace(self.outside or node, label=node.label or (self.outside.label if self.outside else None))
        shell = Shell(
            self.reading, source, scope, wrappers=wrappers, outside=label, depth=self.depth + 1, paid=self.paid
        )
        shell.stdin = stdin
        if self.paid:
            self.reading.budget.spend(1, len(inside.text))
        shell.read()

    # --- what is kept ---

    def _keep(self, peeled: Peeled, wrappers: tuple[Wrapper, ...], node: Simple) -> None:
        known = peeled.program != "other"
        self.reading.budget.count(known)
        outside = self.outside
        comments = (*(outside.comments if outside else ()), *node.comments)
        command = Command(
            peeled.program,
            peeled.argv,
            peeled.prefix,
            peeled.env if known else {},
            wrappers,
            label=node.label or (outside.label if outside else None) or self.reading.intro,
            heading=self.reading.heading,
            comments=tuple(dict.fromkeys(comments)),
            line=peeled.words[0].line if peeled.words else 0,
        )
        self.reading.commands.append(command)

    def _keep_file(self, words: Sequence[Word], node: Simple, here: Here | None) -> None:
        """`cat > FILE <<EOF`, `cat <<EOF | tee FILE`, `sudo tee FILE <<EOF`."""
        if here is None:
            return
        names = [base_name(word) for word in words[:4]]
        path: Word | None = None
        if "tee" in names:
            path = next((word for word in words[names.index("tee") + 1 :] if not word.text.startswith("-")), None)
        elif names[0] == "cat":
            written = [redirect for redirect in node.redirects if redirect.operator in (">", ">>", ">|")]
            targets = self.expander.fields(written[-1].target) if written else []
            path = targets[0] if targets else None
        if path is not None and path.text:
            body = self.expander.here(here)
            appends = any(redirect.operator == ">>" for redirect in node.redirects) or "-a" in names
            before = self.reading.files.get(path.text) if appends else None
            if before is not None:
                self.reading.budget.spend(1, len(before.text))
                body = replace(body, text=before.text + body.text)
            self.reading.files[path.text] = HereFile(path.text, body.text, body.line, body.unresolved)
