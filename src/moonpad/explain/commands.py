"""What a script says, as values: words with their place in the text, and the commands that they make."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec import field as in_struct
from msgspec.structs import force_setattr

from moonpad.explain.input_limits import NAMES, Budget
from moonpad.values.records import replace


class Piece(NamedTuple):
    """`text[start:end]` of a word comes from `source_start:source_end` of the script, character by character where
    both are of one length, else as a whole (a variable's value, an escaped character)."""

    start: int
    end: int
    source_start: int
    source_end: int

    @property
    def exact(self) -> bool:
        """Character by character."""
        return self.end - self.start == self.source_end - self.source_start


@dataclass(frozen=True, slots=True)
class Word:
    """One argument after quotes and variables.

    Lines count from 1. Columns count characters from 0, `end_column` is behind the last one, so that on one line
    `Script.lines[line - 1][column:end_column]` is what was written. A word out of an array, or out of a variable that
    holds several words, has the place where it was defined; out of a variable with one word, where it is used.

    `unresolved` names what only running the script would tell: `MASTER_IP`, `$(nproc)`, `<YOUR_MODEL_DIR>`. The
    text holds it as it was written.
    """

    text: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    unresolved: tuple[str, ...] = ()
    pieces: tuple[Piece, ...] = field(default=(), repr=False, compare=False)


def whole_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def cut(word: Word, first: int, last: int) -> Word:
    """`text[first:last]` of the word with its pieces, and without a place of its own."""
    pieces: list[Piece] = []
    begin = max(0, bisect_right(word.pieces, first, key=itemgetter(0)) - 1)
    for piece in word.pieces[begin : bisect_left(word.pieces, last, key=itemgetter(0))]:
        start, end = max(piece.start, first), min(piece.end, last)
        if start < end:
            source_start = piece.source_start + (start - piece.start if piece.exact else 0)
            source_end = source_start + end - start if piece.exact else piece.source_end
            pieces.append(Piece(start - first, end - first, source_start, source_end))
    return Word(word.text[first:last], unresolved=word.unresolved, pieces=tuple(pieces))


def concatenated(words: Sequence[Word], at: Word) -> Word:
    """One word of several, at the place of `at`."""
    pieces: list[Piece] = []
    length = 0
    for word in words:
        pieces += [Piece(p.start + length, p.end + length, *p[2:]) for p in word.pieces if p.end > p.start]
        length += len(word.text)
    names = tuple(dict.fromkeys(name for word in words for name in word.unresolved))[:NAMES]
    return replace(at, text="".join(word.text for word in words), unresolved=names, pieces=tuple(pieces))


def join_words(words: Sequence[Word]) -> Word:
    """One word of several, a blank between them, as `ssh` and `eval` join their arguments."""
    if not words:
        return Word("")
    parts: list[Word] = []
    behind = 0
    for word in words:
        parts += (Word(" ", pieces=(Piece(0, 1, behind, behind),)), word)
        behind = word.pieces[-1].source_end if word.pieces else behind
    return concatenated(parts[1:], replace(words[0], end_line=words[-1].end_line, end_column=words[-1].end_column))


class WrapperOption(Struct, frozen=True):
    """An option of a wrapper: `name` is the long form that the table has for it, `words` are for carets."""

    name: str
    value: str | None
    words: tuple[Word, ...]


class Wrapper(Struct, frozen=True):
    """What stands around the engine's command.

    `kind` is `docker run` (podman too), `docker exec`, `mpirun`, `srun`, `ssh`, `bash -c`, `eval`, `uv run`, or the
    name of a plain one: sudo, env, nohup, numactl …
    """

    kind: str
    words: tuple[Word, ...]
    """Its own words, the name first, without the command that it runs."""
    options: tuple[WrapperOption, ...] = ()
    image: Word | None = None
    """Of `docker run`; `docker exec` has image and options of the run with the same name, where there is one."""

    def given(self, name: str) -> list[WrapperOption]:
        return [option for option in self.options if option.name == name]

    def value(self, name: str) -> str | None:
        """Of the last option of that name."""
        options = self.given(name)
        return options[-1].value if options else None

    def values(self, name: str) -> tuple[str, ...]:
        return tuple(option.value for option in self.given(name) if option.value is not None)

    def has(self, name: str) -> bool:
        """Whether a switch is on; `--privileged=false` is off."""
        options = self.given(name)
        return bool(options) and (options[-1].value or "true").lower() not in ("false", "0", "f")

    @property
    def devices(self) -> int | None:
        """How many `--gpus 8` or `--gpus device=0,1` gives the container; None for all, or where nothing is said."""
        value = (self.value("--gpus") or "").strip("'\"")
        if value.startswith("device="):
            return None if "all" in value[7:].split(",") else value.count(",") + 1
        return whole_number(value)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Of `mpirun -H a:8,b:8`, slots included."""
        return tuple(host for value in self.values("-H") for host in value.split(",") if host)


class LeftOpen(Struct, frozen=True):
    """A variable that has more words where a condition holds, behind the word number `at` of the arguments.

    `written` stands for these words alone in a shell, "" where nothing does; `added` are the lines and their words.
    `instead`: what the variable holds in branches that the script's own defaults do not take, with the line and what
    switches it, `SPREAD=true`.
    """

    at: int
    name: str
    written: str
    added: tuple[tuple[int, str], ...]
    instead: tuple[tuple[int, str, str], ...] = ()
    bare: bool = False
    """The variable stands there without quotes and alone, and the shell makes words of it."""


class Command(Struct, frozen=True):
    """One command of the script.

    `program` is one of: vllm serve, vllm bench serve, sglang, sglang bench, sglang-router, sglang-pdlb, kt run,
    ktransformers-legacy, trtllm-serve, trtllm-disaggregated, lm_eval, docker (a container in which no known program is
    started), ray, fragment (flags without a program), other.
    """

    program: str
    argv: tuple[Word, ...]
    """The program's own arguments, behind its name and subcommand."""
    prefix: tuple[Word, ...] = ()
    """The words before them on the same line: wrappers and the program's name."""
    env: Mapping[str, Word] = in_struct(default_factory=dict)
    """What reaches the process: exports above, `A=b` before it, `docker -e`. A word's place is the whole assignment."""
    wrappers: tuple[Wrapper, ...] = ()
    """From the outermost to the innermost."""
    label: str | None = None
    """The nearest comment line above (`node 0`), or in a document the line above the block that ends with a colon."""
    heading: str | None = None
    comments: tuple[str, ...] = ()
    """All comment lines between the command before and this one."""
    line: int = 0
    arms: tuple[tuple[int, int], ...] = ()
    """Of the conditions around it, from the outermost: which condition of the text, and which of its branches."""
    aside: bool = False
    """A condition around it fails by the script's own defaults."""
    pods: int = 1
    """Machines that run it together, as its manifest says: the size of a group of pods, `num_nodes` of a task."""
    role: str = ""
    """`prefill` or `decode`, where its manifest says so."""
    guessed: bool = False
    """Its program is not named anywhere: it is the one that knows its options."""
    custom: bool = False
    """A controller that is not known starts it, it may be on more machines than the text says."""
    made: bool = False
    """The template of a chart makes it of values, and adds what these do not say."""
    choices: Mapping[str, frozenset[str]] = in_struct(default_factory=dict)
    """Variables in its arguments that are one thing or another, by the branches of the script → the options that any of
    these holds."""
    left_open: tuple[LeftOpen, ...] = ()
    """What conditions add to it, and is not among its arguments."""
    more: str = ""
    """What may add options to it that are not in the text: a chart, the controller of a custom resource."""
    by_alias: bool = False
    """Its model is a key of a recipe, for which the recipe's runner puts the weights."""
    by_ray: bool = False
    """Ray starts it, and gives it the devices of its cluster."""
    files: Mapping[str, HereFile] = in_struct(default_factory=dict)
    """Those that are mounted into its container, by path."""
    held_tokens: int | None = None
    """What its KV cache holds by a log in the text, 0 where that only says that it serves; None: no log says either."""
    serves: bool = False
    """The text, or a log in it, shows that it starts, or that a request to it works."""
    accepted: frozenset[str] = frozenset()
    """Names of options that its log repeats, as `max_model_len`: it has read them."""
    fork: str = ""
    """The fork of its engine that it starts, by the text or by its options."""
    embedded: bool = False
    """Its options are the arguments of a call in a program, which is not a server with a port."""
    own_words: tuple[Word, ...] = ()
    """Of a program that chats: the words for which the server, as which it is read, has no option."""

    def __post_init__(self) -> None:
        force_setattr(self, "env", MappingProxyType(dict(self.env)))
        force_setattr(self, "files", MappingProxyType(dict(self.files)))
        force_setattr(self, "choices", MappingProxyType(dict(self.choices)))

    @property
    def words(self) -> tuple[Word, ...]:
        return (*self.prefix, *self.argv)

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Names that stand in the arguments and in the environment, each once."""
        return tuple(dict.fromkeys(name for word in (*self.argv, *self.env.values()) for name in word.unresolved))

    @property
    def machines(self) -> int | None:
        """Those that run it together, where they are several."""
        return self.pods if self.pods > 1 else None

    @property
    def container(self) -> Wrapper | None:
        """The innermost container that the command runs in."""
        kinds = ("docker run", "docker exec")
        return next((wrapper for wrapper in reversed(self.wrappers) if wrapper.kind in kinds), None)


class HereFile(Struct, frozen=True):
    """A file that the script writes by a heredoc; `line` is the first one of its content."""

    path: str
    text: str
    line: int


class Problem(Struct, frozen=True):
    """Something in the script that a shell does not read as its author meant it. moonpad reads what was meant."""

    code: str
    """space-after-backslash, doubled-backslash, comment-after-backslash, comment-in-command, missing-backslash,
    missing-blank, unclosed, syntax, stray-dollar, escaped-dollar, invisible-character, dash, quotes, heredoc-end,
    one-item, whole-command, no-such-command, no-shell, cmd-not-read, number-as-word"""
    line: int
    column: int
    end_column: int
    message: str
    remedy: str = ""


NUMBER_AS_WORD: Final = "number-as-word"
SURELY_WRONG: Final = frozenset({"comment-after-backslash", "space-after-backslash"})
"""Of the problems those that are mistakes in every command, whatever it starts."""


@lru_cache(maxsize=4)
def _objects_at(objects: tuple[tuple[int, int], ...]) -> Mapping[int, int]:
    """Line → the number of the object that it stands in."""
    return {line: at for at, (first, last) in enumerate(objects) for line in range(first, last + 1)}


@lru_cache(maxsize=4)
def _outside(lines: tuple[str, ...], objects: tuple[tuple[int, int], ...]) -> tuple[str, ...]:
    inside = _objects_at(objects)
    return tuple(text for number, text in enumerate(lines, 1) if number not in inside)


LIST_CUT: Final = "the rest of the list, which the text leaves out,"
"""`more` of a command whose list of words the text cuts."""


def stands_for_more(word: Word) -> bool:
    """Whether it stands for words that are not in the text, `<what the image adds>`."""
    return word.unresolved == ("@",) and word.text.startswith("<") and word.text.endswith(">")


class ErrorLine(Struct, frozen=True):
    """A line that may name a failure: its number from 1, where its own text begins, and whether it was logged."""

    number: int
    column: int
    logged: bool
    pasted: bool = False
    """It stands in a fence that holds nothing else than what programs print."""
    told: bool = False
    """Whether it is a sentence of the author that says that the start failed."""
    either: bool = False
    """It may be of one of several commands above it, and no word of it says of which."""
    by: str = ""
    """Who had it, where that is not the author of the command, and started the engine with other options."""


class Script(Struct, frozen=True, eq=False):
    """`lines` is the text with unprintable characters as spaces, safe to show, in which the columns hold."""

    commands: tuple[Command, ...]
    lines: tuple[str, ...] = ()
    files: Mapping[str, HereFile] = in_struct(default_factory=dict)
    versions: Mapping[str, str] = in_struct(default_factory=dict)
    """Engine (vllm, vllm-ascend, sglang, tensorrt-llm, ktransformers) → version that the text or an image names."""
    minimum_versions: Mapping[str, str] = in_struct(default_factory=dict)
    """What the text calls `0.8.5+` or `v0.10.0rc1 or later`."""
    placed_hints: tuple[tuple[str, int], ...] = ()
    """Machines that the text names (`8xH100`) and the lines, in the order of the text."""
    problems: tuple[Problem, ...] = ()
    markdown: bool = False
    origins: tuple[tuple[str, int], ...] = ()
    """Of several files, the name of each and its first line in `lines`; empty for a single one."""
    file_name: str = ""
    """Of a single file."""
    objects: tuple[tuple[int, int], ...] = ()
    """First and last line of each object of YAML that starts an engine."""
    error_lines: tuple[ErrorLine, ...] = ()
    asked: frozenset[tuple[str, int]] = frozenset()
    """Of `placed_hints`, those that a task or a program asks for, not only the words around it."""
    budget: Budget = in_struct(default_factory=Budget)
    """What judging and showing it may still cost."""
    stand_ins: Mapping[str, str] = in_struct(default_factory=dict)
    """Names that stand in its words for templates of YAML, and what was written: as_written.py shows that."""

    def says_of(self, line: int, other: int) -> bool:
        """Whether what stands at a line may be about a command at the other: it is not in an object of its own."""
        inside = _objects_at(self.objects)
        return inside.get(line) in (None, inside.get(other))

    def lines_about(self, line: int) -> Sequence[str]:
        """Those of the object that the line stands in, then those of no object."""
        if not self.objects:
            return self.lines
        at = _objects_at(self.objects).get(line)
        own = self.lines[self.objects[at][0] - 1 : self.objects[at][1]] if at is not None else ()
        return (*own, *_outside(self.lines, self.objects))

    def place(self, line: int) -> tuple[str, int]:
        """The file that a line belongs to, "" where there is only one, and its number in that file."""
        at = bisect_right(self.origins, line, key=lambda origin: origin[1])
        name, first = self.origins[at - 1] if at else ("", 1)
        return name, line - first + 1

    @property
    def steps_to_scan(self) -> int:
        """Steps of work to look through the whole text once; of a long line, which is data, its beginning."""
        return 20 + len(self.lines) + sum(min(len(line), 2000) for line in self.lines) // 40

    def where(self, line: int) -> str:
        """`line 12`, or `node-1/run.sh line 12` where there are several files."""
        name, number = self.place(line)
        return f"{name} line {number}".strip()
