"""The keys of options that take JSON or are written with dots: `--attention-config.use_cudnn_prefill=True`.

The engine refuses a key that its release does not know (https://docs.vllm.ai, "Engine Arguments": configurations are
parsed as pydantic dataclasses).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad.catalog.options.config_keys import ConfigKey, config_key, keys_of
from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.engines.ascend_names import PLUGIN_OPTION
from moonpad.engines.value_checks import as_json
from moonpad.explain.documents.option_keys import key_paths
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.target_detection import Version
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import order, since

_ALIKE: Final = 0.8


def config_remarks(words: Sequence[str], parsed: Parsed, book: Rulebook, version: Version) -> Iterator[Remark]:
    """A finding for each key that the release does not have."""
    for option in parsed.occurrences:
        if option.flag == PLUGIN_OPTION:
            continue  # checks/plugin_keys.py
        unread = [(path, known) for path in key_paths(option) if (known := _unread(option, path, book, version))]
        # Edits at one place replace each other: each leaves out all of them.
        edit = Edit(option.index, option.length, without_keys(words, option, [path for path, _ in unread]))
        for path, known in unread:
            yield _remark(option, path, known, book, version, edit)


def _unread(option: Occurrence, path: Sequence[str], book: Rulebook, version: Version) -> ConfigKey | None:
    known = config_key(book.program, ".".join((option.flag or "", *path[:-1])), path[-1], version.text or None)
    return known if known is not None and not known.known else None


def _remark(
    option: Occurrence, path: tuple[str, ...], known: ConfigKey, book: Rulebook, version: Version, edit: Edit
) -> Remark:
    table, key = ".".join((option.flag or "", *path[:-1])), path[-1]
    had = f", which {known.first} to {known.last} have" if known.first else ""
    if not version.text and known.first and version.least and _has(known, version.least):
        message = f"{table} has the key {key} in {version.least}, for which the text asks, and in no release behind "
        message += f"{known.last}: those fail at once"
        remedy = f"take a release up to {known.last}, or leave {key} out"
        return make_remark(Severity.NOTE, Code.REMOVED_FLAG, option.written, message, remedy, at=option.index)
    message = f"{book.label}: {table} has no key {shortened(key)}{had}: the command fails at once"
    near = _nearest(key, book.program, table, version)
    slip = near is not None and near not in key  # one with a word more is a key of its own
    certain = known.exact and bool(version.text or (slip and not known.first))
    if not version.text and not known.first and not slip:
        message = f"{message}, unless it is somebody's own build"
    severity = Severity.ERROR if certain else Severity.WARNING
    code = Code.REMOVED_FLAG if known.first else Code.UNKNOWN_FLAG
    if near:
        return make_remark(severity, code, option.written, message, f"did you mean {near}?", at=option.index)
    # Where no release is named, one that has the key may be meant.
    edits = [edit] if version.text or not known.first else []
    remark = make_remark(severity, code, option.written, message, f"leave {key} out", at=option.index, edits=edits)
    return replace(remark, ends_start=known.exact and not version.text and bool(known.first))


def _has(known: ConfigKey, release: str) -> bool:
    return since(release, known.first) and order(release) <= order(known.last)


def _nearest(key: str, program: str, table: str, version: Version) -> str | None:
    names = keys_of(program, table, version.text or None)
    return next(iter(difflib.get_close_matches(key[:80], names, n=1, cutoff=_ALIKE)), None)


def without_keys(words: Sequence[str], option: Occurrence, paths: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The words of the option without those keys; none where nothing else is in it."""
    value = as_json(option.value) if isinstance(option.value, str) and "." not in option.written else None
    if not isinstance(value, dict):
        return ()
    left: Mapping[str, object] = value
    for path in paths:
        left = less(left, path)
    return as_words(words, option, left)


def as_words(words: Sequence[str], option: Occurrence, table: Mapping[str, object]) -> tuple[str, ...]:
    """The words of the option with another table; none where nothing is in it."""
    if not table:
        return ()
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    return (f"{option.written}={text}",) if "=" in words[option.index] else (option.written, text)


def less(table: Mapping[str, object], path: Sequence[str]) -> dict[str, object]:
    """The table without the key behind the tables that it stands in; one that has nothing else in it goes with it."""
    first, *rest = path
    inner = table.get(first)
    if rest and isinstance(inner, dict) and (left := less(inner, rest)):
        return {**table, first: left}
    return {key: value for key, value in table.items() if key != first}
