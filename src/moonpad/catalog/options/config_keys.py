"""Which keys the configurations of an engine have by release: the JSON of `vllm serve`'s options, in
`data/vllm-config-keys.json`, made by scripts/record_options/config_keys.py; that of the plugin's own option, in
`data/vllm-ascend-config-keys.json`, made by scripts/record_options/ascend.py; the YAML of TensorRT-LLM, in
`data/trtllm-config-keys.json`, made by scripts/record_options/trtllm.py, whose keys outside of all sections stand in
the table "", and which has the words that a key takes, where it takes no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from msgspec import Struct

from moonpad.catalog.options.sets import base_version
from moonpad.catalog.options.tables import holds, nearest, programs, read
from moonpad.values.versions import nearest_release, since

TABLES: Final = {
    "vllm serve": "vllm-config-keys",
    "vllm-ascend": "vllm-ascend-config-keys",
    "trtllm-serve": "trtllm-config-keys",
}
"""By program; the plugin for Ascend takes those of the vLLM that it is built on beside its own."""


class ConfigKey(Struct, frozen=True):
    """Of one key of one table: whether the release that speaks for the version has it. `exact`: that release is the
    version itself. `first` and `last` are the releases that have it, "" where none has."""

    known: bool
    exact: bool
    first: str = ""
    last: str = ""


def config_key(program: str, table: str, key: str, version: str | None) -> ConfigKey | None:
    """None where the table is not recorded for that release, so that nothing can be said of its keys."""
    program, version = _of_base(program, table, version)
    rows = _keys(program, table)
    if not rows:
        return None
    recorded = read(TABLES[program])
    versions: Sequence[str] = recorded["versions"]
    release = nearest(recorded, version)
    if not any(holds(runs, release.at) for runs in rows.values()):
        return None
    runs = rows.get(key)
    if runs is None:
        return ConfigKey(False, release.exact)
    return ConfigKey(holds(runs, release.at), release.exact, versions[runs[0][0]], versions[runs[-1][1]])


class Lacking(Struct, frozen=True):
    """What a version does not have, as no record around it has it. `exact`: the version itself is recorded. `first` and
    `last` are the records that have it, "" where none has; `others` are the names that the records around have."""

    exact: bool
    first: str
    last: str
    others: tuple[str, ...]


def lacking_key(program: str, table: str, key: str, version: str) -> Lacking | None:
    """None where a record on either side of the version has the key, or none has the table."""
    return _lacking(program, _keys(program, table), key, version)


def lacking_word(program: str, key: str, word: str, version: str) -> Lacking | None:
    """The same of a word that a key takes: `lacking_word("trtllm-serve", "moe_config.backend", "TRTLLM", "1.0.0")`."""
    rows: Mapping[str, Any] = read(TABLES[program]).get("values", {}).get(key, {}) if program in TABLES else {}
    return _lacking(program, rows, word, version)


def _lacking(program: str, rows: Mapping[str, Any], name: str, version: str) -> Lacking | None:
    """A version between two records may have what either has. One that is older than all records, or newer, lacks only
    what other records have: what none has may have gone before, or come since."""
    if not rows:
        return None
    versions: Sequence[str] = read(TABLES[program])["versions"]
    with_table = [at for at in range(len(versions)) if any(holds(runs, at) for runs in rows.values())]
    release = nearest_release([versions[at] for at in with_table], version)
    is_older = not release.exact and not since(version, release.release)
    around = with_table[release.at : release.at + (1 if release.exact or is_older else 2)]
    own = rows.get(name, ())
    if any(holds(own, at) for at in around) or (not own and not release.exact and len(around) == 1):
        return None
    others = tuple(other for other, runs in rows.items() if any(holds(runs, at) for at in around))
    first, last = (versions[own[0][0]], versions[own[-1][1]]) if own else ("", "")
    return Lacking(release.exact, first, last, others)


def keys_of(program: str, table: str, version: str | None) -> tuple[str, ...]:
    """The keys that the release has."""
    program, version = _of_base(program, table, version)
    rows = _keys(program, table)
    at = nearest(read(TABLES[program]), version).at if rows else 0
    return tuple(key for key, runs in rows.items() if holds(runs, at))


def key_history(program: str, table: str, key: str) -> tuple[tuple[str, str], ...]:
    """The runs of recorded releases that have the key, oldest first, both ends in."""
    program, _ = _of_base(program, table, None)
    versions = read(TABLES[program])["versions"] if program in TABLES else ()
    return tuple((versions[first], versions[last]) for first, last in _keys(program, table).get(key, ()))


def key_tables(program: str) -> Mapping[str, tuple[str, ...]]:
    """The tables of a program's own file, and the keys that each has in any release."""
    tables = read(TABLES[program])["tables"] if program in TABLES else {}
    return {table: tuple(keys) for table, keys in tables.items()}


def key_releases(program: str) -> tuple[str, ...]:
    """The releases whose keys are recorded, oldest first."""
    return tuple(read(TABLES[program])["versions"]) if program in TABLES else ()


def ends_at_unknown(program: str, table: str, version: str | None) -> bool:
    """Whether the start ends at a key that the table does not have, where other tables pass over it."""
    recorded = read(TABLES[program])
    return holds(recorded.get("refusing", {}).get(table, ()), nearest(recorded, version).at)


def refusing_since(program: str, table: str) -> str:
    """The first recorded release whose start ends at such a key; "" where none does."""
    recorded = read(TABLES[program])
    spans = recorded.get("refusing", {}).get(table, ())
    return str(recorded["versions"][spans[0][0]]) if spans else ""


def key_of_variable(program: str, name: str, version: str | None) -> str:
    """The key of an option that the release has in place of a variable, behind the option and a dot; "" where none is
    recorded."""
    files = programs().get(program)
    path = read(files.names)["environment"].get("keys", {}).get(name, "") if files is not None and files.names else ""
    for table in (path.rpartition(".")[0], path.partition(".")[0]) if path else ():
        if path.rpartition(".")[2] in keys_of(program, table, version):
            return f"{table}.{path.rpartition('.')[2]}"
    return ""


def _of_base(program: str, table: str, version: str | None) -> tuple[str, str | None]:
    files = programs().get(program)
    if files is None or not files.built_on or _keys(program, table):
        return program, version
    return files.built_on, base_version(program, version)


@cache
def _keys(program: str, table: str) -> Mapping[str, Any]:
    rows: Mapping[str, Any] = read(TABLES[program])["tables"].get(table, {}) if program in TABLES else {}
    return rows
