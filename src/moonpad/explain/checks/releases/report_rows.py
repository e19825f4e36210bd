"""The known reports that are about an engine's release and a model, found once for all commands that share both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from moonpad.catalog.known_reports import SHARED, KnownReport, reports_of
from moonpad.catalog.options import newest
from moonpad.catalog.toml_rows import any_of, pattern_of
from moonpad.engines import ENGINES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import LONGEST, model_names
from moonpad.values.versions import is_final, order, release_of


class Weights(Struct, frozen=True):
    """What rows ask of a command's model."""

    scheme: str
    """Of its quantization."""
    names: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    """What it is called, with the name that clients use."""


def weights_of(case: Case) -> Weights:
    checkpoint = case.checkpoint
    scheme = checkpoint.quantization.scheme if checkpoint and checkpoint.quantization else ""
    if len(case.model_named) > LONGEST:
        return Weights(scheme)
    return Weights(scheme, tuple(model_names(case, False)), tuple(model_names(case, True)))


@lru_cache(maxsize=64)
def rows_about(
    engine: str, version: str, fork: str, weights: Weights
) -> tuple[tuple[KnownReport, tuple[frozenset[str], ...]], ...]:
    """Those about the release and the model, each with the options and variables that it is about: of each group one
    has to be there."""
    return tuple(each for each in _rows_of(engine, version, fork) if of_model(each[0], weights))


def of_model(row: KnownReport, weights: Weights) -> bool:
    if row.weights and weights.scheme not in row.weights:
        return False
    if not row.models:
        return True
    names: Sequence[str] = weights.served if row.options or row.text or row.devices else weights.names
    return any(map(pattern_of(row.models).search, names))


@lru_cache(maxsize=64)
def _rows_of(engine: str, version: str, fork: str) -> tuple[tuple[KnownReport, tuple[frozenset[str], ...]], ...]:
    """Those about the release, each with the options and variables that it is about: of each group one has to be
    there."""
    rows = [row for row in reports_of(engine) if row.fork == fork and of_this_release(row, engine, version)]
    return tuple((row, (*(frozenset(any_of(term)) for term in row.options), *_variables(row))) for row in rows)


def _variables(row: KnownReport) -> Iterator[frozenset[str]]:
    return (frozenset({f"${name}"}) for name in row.variables)


def is_shared(row: KnownReport, engine: str) -> bool:
    """Whether it is of the engine that a plugin builds upon, and of the plugin because of that."""
    build = ENGINES[engine].command_line.build
    return engine in SHARED and build is not None and build.of != engine and build.of in row.engines


def of_this_release(row: KnownReport, engine: str, version: str) -> bool:
    """A candidate of a plugin pins the engine's final release of its number, so what that mended is mended there."""
    if forked := row.forks.get(engine, ""):
        return _of_fork(forked, version)
    current = newest(ENGINES[engine].program)
    return of_release(row, (release_of(version) or version) if is_shared(row, engine) else version, current)


def _of_fork(releases: str, version: str) -> bool:
    """`0.5.3`, or `0.5.3 to 0.7.0`."""
    first, _, last = releases.partition(" to ")
    if not version:
        return not last
    return order(version) >= order(first) and (not last or order(version) <= order(last))


def of_release(row: KnownReport, version: str, current: str = "") -> bool:
    """A row that ends somewhere needs a release that is named. Where none is, its message says of which releases it is:
    worth a note where much else agrees, since who asks about a fault may run any of them, or where the release
    `current`, the newest, has it."""
    if not version:
        is_current = bool(row.last and current) and order(row.last) >= order(current)
        return row.also_unnamed or row.particular or is_current or not (row.until or row.last)
    if row.counted and not version.startswith("b"):
        return False  # `0.3.0`: which build that is, the number does not say
    if row.since and order(version) < order(row.since):
        return False
    if row.last:
        rebuilt = is_final(row.last) and ".post" not in row.last and release_of(version) == release_of(row.last)
        return rebuilt or order(version) <= order(row.last)
    return not row.until or order(version) < order(row.until)
