"""What the releases of an engine do not have for some classes of models: data/model_features.toml."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple

from msgspec import Struct, field

from moonpad.catalog.toml_rows import Provenance, Text, rows
from moonpad.values.versions import order

FILE: Final = "model_features.toml"
_LONGEST: Final = 400
_STAGES: Final = "pipeline stages"
_OTHER_MODELS: Final = re.compile(
    r"distill|eagle|dflash|dspark|draft|medusa|speculat|reward|embed|rerank|adapter|lora|prun|reap|tiny|gguf|pixel"
)
"""Parts of names of what was made from a model and may have another class."""


class Span(NamedTuple):
    """The first and the last release that were read and lack it, and the next one that has it; "" for none."""

    first: str
    last: str
    then: str


class ModelFeature(Struct, frozen=True, kw_only=True):
    """Of `engine`, by the releases that were read. A term is that of a start refusal."""

    engine: str
    what: Text
    given: Mapping[str, str]
    """Terms that ask for it → what their values are, as a regular expression of the whole; "" for a switch or any."""
    named: str = ""
    """Part of the model's name that asks for it as well, as a regular expression."""
    lacks: tuple[str, ...] = ()
    """Terms that are not there: with some, another class or nothing of the kind is meant."""
    ends: Text
    """What happens in a release that refuses it."""
    otherwise: str = ""
    """What happens in the others, where it is something else."""
    refused: tuple[tuple[str, str], ...] = ()
    """The releases that refuse it, whatever else is given: from the first on and before the second, "" for all."""
    remedy: Text
    told_by: tuple[str, ...] = ()
    """Keys of known reports and start refusals that say the same of some of these models."""
    without: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """The class → where it lacks it."""
    provenance: Provenance

    def lacking(self, served: str, version: str) -> Span | None:
        """None too for a release between two that were read, one of which has it."""
        at = order(version)
        spans = self.without.get(served, ())
        return next((span for span in spans if order(span.first) <= at <= order(span.last)), None)

    def latest(self, served: str) -> Span | None:
        """Where it was missing last."""
        spans = self.without.get(served, ())
        return spans[-1] if spans else None

    def outcome(self, version: str) -> str:
        """What happens in a release without it."""
        return self.ends if self.is_refused(version) else self.otherwise or self.ends

    def is_refused(self, version: str) -> bool:
        at = order(version)
        return any(order(first) <= at and (not until or at < order(until)) for first, until in self.refused)


class ServedClasses(Struct, frozen=True, kw_only=True):
    """How the models are called that a class serves."""

    names: Mapping[str, Text]
    """The class, as config.json names it → the name of its models without the publisher, as a regular expression."""
    provenance: Provenance


class ReadReleases(Struct, frozen=True):
    """Of an engine, in order."""

    read: tuple[str, ...]
    provenance: Provenance


@cache
def model_features() -> Mapping[str, ModelFeature]:
    """By their keys."""
    return {key: row.build(ModelFeature) for key, row in rows(FILE, "features")}


def lacking_stages(engine: str, written: str, version: str) -> Span | None:
    """Where the class of that model has no pipeline stages in a release of the engine, "" for the newest; None where it
    has them, or it is not known."""
    served = class_of(written)
    row = next((row for row in model_features().values() if (row.engine, row.what) == (engine, _STAGES)), None)
    if row is None or not served:
        return None
    if version:
        return row.lacking(served, version)
    last = row.latest(served)
    return last if last is not None and not last.then else None


@cache
def releases_read() -> Mapping[str, tuple[str, ...]]:
    """By the engine."""
    return {engine: row.build(ReadReleases).read for engine, row in rows(FILE, "releases")}


@cache
def served_classes() -> Mapping[str, str]:
    """The class → its models' names."""
    (row,) = (row.build(ServedClasses) for _, row in rows(FILE, "classes"))
    return row.names


@lru_cache(maxsize=256)
def class_of(written: str) -> str:
    """The class that a repository or a path stands for; "" where that is not known, or not sure."""
    last = written.rstrip("/")[-_LONGEST:].rpartition("/")[2].casefold().replace("_", "-")
    if _OTHER_MODELS.search(last):
        return ""
    met = [served for served, names in served_classes().items() if re.fullmatch(rf"(?:{names})(?:-.*)?", last)]
    return met[0] if len(met) == 1 else ""
