"""Containers as Podman's quadlets have them: `[Container]` with `Image=` and `Exec=`, in a file or a heredoc.

Source: https://docs.podman.io/en/latest/markdown/podman-systemd.unit.5.html#container-units-container.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.commands import Word, cut
from moonpad.explain.manifests.containers import Container, read_container
from moonpad.explain.shell.interpreter import ScriptState, words_of
from moonpad.explain.shell.wrappers import assignment
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_QUADLET: Final = re.compile(r"^[ \t]*\[Container\][ \t]*$(?=(?:\n(?![ \t]*\[).*)*?\n[ \t]*Image[ \t]*=)", re.MULTILINE)
_FILE: Final = re.compile(r"(?:[ \t\0]*(?:[#;].*)?\n)*[ \t]*\[\w+\][ \t]*\n")
_SECTION: Final = re.compile(r"^[ \t]*\[(\w+)\][ \t]*$", re.MULTILINE)
_SETTING: Final = re.compile(r"^[ \t]*([A-Z]\w*)[ \t]*=[ \t]*((?:.*\\[ \t]*\n(?:[ \t]*[#;].*\n)*)*+.*)$", re.MULTILINE)
_COMMENT: Final = re.compile(r"(?<=\n)[ \t]*[#;].*\n")
_OPTIONS: Final = {
    **{"PublishPort": "--publish", "Volume": "--volume", "ShmSize": "--shm-size", "AddDevice": "--device"},
    **{"Network": "--network", "ContainerName": "--name", "EnvironmentFile": "--env-file", "Ulimit": "--ulimit"},
}
"""What `podman run` calls the same."""


def is_quadlet(text: str) -> bool:
    """Whether the whole text is one, not a script that writes some."""
    return bool(_FILE.match(text)) and holds_quadlets(text)


def holds_quadlets(text: str) -> bool:
    return bool(_QUADLET.search(text))


def read_quadlets(whole: Word, state: ScriptState) -> None:
    """Adds the command of each container in the text of the word."""
    text = whole.text
    titles = [*_SECTION.finditer(text)]
    ends = [*(match.start() for match in titles[1:]), len(text)]
    for title, end in zip(titles, ends, strict=True):
        if title[1] == "Container":
            _read(whole, title.end(), end, state)


def _read(whole: Word, start: int, end: int, state: ScriptState) -> None:
    image: Word | None = None
    entrypoint: list[Word] = []
    arguments: list[Word] = []
    options: list[Word] = []
    env: dict[str, Word] = {}
    label = ""
    for key, value in _settings(whole, start, end):
        words = list(words_of(Source.inside(value, state.text), state))
        if not words:
            continue
        match key:
            case "Image":
                image = words[0]
            case "Exec":
                arguments = words
            case "Entrypoint":
                entrypoint = words
            case "Environment":
                env |= dict(pair for word in words if (pair := assignment(word)))
            case "PodmanArgs":
                options += words
            case _ if key in _OPTIONS:
                options += (replace(words[0], text=_OPTIONS[key], pieces=(), unresolved=()), words[0])
                label = words[0].text if key == "ContainerName" else label
    if image is not None:
        at = replace((*arguments, image)[0], pieces=(), unresolved=())
        container = Container(at, image, entrypoint, arguments, env, options, label)
        read_container(container, Source.inside(whole, state.text), state)


def _settings(whole: Word, start: int, end: int) -> Iterator[tuple[str, Word]]:
    for match in _SETTING.finditer(whole.text, start, end):
        value = cut(whole, *match.span(2))
        plain = _COMMENT.sub(lambda comment: " " * len(comment.group()), value.text)
        yield match[1], replace(value, text=plain, unresolved=())
