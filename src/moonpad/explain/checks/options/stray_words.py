"""Words that no option takes and that are not the model: the engine's parser refuses the whole command for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Reading
from moonpad.engines.foreign_names import WHOLE_HISTORY
from moonpad.engines.former_forms import FIRST_WITHOUT_TRUTHS, READS_TRUTHS, TRUTHS_TAKEN, WEIGHTS_FILE, WITHOUT_WORDS
from moonpad.engines.value_checks import unresolved
from moonpad.engines.vllm_read import OPENAI_MODULE
from moonpad.explain.checks.options.cut_lists import cut_list
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.meant_options import with_one_dash
from moonpad.explain.negated_options import OFF, ON, without_value
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.unknowns import LEFT_OUT
from moonpad.explain.value_forms import GLUED
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

NO_SUCH: Final = "takes no such argument"
_VARIABLE: Final = re.compile(r"([A-Z][A-Z0-9]*_[A-Z0-9_]+)=\S*", re.ASCII)
_OPTION_NAME: Final = re.compile(r"[a-z]+(?:[-_][a-z]+)+", re.ASCII)
_PART: Final = re.compile(r"\[(?P<flag>--?[A-Za-z][\w-]*)(?:=[^\]]*)?\]?")
_LONGEST_PART: Final = 4
_OPTIONAL: Final = re.compile(r"\[-{1,2}[\w<][^\]]*\]?|[^\[\]]*\]|\[(?:options|args|flags)\]", re.IGNORECASE)
"""`[--your-flags]`, as a usage writes what may be left out."""
_PROSE: Final = frozenset("，。；：！？、（）")
_GOES_ON: Final = frozenset(
    """
    and but then because when while which where so it i on with after before or since although though however gives
    fails crashes dies hangs works returns gets for in from under using got gave throws raises runs stops says
    """.split()  # noqa: SIM905
)
"""Words with which a sentence goes on behind a command."""
_WORD_OF_TEXT: Final = re.compile(r"[(\[]?[A-Za-z\d][\w'’.×/+-]*[)\]]?[,.;:?!]{0,3}|[-–—&+]")
_OF_LANGUAGE: Final = re.compile(r"[^/=:\\{}$<>-][^/=\\{}$<>]*")
"""A word that holds no path, setting or place to fill in."""
_FEW: Final = 2
_LONGEST_SENTENCE: Final = 200
"""Words of one: each of a hundred thousand stray words is looked at, and not all behind each."""


def stray_remarks(
    command: Command, reading: Reading, book: Rulebook, version: str, *, document: bool
) -> Iterator[Remark]:
    """An error for the first of them, in a document a warning: a sentence may go on there. Nothing is said where the
    release is not recorded or not known (`version` ""), or behind an unknown option, whose value it may be."""
    named = bool(version)
    yield from _optional_part(command, reading, book)
    slips = list(_slips(command, reading, book))
    yield from slips
    if slips:
        return
    if not named and book.program not in WHOLE_HISTORY | WITHOUT_WORDS.keys():
        yield from _truths(command, reading, book, version)
        return
    severity = Severity.WARNING if document or is_fragment(command) else Severity.ERROR
    foreign = any(option.flag is None for option in reading.parsed.occurrences)
    if not book.options.exact:
        yield from _truths(command, reading, book, version)
        return
    severity = Severity.WARNING if foreign or not (named or book.program in WHOLE_HISTORY) else severity
    if any(isinstance(option.value, str) and GLUED.fullmatch(option.value) for option in reading.parsed.occurrences):
        return  # it is the value of the option that is glued to another's
    for at, text in reading.parsed.positionals:
        if text.startswith(("{%", "{#", "%%", "++")):
            return  # a template's own words, or a setting of Hydra, `++trainer.nodes=2`: another program reads them
        if text in LEFT_OUT:
            return  # what the text leaves out, and goes on about
        if _OPTIONAL.fullmatch(text) or text == "\\":
            continue  # a backslash that joins lines for what reads the file that a shell writes
        if text[:1] in _PROSE or _goes_on(command, at) or _is_of_language(command, at):
            yield from _sentence(command, reading, at)
            return
        is_word = at < len(command.argv) and not command.argv[at].unresolved and not unresolved(text)
        switch = _switch_before(reading, book, at) if text.casefold() in ON | OFF else None
        if foreign and switch is None and not _behind_known(reading, book, at):
            continue
        if command.fork and switch is None and _switch_before(reading, book, at) is not None:
            continue  # a fork may have a value there, `--webui llamacpp`
        if text in reading.unknown and is_word and text.strip():
            if switch is not None:
                sure = named and text.casefold() in ("true", "false") and not (foreign or is_fragment(command))
                yield _of_switch(Severity.ERROR if sure else severity, switch, command, book, at)
                return
            message, remedy, edits = "it is neither an option nor the value of one", "leave it out", []
            if book.options.named(flag := f"--{text}") is not None:
                message, remedy = "the option of that name lacks its dashes", f"write {flag}"
                edits = [Edit(at, 1, (flag,))]
            cut = cut_list(command, reading, at)
            if cut is not None:
                message = (
                    f"{NO_SUCH}: {shortened(text)}: a blank behind a comma ends the value, and the rest of the list"
                )
                message = f"{book.label} {message} is taken for arguments"
                place, edits = cut
                where, code = place.written, Code.INVALID_VALUE
                remedy = "write the list without blanks"
                yield make_remark(severity, code, where, message, remedy, at=place.index, edits=edits)
                return
            model = WITHOUT_WORDS.get(book.program)
            if model is not None and WEIGHTS_FILE.fullmatch(text) and not reading.model:
                message, remedy = "the file of the weights stands behind no option", f"write {model} {text}"
                edits = [Edit(at, 1, (model, text))]
            message, where, code = f"{book.label} {NO_SUCH}: {message}", shortened(text), Code.INVALID_VALUE
            yield make_remark(severity, code, where, message, remedy, at=at, edits=edits)
            return


def _optional_part(command: Command, reading: Reading, book: Rulebook) -> Iterator[Remark]:
    """`[-tp 2]`, an option that may be given: the judgement is of the command without it."""
    words = [word.text for word in command.argv]
    for at, text in reading.parsed.positionals:
        part = _PART.match(text)
        if part is None or book.options.named(part["flag"]) is None:
            continue
        end = next((place for place in range(at, min(at + _LONGEST_PART, len(words))) if "]" in words[place]), at)
        shown = shortened(" ".join(words[at : end + 1]))
        message = f"{shown} is a part that may be left out, and is judged as left out: the brackets are not typed"
        yield make_remark(
            Severity.NOTE, Code.INVALID_VALUE, shown, message, "type it without the brackets, or not at all"
        )
        return


def _truths(command: Command, reading: Reading, book: Rulebook, version: str) -> Iterator[Remark]:
    """`true` behind a switch, which no release of a program of our record has taken otherwise: an error from the first
    release on whose parser surely refuses it, behind a model that stands first."""
    first = FIRST_WITHOUT_TRUTHS.get(book.program, "")
    sure = bool(first and version) and since(version, first) and not is_fragment(command)
    severity = Severity.ERROR if sure else Severity.WARNING
    for at, text in reading.parsed.positionals:
        if text.casefold() not in ON | OFF or text not in reading.unknown or at >= len(command.argv):
            continue
        switch = _switch_before(reading, book, at)
        if switch is not None and _took_truths(book.program, switch, version):
            continue
        if switch is not None and book.program not in READS_TRUTHS and not command.argv[at].unresolved:
            yield _of_switch(severity, switch, command, book, at)
            return


def _took_truths(program: str, switch: Occurrence, version: str) -> bool:
    taken = TRUTHS_TAKEN.get((program, switch.flag or ""))
    return taken is not None and bool(version) and since(taken[0], version)


def _behind_known(reading: Reading, book: Rulebook, at: int) -> bool:
    """Whether the option in front of a word is known, and has its one value: the word is not a further one."""
    place = next((option for option in reading.parsed.occurrences if option.index + option.length == at), None)
    known = book.options.named(place.flag) if place is not None and place.flag else None
    return place is not None and known is not None and place.length == 2 and known.nargs == "1"


def _switch_before(reading: Reading, book: Rulebook, at: int) -> Occurrence | None:
    """The option in front of a word, where it is a switch, which takes no value."""
    place = next((option for option in reading.parsed.occurrences if option.index + option.length == at), None)
    known = book.options.named(place.flag) if place is not None and place.flag else None
    return place if known is not None and known.kind == "flag" and known.nargs != "?" else None


def _of_switch(severity: Severity, switch: Occurrence, command: Command, book: Rulebook, at: int) -> Remark:
    """`--enforce-eager true`: the word is left over."""
    word = command.argv[at]
    written = shortened(word.text, 40)
    message = f"a switch, which takes no value: {written} is left over, and the parser refuses it"
    if any(each.text == OPENAI_MODULE for each in command.prefix):
        severity, message = (
            Severity.WARNING,
            (
                f"a switch, which takes no value: newer releases take {written} for a model's name and pass it over, so"
                " that the switch is on; older ones refuse it"
            ),
        )
    where, at = switch.written, switch.index
    remedy, edits = without_value(where, word.text, book, at, switch.length + 1)
    return make_remark(severity, Code.INVALID_VALUE, where, message, remedy, at=at, edits=edits)


def _slips(command: Command, reading: Reading, book: Rulebook) -> Iterator[Remark]:
    """A variable behind the program, and a long option with one dash, which the parser takes for a short one."""
    foreign = any(option.flag is None and option.problem == "unknown" for option in reading.parsed.occurrences)
    strays = {at for at, text in reading.parsed.positionals if text in reading.unknown and not foreign}
    listed = {
        at: option.written
        for option in reading.parsed.occurrences
        # Not of `--lora-modules MY_NAME=/folder`.
        if isinstance(option.value, tuple) and option.value and "=" not in option.value[0]
        for at in range(option.index + 2, option.index + option.length)
    }
    for at, word in enumerate(command.argv):
        if at in strays and (variable := _VARIABLE.fullmatch(word.text)) and not word.unresolved:
            message = "it stands behind the program, where it is an argument that nothing takes, and sets nothing"
            remedy = "write it in front of the program, or export it"
            where = variable[1]
            yield make_remark(
                Severity.ERROR, Code.INVALID_VALUE, where, message, remedy, at=at, edits=[Edit(at, 1, ())]
            )
        elif at in listed and (variable := _VARIABLE.fullmatch(word.text)) and not word.unresolved:
            message = f"it stands among the values of {listed[at]}, where it is one of them, and sets nothing"
            remedy = "write it in front of the program, or export it"
            edits = [Edit(at, 1, ())]
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, variable[1], message, remedy, at=at, edits=edits)
        alone = at in strays and at - 1 not in strays  # `instead of reasoning-parser` is a sentence
        if alone and at:
            yield from _without_dashes(word, at, book)
        name = "" if word.unresolved else with_one_dash(word.text, book)[2:]
        if not name:
            continue
        letter = f"-{name[0]}"
        read = f"reads {letter} with the value {name[1:]}, or nothing" if book.options.named(letter) else "refuses it"
        message = f"with one dash it is not --{name}: the parser {read}"
        edit = Edit(at, 1, (f"-{word.text}",))
        where = word.text.partition("=")[0]
        severity = Severity.WARNING if command.fork else Severity.ERROR  # what a fork reads is not recorded
        yield make_remark(severity, Code.INVALID_VALUE, where, message, f"write -{where}", at=at, edits=[edit])


def _without_dashes(word: Word, at: int, book: Rulebook) -> Iterator[Remark]:
    """`reasoning-parser`, or `trust_remote_code=True` as Python writes it."""
    name, equals, value = word.text.partition("=")
    bare = f"--{name.replace('_', '-')}"
    option = book.options.named(bare) if _OPTION_NAME.fullmatch(name) else None
    if option is None or (equals and word.unresolved):
        return
    written: tuple[str, ...] = (bare, value) if equals else (bare,)
    if equals and option.kind == "flag" and option.nargs != "?":
        _, instead = without_value(bare, value, book, at, 1)
        written = instead[0].words if instead else (bare,)
    message = "the option of that name lacks its dashes, so that the parser refuses the word"
    remedy = f"write {shortened(' '.join(written))}" if written else "leave it out"
    where, edits = shortened(word.text), [Edit(at, 1, written)]
    yield make_remark(Severity.ERROR, Code.INVALID_VALUE, where, message, remedy, at=at, edits=edits)


def _goes_on(command: Command, at: int) -> bool:
    """`--port 8000 and it dies after loading`: words of a sentence, and no option behind them."""
    if len(command.argv) - at < _FEW or command.argv[at].text.casefold() not in _GOES_ON:
        return False
    behind = [word.text for word in command.argv[at : at + _LONGEST_SENTENCE]]
    return all(map(_WORD_OF_TEXT.fullmatch, behind[: 2 * _FEW])) and not any(text.startswith("-") for text in behind)


def _is_of_language(command: Command, at: int) -> bool:
    """`--port 8000 启动的时候报错`, `--port 8000 NCCL 报错`: words of a language that is not written in the letters of
    options, and no option behind them."""
    behind = [word.text for word in command.argv[at : at + _LONGEST_SENTENCE]]
    if not behind or any(text.startswith("-") for text in behind) or not _OF_LANGUAGE.fullmatch(behind[0]):
        return False
    return any(sign.isalpha() and not sign.isascii() for text in behind for sign in text[:_LONGEST_SENTENCE])


def _sentence(command: Command, reading: Reading, at: int) -> Iterator[Remark]:
    """A sentence goes on behind the command: what is corrected ends before it."""
    if at == 0 or any(option.index >= at for option in reading.parsed.occurrences):
        return
    where, message = shortened(command.argv[at].text), "from here on it is a sentence, and no argument of the command"
    edits = [Edit(at, len(command.argv) - at, ())]
    yield make_remark(Severity.NOTE, Code.INVALID_VALUE, where, message, "leave it out", at=at, edits=edits)
