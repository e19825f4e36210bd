"""Which release of an engine an image of another publisher holds, by its name and tag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "image_releases.toml"
NUMBER: Final = r"v?(?P<version>[0-9]{1,4}(?:\.[0-9]{1,6}){1,3}(?:(?:rc|[ab]|\.post)[0-9]{1,4})*)"
REFERENCE: Final = re.compile(
    r"(?<![\w.-])(?:[\w.-]{1,80}(?::[0-9]{1,5})?/){0,6}[\w.-]{1,80}:\w[\w.-]{0,127}", re.ASCII
)
"""An image with its tag, in a text."""


class ListedTags(Struct, frozen=True):
    """`names` are the last two parts of the image's name; `variants` may follow a tag. `unchanged`: it is the engine's
    release as it was published, to whose options the publisher adds none and takes none away."""

    engine: Text
    names: tuple[Text, ...]
    tags: Mapping[str, Text]
    provenance: Provenance
    variants: tuple[Text, ...] = ()
    unchanged: bool = False


class WordedTags(Struct, frozen=True):
    """`tag` is a regular expression with `{version}` in it."""

    engine: Text
    names: tuple[Text, ...]
    tag: Text
    provenance: Provenance


class HeldRelease(Struct, frozen=True):
    """Engine and version are "" where the publisher numbers its images by itself, and this tag is not known."""

    engine: str
    version: str
    unchanged: bool = False


UNKNOWN_TAG: Final = HeldRelease("", "")


@cache
def listed_tags() -> tuple[ListedTags, ...]:
    """All of them. Reads the data once."""
    return tuple(row.build(ListedTags) for _, row in rows(FILE, "listed"))


@cache
def worded_tags() -> tuple[WordedTags, ...]:
    """All of them. Reads the data once."""
    return tuple(row.build(WordedTags) for _, row in rows(FILE, "worded"))


@lru_cache(maxsize=1024)
def held_release(image: str) -> HeldRelease | None:
    """`nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.1-efa` → vllm 0.23.0. None for an image of no publisher that is
    listed, whose tag may be read in another way."""
    repository, _, tag = image.partition("@")[0].rpartition(":")
    name = "/".join(repository.replace("#", "/").split("/")[-2:])  # `nvcr.io#nvidia/vllm` for enroot
    if name not in _names():
        return None
    return next(_held(name, tag), UNKNOWN_TAG)


@cache
def _names() -> frozenset[str]:
    listed = (name for row in listed_tags() for name in row.names)
    return frozenset((*listed, *(name for row in worded_tags() for name in row.names)))


def _held(name: str, tag: str) -> Iterator[HeldRelease]:
    for listed in listed_tags():
        if name in listed.names and (version := listed.tags.get(_without_variants(tag, listed))):
            yield HeldRelease(listed.engine, version, listed.unchanged)
    for worded in worded_tags():
        if name in worded.names and (match := _pattern(worded.tag).fullmatch(tag)):
            yield HeldRelease(worded.engine, match["version"])


def _without_variants(tag: str, listed: ListedTags) -> str:
    """A tag that is listed with its suffix is found with it."""
    while tag not in listed.tags and (variant := next((end for end in listed.variants if tag.endswith(end)), "")):
        tag = tag.removesuffix(variant)
    return tag


@cache
def _pattern(tag: str) -> re.Pattern[str]:
    return re.compile(tag.replace("{version}", NUMBER), re.ASCII)
