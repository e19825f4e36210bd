"""Reads statements in their order, keeping variables, functions and files, and hands each command on. Runs nothing.
Both sides of an `if` are read, and behind it holds what the script's own defaults take. A `for` over a written list is
read once for each value (up to 32), with the value; a `while` once. A function is read where it is called, or at the
end with its arguments unresolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Final

from moonpad.explain.commands import Command, HereFile, LeftOpen, Word, Wrapper
from moonpad.explain.input_limits import LOOP_PASSES, LOOP_VALUES, SHELLS, Budget
from moonpad.explain.programs import base_name, runs_python
from moonpad.explain.shell.bash_lexer import Lexer
from moonpad.explain.shell.bash_parser import Branches, Compound, For, Function, Node, Parser, Simple
from moonpad.explain.shell.branch_reading import is_over_arguments, read_branches, read_conditional
from moonpad.explain.shell.called_scripts import arguments_of, give_of_outer, read_sourced, script_of, sourced
from moonpad.explain.shell.conditional_words import open_places
from moonpad.explain.shell.default_branches import TESTS, Defaults, joined, set_in
from moonpad.explain.shell.earlier_blocks import EarlierBlocks
from moonpad.explain.shell.escaped_dollars import with_variables
from moonpad.explain.shell.expansion import Expander, assignment_of, with_program
from moonpad.explain.shell.fed_shells import reads_heredoc
from moonpad.explain.shell.loops import filling, loop_values, reads_arguments
from moonpad.explain.shell.scope import Scope, unresolved
from moonpad.explain.shell.sentences import as_spoken, is_sentence
from moonpad.explain.shell.shell_builtins import run_builtin
from moonpad.explain.shell.shell_files import add_file, here_manifest
from moonpad.explain.shell.shell_output import output_of, written_by
from moonpad.explain.shell.tokens import Here, Token
from moonpad.explain.shell.wrappers import Peeled, peel
from moonpad.explain.source_text import InputText, Problems, Source
from moonpad.values.records import replace

_DECLARE: Final = frozenset({"export", "declare", "typeset", "local", "readonly"})
_BUILTINS: Final = """
    . : break cd continue echo exit false getopts hash let popd printf pushd pwd read return set shift shopt sleep
    source trap true ulimit umask unset wait
"""
_NO_PROGRAMS: Final = _DECLARE | TESTS | frozenset(_BUILTINS.split())
_ALONE: Final = Simple()
"""A command with nothing around it: no comments, no label."""
_TAKES_MANIFESTS: Final = frozenset({"kubectl", "oc", "cat", "tee", "sudo", "k3s", "microk8s"})
_LEAST_FLAGS: Final = 3
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(slots=True)
class ScriptState:
    """What all shells of one text share."""

    text: InputText
    problems: Problems = field(init=False)
    budget: Budget = field(init=False)
    commands: list[Command] = field(default_factory=list)
    files: dict[str, HereFile] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)  # those of the files that commands of the text write
    scripts: dict[str, Word] = field(default_factory=dict)
    programs: dict[str, Word] = field(default_factory=dict)
    """Scripts that the text holds besides those that it writes, by file name, and those in Python."""
    ran_scripts: set[str] = field(default_factory=set)
    held: dict[str, bool] = field(default_factory=dict)
    """Of `scripts`, parts of the text that other parts of it run, and whether one of these calls has values."""
    running: list[str] = field(default_factory=list)
    machines: list[tuple[int, str]] = field(default_factory=list)
    """Line and cluster (`8xH200`) that a task asks for."""
    config_maps: dict[tuple[str, str], dict[str, Word]] = field(default_factory=dict)
    """By kind (ConfigMap, Secret) and name, what each of its keys holds."""
    objects: list[tuple[int, int]] = field(default_factory=list)
    """First and last line of each object of YAML that starts an engine: what it says is not said of the others."""
    containers: dict[str, Wrapper] = field(default_factory=dict)
    last_known: Command | None = None
    """The last command of a program that is known."""
    heading: str | None = None
    arms: list[tuple[int, int]] = field(default_factory=list)
    """The branches that are being read: the condition's number, and which of its branches."""
    aside: int = 0
    """How many of the conditions around fail by the script's own defaults."""
    conditions: dict[int, tuple[int, object]] = field(default_factory=dict)
    """By the identity of their branches, their numbers (a condition that is read again in a loop keeps its own) and the
    branches themselves, so that no other ones get that identity."""
    intro: str | None = None
    """The line above the block in a document, where it ends with a colon."""
    earlier: EarlierBlocks = field(default_factory=EarlierBlocks)
    search_space: dict[str, Word] | None = None
    """What a table of benchmarks in the text gives its scripts, once it was looked for."""

    def __post_init__(self) -> None:
        self.problems = Problems(self.text)
        self.budget = self.text.budget

    @contextmanager
    def running_script(self, name: str) -> Iterator[None]:
        """While that script is read ("" for another text): it is not read inside of itself."""
        before, self.running = self.running, [*self.running, name]
        yield
        self.running = before

    def add(self, command: Command) -> None:
        self.budget.count(command.program != "other")
        self.commands.append(as_spoken(command))
        if command.program not in ("other", "fragment"):
            self.last_known = command


@dataclass(slots=True)
class Shell:
    """One shell: the script, or a `bash -c` or `ssh` inside it."""

    state: ScriptState
    source: Source
    scope: Scope = field(default_factory=Scope)
    wrappers: tuple[Wrapper, ...] = ()
    label: str | None = None
    comments: tuple[str, ...] = ()
    """Those above the command that runs this shell."""
    stdin: Word | None = None
    """What is fed to the inner shell: `ssh host 'bash -s' <<EOF`."""
    depth: int = 0
    paid: bool = False
    """Whether this is read again, and costs budget."""
    expander: Expander = field(init=False)
    defaults: Defaults = field(init=False)
    functions: dict[str, tuple[Node, ...]] = field(default_factory=dict)
    called: list[str] = field(default_factory=list)
    ever_called: set[str] = field(default_factory=set)
    passes: int = 1
    after_test: bool = False
    tested: tuple[Token, ...] = ()
    """The words of that test."""
    tested_by_default: bool | None = None
    """Whether it holds by the script's own defaults."""
    piped: Here | Word | None = None
    left_open: tuple[LeftOpen, ...] = ()
    """What conditions add to this command."""
    emitting: int = 0
    """How deep functions are read for what they write."""

    def __post_init__(self) -> None:
        self.expander = Expander(self.source, self.scope, self.state.budget, lambda part: output_of(self, part))
        self.defaults = Defaults(self.expander)

    def read(self, *, substitutions: bool = False, indent: int = 0) -> None:
        """Raises UsageError beyond the limits."""
        tokens = Lexer(self.source, self.state.problems, substitutions=substitutions, indent=indent).tokens()
        self.statements(Parser(tokens, self.source, self.state.problems).statements())
        for name in [*self.functions]:
            if name not in self.ever_called:
                self._called_with(name, None)

    def command(self, words: Sequence[Word], node: Simple = _ALONE, here: Here | None = None) -> None:
        """One command with all its words expanded."""
        if (script := sourced(words, self.state)) and self.depth < SHELLS:
            read_sourced(self, script, tuple(words[2:]))
            return
        if base_name(words[0]) in _NO_PROGRAMS:
            return
        if words[0].text.endswith((":", "=")) and len(words) > _LEAST_FLAGS and words[1].text.startswith("--"):
            # `args: --tensor-parallel-size 8 …` in a report.
            argv = tuple(words[1:])
            if sum(word.text.startswith("--") for word in argv) >= _LEAST_FLAGS:
                self.state.add(Command("fragment", argv, (), {}, heading=self.state.heading, line=argv[0].line))
                return
        environment = self.scope.environment()
        self.state.budget.work(12 + 2 * len(words) + len(environment) // 4, "its commands")
        peeled = peel(words, environment, self.state.containers)
        self.state.budget.work(5 * sum(len(wrapper.options) for wrapper in peeled.wrappers), "its commands")
        for wrapper in peeled.wrappers:
            if wrapper.kind == "docker run" and (name := wrapper.value("--name")):
                self.state.containers[name] = wrapper
        if runs_python(peeled.rest):
            from moonpad.explain.python.programs import read_program  # which runs shells of its own

            if read_program(peeled, self.expander.here(here) if here else self.stdin, self.wrappers, self.state):
                return
        commands_before = self.state.budget.commands
        peeled.reads_stdin |= (here or self.stdin) is not None and reads_heredoc(peeled)
        stdin = self.stdin if here is None or not (peeled.reads_stdin or peeled.nested) else self.expander.here(here)
        inside = peeled.nested or (stdin if peeled.reads_stdin else None) or script_of(peeled, self.state)
        if inside is not None and self.depth < SHELLS:
            self._inner_shell(inside, peeled, node, None if inside is stdin else stdin)
            in_container = any(wrapper.kind == "docker run" for wrapper in peeled.wrappers)
            if self.state.budget.commands > commands_before or not in_container:
                return
            peeled.program, peeled.prefix, peeled.argv = "docker", tuple(words), ()
        if not is_sentence(peeled.program, peeled.argv):
            self._add_command(peeled, node)

    # --- statements ---

    def statements(self, nodes: Sequence[Node]) -> None:
        """Raises UsageError where blocks, function calls and shells are nested too deep."""
        with self.state.budget.level("blocks, function calls and shells"):
            for node in nodes:
                self.statement(node)

    def statement(self, node: Node) -> None:
        self.state.budget.work(8, "its statements")
        if self.paid:
            self.state.budget.spend(1, 0)
        after_test, holds = False, None
        match node:
            case Simple(words):
                own = self.defaults.test(node)  # by what is known before it
                if self._depends(node):
                    read_conditional(self, node)
                else:
                    self.simple(node)
                after_test = not words or words[0].text in TESTS
                holds = joined(self.tested_by_default, node.connector, own)
                self.tested = words if after_test else ()
            case For():
                self._for(node)
            case Branches():
                if not reads_arguments(self, node):
                    followed = not node.loops or is_over_arguments(node, self.scope)
                    with nullcontext() if followed else filling(self.scope, node.bodies[0] if node.bodies else ()):
                        read_branches(self, node)
            case Function(name, body):
                self.functions[name] = body
            case Compound() if self._depends(node):
                tested, own = self.tested, self.tested_by_default
                read_conditional(self, node)
                if node.connector == "&&":  # for what may stand behind `||`
                    after_test, holds, self.tested = True, own, tested
            case Compound():
                self.compound(node)
        self.after_test, self.tested_by_default = after_test, holds

    def _depends(self, node: Simple | Compound) -> bool:
        """Whether it runs where what stands before it holds, or does not."""
        return node.connector == "||" or (node.connector == "&&" and self.after_test)

    def compound(self, node: Compound) -> None:
        with self._layer() if node.subshell else nullcontext():
            self.statements(node.body)

    @contextmanager
    def _layer(self) -> Iterator[None]:
        """What is set inside is forgotten behind it."""
        self.scope.push()
        yield
        self.scope.pop()

    def _for(self, node: For) -> None:
        values = loop_values(self, node)
        if not values or len(values) > LOOP_VALUES or self.passes * len(values) > LOOP_PASSES:
            values = [unresolved(node.name, tuple(values))]
        paid, passes, arguments = self.paid, self.passes, self.scope.arguments
        self.passes *= len(values)
        known, given = len(values) > 1 or not values[0].unresolved, is_over_arguments(node, self.scope)
        if given:
            self.scope.push()
        followed = nullcontext() if known or given else filling(self.scope, node.body)
        with followed, self.defaults.inside_loop(frozenset() if known else set_in(node.body)):
            for number, value in enumerate(values):
                self.paid = paid or number > 0
                self.scope.set(node.name, value)
                self.statements(node.body)
        if given:
            self.scope.join([self.scope.without_known(self.scope.pop())], exhaustive=False)
        self.paid, self.passes, self.scope.arguments = paid, passes, arguments

    def simple(self, node: Simple) -> None:
        count = next((at for at, token in enumerate(node.words) if assignment_of(token) is None), len(node.words))
        assignments, tokens = node.words[:count], node.words[count:]
        if not tokens:
            self.assign(assignments, export=False)
            return
        if tokens[0].text in _DECLARE:
            self._declare(tokens[0].text, tokens[1:])
            return
        fields = [self.expander.fields(token) for token in tokens]
        words = [word for own in fields for word in own]
        self.left_open = open_places(
            tokens, fields, self.scope.additions, self.scope.lengths, self.scope.instead, self.source
        )
        if self.paid:
            self.state.budget.spend(len(words), sum(len(word.text) for word in words))
        here = next((redirect.here for redirect in reversed(node.redirects) if redirect.here), None)
        emitted = written_by(self, words) if words else None
        if words:
            taken = here is not None and base_name(words[0]) in _TAKES_MANIFESTS and here_manifest(self, here)
            body = here or emitted or (self.piped if node.connector == "|" else None)
            add_file(self, words, node, body, is_read=taken)
            run_builtin(words, self.scope)
            self.piped = here or emitted
        if words and words[0].text in self.functions and emitted is None:
            if words[0].text not in self.called:  # of a function that calls itself, the body has been read
                self._called_with(words[0].text, tuple(words[1:]), self.expander.here(here) if here else None)
        elif words and emitted is None:
            with self._layer() if assignments else nullcontext():
                self.assign(assignments, export=True)
                self.command(with_program(words, self.scope, self.state.problems), node, here)
        self.left_open = ()

    def assign(self, tokens: Sequence[Token], *, export: bool) -> None:
        """One after the other: `A=1 B=$A`."""
        for token in tokens:
            if pair := self.expander.assignment(token):
                self.scope.assign(token, *pair, export=export)

    def _declare(self, name: str, tokens: Sequence[Token]) -> None:
        options = "".join(token.text for token in tokens if token.text.startswith("-"))
        export = (name == "export" or "x" in options) and "n" not in options
        self.assign(tokens, export=export)
        for token in tokens:
            if export and _NAME.fullmatch(name := token.text):
                at = self.source.word(name, token.start, token.end)
                self.scope.export(name, self.scope.variables.get(name) or unresolved(name, at))

    # --- functions and inner shells ---

    def _called_with(self, name: str, arguments: tuple[Word, ...] | None, fed: Word | None = None) -> None:
        before, self.scope.arguments = self.scope.arguments, arguments
        stdin, self.stdin = self.stdin, fed or self.stdin
        paid, self.paid = self.paid, self.paid or name in self.ever_called
        self.called.append(name)
        self.ever_called.add(name)
        self.statements(self.functions[name])
        self.called.pop()
        self.paid, self.scope.arguments, self.stdin = paid, before, stdin

    def _inner_shell(self, inside: Word, peeled: Peeled, node: Simple, stdin: Word | None) -> None:
        self.state.budget.work(20 + len(inside.pieces) + len(self.comments) + len(node.comments), "its shells")
        evaluated = bool(peeled.wrappers) and peeled.wrappers[-1].kind == "eval"
        if self.paid:
            self.state.budget.spend(1, len(inside.text))
        held = next((name for name, script in self.state.scripts.items() if script is inside), "")
        with self.scope.evaluating(inside.text if evaluated else ""), self.state.running_script(held):
            shell = Shell(
                self.state,
                Source.inside(inside, self.state.text),
                self.scope if evaluated else Scope(peeled.env, arguments_of(peeled), called=bool(held)),
                wrappers=(*self.wrappers, *peeled.wrappers),
                label=node.label or self.label,
                comments=(*self.comments, *node.comments),
                stdin=stdin,
                depth=self.depth + 1,
                paid=self.paid,
            )
            if not evaluated:
                give_of_outer(shell.scope, inside, held, self.scope, peeled, self.state)
            shell.read()

    # --- what is read ---

    def _add_command(self, peeled: Peeled, node: Simple) -> None:
        self.state.budget.work(10 + len(self.comments) + len(node.comments), "its commands")
        runs_script = any(word.text.endswith(".sh") for word in peeled.rest[:3])
        self.state.add(
            Command(
                peeled.program,
                with_variables(peeled.program, peeled.argv, self.scope, self.state.text, self.state.problems),
                peeled.prefix,
                peeled.env if peeled.program != "other" or runs_script else {},
                (*self.wrappers, *peeled.wrappers),
                label=node.label or self.label or self.state.intro,
                heading=self.state.heading,
                comments=tuple(dict.fromkeys((*self.comments, *node.comments))),
                line=peeled.words[0].line if peeled.words else 0,
                arms=tuple(self.state.arms),
                aside=self.state.aside > 0,
                choices=self.scope.choices_in(peeled.argv),
                left_open=tuple(replace(each, at=each.at - len(peeled.prefix)) for each in self.left_open),
            )
        )


def words_of(source: Source, state: ScriptState) -> list[Word]:
    """All words of a text, whatever stands between them. Of what a shell would read otherwise, comments alone are told:
    no shell reads it."""
    expander, problems = Expander(source, Scope(), state.budget), Problems(state.text)
    tokens = [token for token in Lexer(source, problems).tokens() if token.kind == "word"]
    state.problems.items += [problem for problem in problems.items if problem.code == "comment-in-command"]
    return [word for token in tokens for word in expander.fields(token)]
