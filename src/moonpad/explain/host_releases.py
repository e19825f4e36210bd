"""A command that runs inside of a container has the image's release, and not the one that is installed on the host."""

from __future__ import annotations

import re
from typing import Final

from moonpad.catalog.image_releases import held_release
from moonpad.engines import ENGINES
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.device_nearness import sections
from moonpad.explain.documents.mentioned_releases import VersionMention
from moonpad.explain.documents.text_hints import version_mentions, version_of_image
from moonpad.explain.programs import base_name

_SHELLS: Final = frozenset({"bash", "sh", "zsh", "ash"})
_CONTAINERS: Final = ("docker run", "docker exec")
_LEAVES: Final = re.compile(r"[ \t]*(?:exit|logout|docker[ ]+(?:stop|rm|kill))\b")
_BUILDS: Final = re.compile(r"[ \t]*(?:RUN|ARG|ENV)[ ]")
"""A line of a Dockerfile, which says what is in an image."""
_INSTALLS: Final = re.compile(r"\b(?:pip3?|uv|conda|poetry|pdm)\b")
_FENCE: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_NEAR: Final = 60
_LONGEST: Final = 1000


def release_beside(engine: str, command: Command, script: Script) -> tuple[str, str] | None:
    """Where the command is inside of a container and the text installs the engine outside of it: the release that is
    named otherwise, "" for none, and the one that the host has. None where nothing is installed outside."""
    if len(script.commands) > 400:
        return None
    entered = _entered_at(engine, command, script)
    if entered is None:
        return None
    named = [each for each in version_mentions(script.lines) if each.engine == engine and not each.least]
    own = _lines_of(command, script)
    outside = [each for each in named if each.line not in own and _is_outside(each, entered, script)]
    if not outside:
        return None
    others = [each for each in named if each not in outside]
    if any(each.version == outside[-1].version for each in others):
        return None  # the text says the same of all
    above = [each for each in others if each.image and each.line <= command.line]
    found = above[-1:] or others[:1]
    return (found[0].version if found else ""), outside[-1].version


def _is_outside(each: VersionMention, entered: int, script: Script) -> bool:
    line = script.lines[each.line - 1][:_LONGEST]
    installs = each.exact and not each.image and _INSTALLS.search(line) is not None and not _BUILDS.match(line)
    return installs and (not entered or each.line < entered)


def _lines_of(command: Command, script: Script) -> range:
    """The lines that start the container: of a manifest the whole block of the text that it stands in."""
    places = [word.line for word in command.words]
    places += [word.line for wrapper in command.wrappers for word in wrapper.words]
    first, last = min((line for line in places if line > 0), default=command.line), max(places, default=command.line)
    container = command.container
    if container is None or container.words:
        return range(first, last + 1)
    fences = [at for at, text in enumerate(script.lines, 1) if _FENCE.match(text[:_LONGEST])] if script.markdown else []
    above, below = [at for at in fences if at < first], [at for at in fences if at > last]
    return range(above[-1] if above else 1, (below[0] if below else len(script.lines)) + 1)


def _entered_at(engine: str, command: Command, script: Script) -> int | None:
    """The first line of the text that enters or starts a container, where the command runs in one; 0 where the command
    is what an image of the engine runs by itself; None on the host."""
    container = command.container
    if container is not None and container.image is not None:
        image = container.image.text
        own = any(re.search(pattern, image, re.IGNORECASE) for pattern in ENGINES[engine].command_line.images)
        untold = version_of_image(image) is None and held_release(image) is None
        return 0 if own and untold and not container.image.unresolved else None
    inside = container is not None and container.kind == "docker exec"
    if not inside and not _has_shell_above(command, script):
        return None
    starts = (each.line for each in script.commands if any(w.kind in _CONTAINERS for w in each.wrappers))
    return min(starts, default=command.line)


def _has_shell_above(command: Command, script: Script) -> bool:
    """Whether a line above it, under the same heading, opens a shell in a container that nothing leaves before."""
    above = [each for each in script.commands if command.line - _NEAR < each.line < command.line]
    opened = [each.line for each in above if _opens_shell(each)]
    if not opened:
        return False
    chains = sections(script.lines) if script.markdown else ()
    if chains and chains[opened[-1] - 1] != chains[command.line - 1]:
        return False
    return not any(_LEAVES.match(text[:_LONGEST]) for text in script.lines[opened[-1] : command.line - 1])


def _opens_shell(command: Command) -> bool:
    kinds = [wrapper.kind for wrapper in command.wrappers]
    words = [word for word in (*command.prefix, *command.argv) if not word.text.startswith("-")]
    if not words or not kinds or kinds[-1] not in _CONTAINERS:
        return False
    entrypoint = command.wrappers[-1].value("--entrypoint") or ""
    return base_name(words[-1]) in _SHELLS or entrypoint.rpartition("/")[2] in _SHELLS
