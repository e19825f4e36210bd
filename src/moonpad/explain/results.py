"""What `explain` found: remarks at words of a command line, the command mended, and better ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from moonpad.explain.commands import Command, HereFile, Word
from moonpad.explain.programs import program_named
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.plan_answer import Confidence, confidence_of
from moonpad.values.records import as_dict, field_names, replace
from moonpad.values.visible_text import escape_of

_SETS_ENV: Final = frozenset({"-e", "--env", "-x"})


class Edit(Struct, frozen=True):
    """In the arguments of one command `length` words from `at` on become `words`.

    Behind their end, `words` are added; with no `length`, they go in front of the word at `at`.
    """

    at: int
    length: int
    words: tuple[str, ...]


class FileEdit(Struct, frozen=True):
    """In a file that the script writes, the text of `place` becomes `text`."""

    file: HereFile
    place: Word
    text: str


def edited(file: HereFile, edits: Iterable[FileEdit]) -> HereFile:
    """The file with those of the edits that are for it."""
    lines = file.text.split("\n")
    for edit in sorted(edits, key=lambda edit: -edit.place.column):
        if edit.file.path == file.path:
            row, place = edit.place.line - file.line, edit.place
            lines[row] = lines[row][: place.column] + edit.text + lines[row][place.end_column :]
    return replace(file, text="\n".join(lines))


class Remark(Struct, frozen=True):
    """A finding and its place: the argument `at` of a command, a variable of its environment, or a `word` that is not
    an argument (an option of the container, a line of a file).

    `command` is the command's number in its deployment; None: the deployment as a whole. `edits` are what mends it,
    where a change of words can; `program` are the words that replace the program's own.
    """

    finding: Finding
    command: int | None = 0
    at: int | None = None
    edits: tuple[Edit, ...] = ()
    variable: str | None = None
    drop_variable: bool = False
    sets: tuple[tuple[str, str], ...] = ()
    """Variables with the values that mend it."""
    unsets: tuple[str, ...] = ()
    """Variables whose absence mends it."""
    others: tuple[tuple[int, tuple[Edit, ...]], ...] = ()
    """The same in other commands of the deployment, by their numbers."""
    word: Word | None = None
    program: tuple[str, ...] = ()
    file_edit: FileEdit | None = None
    read_as_meant: bool = False
    """The corrected line has it right already."""
    of_former: bool = False
    """It is about releases of long ago, and the text names none."""
    as_told: bool = False
    """What a later release mended, and the text complains of just that."""
    ends_start: bool = False
    """A warning, since no release is named: the one that it is judged by ends its start all the same."""

    complained: bool = False
    """The text complains of just this: with it left in, nothing is corrected."""
    unmeant: bool = False
    """Nothing refuses it, and it is never what was meant: it is mended where its remedy is exact."""
    around: tuple[tuple[Word, tuple[str, ...]], ...] = ()
    """Words in front of the engine's own, the image of a container among them, and what mends each."""
    second_choice: bool = False
    """Its edits make a later alternative of the remedy: needless where other edits mend it."""
    stops: bool = False
    """A warning that is true of the release, of what ends the start or spoils every answer: with that left in, nothing
    is corrected."""

    @property
    def placed(self) -> bool:
        """Whether it is about something that is there, and not about something that lacks."""
        return self.at is not None or self.variable is not None or self.word is not None

    @property
    def mends(self) -> bool:
        return self.changes or self.read_as_meant

    @property
    def changes(self) -> bool:
        """Whether it changes words, a variable or a file."""
        words = self.edits or self.program or self.file_edit or self.around
        return bool(words or self.sets or self.unsets) or self.drop_variable

    @property
    def dropped(self) -> frozenset[str]:
        """Variables that are left out."""
        return frozenset({*self.unsets, *([self.variable] if self.drop_variable and self.variable else [])})


def make_remark(
    severity: Severity,
    code: Code,
    where: str,
    message: str,
    remedy: str = "",
    *,
    at: int | None = None,
    edits: Iterable[Edit] = (),
    word: Word | None = None,
) -> Remark:
    return Remark(Finding(severity, code, where, message, remedy), at=at, edits=tuple(edits), word=word)


class Line(Struct, frozen=True):
    """A command to type, what is wrapped around the engine in front. `env` is what is set before it.

    `unresolved` are the names in it that only a shell can fill in: `MASTER_IP` of `$MASTER_IP`, `$(nproc)`.
    """

    env: Mapping[str, str]
    argv: tuple[str, ...]
    unresolved: frozenset[str] = frozenset()
    parts: frozenset[int] = frozenset()
    """Where in `argv` something else begins: the image, the program in the container."""


class Better(Struct, frozen=True):
    """`lines` of the whole deployment with what they buy."""

    why: str
    lines: tuple[Line, ...]
    memory: Memory
    edits: tuple[tuple[Edit, ...], ...] = ()
    """Of each command, beside what the remarks mend."""
    changes: tuple[tuple[str, str | None], ...] = ()
    """The same by our names of layout and settings, None for a switch."""


class Judged(Struct, frozen=True):
    """One deployment, or a client's command. What could not be deduced is None, and a remark says so.

    `sources` are its commands as they stand in the script; `commands` are the lines that these are, `corrected` the
    same with what the remarks mend.
    """

    engine: str
    version: str
    version_because: str
    remarks: tuple[Remark, ...]
    version_behind: str = ""
    """Of a build between two releases, the second one."""
    sources: tuple[Command, ...] = ()
    commands: tuple[Line, ...] = ()
    corrected: tuple[Line, ...] = ()
    corrected_files: tuple[HereFile, ...] = ()
    """The files that the corrected lines read, where the remarks mend something in them."""
    corrected_with: str = ""
    """What the corrected lines change besides, so that the deployment fits."""
    kind: str = "serve"
    """That of its group: serve, prefill, decode, router, client, ray, container; `report` of what a text without a
    command tells."""
    layout: Layout | None = None
    settings: Settings | None = None
    checkpoint: Checkpoint | None = None
    model_written: str = ""
    """What the command calls the model."""
    cluster: Cluster | None = None
    cluster_because: str = ""
    memory: Memory | None = None
    unjudged: str = ""
    """Why there is no `memory`."""
    unknown: frozenset[str] = frozenset()
    """Our names of those of layout and context that the command line leaves open."""
    refused: bool = False
    """Whether the engine's parser would not take the commands as they stand."""
    better: tuple[Better, ...] = ()
    alternatives: tuple[Judged, ...] = ()
    """What other branches of the same condition, or other passes of the same loop, start in its place."""

    @property
    def layout_words(self) -> str:
        """`TP8 DCP8`; what is left open is not in it."""
        if self.layout is None:
            return ""
        if self.unknown.isdisjoint(field_names(Layout)):
            return self.layout.words
        known = {name: size for name, size in as_dict(self.layout).items() if name not in self.unknown and size > 1}
        return " ".join([*(f"{name.upper()}{size}" for name, size in known.items()), "layout not known"])

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(remark.finding for remark in self.remarks)

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Those of its alternatives too."""
        return (*self.findings, *(finding for other in self.alternatives for finding in other.findings))

    def remarks_on(self, command: int) -> list[Remark]:
        """What is found in it, and what is changed in it because of another command."""
        own = [remark for remark in self.remarks if remark.command == command]
        carried = ((remark, edits) for remark in self.remarks for number, edits in remark.others if number == command)
        return own + [replace(remark, command=command, edits=edits, others=()) for remark, edits in carried]

    @property
    def fits(self) -> bool | None:
        """None: the model or the devices are unknown."""
        return None if self.memory is None else self.memory.fits

    @property
    def confidence(self) -> Confidence | None:
        if self.memory is None:
            return None
        return "measured" if self.memory.measured else confidence_of(self.memory)


def mended_line(command: Command, remarks: Sequence[Remark], edits: Sequence[Edit] = ()) -> Line:
    """With what the remarks say of it, and with more edits, which go first."""
    edits = [*edits, *(edit for remark in remarks for edit in remark.edits)]
    dropped = frozenset().union(*(remark.dropped for remark in remarks))
    sets = dict(pair for remark in remarks for pair in remark.sets)
    program = next((remark.program for remark in remarks if remark.program), ())
    around, own = _around(command)
    images = {wrapper.image for wrapper in command.wrappers if wrapper.image is not None}
    for place, words in (pair for remark in remarks for pair in remark.around):
        at_image = place in images
        around, own = (_replaced(part, place, words) for part in (around, own))
        images |= {Word(words[-1])} if at_image and words else set()
    places = {(word.line, word.column) for word in around}
    inside = command.container is not None and bool(around)
    env = {
        name: word.text.removeprefix(f"{name}=")
        for name, word in command.env.items()
        if name not in dropped and not inside and (word.line, word.column) not in places
    }
    around = _without(around, [word for name, word in command.env.items() if name in dropped])
    if inside and sets:
        around = _with_variables(around, sets, images)
    front = (*(word.text for word in around), *(program or (word.text for word in own)))
    if not inside:
        env |= sets
    if not front:
        env = {}  # arguments of an image, whose environment stands elsewhere
    arguments = mended([word.text for word in command.argv], edits)
    if not command.prefix and not command.wrappers:
        arguments = _model_first(arguments, front)
    return Line(
        env,
        (*front, *arguments),
        frozenset(command.unresolved) | {name for word in command.prefix for name in word.unresolved},
        frozenset({len(around), *(at for at, word in enumerate(around) if word in images)}),
    )


def _model_first(arguments: tuple[str, ...], program: Sequence[str]) -> tuple[str, ...]:
    """`vllm serve MODEL …` for flags without their program, which may have been those of `api_server --model MODEL`."""
    named = program_named(" ".join(program))
    if named is None or not named.positional_model:
        return arguments
    for at, word in enumerate(arguments):
        if word == "--model" and at + 1 < len(arguments):
            return (arguments[at + 1], *arguments[:at], *arguments[at + 2 :])
        if word.startswith("--model="):
            return (word.removeprefix("--model="), *arguments[:at], *arguments[at + 1 :])
    return arguments


def program_words(command: Command) -> tuple[str, ...]:
    """The words that name the program, without what is wrapped around it."""
    return tuple(word.text for word in _around(command)[1])


def _around(command: Command) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """What is wrapped around the program on the same line, and the words that name the program.

    A shell inside (`bash -c '…'`, `ssh`) has lines of its own: what is around it is left out.
    """
    for first in range(len(command.wrappers) + 1):
        words = tuple(word for wrapper in command.wrappers[first:] for word in wrapper.words)
        if command.prefix[: len(words)] == words:
            around, own = words, command.prefix[len(words) :]
            break
    if not own and not command.wrappers:
        # Flags that were written without their program.
        program = program_named(command.program)
        start = program.start if program and program.start else command.program
        return (), tuple(Word(text) for text in start.split())
    return (around if first == 0 else ()), own


def _without(words: Sequence[Word], dropped: Sequence[Word]) -> tuple[Word, ...]:
    """The words less those that set one of these variables, `-e NAME=value`."""
    places = {(word.line, word.column) for word in dropped}
    remaining: list[Word] = []
    for word in words:
        if not word.line or (word.line, word.column) not in places:
            remaining.append(word)
        elif remaining and remaining[-1].text in _SETS_ENV:
            remaining.pop()
    return tuple(remaining)


def _replaced(words: Sequence[Word], place: Word, texts: Sequence[str]) -> tuple[Word, ...]:
    """With these texts for a word; of those that are the same, the word stays."""
    return tuple(
        each
        for word in words
        for each in ([word if text == word.text else Word(text) for text in texts] if word == place else [word])
    )


def _with_variables(words: Sequence[Word], sets: Mapping[str, str], images: Collection[Word]) -> tuple[Word, ...]:
    """The words of a container with `-e NAME=value` before its image, or with another value where it is there."""
    texts = {name: f"{name}={value}" for name, value in sets.items()}
    placed = [replace(word, text=texts.pop(word.text.partition("=")[0], word.text)) for word in words]
    at = next((at for at, word in enumerate(placed) if word in images), 2)
    added = (Word(text) for more in texts.values() for text in ("-e", more))
    return (*placed[:at], *added, *placed[at:])


def mended(words: Sequence[str], edits: Sequence[Edit]) -> tuple[str, ...]:
    """The arguments with all edits in them. Of edits at one place the first counts, and another's where one mends the
    name of an option and the other its value; additions keep their order."""
    replaced: dict[int, Edit] = {}
    before: dict[int, tuple[str, ...]] = {}
    added: list[str] = []
    inside = [text for edit in edits if edit.at < len(words) for text in edit.words]
    for edit in edits:
        if edit.at >= len(words):
            if not _contains(added, edit.words) and not _contains(inside, edit.words):
                added += edit.words
        elif edit.length == 0:
            before.setdefault(edit.at, edit.words)
        else:
            replaced[edit.at] = _both(words, replaced.get(edit.at, edit), edit)
    result: list[str] = []
    at = 0
    while at < len(words):
        edit = replaced.get(at) or Edit(at, 1, (words[at],))
        result += (*before.get(at, ()), *edit.words)
        at += edit.length
    return (*result, *added)


def _both(words: Sequence[str], first: Edit, other: Edit) -> Edit:
    """The first edit, with the name or the value of the other where it changes only the other half."""
    name, value = _halves(words[first.at : first.at + first.length])
    (first_name, first_value), (other_name, other_value) = _halves(first.words), _halves(other.words)
    if first.length != other.length or not all((name, value, first_name, first_value, other_name, other_value)):
        return first
    if first_value == value and other_name == name:
        return replace(first, words=(first_name, other_value))
    if first_name == name and other_value == value:
        return replace(first, words=(other_name, first_value))
    return first


def _halves(words: Sequence[str]) -> tuple[str, str]:
    """Name and value of an option, "" where it is another thing."""
    if len(words) == 1:
        name, _, value = words[0].partition("=")
        return name, value
    return (words[0], words[1]) if len(words) == 2 else ("", "")


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    return any(tuple(words[at : at + len(part)]) == tuple(part) for at in range(len(words) - len(part) + 1))


def printable(text: str) -> str:
    """With control characters as escapes: text out of a script of others goes to a terminal."""
    return "".join(char if char.isprintable() else escape_of(char) for char in text)


def shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
