"""What a container has to be given for the devices of its image: data/image_devices.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "image_devices.toml"


class ImageDevices(Struct, frozen=True, kw_only=True):
    """Images whose name has `image` in it find no device where no option of the start has `needs`; both are regular
    expressions, in any case."""

    image: Text
    given: str = ""
    """What has to be there for the row to be asked."""
    command: str = ""
    """What the server's own command has to have for the row to be asked."""
    not_on: tuple[str, ...] = ()
    """Platforms of devices that no option of the start opens to the image."""
    needs: Text
    missing: Text
    """The option that lacks."""
    message: Text
    remedy: Text
    provenance: Provenance


@cache
def image_devices() -> Mapping[str, ImageDevices]:
    """By their keys."""
    return {key: row.build(ImageDevices) for key, row in rows(FILE, "needs")}
