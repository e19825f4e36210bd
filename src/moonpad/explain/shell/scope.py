"""The variables of one shell, and which of them are exported."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from moonpad.engines.value_checks import ENDPOINT, SWITCHED
from moonpad.explain.commands import Word
from moonpad.explain.input_limits import EXPORTED, too_large
from moonpad.explain.shell.conditional_words import Additions, adds_to, in_the_place, noted
from moonpad.explain.shell.tokens import Token
from moonpad.values.records import replace

Value = Word | tuple[Word, ...]
"""A scalar or an array."""
_NONE = frozenset({"-1", "unknown"})
"""What scripts set where nothing is known yet."""
_OF_CALLER = re.compile(r"\$\{?[1-9](?![0-9])")
_PRINTED = re.compile(r"(?<![\w$.(-])([A-Za-z_]\w*)=")
"""`TP=8` in what a command prints: not in front of the command that is run."""
Layer = tuple[Mapping[str, Value], Mapping[str, Value]]
"""The variables and the exports that one branch has set."""


class Other(NamedTuple):
    """A branch that the script's own defaults do not take."""

    variables: Mapping[str, Value]
    switch: str
    """What a person sets for it, `SPREAD=true`."""


class Scope:
    """Variables and exports in layers: a branch that may not run writes into a layer of its own."""

    def __init__(
        self,
        environment: Mapping[str, Word] | None = None,
        arguments: tuple[Word, ...] | None = None,
        *,
        called: bool = False,
    ) -> None:
        self.variables: ChainMap[str, Value] = ChainMap(dict(environment or {}))
        self.exports: ChainMap[str, Value] = ChainMap(dict(environment or {}))
        self.given = frozenset(environment or ())
        """Names that the shell was started with."""
        self.of_job: dict[str, Word] = {}
        """What Slurm sets in the job, by the script's directives: no part of a command that is shown."""
        self.sure_of_job = True
        """Whether nothing says that the job is started with other numbers."""
        self.arguments = arguments
        """`$1`, `$2` …; None where they are unknown."""
        self.called = called
        """Whether they are those of a call of this script that the text shows."""
        self.export_all = False
        self.asked: frozenset[str] = frozenset()
        """Variables whose value was asked for by the conditions around: `if [ "$TP" = auto ]; then TP=8; fi`."""
        self.places: frozenset[str] = frozenset()
        """Variables that name what those conditions look for on the disk: a branch that finds another place is no
        worse than the value before."""
        self.choices: dict[str, frozenset[str]] = {}
        """Variables that are one thing or another, as a condition says → the options that any of them holds."""
        self.additions: dict[str, Additions] = {}
        """Variables to which a condition adds words that are not in their values."""
        self.instead: dict[str, tuple[tuple[int, str, str], ...]] = {}
        """Variables that have another value where a branch runs that the script's own defaults do not take → line,
        value and what switches it."""
        self.filled: set[str] = set()
        """Variables that got a value which is not known."""
        self._outer_arguments: list[tuple[Word, ...] | None] = []

    def set(self, name: str, value: Value, *, export: bool = False) -> None:
        self.given -= {name}
        self.variables[name] = value
        if export or self.export_all or name in self.exports:
            self.export(name, value)

    def assign(self, token: Token, name: str, value: Value, *, export: bool) -> None:
        """As the assignment of the token does."""
        if not adds_to(token, name):
            self.additions.pop(name, None)
            self.instead.pop(name, None)
        if isinstance(value, Word) and value.unresolved and not (_is_options(value) or _OF_CALLER.search(value.text)):
            self.filled.add(name)
        self.set(name, value, export=export)

    def give(self, name: str, value: Word) -> None:
        """As what starts the shell does."""
        self.set(name, value)
        self.given |= {name}

    def give_of_job(self, variables: Mapping[str, Word], *, sure: bool = True) -> None:
        """What each shell of the job is given; where that is not `sure`, no condition is decided by it."""
        self.of_job, self.sure_of_job = {**variables}, sure
        for name, value in variables.items():
            if name not in self.variables:
                self.give(name, value)
                self.given -= frozenset() if sure else {name}

    @property
    def count(self) -> Word | None:
        """`$#`, where the text shows the call."""
        return Word(str(len(self.arguments))) if self.called and self.arguments is not None else None

    @property
    def decides(self) -> frozenset[str]:
        """Names of which a condition may be decided: people change what the script itself sets."""
        known = self.called and self.arguments is not None
        return self.given | ({"#", *map(str, range(1, 10))} if known else set())

    @contextmanager
    def called_with(self, given: bool) -> Iterator[None]:
        """While a script is read that gets arguments of its own, if it does."""
        before, self.called = self.called, self.called or given
        yield
        self.called = before

    def is_open(self, name: str) -> bool:
        """Whether its value is not known."""
        value = self.variables.get(name)
        return value is None or not is_known(value)

    def export(self, name: str, value: Value) -> None:
        # An array cannot be exported.
        self.exports[name] = value if isinstance(value, Word) else unresolved(name, value)

    def environment(self) -> dict[str, Word]:
        """What a process started now would be given by the script. Raises UsageError beyond 1,000 names."""
        layers = reversed(self.exports.maps)
        exported = {name: value for layer in layers for name, value in layer.items() if isinstance(value, Word)}
        if len(exported) > EXPORTED:
            message = f"the script exports more than {EXPORTED:,} variables"
            raise too_large(message, "remove the ones that are not needed")
        return exported

    def push(self) -> None:
        self.variables.maps.insert(0, {})
        self.exports.maps.insert(0, {})
        self._outer_arguments.append(self.arguments)

    def pop(self) -> Layer:
        """What the branch has set."""
        self.arguments = self._outer_arguments.pop()
        return self.variables.maps.pop(0), self.exports.maps.pop(0)

    def take(self, layer: Layer, others: Sequence[Other]) -> None:
        """After branches of which the script's own defaults take one: what that sets holds. What another adds, or puts
        in the place of a value, is noted; options in a variable that only others set are not there."""
        for name, value in layer[0].items():
            if not _is_argument(value) or (name in self.variables and self.is_open(name)):
                self.variables[name] = value
                self.choices.pop(name, None)
        self.exports.update(layer[1])
        for other in others:
            for name, value in other.variables.items():
                before = self.variables.get(name)
                if before is None and not _is_options(value):
                    self.instead[name] = (*self.instead.get(name, ()), *in_the_place(value, other.switch))
                    continue
                if before is None:
                    self.variables[name] = before = (
                        () if isinstance(value, tuple) else replace(value, text="", pieces=())
                    )
                if text_of(value) == text_of(before):
                    continue
                if _extends(value, before) or (not text_of(before) and _is_options(value)):
                    if is_known(before):
                        self.additions[name] = noted(self.additions.get(name), before, [value])
                else:
                    self.instead[name] = (*self.instead.get(name, ()), *in_the_place(value, other.switch))

    def without_known(self, layer: Layer) -> Layer:
        """Without variables that have a value before it: of a loop over arguments, which a script has none of where
        nobody calls it."""
        known = {
            name for name in layer[0] if not self.is_open(name) and text_of(self.variables[name]) not in ("", *_NONE)
        }
        variables, exports = ({name: each[name] for name in each if name not in known} for each in layer)
        return variables, exports

    @contextmanager
    def asking(self, values: frozenset[str], places: frozenset[str]) -> Iterator[None]:
        """Inside a condition that asks for these values and looks for these places."""
        before = self.asked, self.places
        self.asked, self.places = self.asked | values, self.places | places
        yield
        self.asked, self.places = before

    @contextmanager
    def evaluating(self, text: str) -> Iterator[None]:
        """While a text is evaluated whose `$1` was not known where it was made: it is none of this function's.

        What a command prints for it may set any variable that the command names before `=`: none of them is known."""
        before = self.arguments
        self.arguments = None if _OF_CALLER.search(text) else before
        yield
        self.arguments = before
        if text.startswith(("$(", "`")):
            for name in {*_PRINTED.findall(text)} & {*self.variables}:
                self.set(name, unresolved(name, self.variables[name]))

    def join(self, branches: Sequence[Layer], exhaustive: bool, defaults: Collection[str] = ()) -> None:
        """After branches of which one ran, or none where they are not exhaustive: what differs becomes unresolved.

        So does a variable that had no value before and gets one in some branches only, but for those whose lack was
        asked for (`defaults`: `if [ -z "$TP" ]; then TP=8; fi`), which have that of the branch. Where a branch knows no
        better (`case $1 in --tp) TP=$2`) or only adds to what there was (`ARGS+=(--verbose)`), all stays as it was:
        what is added under a condition is left out. A value that the condition asked for (`asked`) does not stay, nor
        does a place that it looked for on the disk, where a branch sets another (`places`).
        """
        for name in dict.fromkeys(name for variables, _ in branches for name in variables):
            values = [variables[name] for variables, _ in branches if name in variables]
            self._note_choices(name, values)
            everywhere = exhaustive and len(values) == len(branches)
            if name in self.asked or (everywhere and len({text_of(each) for each in values}) == 1):
                continue
            if everywhere or name not in defaults:
                self._note_additions(name, values, everywhere)
        _join(self.variables, [variables for variables, _ in branches], exhaustive, defaults, self.asked, self.places)
        _join(self.exports, [exports for _, exports in branches], exhaustive, defaults, self.asked, self.places)

    def choices_in(self, words: Sequence[Word]) -> dict[str, frozenset[str]]:
        names = {name for word in words for name in word.unresolved} if self.choices else set()
        return {name: options for name, options in self.choices.items() if name in names}

    def _note_choices(self, name: str, values: Sequence[Value]) -> None:
        """What the branches may have put into it; nothing where one of them is not known."""
        before = self.variables.get(name, Word(""))
        if isinstance(before, tuple) and all(_extends(value, before) for value in values):
            before, values = (), [value[len(before) :] for value in values if isinstance(value, tuple)]
        words = [word for value in (before, *values) for word in ((value,) if isinstance(value, Word) else value)]
        known = self.choices.pop(name, frozenset())
        others = [word for word in words if word.unresolved != (name,)]
        if not any(word.unresolved for word in others) and (known or len(others) == len(words)):
            texts = [text for word in others for text in word.text.split()]
            self.choices[name] = known | {text.partition("=")[0] for text in texts if text.startswith("-")}

    def _note_additions(self, name: str, values: Sequence[Value], everywhere: bool) -> None:
        """What branches only add is left out; where there was nothing, and of branches one of which runs, the variable
        stays among the words, and the options are noted."""
        before = self.variables.get(name)
        nothing = before is None or (isinstance(before, Word) and not before.text)
        if before is not None and not nothing and not everywhere:
            longer = [each for each in values if _extends(each, before) and _length(each) > _length(before)]
            if longer and is_known(before):
                self.additions[name] = noted(self.additions.get(name), before, longer)
            return
        first = len(before) if isinstance(before, tuple) else 0
        added = [each[first:] if isinstance(each, tuple) else (each,) for each in values]
        options = [words for words in added if words and words[0].text.startswith("-")]
        if (
            options
            and not (len(options) == 1 and _switches(name, options[0]))
            and (nothing or isinstance(before, tuple))
        ):
            self.additions[name] = replace(noted(self.additions.get(name), (), options), behind=-1)

    @property
    def lengths(self) -> dict[str, int]:
        """Of the variables that conditions add to."""
        return {name: _length(self.variables.get(name, ())) for name in self.additions}


def _length(value: Value) -> int:
    return len(value.text) if isinstance(value, Word) else len(value)


def unresolved(name: str, at: Value) -> Word:
    """The value of a variable that is not known; `at` is where it was set."""
    word = at if isinstance(at, Word) else (at[0] if at else Word(""))
    return replace(word, text=f"${name}", unresolved=(name,), pieces=())


def size_of(layer: Layer) -> int:
    """Steps of work to compare what a branch has set with what there was."""
    values = [value for names in layer for value in names.values()]
    return sum(3 + (len(value.text) // 500 if isinstance(value, Word) else len(value)) for value in values)


def text_of(value: Value) -> str:
    return value.text if isinstance(value, Word) else " ".join(word.text for word in value)


def _join(
    variables: ChainMap[str, Value],
    branches: Sequence[Mapping[str, Value]],
    exhaustive: bool,
    defaults: Collection[str],
    asked_for: Collection[str],
    places: Collection[str],
) -> None:
    for name in dict.fromkeys(name for branch in branches for name in branch):
        values = [branch[name] for branch in branches if name in branch]
        before = None if name in asked_for else variables.get(name)
        everywhere = exhaustive and len(values) == len(branches)
        if name in places and before is not None and not all(map(is_known, values)):
            variables[name] = unresolved(name, values[0])
            continue
        if before is None and not everywhere and name not in defaults and name not in asked_for:
            if any(map(is_known, values)):
                variables[name] = unresolved(name, values[0])
            continue
        if before is not None and not everywhere:
            asked = text_of(before) in _NONE or (text_of(before) == "" and any(map(_is_argument, values)))
            others = [v for v in values if asked or is_known(v) or not is_known(before) or _lengthens(v, before)]
            values = [before, *(value for value in others if not _extends(value, before))]
        variables[name] = _merged(name, before, values)


def _merged(name: str, before: Value | None, values: Sequence[Value]) -> Value:
    """The one value of all branches; where they only add different things to what there was, that and a marker."""
    if all(text_of(value) == text_of(values[0]) for value in values):
        return values[0]
    marker = _switch(name, values) or unresolved(name, values[0])
    if isinstance(before, tuple) and all(_extends(value, before) for value in values):
        return (*before, marker)
    return marker


def _switch(name: str, values: Sequence[Value]) -> Word | None:
    """A switch or options of the endpoint in one branch, and nothing in the others: `${EXTRA:+--headless}` is the
    same."""
    known = [value for value in values if isinstance(value, Word) and not value.unresolved]
    texts = {value.text.strip() for value in known}
    if len(known) < len(values) or len(texts) != 2 or "" not in texts:
        return None
    text = f"${{{name}:+{max(texts)}}}"
    return replace(known[0], text=text, unresolved=(text,), pieces=()) if _is_switch(text) else None


def _switches(name: str, words: Sequence[Word]) -> bool:
    """Whether it is of one machine, or of the endpoint."""
    return _is_switch(f"${{{name}:+{' '.join(word.text for word in words).strip()}}}")


def _is_switch(text: str) -> bool:
    return SWITCHED.fullmatch(text) is not None or ENDPOINT.fullmatch(text) is not None


def _is_options(value: Value) -> bool:
    return text_of(value).lstrip().startswith("-")


def _extends(value: Value, before: Value) -> bool:
    if isinstance(value, Word) and isinstance(before, Word):
        added = value.text[len(before.text) :]
        whole = not added.strip() or added[0].isspace() or before.text[-1:].isspace()  # no more of the same word
        return before.text != "" and value.text.startswith(before.text) and whole
    if isinstance(value, Word) or isinstance(before, Word):
        return False
    return [word.text for word in value[: len(before)]] == [word.text for word in before]


def _lengthens(value: Value, before: Value) -> bool:
    """Whether more of the same word is behind it, `$sizes,$size` of a loop."""
    text = text_of(before)
    return bool(text) and text_of(value).startswith(text) and not _extends(value, before)


def _is_argument(value: Value) -> bool:
    """`$2`, and nothing else: what the person gives."""
    return isinstance(value, Word) and bool(value.unresolved) and re.fullmatch(r"\$\{?[0-9]\}?", value.text) is not None


def is_known(value: Value) -> bool:
    return not any(word.unresolved for word in ((value,) if isinstance(value, Word) else value))
