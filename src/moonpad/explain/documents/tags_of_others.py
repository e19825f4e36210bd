"""Images of others whose tag begins with a release of an engine, `someone/amd:v0.5.8-rocm720-mi30x-kimi-k2.5-20260224`
or, after the engine with a word of their own, `our-vllm:0.24.0`: made of that release, with changes of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.catalog.image_releases import REFERENCE, held_release
from moonpad.catalog.release_days import release_days, releases_around
from moonpad.engines import ENGINES
from moonpad.engines.image_names import OF_NO_ENGINE
from moonpad.explain.commands import Command
from moonpad.explain.documents.own_parts import of_own_part
from moonpad.explain.documents.text_hints import version_of_image
from moonpad.explain.image_days import day_of
from moonpad.explain.programs import named_by_image, served_by_image
from moonpad.values.versions import order

_TAG: Final = re.compile(
    r"v?(?P<version>0\.[0-9]{1,3}\.[0-9]{1,2}(?:\.?post[0-9]{1,2})?)"
    r"(?=[-_.](?:[^-_.\s]{1,30}[-_.]){0,5}(?:rocm\d{2,3}|cu1[1-3]\.?\d|gb10|sm1[0-2]\d|mi[23]\d{1,2}x?|gfx9\d\w|cann[\d.]+|a[23]|[hb][12]00)(?![a-z0-9]))",
    re.IGNORECASE | re.ASCII,
)
"""As the makers themselves write it: the release, then the platform that the image is built for."""
_WHOLE_TAG: Final = re.compile(r"v?(?P<version>0\.[0-9]{1,3}\.[0-9]{1,2}(?:\.?post[0-9]{1,2})?)", re.ASCII)
"""Of an image that is called after the engine."""
_OTHERS: Final = re.compile(
    r"lmcache|mooncake|flashinfer|torch|triton|aiter|cuda|nixl|nccl|rccl|ucx|python|ubuntu|ray", re.IGNORECASE
)
"""Names of images that are numbered like the engines, and hold none."""
_OF_A_FILE: Final = re.compile(r"\.(?:sif|sqsh|squashfs|img|tar)$")
"""How the file of an image ends, which Apptainer and Enroot call after its tag."""
_LONGEST: Final = 400


def release_of_others(engine: str, command: Command, lines: Sequence[str]) -> tuple[str, str, str] | None:
    """The release of the image, the next one, whose changes it may have, and the image. Without a container all such
    images of the text have to be of one release, or all those of the innermost part of the document around the command
    that names any. None where no image is of a release of the engine."""
    container = command.container.image if command.container is not None else None
    named = [(0, container.text)] if container is not None else list(_images(engine, lines))
    releases = [(at, (image, version)) for at, image in named if (version := _release_in(engine, image))]
    found = dict(each for _, each in releases)
    if len(set(found.values())) > 1:
        found = dict(of_own_part(command.line, releases, lines))
    if len(set(found.values())) != 1:
        return None
    image, version = next(iter(found.items()))
    day = day_of(image)
    out_on = (releases_around(engine, day) or ("", ""))[1] if day else ""
    later = [each for each in release_days()[engine].releases if order(each) > order(version)]
    behind = out_on if out_on and order(out_on) > order(version) else min(later, key=order, default="")
    return version, behind, image


def _images(engine: str, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """With their lines, from 1."""
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST]
        if ":" in line and (_has_name_of(engine, text) or ("/" in line and _TAG.search(text))):
            found = (match[0] for match in REFERENCE.finditer(text))
            yield from ((number, image) for image in found if "/" in image or _has_name_of(engine, image))


def _has_name_of(engine: str, text: str) -> bool:
    """`our-vllm`, `vllm_patched`."""
    names = ENGINES[engine].command_line.names
    return any(re.search(rf"(?<![a-z0-9]){name}(?![a-z0-9])", text, re.IGNORECASE) for name in names)


def _release_in(engine: str, image: str) -> str:
    """The release that its tag begins with, "" where it is no final one of the engine, or the image tells another
    engine."""
    repository, _, tag = _OF_A_FILE.sub("", image[:_LONGEST].partition("@")[0]).rpartition(":")
    name = repository.rpartition("/")[2]
    own = _has_name_of(engine, name) and version_of_image(image) is None  # the makers' are found before
    recorded = release_days().get(engine)
    match = (_WHOLE_TAG.fullmatch(tag) if own else None) or _TAG.match(tag)
    if recorded is None or match is None or match["version"] not in recorded.releases:
        return ""
    if OF_NO_ENGINE.search(name) or _OTHERS.search(name) or held_release(image) is not None:
        return ""
    if own:
        others = [each for each in ENGINES if each != engine and _has_name_of(each, name)]
        return "" if others else match["version"]
    return "" if served_by_image(image) or named_by_image(image) else match["version"]
