"""The program, its options, its variables and its files against what the engine knew in that version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from moonpad.catalog.known_variables import library_variables
from moonpad.catalog.options import Change, known_environment, releases_with, versions
from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.engines.foreign_names import EMPTY_IS_NONE, NEVER_EMPTY, OWN_VARIABLES
from moonpad.engines.former_forms import as_object, former_switch
from moonpad.engines.option_grammar import SHORT_SIZES
from moonpad.engines.value_checks import unresolved
from moonpad.explain.accepted_options import ASK, EMPTY
from moonpad.explain.change_edits import (
    TAKES_FROM,
    change_edits,
    given_to_key,
    is_newer_than_meant,
    keys_of_variables,
    option_of_variable,
    respelled,
    said_of_change,
    was_refused_before,
    which_read_it,
)
from moonpad.explain.commands import HereFile, Word
from moonpad.explain.foreign_options import foreign_remark, of_another_engine
from moonpad.explain.former_flags import right_later, said_of_older, said_today
from moonpad.explain.input_limits import Budget
from moonpad.explain.longer_names import with_one_word_more
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.meeting_options import meeting_remarks
from moonpad.explain.misspelt_options import misspelt_remarks
from moonpad.explain.misspelt_variables import counts_on, under_name, with_meant_name
from moonpad.explain.nearest_names import RENAMED, alike_first, declared_like, name_meant, nearest_name
from moonpad.explain.negated_options import switched_off, without_value
from moonpad.explain.programs import program_named
from moonpad.explain.releases_taking import later_taking, later_with
from moonpad.explain.results import FILL_IN, Edit, FileEdit, Remark, make_remark, shortened
from moonpad.explain.slipped_variables import slips_in
from moonpad.explain.spelling import is_size
from moonpad.explain.types_and_formats import is_format_of_weights, read_from_weights
from moonpad.explain.unknowns import is_cut_off
from moonpad.explain.value_forms import COLON, GLUED, STANDS_IN, numbers_apart, what_it_takes
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_CODES: Mapping[str, tuple[Code, Severity]] = {
    "removed": (Code.REMOVED_FLAG, Severity.ERROR),
    "renamed": (Code.RENAMED_FLAG, Severity.WARNING),
    "deprecated": (Code.RENAMED_FLAG, Severity.WARNING),
    "redundant": (Code.REDUNDANT_FLAG, Severity.NOTE),
    "ambiguous": (Code.PREFIX_FLAG, Severity.ERROR),
    "prefix": (Code.PREFIX_FLAG, Severity.WARNING),
    "invalid-value": (Code.INVALID_VALUE, Severity.ERROR),
    "no-option": (Code.UNKNOWN_FLAG, Severity.ERROR),
    "dead-env": (Code.DEAD_ENV, Severity.WARNING),
}
"""What a change of the catalogue is to a person. The kinds that are not here are judged elsewhere."""
_NAMED_BY: Mapping[str, str] = {"--tool-parser-plugin": "--tool-call-parser"}


# --- options ---


def flag_remarks(
    words: Sequence[str], parsed: Parsed, book: Rulebook, budget: Budget | None = None
) -> Iterator[Remark]:
    """Findings for each option as it was written among the words. Raises UsageError when the budget is spent."""
    taken = set(_taken_over(parsed, book))
    for remark in _flag_remarks(words, parsed, book, budget or Budget()):
        yield replace(remark, edits=()) if remark.at in taken else remark


def _taken_over(parsed: Parsed, book: Rulebook) -> Iterator[int]:
    """Places of options whose values go to another one: their own names are mended with it."""
    for flag, source in TAKES_FROM.items():
        given = parsed.occurrence(source)
        renamed = book.named and any(change.flag == flag and change.kind in _CODES and change.to for change in book.now)
        if renamed and given is not None and parsed.occurrence(flag) is not None:
            yield given.index


def _flag_remarks(words: Sequence[str], parsed: Parsed, book: Rulebook, budget: Budget) -> Iterator[Remark]:
    for option in parsed.occurrences:
        budget.work(20, "its flags")
        if option.problem == "unknown" and COLON.fullmatch(option.written):
            continue  # said by `colon_for_blank`
        spelled_wrong = option.problem == "unknown" and bool(option.matches)
        if not spelled_wrong and (change := change_of(option, book.now)) is not None:
            yield from _changed(words, option, change, parsed, book)
            yield from _of_several(option, book)
        elif option.problem is not None and not _is_of_starter(option, book.program):
            met = tuple(meeting_remarks(words, option, parsed, book))
            yield from met or _problem(words, option, book, budget)
        elif (change := change_of(option, book.later)) is not None:
            source = TAKES_FROM.get(change.flag)
            if source is not None and book.named and parsed.occurrence(source) is None:
                continue  # without what the new name would take its number from it does nothing
            message = book.has_until(change, option.written)
            code, _ = _CODES[change.kind]
            yield make_remark(Severity.NOTE, code, option.written, message, change.remedy, at=option.index)


def _is_of_starter(option: Occurrence, program: str) -> bool:
    named = program_named(program)
    return named is not None and named.is_of_starter(option.written)


def change_of(option: Occurrence, changes: Sequence[Change]) -> Change | None:
    """The one that speaks of it, by its value first. What takes the place of one switched off would be the opposite."""
    named = {option.written, option.written.replace("_", "-")}
    others = [] if option.value is False else [option.flag]
    fitting = [each for each in changes if each.flag in (*named, *others) and each.kind in _CODES]
    exact = [change for change in fitting if change.value and change.value == option.value]
    return next(iter(exact or [change for change in fitting if not change.value]), None)


def _changed(
    words: Sequence[str], option: Occurrence, change: Change, parsed: Parsed, book: Rulebook
) -> Iterator[Remark]:
    if change.kind in ("renamed", "deprecated", "prefix") and option.flag == option.written != change.flag:
        return  # written in the new way, of which the old one is an alias
    if change.apart and "=" in words[option.index]:
        return
    code, severity = _CODES[change.kind]
    if code is Code.UNKNOWN_FLAG and book.options.named(option.written) is not None:
        code = Code.REMOVED_FLAG  # the parser has it, and the program refuses it by name
    if change.kind == "prefix" and option.written in SHORT_SIZES:
        severity = Severity.NOTE  # what nearly every command has, and this release takes
    if was_refused_before(change, book):
        severity = Severity.WARNING
    edits = tuple(change_edits(words, option, change, parsed, book))
    message, remedy = said_of_change(option, change, parsed)
    if is_newer_than_meant(option, change, book):  # the newest takes the former name still, older ones no other
        message, edits = f"{message.removesuffix('.')} since {change.since}{'.' * message.endswith('.')}", ()
        remedy = remedy.replace(f"add {change.to[0]} ", f"add {TAKES_FROM.get(change.flag, change.to[0])} ")
        if remedy == change.remedy:
            severity, remedy = Severity.NOTE, f"{remedy.rstrip('.')}, where the release is {change.since} or later."
    yield make_remark(severity, code, option.written, message, remedy, at=option.index, edits=edits)


def _named_by(whole: str, option: Occurrence, book: Rulebook) -> str | None:
    """The option that a name is for, where it stands behind the beginning of one for files."""
    named = _NAMED_BY.get(whole, "")
    is_name = re.fullmatch(r"[a-z]\w*", str(option.value)) is not None
    return named if is_name and book.options.named(named) is not None else None


def _of_several(option: Occurrence, book: Rulebook) -> Iterator[Remark]:
    """`1,2,4` of an option that is gone, and of which those that came in its place take numbers with blanks between."""
    given = " ".join(option.value) if isinstance(option.value, tuple) else str(option.value)
    longer = (each for each in book.options.options if each.names[0].startswith(f"{option.written}-"))
    if apart := next((found for each in longer if (found := numbers_apart(each.kind, each.nargs, given))), ()):
        message, remedy = f'{option.written} does not take "{shortened(given)}"', f"write {' '.join(apart)} behind it"
        remedy += ", with blanks between the numbers"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, option.written, message, remedy, at=option.index)


def _problem(words: Sequence[str], option: Occurrence, book: Rulebook, budget: Budget) -> Iterator[Remark]:
    """What the parser of that version refuses; nothing where the version in question may take it."""
    if not book.options.exact and right_later(option, book):
        return
    error = partial(make_remark, Severity.ERROR, at=option.index)
    warning = partial(make_remark, Severity.WARNING, at=option.index)
    written = option.written
    if is_cut_off(written):
        return
    remark = said_today(words, option, book) or said_of_older(words, option, book) or switched_off(option, book)
    if remark is not None:
        yield remark
        return
    match option.problem:
        case "unknown" if option.matches:
            yield from misspelt_remarks(words, option, book)
        case "unknown" if (foreign := of_another_engine(written, book)) is not None:
            yield foreign_remark(words, option, book, foreign)
        case "unknown":
            negated = written.startswith(("--no-", "--no_"))  # only then is a name that switches off meant
            names = [
                name for known in book.options.options for name in (known.negations if negated else ()) + known.names
            ]
            had = releases_with(book.program, written)  # then it is an option that is gone, and no slip
            sure = book.options.exact or (book.is_between and not had)
            alike = 0.7 if sure else 0.85  # an older release may have had one of that very name
            near = None if had or is_size(written) else nearest_name(written, names, alike, book, budget)
            meant = name_meant(near, option, book) if near is not None else None
            of_file = (respelled(words, option, meant),) if meant is not None and meant != near else ()
            hint = f"did you mean {meant}?" if meant else "leave it out"
            if later := later_with(option, book):
                hint = f"take {later}, which has it, or leave it out"
            if sure:
                made, label = warning if _is_rebuilt(later, book) else error, book.meant or book.label
                yield made(Code.UNKNOWN_FLAG, written, f"{label} has no {written}", hint, edits=of_file)
            else:
                message = f"{written} is not among the options of the nearest version recorded ({book.label})"
                yield make_remark(Severity.NOTE, Code.UNKNOWN_FLAG, written, message, f"{ASK}{hint}", at=option.index)
        case "prefix":
            whole = option.matches[0] if option.matches else option.flag or ""
            if (named := _named_by(whole, option, book)) is not None:
                message = (
                    f"{written} is taken for {whole}, which wants a file of Python; the parser is named by {named}"
                )
                code, remedy, edit = Code.PREFIX_FLAG, f"write {named} {option.value}", respelled(words, option, named)
                yield make_remark(Severity.WARNING, code, written, message, remedy, at=option.index, edits=[edit])
                return
            edit = respelled(words, option, whole)
            if not book.options.exact:  # an older release may have had an option of this very name
                message = f"{written} is not among the options of the nearest version recorded ({book.label}), "
                message += f"which takes it for {whole}"
                remedy = f"{ASK}write {whole} where that is meant"
                yield make_remark(Severity.NOTE, Code.PREFIX_FLAG, written, message, remedy, at=option.index)
                return
            message = f"{written} is only the beginning of {whole}: it breaks when an option is added"
            code, remedy = Code.PREFIX_FLAG, f"write {whole}"
            severity = Severity.NOTE if written in SHORT_SIZES and whole == f"{written}-size" else Severity.WARNING
            yield make_remark(severity, code, written, message, remedy, at=option.index, edits=[edit])
        case "ambiguous":
            several = ", ".join(option.matches[:6])
            message = f"{written} is the beginning of several options"
            if len(option.matches) == 1:  # the one that is meant
                edits = [respelled(words, option, several)]
                message += ": the parser refuses it"
                yield error(Code.PREFIX_FLAG, written, message, f"write {several}", edits=edits)
                return
            yield error(Code.PREFIX_FLAG, written, f"{message}: {several}", f"write one of {several}")
        case "missing-value":
            given = former_switch(book.program, option.names)
            with_it = [Edit(option.index, 1, (written, given))] if given and words[option.index] == written else []
            message, remedy = f"{written} needs a value", f"write {written} {given}" if given else "give it one"
            yield error(Code.INVALID_VALUE, written, message, remedy, edits=with_it)
        case "unexpected-value":
            given = words[option.index].partition("=")[2]
            remedy, edits = without_value(option.flag or written, given, book, option.index, option.length)
            yield error(Code.INVALID_VALUE, written, f"{written} takes no value", remedy, edits=edits)
        case "invalid-value":
            given = " ".join(option.value) if isinstance(option.value, tuple) else str(option.value)
            known = book.options.named(option.flag) if option.flag else None
            if (glued := GLUED.fullmatch(given)) and book.options.named(glued[2]) is not None:
                message = f"{written}: a blank is missing between {shortened(glued[1])} and {glued[2]}"
                edit = Edit(option.index, option.length, (written, glued[1], glued[2]))
                yield replace(error(Code.INVALID_VALUE, written, message, "add it"), edits=(edit,))
                return
            if STANDS_IN.fullmatch(given):
                of_number = len(given) == 1 or (known is not None and known.kind in ("int", "float"))
                what = "a number" if of_number else "a value"
                message, hint = f"{written}: {given} stands for {what}", FILL_IN
                yield warning(Code.INVALID_VALUE, written, message, hint)
                return
            if not given.strip():
                message, hint = f"{written}{EMPTY}", "set the variable that it stands for"
                asked = book.program not in EMPTY_IS_NONE or option.flag in NEVER_EMPTY
                severity = Severity.WARNING if asked else Severity.NOTE
                yield make_remark(severity, Code.INVALID_VALUE, written, message, hint, at=option.index)
                return
            message = f'{written} does not take "{shortened(given)}"'
            if is_format_of_weights(option, given):
                remedy, without = read_from_weights(option, words)
                yield error(Code.INVALID_VALUE, written, message, remedy, edits=without)
                return
            if known is not None and known.kind == "json" and (whole := as_object(given)):
                mended = [] if unresolved(given) else [Edit(option.index, option.length, (written, whole))]
                as_json = whole if unresolved(given) else f"'{whole}'"
                yield error(Code.INVALID_VALUE, written, message, f"write it as JSON: {as_json}", edits=mended)
                return
            if known is not None and (apart := numbers_apart(known.kind, known.nargs, given)):
                edit = Edit(option.index, option.length, (written, *apart))
                remedy = f"write {written} {' '.join(apart)}, with blanks between the numbers"
                yield error(Code.INVALID_VALUE, written, message, remedy, edits=[edit])
                return
            remedy = "ask the engine's --help" if known is None else what_it_takes(known.kind, given)
            if known is not None and known.choices and not book.before_all:
                remedy = f"one of {', '.join(alike_first(given, known.choices, 12))}"
            if later := later_taking(option, book):
                remedy = f"take {later}, which takes it" + ("" if book.before_all else f", or {remedy}")
            words = (written, remedy.removeprefix("write ").partition(":")[0])
            edits = [Edit(option.index, option.length, words)] if remedy.startswith("write ") else []
            made = warning if _is_rebuilt(later, book) else error
            yield made(Code.INVALID_VALUE, written, message, remedy, edits=edits)


def _is_rebuilt(later: str, book: Rulebook) -> bool:
    """Whether what lacks came with a later build of the same number, which is called by that number too: `0.5.3` of one
    who runs 0.5.3.post3."""
    return later.startswith(f"{book.label}.post")


# --- variables, files, programs ---


def env_remarks(
    variables: Mapping[str, Word],
    book: Rulebook,
    budget: Budget | None = None,
    argv: Sequence[Word] = (),
    *,
    named: bool = True,
) -> Iterator[Remark]:
    """Variables that nothing reads any more, and those that are all but a name that the engine declares. What an
    option sets now is added to the arguments. `named`: the release is; where it is not, those that read a variable
    are named."""
    dead = {change.flag: change for change in book.now if change.kind == "dead-env"}
    declared = known_environment(book.program, book.options.version)
    budget = budget or Budget()
    libraries = library_variables()
    alike: dict[str, list[str]] = {}
    for known in sorted(declared | libraries):
        alike.setdefault(known.partition("_")[0], []).append(known)
    edits: tuple[Edit, ...] = ()
    slips, keys = slips_in(variables, declared | libraries, book, argv)
    for name in variables:
        if name in slips:
            yield slips[name]
        elif (change := dead.get(name)) is not None:
            message = change.message if named else which_read_it(change, book)
            finding = Finding(Severity.WARNING, Code.DEAD_ENV, name, message, change.remedy)
            edits = option_of_variable(change, variables[name], book, argv)
            yield Remark(finding, variable=name, drop_variable=True, edits=edits)
        elif name not in declared and name not in libraries and (having := _having(name, book.program, budget)):
            message = f"{book.label} does not read this variable, which {having[0]} to {having[-1]} do"
            near = nearest_name(name, sorted(declared), RENAMED, book, budget)
            if near is not None and not set(name.split("_")) < set(near.split("_")):
                near = None  # another word is another thing
            longer = with_one_word_more(name, declared)
            near = near or longer
            remedy = f"did you mean {near}?" if near else "with this release leave it out"
            edits = ()
            if key := keys[name]:
                option, _, path = key.partition(".")
                value = given_to_key(key, variables[name], argv)
                remedy = f"write {path}{value.written} in {option}"
                message += value.against
                edits = keys_of_variables(name, keys, variables, argv)
            finding = Finding(Severity.WARNING if near or key else Severity.NOTE, Code.DEAD_ENV, name, message, remedy)
            remark = Remark(finding, variable=name, drop_variable=bool(edits), edits=edits)
            yield remark if longer is None or longer != near or key else under_name(remark, longer, variables)
        elif (
            name not in declared
            and name not in libraries
            and (near := declared_like(name, alike, book, budget))
            and not counts_on(name, near)
        ):
            message = f"{book.label} declares no such variable, and ignores it without a warning"
            if near in libraries:
                message = "no library that moonpad knows reads this variable: it is ignored without a warning"
            finding = Finding(Severity.WARNING, Code.DEAD_ENV, name, message, f"did you mean {near}?")
            known_names = sorted(declared | libraries)
            yield with_meant_name(Remark(finding, variable=name), near, variables, known_names)


def _having(name: str, program: str, budget: Budget) -> list[str]:
    """The recorded releases that declare it, of a variable of the engine's own: a library reads its own itself."""
    if not name.startswith(OWN_VARIABLES):
        return []
    budget.work(20, "its variables")
    return [version for version in versions(program) if name in known_environment(program, version)]


def file_remarks(
    parsed: Parsed, files: Mapping[str, HereFile], book: Rulebook, budget: Budget, *, named: bool
) -> Iterator[Remark]:
    """Keys of the YAML files that the command names, as the script writes them. Such a change is called `table.key`, or
    `key` where it is of no table. `named`: the release is; a release before the change may be meant where it is not."""
    values = {option.value for option in parsed.occurrences if option.value}
    for file in (file for path, file in files.items() if path in values):
        for change in (*book.now, *book.later):
            budget.work(1 + ("." in change.flag) * len(file.text) // 20, "its files")
            place = _key(file, change.flag)
            if place is None or change.kind not in _CODES:
                continue
            (code, severity), message = _CODES[change.kind], change.message
            if change not in book.now:
                severity, message = Severity.NOTE, book.has_until(change, "it")
            elif change.kind in ("renamed", "removed"):
                # Unlike an option, a key under its former name is refused.
                severity = Severity.ERROR if named else Severity.WARNING
            where = f"{file.path.rpartition('/')[2]}: {change.flag}"
            remark = make_remark(severity, code, where, message, change.remedy, word=place)
            if change in book.now and len(change.to) == 1 and "." in change.flag:
                remark = replace(remark, file_edit=FileEdit(file, place, change.to[0].rpartition(".")[2]))
            yield remark


def _key(file: HereFile, flag: str) -> Word | None:
    """Where the key of a table stands in a file, or one of no table at the beginning of a line."""
    table, dot, key = flag.partition(".")
    if not dot:
        lines = enumerate(file.text.split("\n") if flag.isidentifier() and flag.islower() else (), file.line)
        return next((Word(flag, at, 0, at, len(flag)) for at, line in lines if line.startswith(f"{flag}:")), None)
    inside = False
    for number, line in enumerate(file.text.split("\n") if dot else (), file.line):
        if line[:1].strip():
            inside = line.startswith(f"{table}:")
        elif inside and line.strip().startswith(f"{key}:"):
            column = len(line) - len(line.lstrip())
            return Word(key, number, column, number, column + len(key))
    return None
