"""The container images that engines publish, by version and device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from moonpad.catalog.rows import Provenance, rows
from moonpad.values.platform import Platform

FILE: Final = "images.toml"


@dataclass(frozen=True, slots=True)
class PublishedImage:
    """`tag` holds `{version}`; `on` is a platform or a device's capability."""

    engine: str
    on: str
    tag: str
    provenance: Provenance


@cache
def images() -> tuple[PublishedImage, ...]:
    """All of them. Reads the data once."""
    made = []
    for _, row in rows(FILE, "images"):
        made.append(PublishedImage(row.text("engine"), row.text("on"), row.text("tag"), row.provenance()))
        row.done()
    return tuple(made)


def image_of(engine: str, platform: Platform, capability: str, version: str) -> str | None:
    """`vllm/vllm-openai:v0.33.0`; None where none is known for such devices."""
    for image in images():
        if image.engine == engine and image.on in (platform.value, capability):
            return image.tag.format(version=version)
    return None
