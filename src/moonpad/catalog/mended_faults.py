"""Faults of an engine that a later release of it mended: data/mended_*.toml, one row for each pull request.

A row says what a person meets and where: models, options, variables, devices. It is not about every state of the older
releases, so it is told as what the later release mends.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.kept_rows import table
from moonpad.catalog.release_days import FILE as DAYS
from moonpad.catalog.release_days import release_days
from moonpad.catalog.toml_rows import DATA, Provenance, Row, Text, any_of, read_data, rows
from moonpad.values.versions import cut_for, order, release_of

GROUPS: Final = "model_groups.toml"
ENGINES: Final = ("vllm", "sglang", "vllm-ascend", "ktransformers")
OLDEST_DAYS: Final = 180
"""Where the first release that has a fault is not known, releases that came out so long before the mended one count:
what is older mostly lacks the part that was mended."""
NUMBER: Final = "#"
_OF_A_KIND: Final = 3
_KEY: Final = re.compile(r"(\d+)[a-z]?")


class ModelGroup(Struct, frozen=True, kw_only=True):
    """Models that have something in common, by parts of their names."""

    parts: tuple[str, ...]
    without: tuple[str, ...] = ()
    """Parts of names that are none of them."""
    provenance: Provenance | None = None
    """None: a name alone."""


class MendedFault(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What goes wrong before `mended_in` where all that is named holds. Words are in lower case."""

    mended_in: Text
    """The first release without it."""
    since: Text
    """The first release that may have it."""
    models: tuple[str, ...] = ()
    """Parts of the model's name, one of which is in it."""
    not_models: tuple[str, ...] = ()
    """Parts none of which is in it."""
    formats: tuple[str, ...] = ()
    """Of the weights, one of which it is: `nvfp4`."""
    methods: tuple[str, ...] = ()
    """What made the weights, as `quant_method` of config.json says it, one of which it is: `quark`."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Flags that are given → words one of which is in the value, `mtp|eagle`; "" for any, `#` for a number. Of
    `--one or --other` one is."""
    other_options: Mapping[str, str] = field(default_factory=dict)
    """The same, none of which holds: another executor does not have the faults of this one."""
    at_least: Mapping[str, int] = field(default_factory=dict)
    """Flags → the smallest number."""
    lacks: tuple[str, ...] = ()
    """Flags that are not given."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set → words as of options. Of `ONE or OTHER` one is."""
    unset: tuple[str, ...] = ()
    """Variables that are not set."""
    devices: tuple[str, ...] = ()
    """As in data/known_reports.toml, one of which it is."""
    other_devices: tuple[str, ...] = ()
    """The same, none of which it is."""
    attention: tuple[str, ...] = ()
    """Parts of the names of attention backends, one of which runs: it is not where the command names another."""
    aiter: bool = False
    """It is in AMD's AITER, which vLLM takes where a variable or an option asks for it, and images of SGLang unless a
    variable speaks against it."""
    text: str = ""
    """A regular expression, in one of the lines of the text, in any case."""
    no_text: str = ""
    """A regular expression, in no line of the text, in any case."""
    fault: Text
    pull: int
    """The number of the pull request that mends it."""
    repository: Text
    provenance: Provenance

    @property
    def groups(self) -> tuple[ModelGroup, ...]:
        """What `models` stands for."""
        return tuple(map(group_of, self.models))

    @property
    def particular(self) -> int:
        """How much has to agree: the higher, the likelier it is met."""
        named = sum(2 if not word.startswith("@") else 1 for word in self.models[:1])
        settings = len(self.options) + len(self.at_least) + len(self.variables)
        return named + 2 * settings + bool(self.devices) + bool(self.formats)

    @property
    def by_name(self) -> bool:
        """Whether it is about one model, or two or three of a kind, that it names."""
        return 0 < len(self.models) <= _OF_A_KIND and not any(word.startswith("@") for word in self.models)


def mended_faults(engine: str) -> tuple[MendedFault, ...]:
    """All of one engine, () where none is recorded. Raises ValueError where a row is not right."""
    return tuple(_faults(engine).values())


@lru_cache(maxsize=64)
def candidates(engine: str, version: str) -> tuple[tuple[MendedFault, tuple[frozenset[str], ...]], ...]:
    """Those that the release may have, "": any release. Each with the options, and variables as `$NAME`, of which the
    command has to have one a group."""
    at, begun = order(version), order(_begun(engine, version))
    return tuple(
        (row, tuple(_needed(row)))
        for row in _faults(engine).values()
        if not version or (order(row.since) <= begun and at < order(row.mended_in))
    )


def _begun(engine: str, version: str) -> str:
    """The release whose faults a build has: of a late candidate that of its number, unless candidates are recorded as
    releases of their own."""
    final, days = cut_for(version), release_days()
    recorded = days[engine].releases if engine in days else {}
    own = any(
        release != final and release_of(release) == final and order(release) < order(final) for release in recorded
    )
    return final if final in recorded and not own else version


def _needed(row: MendedFault) -> Iterator[frozenset[str]]:
    yield from (frozenset(any_of(term)) for term in (*row.options, *row.at_least))
    yield from (frozenset(f"${name}" for name in any_of(term)) for term in row.variables)


@cache
def _faults(engine: str) -> Mapping[str, MendedFault]:
    """By the keys of their rows."""
    if engine not in ENGINES:
        return {}
    file = _file_of(engine)

    def built() -> Mapping[str, MendedFault]:
        return {key: _built(engine, key, row) for key, row in rows(file, "mended")}

    return table((file, DAYS), dict[str, MendedFault], built)


def mended_files(engine: str) -> tuple[str, ...]:
    """Those of the catalogue that have mended faults of this engine."""
    return (_file_of(engine),) if engine in ENGINES else ()


def _file_of(engine: str) -> str:
    return f"mended_{engine.replace('-', '_')}.toml"


@cache
def group_of(word: str) -> ModelGroup:
    """Of `@mla` the group; another word is a part of a name by itself. Raises ValueError for a group that is not
    there."""
    if not word.startswith("@"):
        return ModelGroup(parts=(word,))
    for key, row in rows(GROUPS, "groups"):
        if key == word[1:]:
            return row.build(ModelGroup)
    raise ValueError(f"{DATA / GROUPS}: no group {word}")


def _built(engine: str, key: str, row: Row) -> MendedFault:
    number = _KEY.fullmatch(key)
    if number is None:
        raise row.error("the key is not the number of a pull request")
    mended_in = str(row.take("in"))
    since = str(row.pop("since", "")) or oldest_with(engine, mended_in)
    if order(since) >= order(mended_in):
        raise row.error(f"since {since} is not before {mended_in}")
    repository = str(read_data(_file_of(engine))["repository"])
    row["source"] = f"https://github.com/{repository}/pull/{number[1]}"
    row["standing"] = "reported"
    return row.build(MendedFault, mended_in=mended_in, since=since, pull=int(number[1]), repository=repository)


@cache
def oldest_with(engine: str, mended_in: str) -> str:
    """The first release that counts where the row names none. Raises ValueError where `mended_in` is not recorded."""
    days = release_days()[engine].releases
    if mended_in not in days:
        raise ValueError(f"{engine} {mended_in} is not in release_days.toml")
    first = (date.fromisoformat(days[mended_in]) - timedelta(days=OLDEST_DAYS)).isoformat()
    return min(_between(days, first, mended_in), key=order, default="0")


def _between(days: Mapping[str, str], first: str, last: str) -> Iterable[str]:
    return (release for release, day in days.items() if day >= first and order(release) < order(last))
