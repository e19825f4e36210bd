"""What `kubectl describe pod` prints: the command and the arguments of each container stand one on a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Piece, Word
from moonpad.explain.manifests.containers import Container, read_container
from moonpad.explain.manifests.node_labels import cluster_of_label
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.source_text import Source

_CONTAINERS: Final = re.compile(r"^([ \t]*)Containers:[ \t]*$", re.MULTILINE)
_LISTED: Final = re.compile(r"^([ \t]+)(Command|Args):[ \t]*$", re.MULTILINE)
_CONTAINER: Final = re.compile(r"^([ \t]+)([\w.-]+):[ \t]*$", re.MULTILINE)
_DESCRIBES: Final = re.compile(r"\bkubectl\b.*\bdescribe\b|\bName:[ \t]")
_ID: Final = re.compile(r"^[ \t]+(?:Image|Container ID|State|Ready):[ \t]", re.MULTILINE)
"""Fields that kubectl prints, and no file has."""
_FIELD: Final = re.compile(r"^[ \t]+(Image|Limits|nvidia\.com/gpu|amd\.com/gpu):[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_VARIABLE: Final = re.compile(r"^([ \t]+)([A-Za-z_]\w*):[ \t]+(\S.*)$", re.MULTILINE)
_SELECTOR: Final = re.compile(r"^(?:Node-Selectors:)?[ \t]+[\w./-]+=(\S+)[ \t]*$", re.MULTILINE)


def is_pod_description(text: str) -> bool:
    """Whether containers with a list of words stand in it as kubectl prints them."""
    containers = _CONTAINERS.search(text)
    if containers is None or not _LISTED.search(text):
        return False
    above = text[: containers.start()].strip()
    return above.startswith("Name:") or ((not above or _DESCRIBES.search(above) is not None) and bool(_ID.search(text)))


def read_pod_description(text: str, start: int, state: ScriptState) -> None:
    """Adds the commands of its containers; `text` begins at the offset `start` of the whole text."""
    heading = _CONTAINERS.search(text)
    if heading is None:
        return
    kinds = [kind for match in _SELECTOR.finditer(text) if (kind := cluster_of_label(match[1]))]
    for first, last, name in _containers(text, heading.end(), len(heading[1])):
        part = text[first:last]
        state.budget.work(40 + len(part) // 10, "its containers")
        given = {match[1]: match for match in _FIELD.finditer(part)}
        listed = {match[2]: list(_items(part, match, start + first, state)) for match in _LISTED.finditer(part)}
        image = given.get("Image")
        if image is None or not (listed.get("Command") or listed.get("Args")):
            continue
        at = _word(image[2], start + first + image.start(2), state)
        devices = given.get("nvidia.com/gpu") or given.get("amd.com/gpu")
        options: Sequence[Word] = ()
        if devices is not None:
            count = _word(devices[2], start + first + devices.start(2), state)
            options = (_word("--gpus", start + first + devices.start(1), state), count)
            state.machines += ((at.line, f"{devices[2]}x{kind.rpartition('x')[2]}") for kind in kinds)
        environment = dict(_variables(part, start + first, state))
        entrypoint, arguments = listed.get("Command", []), listed.get("Args", [])
        container = Container(at, at, entrypoint, arguments, environment, options, name)
        read_container(container, Source.block(state.text, start, text), state)


def _containers(text: str, begin: int, outer: int) -> Iterator[tuple[int, int, str]]:
    """Where each one's lines begin and end, and its name."""
    ending = re.compile(rf"^[ \t]{{0,{outer}}}\S", re.MULTILINE).search(text, begin)
    end = ending.start() if ending else len(text)
    heads = list(_CONTAINER.finditer(text, begin, end))
    depth = min((len(match[1]) for match in heads), default=0)
    heads = [match for match in heads if len(match[1]) == depth]
    for number, match in enumerate(heads):
        yield match.end(), heads[number + 1].start() if number + 1 < len(heads) else end, match[2]


def _items(part: str, listed: re.Match[str], start: int, state: ScriptState) -> Iterator[Word]:
    """The lines that are indented further than the heading of the list."""
    position = listed.end() + 1
    for line in part[position:].split("\n"):
        text = line.strip()
        if text and len(line) - len(line.lstrip()) <= len(listed[1]):
            return
        if text:
            yield _word(text, start + position + line.index(text), state)
        position += len(line) + 1


def _variables(part: str, start: int, state: ScriptState) -> Iterator[tuple[str, Word]]:
    heading = re.search(r"^([ \t]+)Environment:[ \t]*$", part, re.MULTILINE)
    for match in _VARIABLE.finditer(part, heading.end()) if heading else ():
        if heading is None or len(match[1]) <= len(heading[1]):
            return
        if not match[3].startswith("<"):  # `<set to the key …>`
            yield match[2], _word(match[3].strip(), start + match.start(3), state)


def _word(text: str, at: int, state: ScriptState) -> Word:
    return state.text.word(text, at, at + len(text), (Piece(0, len(text), at, at + len(text)),))
