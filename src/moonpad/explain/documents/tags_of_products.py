"""The release of an engine in the tag of another product's image: `rayproject/ray:2.43.0-vllm_0.7.3`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from moonpad.catalog.image_releases import REFERENCE, held_release
from moonpad.catalog.release_days import release_days

_RELEASE: Final = (
    r"[_-]?v?(?P<version>[01]\.[0-9]{1,2}\.[0-9]{1,2}(?:\.[0-9]{1,2})?(?:\.?(?:rc|post|dev)[0-9]{1,6}){0,2})"
    r"(?![a-zA-Z0-9]|\.[0-9])"
)
_LONG_NAME: Final = re.compile(
    r"(?<![\w.-])[\w.-]{1,80}/(?P<name>[a-z\d][\w.-]{20,254}):\w[\w.-]{0,127}(?![\w/.-])", re.ASCII
)
"""An image whose name lists what it holds, `…/finch-vllm_0.13.0-torch_2.9.0:2605`."""
_NO_RELEASE: Final = re.compile(r"0\.[01]\.")
"""Numbers of products that are young themselves: `infera:vllm-v0.1.2`."""


def releases_in_tags(text: str, names: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, str, str, str]]:
    """The offset of each such image in a line, the engine, its release and the image. `names`: the engines' names."""
    every = tuple(word for words in names.values() for word in words)
    if ":" not in text or _tag(every).search(text) is None:
        return
    for named in _LONG_NAME.finditer(text):
        if held_release(named[0]) is None and (held := _release_in(named["name"], names)) is not None:
            yield named.start(), *held, named[0]
    for reference in REFERENCE.finditer(text):
        if held_release(reference[0]) is None and (held := release_in_tag(reference[0], names)) is not None:
            yield reference.start(), *held, reference[0]


def release_in_tag(image: str, names: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    """`registry/product:1.4-sglang-0.5.3` → ("sglang", "0.5.3"). Where nothing stands in front of the engine's name,
    the number may be the product's own: then it has to be one that the engine has released."""
    repository, _, tag = image.rpartition(":")
    if not any(char.isalpha() for char in repository.rpartition("/")[2]):
        return None
    return _release_in(tag, names)


def _release_in(tag: str, names: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    for engine, words in names.items():
        for match in _tag(tuple(words)).finditer(tag) if words else ():
            version = match["version"]
            if not _NO_RELEASE.match(version) and (match.start() or _is_released(engine, version)):
                return engine, version
    return None


def _is_released(engine: str, version: str) -> bool:
    recorded = release_days().get(engine)
    return recorded is not None and version in recorded.releases


@lru_cache(maxsize=16)
def _tag(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-zA-Z])(?:{'|'.join(words)}){_RELEASE}", re.IGNORECASE | re.ASCII)
