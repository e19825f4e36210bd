"""The container images that engines publish, by version and device."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, rows
from moonpad.values.platform import Platform
from moonpad.values.versions import CHANNELS

FILE: Final = "images.toml"


class PublishedImage(Struct, frozen=True):
    """`tag` holds `{version}`; `on` is a platform or a device's capability."""

    engine: str
    on: str
    tag: str
    provenance: Provenance


@cache
def images() -> tuple[PublishedImage, ...]:
    """All of them. Reads the data once."""
    return tuple(row.build(PublishedImage) for _, row in rows(FILE, "images"))


def image_of(engine: str, platform: Platform, capability: str, version: str) -> str | None:
    """`vllm/vllm-openai:v0.33.0`, `vllm/vllm-openai:nightly`; None where none is known for such devices."""
    for image in images():
        if image.engine == engine and image.on in (platform.value, capability):
            tag = image.tag.replace("v{version}", "{version}") if version in CHANNELS else image.tag
            return tag.format(version=version)
    return None
