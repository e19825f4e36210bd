"""Keys of the option of a plugin for other devices that its release does not read: misspelled, moved, of another
release. What a release reads: catalog/options/config_keys.py.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from moonpad.catalog.options.config_keys import (
    config_key,
    ends_at_unknown,
    key_history,
    key_releases,
    key_tables,
    keys_of,
    refusing_since,
)
from moonpad.engines import ascend_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.releases.config_keys import as_words, less, without_keys
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import nearest_release, order

_ALIKE: Final = 0.85
_MOST: Final = 40
_LEAVE: Final = "leave it out"
_ENDS: Final = ": the start ends"
_Entry = tuple[tuple[str, ...], object]
"""A key behind the tables that it stands in, and its value."""
_OPTION: Final = names.PLUGIN_OPTION


class _Release(Struct, frozen=True):
    """The recorded release that the command is judged by. `exact`: it is the one that is named."""

    name: str
    title: str
    exact: bool
    named: bool
    own: bool
    """Whether the plugin is the engine, and not only its option is there."""
    copies: int = 0
    """Data-parallel ranks; 0 where they are not known."""

    @property
    def judged(self) -> str:
        return f"{self.title} {self.name}"


class _Told(Struct, frozen=True):
    """What is said of a key. `instead`: what is written in its place, () for nothing; None where a person chooses.
    `ends`: the start ends at it."""

    severity: Severity
    code: Code
    message: str
    remedy: str
    ends: bool
    instead: tuple[_Entry, ...] | None = None


def plugin_key(case: Case) -> Iterator[Remark]:
    """`{"torchair_graph_config": {"enable": true}}`: the plugin asks each table for its own keys alone."""
    place = case.option(_OPTION)
    value = _value(case, place.value) if place is not None else None
    if place is None or not isinstance(value, dict):
        return
    own = case.engine.name == names.PLUGIN
    version = case.version if own else ""
    recorded = key_releases(names.PLUGIN)
    nearest = nearest_release(recorded, version or None)
    release = _Release(nearest.release, case.engine.facts.title, nearest.exact, bool(version), own)
    release = replace(release, copies=case.first.layout.dp if case.laid_out else 0)
    neighbours = [nearest.release, *(recorded[nearest.at + 1 : nearest.at + 2] if not nearest.exact else ())]
    case.script.budget.work(len(value), "the keys of its plugin")
    lenient = any(word.text in names.SHARED_WITH for word in case.commands[0].argv)
    gone = set[str]()
    found = list[tuple[Remark, bool]]()
    changed = list[tuple[tuple[str, ...], tuple[_Entry, ...]]]()
    for path, given in _paths(value)[:_MOST]:
        table, key = ".".join((_OPTION, *path[:-1])), path[-1]
        if unresolved(key) or path[0] in gone or any(_is_read(table, key, each) for each in neighbours):
            continue
        told = _told(release, table, key, given, value)
        if told is None:
            continue
        if len(path) == 1 and release.named:
            gone.add(key)
        severity = told.severity
        if severity is Severity.ERROR and (lenient or case.commands[0].custom or case.commands[0].fork):
            severity = Severity.WARNING
        remark = make_remark(severity, told.code, _OPTION, told.message, told.remedy, at=place.index)
        ends = not release.named and own and release.exact and told.ends
        is_made = told.instead is not None and (release.named or ends)
        if told.instead is not None and is_made:
            changed.append((path, told.instead))
        found.append((replace(remark, ends_start=ends and severity is Severity.WARNING), is_made))
    words = [word.text for word in case.commands[0].argv]
    edit = Edit(place.index, place.length, _rewritten(words, place, changed))
    for remark, is_made in found:  # edits at one place replace each other: each makes all of them
        yield replace(remark, edits=(edit,)) if is_made else remark
        for number, at in _same(case, place) if is_made else ():
            yield replace(remark, command=number, at=at, edits=(replace(edit, at=at),))


def _rewritten(
    words: list[str], place: Occurrence, changed: list[tuple[tuple[str, ...], tuple[_Entry, ...]]]
) -> tuple[str, ...]:
    """The words of the option without those keys, and with what takes their place."""
    value = as_json(place.value) if isinstance(place.value, str) and "." not in place.written else None
    if not isinstance(value, dict):
        return without_keys(words, place, [path for path, _ in changed])
    left: Mapping[str, object] = value
    for path, _ in changed:
        left = less(left, path)
    for _, entries in changed:
        for path, given in entries:
            left = _with(left, path, given)
    return as_words(words, place, left)


def _with(table: Mapping[str, object], path: tuple[str, ...], given: object) -> dict[str, object]:
    first, *rest = path
    if not rest:
        return {**table, first: given}
    inner = table.get(first, {})
    return {**table, first: _with(inner, tuple(rest), given)} if isinstance(inner, dict) else {**table}


def _same(case: Case, place: Occurrence) -> Iterator[tuple[int, int]]:
    """The other commands of the deployment that have the option with the same words, and where."""
    written = [word.text for word in case.commands[0].argv[place.index : place.index + place.length]]
    others = list(zip(case.commands, case.readings, strict=True))[1:]
    for number, (command, reading) in enumerate(others, start=1):
        other = reading.parsed.occurrence(_OPTION)
        if other is not None and [word.text for word in command.argv[other.index :][: other.length]] == written:
            yield number, other.index


def _value(case: Case, text: object) -> object:
    """The table, whether it is JSON or written with dots."""
    value = as_json(text) if isinstance(text, str) else None
    if isinstance(value, dict):
        return value
    return case.first.parsed.values.get(_OPTION.removeprefix("--").replace("-", "_"))


def _paths(table: Mapping[str, object], under: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], object]]:
    """Each key behind the tables that it stands in, with its value."""
    found: list[tuple[tuple[str, ...], object]] = []
    for key, value in list(table.items())[:_MOST]:
        found.append(((*under, key), value))
        if isinstance(value, dict) and len(under) < 2:
            found += _paths(value, (*under, key))
    return found


def _is_read(table: str, key: str, version: str) -> bool:
    """Nothing is said of a table that is not recorded."""
    if table in names.OPEN_TABLES:
        return key in names.OPEN_TABLES[table]
    if table not in key_tables(names.PLUGIN):
        return True
    known = config_key(names.PLUGIN, table, key, version)
    return known.known if known is not None else key in key_tables(names.PLUGIN)[table]


def _told(release: _Release, table: str, key: str, given: object, whole: Mapping[str, object]) -> _Told | None:
    place = table.removeprefix(_OPTION).lstrip(".")
    ends = table not in names.OPEN_TABLES and ends_at_unknown(names.PLUGIN, table, release.name)
    severity = Severity.ERROR if ends and release.exact and release.named else Severity.WARNING
    history = key_history(names.PLUGIN, table, key)
    if not history and (near := _near(release, table, key, _inside(whole, place))):
        passed = "that ends the start" if ends else "what is there is passed over" + ": it stays off" * (given is True)
        message = f'{place or _OPTION} has no key "{shortened(key)}", and {passed}'
        instead = ((*(place.split(".") if place else ()), near), given)
        return _Told(severity, Code.INVALID_VALUE, message, f'write "{near}"', ends, (instead,))
    if not release.own or table in names.OPEN_TABLES:
        return None
    if split := _split(release, table, key, whole, history):
        message = (
            f'{release.judged} does not read "{key}", which has become {" and ".join(split)}{_ENDS if ends else ""}'
        )
        remedy = f"write {', '.join(f'{json.dumps(name)}: {json.dumps(given)}' for name in split)}"
        return _Told(severity, Code.REMOVED_FLAG, message, remedy, ends, tuple(((name,), given) for name in split))
    if moved := _moved(release, table, key, given, whole, history, ends):
        code = Code.REMOVED_FLAG if history else Code.UNKNOWN_FLAG
        message, remedy, entry = moved
        if given is True and not ends and entry[0][-1] in names.ON_BY_THEMSELVES:
            message = f"{message}, which changes nothing: it is true by default"
            return _Told(Severity.NOTE, code, message, _LEAVE, ends)
        if entry[0][0] == names.OVER_COPIES and _cannot_divide(given, release.copies):
            remedy = f"leave it out: there it has to divide --data-parallel-size, which is {release.copies}"
            return _Told(severity, code, message, remedy, ends, ())
        is_one = not isinstance(given, dict)
        return _Told(severity, code, message, remedy, ends, (entry,) if is_one else None)
    if history:
        runs = " and ".join(first if first == last else f"{first} to {last}" for first, last in history)
        where = f" in {place}" if place else ""
        later = all(order(first) > order(release.name) for first, _ in history)
        message = f'{release.judged} does not read "{key}"{where}, which {runs} {"does" if " " not in runs else "do"}'
        message += _ending(release, table) if ends else ""
        remedy = f"leave it out, or take {history[0][0]} or newer" if later else _LEAVE
        if _is_off(given) and not ends:
            severity = Severity.NOTE
        code = Code.UNKNOWN_FLAG if later else Code.REMOVED_FLAG
        return _Told(severity, code, message, remedy, ends, None if later else ())
    if not release.named and (former := _near_of_any(table, key)):
        message = f'no release has a key "{shortened(key)}"{f" in {place}" * bool(place)}, older ones have "{former}"'
        message += _ending(release, table) if ends else ""
        return _Told(severity, Code.UNKNOWN_FLAG, message, _LEAVE, ends, ())
    if not (release.exact and release.named):
        return None
    where = place or _OPTION
    if ends:
        message = f'{release.judged} has no key "{shortened(key)}" in {where}: the start ends'
        return _Told(severity, Code.UNKNOWN_FLAG, message, _LEAVE, ends, ())
    message = f'{release.judged} reads no key "{shortened(key)}" in {where}, nor does another release that is known'
    return _Told(Severity.WARNING if place else Severity.NOTE, Code.UNKNOWN_FLAG, message, _LEAVE, ends, ())


def _cannot_divide(size: object, copies: int) -> bool:
    return isinstance(size, int) and size > 0 and copies > 0 and copies % size > 0


def _ending(release: _Release, table: str) -> str:
    """Where the release is not named, older ones may be meant, which pass the key over."""
    first = refusing_since(names.PLUGIN, table)
    if release.named or not first:
        return _ENDS
    return f": from {first} on the start ends, and releases between pass it over"


def _split(
    release: _Release, table: str, key: str, whole: Mapping[str, object], history: tuple[tuple[str, str], ...]
) -> tuple[str, ...]:
    """The keys of the release that have taken its place together."""
    split = names.SPLIT_KEYS.get(key, ()) if table == _OPTION and history else ()
    keys = keys_of(names.PLUGIN, table, release.name)
    return split if all(name in keys and name not in whole for name in split) else ()


def _inside(whole: Mapping[str, object], place: str) -> Mapping[str, object]:
    table: object = whole
    for key in place.split(".") if place else ():
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def _near(release: _Release, table: str, key: str, given: Mapping[str, object]) -> str | None:
    """The key that is meant, of those of the release; of a table that it has not, of those of any release."""
    keys = names.OPEN_TABLES.get(table) or keys_of(names.PLUGIN, table, release.name)
    found = difflib.get_close_matches(key[:80], keys or key_tables(names.PLUGIN)[table], n=1, cutoff=_ALIKE)
    if not found or found[0] in given or re.sub(r"\d+", "", key) == re.sub(r"\d+", "", found[0]):
        return None
    return found[0]


def _near_of_any(table: str, key: str) -> str:
    """The key of any release that is meant: all its letters, with other signs between them."""
    letters = re.sub(r"[\W_]", "", key[:80]).casefold()
    return next((known for known in key_tables(names.PLUGIN)[table] if known.replace("_", "") == letters), "")


def _moved(
    release: _Release,
    table: str,
    key: str,
    given: object,
    whole: Mapping[str, object],
    history: tuple[tuple[str, str], ...],
    ends: bool,
) -> tuple[str, str, _Entry] | None:
    """What is told of a key that the release reads in another table, or under another name; the remedy, and the key
    there."""
    there, name = _home(release, table, key, history)
    place = there.removeprefix(_OPTION).lstrip(".")
    if not name or name in _inside(whole, place):
        return None
    in_there = f"in {place}" if place else f"in {_OPTION} itself"
    runs = key_history(names.PLUGIN, there, name)
    first = next((first for first, last in reversed(runs) if order(first) <= order(release.name)), "")
    gone = _first_without(history, release.name)
    alias = "" if name == key else f' as "{name}"'
    message = f'{release.title} reads "{key}"{alias} {in_there} from {first} on, and '
    if ends:
        message += f"here it ends the start of {release.name}"
    else:
        message += "passes over it here" + (f" from {gone} on" if gone else "")
    written = json.dumps({name: given})
    if len(written) > 30 + len(name):
        written = f'{{"{name}": …}}'
    for outer in reversed(place.split(".") if place else ()):
        written = f'{{"{outer}": {written}}}'
    return message, f"write {written[1:-1]}", ((*(place.split(".") if place else ()), name), given)


def _home(release: _Release, table: str, key: str, history: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """The table that has the key in the release, and its name there; "" where none has it."""
    place = table.removeprefix(_OPTION).lstrip(".")
    if (renamed := names.RENAMED_KEYS.get(f"{place}.{key}".lstrip("."))) is not None:
        outer, _, name = renamed.rpartition(".")
        there = f"{_OPTION}.{outer}" if outer else _OPTION
        return (there, name) if name in keys_of(names.PLUGIN, there, release.name) else ("", "")
    if key in names.COMMON_KEYS:
        return "", ""
    if not (history or place):  # never read here: said where one other table alone has it
        tables = [there for there in key_tables(names.PLUGIN) if key in keys_of(names.PLUGIN, there, release.name)]
        return (tables[0], key) if len(tables) == 1 else ("", "")
    for there in key_tables(names.PLUGIN):
        nested = there == _OPTION or table == _OPTION or there.endswith(f".{place}") or place.endswith(_last(there))
        if there != table and nested and key in keys_of(names.PLUGIN, there, release.name):
            return there, key
    return "", ""


def _last(table: str) -> str:
    return "." + table.rpartition(".")[2]


def _first_without(history: tuple[tuple[str, str], ...], release: str) -> str:
    """The first release behind the last run that ended before this one."""
    ended = [last for _, last in history if order(last) < order(release)]
    recorded = key_releases(names.PLUGIN)
    return recorded[recorded.index(ended[-1]) + 1] if ended else ""


def _is_off(value: object) -> bool:
    """Whether it asks for nothing."""
    inner = value.get("enabled", value.get("enable")) if isinstance(value, dict) and value else value
    return not inner if not isinstance(value, dict) or inner is not None else False
