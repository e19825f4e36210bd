"""What `explain` found: remarks at words of a command line, the command mended, and better ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final

from msgspec import Struct

from moonpad.engines.foreign_names import PREFILL_WAYS
from moonpad.explain.commands import Command, HereFile, Word
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.plan_answer import Confidence, confidence_of
from moonpad.values.records import as_dict, field_names, replace
from moonpad.values.visible_text import escape_of

FILL_IN: Final = "fill it in"
"""The remedy for a value that stands for another one: the command cannot be used with it."""
NONE_GIVEN: Final = "none is given"
"""The beginning of what is said of the number of devices where the command says none."""


_GROUP: Final = frozenset({"--tp", "--tp-size", "--tp_size", "--tensor-parallel-size"})


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

    by_itself: bool = False
    """An error of a log that no row knows, by its own words or its kind: a finding that tells its cause replaces it."""
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

    of_some: bool = False
    """It spoils requests of one kind alone: what its remedy would take out stays in the corrected command."""

    either: bool = False
    """A failure of this command or of another one above it: the log does not say of which."""

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
    but: tuple[Finding, ...] = ()
    """What is known of it in the release that runs, or in those that may, and was mended in a later one."""


class Judged(Struct, frozen=True):
    """One deployment, or a client's command. What could not be deduced is None, and a remark says so.

    `sources` are its commands as they stand in the script; `commands` are the lines that these are, `corrected` the
    same with what the remarks mend.
    """

    engine: str
    version: str
    """Of the engine, or of its `program` where that has releases of its own."""
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
    program: str = ""
    """A router of the engine, `sglang-router`; "" for its server."""
    kind: str = "serve"
    """That of its group: serve, prefill, decode, router, client, ray, container; `report` of what a text without a
    command tells; `rollout` of the engine inside of a trainer."""
    layout: Layout | None = None
    settings: Settings | None = None
    checkpoint: Checkpoint | None = None
    model_written: str = ""
    """What the command calls the model."""
    model_folder: str = ""
    """The last part of a path that is known in part alone: `Moonlight-16B-A3B` of `$ROOT/Moonlight-16B-A3B`."""
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
        """`TP8 DCP8`; what is left open is not in it. Ranks of prefill context parallelism share the experts too."""
        if self.layout is None:
            return ""
        if self.unknown.isdisjoint(field_names(Layout)):
            ways = self.prefill_ways
            whole = replace(self.layout, ep=self.layout.ep * ways) if self.layout.ep > 1 else self.layout
            shared = self._group_of_attention
            of_attention = [f"(attention, within TP{shared})"] if shared else []
            return " ".join([whole.words, *([f"PCP{ways}"] if ways > 1 else []), *of_attention])
        known = {name: size for name, size in as_dict(self.layout).items() if name not in self.unknown and size > 1}
        return " ".join([*(f"{name.upper()}{size}" for name, size in known.items()), "layout not known"])

    @property
    def _group_of_attention(self) -> int:
        """The tensor parallel group as it is written, within which an engine splits attention alone into data parallel
        ranks, `--tp-size 8 --dp-size 8 --enable-dp-attention`; 0 where there is no such."""
        if self.layout is None or self.layout.dp == 1:
            return 0
        words = [word.text for word in self.sources[0].argv] if self.sources else []
        given = [after for word, after in pairwise(words) if word in _GROUP]
        given += [word.partition("=")[2] for word in words if word.partition("=")[0] in _GROUP and "=" in word]
        written = int(given[-1]) if given and given[-1].isdecimal() and len(given[-1]) < 5 else 0
        return written if written == self.layout.tp * self.layout.dp > self.layout.tp else 0

    @property
    def prefill_ways(self) -> int:
        """Ranks beside those of the layout, which take the parts of a prompt."""
        words = [word.text for word in self.sources[0].argv] if self.sources else []
        given = [after for word, after in pairwise(words) if word in PREFILL_WAYS]
        given += [word.partition("=")[2] for word in words if word.partition("=")[0] in PREFILL_WAYS and "=" in word]
        return int(given[-1]) if given and given[-1].isdecimal() and len(given[-1]) < 4 else 1

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
        """Decode context parallelism gathers queries and sums of attention in buffers that no measured start has, and
        ran out of memory where much was left (https://github.com/SemiAnalysisAI/InferenceX/pull/2228)."""
        if self.memory is None:
            return None
        confidence = "measured" if self.memory.measured else confidence_of(self.memory)
        shared = self.layout is not None and self.layout.dcp > 1
        return "likely" if shared and confidence == "sure" else confidence


def printable(text: str) -> str:
    """With control characters as escapes: text out of a script of others goes to a terminal."""
    return "".join(char if char.isprintable() else escape_of(char) for char in text)


def shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
