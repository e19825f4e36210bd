"""Releases that a text names for other tags of the image that a command runs: `server:latest` is run, and `server:old`
is based on 0.10.2."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.text_hints import version_mentions, version_of_image

_LONGEST: Final = 2000
_TAGLESS: Final = "latest"


def release_of_own_tag(engine: str, command: Command, script: Script) -> str | None:
    """What the lines about the tag say of the engine, "" where all that name a release are about other tags; None
    where the command runs in no image, its tag has a number, or a release is named for something else too."""
    image = _image_of(command, script)
    if not image or "@" in image or unresolved(image) or version_of_image(image) is not None:
        return None
    script.budget.once("tags of images", len(script.lines), "the text around its engine commands")
    path, _, tag = image.rpartition(":") if ":" in image.rpartition("/")[2] else (image, "", _TAGLESS)
    name = re.escape(path.rpartition("/")[2])
    any_tag = re.compile(rf"(?<![\w.-]){name}(?::(?P<tag>\w[\w.+-]{{0,127}}))?(?![\w/-])")
    own, free = "", False
    mentions = [each for each in version_mentions(script.lines) if each.engine == engine and not each.least]
    for each in mentions:
        line = script.lines[each.line - 1][:_LONGEST]
        # A line that is about no tag of it, or about several, says nothing of one of them.
        tags = {match["tag"] or _TAGLESS for match in any_tag.finditer(line)}
        free = free or len(tags) != 1
        own = own or (each.version if tags == {tag} else "")
    return own or (None if free or not mentions else "")


def _image_of(command: Command, script: Script) -> str:
    """Of its container, or of the `docker run` whose variables it is made of."""
    script.budget.work(len(script.commands) // 8, "its engine commands")
    started = (each for each in script.commands if each.line == command.line and each.program == "docker")
    held = (each.container for each in (command, *started))
    return next((each.image.text for each in held if each is not None and each.image is not None), "")
