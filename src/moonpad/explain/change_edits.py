"""How a command is mended where a release has renamed or removed an option of it, or one value alone is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from msgspec import Struct

from moonpad.catalog.options import Change, changes, known_environment, option_set, programs, spans_of, versions
from moonpad.catalog.registered_names import registers
from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.engines.ascend_names import NUMBERED_KEYS
from moonpad.engines.value_checks import as_json
from moonpad.explain.commands import Word
from moonpad.explain.grouping import value_of
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.results import Edit
from moonpad.values.versions import since

# A switch that became an option with a value; of the second the value stands with another flag.
_BECAME: Mapping[str, str] = {
    **{"--enable-deepep-moe": "deepep", "--enable-flashinfer-mla": "flashinfer"},
    **{"--no-mmap": "none", "--mmap": "mmap", "--mlock": "mlock", "--direct-io": "dio"},
}
"""Switches that became a value of another option."""
TAKES_FROM: Mapping[str, str] = {"--enable-dp-attention": "--dp-size"}


_SET: Final = re.compile(r'set (?P<name>[a-z_]+) = "?(?P<value>[\w.-]+)"?')
_OF_RANKS: Final = frozenset({"tp", "pp", "dp", "dcp", "cp"})
"""Sizes that decide how many devices are used: a person chooses them."""


def respelled(words: Sequence[str], option: Occurrence, name: str) -> Edit:
    """The same option with its value under another name."""
    first, *rest = words[option.index : option.index + option.length]
    _, equals, value = first.partition("=")
    return Edit(option.index, option.length, (f"{name}{equals}{value}", *rest))


def with_value(argv: Sequence[Word], names: Sequence[str], value: str) -> tuple[Edit, ...]:
    """The last of an option by these names with another value; () where it is not given, or has none."""
    for at, word in reversed(tuple(enumerate(argv))):
        written, equals, _ = word.text.partition("=")
        if (written.replace("_", "-") if written.startswith("--") else written) in names:
            if equals:
                return (Edit(at, 1, (f"{written}={value}",)),)
            return (Edit(at + 1, 1, (value,)),) if at + 1 < len(argv) else ()
    return ()


def stated_edit(remedy: str, options: Mapping[str, str], parsed: Parsed, words: int) -> tuple[Edit, ...]:
    """What a remedy is that names one setting and its value, in a command of so many words."""
    match = _SET.fullmatch(remedy)
    flag = options.get(match["name"]) if match and match["name"] not in _OF_RANKS else None
    if match is None or flag is None or not flag.startswith("--"):
        return ()
    place = parsed.occurrence(flag)
    index, length = (place.index, place.length) if place is not None else (words, 0)
    return (Edit(index, length, (flag, match["value"])),)


def change_edits(
    words: Sequence[str], option: Occurrence, change: Change, parsed: Parsed, book: Rulebook
) -> Iterator[Edit]:
    """What mends it, as far as no person has to choose."""
    values = words[option.index + 1 : option.index + option.length] if "=" not in words[option.index] else ()
    if not values and isinstance(option.value, str):
        values = (option.value,)
    replaced = partial(Edit, option.index, option.length)
    if change.remedy.startswith("Leave"):
        yield replaced(())
    elif change.to == ("MODEL",):
        yield replaced(tuple(values) if option.index == 0 else ())
        if option.index:
            yield Edit(0, 0, tuple(values))
    elif change.value and change.to:
        yield replaced((option.written, change.to[0]))
    elif (source := TAKES_FROM.get(change.flag)) is not None:
        given = parsed.occurrence(source)
        if given is not None and isinstance(given.value, str) and change.to:
            yield replaced(())
            yield Edit(given.index, given.length, (change.to[0], given.value))
    elif change.to:
        successor = book.options.named(change.to[0])
        if change.flag in _BECAME and any(_is_same_way(each.written, change) for each in parsed.occurrences):
            return  # two switches that are one value now
        values = values or ((_BECAME[change.flag],) if change.flag in _BECAME else ())
        given = parsed.occurrence(change.to[0])
        if given is not None and given is not option and (not values or (given.value,) == tuple(values)):
            yield replaced(())
        elif successor is not None and (values or not successor.takes_value) and (given is None or given is option):
            yield replaced((change.to[0], *values))


def _is_same_way(written: str, change: Change) -> bool:
    """Whether it is another switch of which the same option was made."""
    if written == change.flag or written not in _BECAME:
        return False
    return any(each.flag == written and each.to == change.to for each in changes(change.program))


def is_newer_than_meant(option: Occurrence, change: Change, book: Rulebook) -> bool:
    """Whether the release is not named, and its option may be one that only later releases have."""
    if book.named or not change.since or change.kind not in ("deprecated", "renamed") or option.problem is not None:
        return False
    older = [version for version in versions(book.program) if not since(version, change.since)]
    held = option_set(book.program, older[-1]) if older else None
    return held is not None and any(name.startswith("--") and held.named(name) is None for name in change.to)


def was_refused_before(change: Change, book: Rulebook) -> bool:
    """Whether no release is named, and those just before the ones that take it again, as needless, refuse it."""
    if book.named or change.kind != "redundant":
        return False
    gone = (each for each in changes(book.program) if each.kind == "removed" and each.flag == change.flag)
    return any(each.until == change.since and each.until for each in gone)


def said_of_change(option: Occurrence, change: Change, parsed: Parsed) -> tuple[str, str]:
    """Message and remedy; of a switch that shares out what another option counts, where that is not given, that."""
    source = TAKES_FROM.get(change.flag)
    if source is None or any(parsed.occurrence(each) for each in (source, *change.to)):
        return change.message, change.remedy
    message = f"{option.written} does nothing without {source}, which is 1 by default, and is deprecated"
    return message, f"add {', '.join(change.to)} with the number of groups that share attention out, or leave it out"


def which_read_it(change: Change, book: Rulebook) -> str:
    """The message about a variable that the newest release does not read, with those that do."""
    program = programs()[book.program].built_on or book.program
    reading = [each for each in versions(program) if change.flag in known_environment(program, each)]
    if not reading and not change.since:
        return change.message
    some = spans_of(program, reading) if reading else f"releases before {change.since}"
    verb = "reads" if len(reading) == 1 else "read"
    return f"{change.message.removesuffix('.')}; {some} {verb} it: --engine-version says which is meant"


def option_of_variable(change: Change, variable: Word, book: Rulebook, argv: Sequence[Word]) -> tuple[Edit, ...]:
    """The option that has taken the place of a variable, with its value, where the release takes that."""
    value = variable.text.removeprefix(f"{change.flag}=").strip("'\"")
    option = book.options.named(change.to[0]) if len(change.to) == 1 else None
    if option is None or value_of(argv, option.names) is not None:
        return ()
    if value not in option.choices:
        value = _registered(value, change.to[0], book)
    if not value:
        return ()
    return (Edit(len(argv), 0, (change.to[0], value)),)


def _registered(value: str, flag: str, book: Rulebook) -> str:
    """The name for which the engine has a register, as the release calls it; "" where the release surely has none."""
    for row in registers().values():
        if flag in row.terms and book.program.partition(" ")[0] in row.engines:
            name = row.instead.get(value, value)
            return name if name in row.names(book.options.version) else ""
    return ""


def keys_of_variables(
    name: str, keys: Mapping[str, str], variables: Mapping[str, Word], argv: Sequence[Word]
) -> tuple[Edit, ...]:
    """The option whose JSON has in it what was set by variables, each by the key that has taken its place
    (`--additional-config.enable_mlapo`). Edits at one place replace each other: each holds all keys of the option."""
    option = keys[name].partition(".")[0]
    place = next((at for at, word in enumerate(argv) if word.text == option), None)
    if any(word.text.startswith((f"{option}=", f"{option}.")) for word in argv) or place == len(argv) - 1:
        return ()
    table = as_json(argv[place + 1].text) if place is not None else {}
    if not isinstance(table, dict) or not _is_settled(keys[name], variables[name]):
        return ()
    written = json.dumps(table)
    for each, key in keys.items():
        *outer, leaf = key.split(".")[1:] if key.startswith(f"{option}.") else [""]
        if not leaf or f'"{leaf}"' in written or not _is_settled(key, variables[each]):
            continue  # the key that is given counts already
        inner: object = table
        for part in outer:
            inner = inner.setdefault(part, {}) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            number = int(_given(variables[each]))
            inner[leaf] = number if leaf in NUMBERED_KEYS else bool(number)
    if not table:
        return ()
    words = (option, json.dumps(table, ensure_ascii=False))
    return (Edit(len(argv), 0, words) if place is None else Edit(place, 2, words),)


class GivenToKey(Struct, frozen=True):
    """What a variable gives to the key that has taken its place. `written`: how that is said behind the key, where a
    switch is off. `against`: that the option says something else of it."""

    written: str = ""
    against: str = ""


def given_to_key(key: str, variable: Word, argv: Sequence[Word]) -> GivenToKey:
    """A switch that is off where the option's JSON has it on is a contradiction, and the other way round."""
    option, _, path = key.partition(".")
    leaf = path.rpartition(".")[2]
    if leaf in NUMBERED_KEYS or not _is_settled(key, variable):
        return GivenToKey()
    is_on = _given(variable) == "1"
    text = next((after.text for word, after in pairwise(argv) if word.text == option), "")
    other = re.search(rf'"{re.escape(leaf)}"\s*:\s*(true|false)', text)
    against = ""
    if other is not None and (other[1] == "true") is not is_on:
        against = f", and {option} says {other[1]} where it says {_given(variable)}: only {other[1]} counts"
    return GivenToKey("" if is_on else ": false", against)


def _given(variable: Word) -> str:
    return variable.text.rpartition("=")[2].strip("'\"")


def _is_settled(key: str, variable: Word) -> bool:
    """Whether it is a switch, or a mode by its number, so that what its value means to the key is known."""
    leaf = key.rpartition(".")[2]
    takes = ("0", "1", "2") if leaf in NUMBERED_KEYS else ("0", "1") if leaf.startswith("enable_") else ()
    return _given(variable) in takes
