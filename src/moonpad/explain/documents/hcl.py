"""Files in HCL: scripts in heredocs of Terraform, containers of Nomad's jobs and of Terraform's resources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from msgspec import Struct

from moonpad.explain.commands import Piece, Word
from moonpad.explain.manifests.containers import Container, read_container
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_BLOCK: Final = re.compile(
    r'^(?:(?:resource|data)[ \t]+"[\w-]+"[ \t]+"[\w-]+"|(?:variable|module|provider|output|job)[ \t]+"[\w.-]+"'
    r"|locals|terraform)[ \t]*\{",
    re.MULTILINE,
)
_HEREDOC: Final = re.compile(r"<<-?([A-Z_a-z]\w{0,40})[ \t]*\n")
_VARIABLE: Final = re.compile(r'^variable[ \t]+"(?P<name>[\w-]+)"[ \t]*\{(?P<body>[^{}]*)\}', re.MULTILINE)
_DEFAULT: Final = re.compile(r'\bdefault[ \t]*=[ \t]*(?:"(?P<text>[^"\n]*)"|(?P<number>[\w.-]+))')
_FILLED: Final = re.compile(r"(?<!\$)\$\{[ ]*(?P<name>[\w.\[\]\"-]{1,80})[ ]*\}")
_IMAGE: Final = re.compile(r'^[ \t]*image[ \t]*=[ \t]*"(?P<image>[^"\n]+)"', re.MULTILINE)
_LIST: Final = r'[ \t]*=[ \t]*\[(?P<items>(?:[^\]"]|"(?:[^"\\\n]|\\.)*")*)\]'
_TEXT: Final = r'[ \t]*=[ \t]*"(?P<text>(?:[^"\\\n]|\\.)*)"'
_STRING: Final = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_DEVICE: Final = re.compile(r'device[ \t]+"(?P<kind>(?:nvidia|amd)/gpu[^"\n]*)"[ \t]*(?:\{(?P<body>[^{}]*)\})?')
_COUNT: Final = re.compile(r"count[ \t]*=[ \t]*(\d{1,3})")
_LIMIT: Final = re.compile(r'"(?:nvidia|amd)\.com/gpu"[ \t]*=[ \t]*"?(\d{1,3})')
_SHM: Final = re.compile(r"^[ \t]*shm_size[ \t]*=[ \t]*(\d+)", re.MULTILINE)
_IPC: Final = re.compile(r'^[ \t]*ipc_mode[ \t]*=[ \t]*"(\w+)"', re.MULTILINE)
_MOST: Final = 20


class _Span(Struct, frozen=True):
    """A block: where its braces open and close."""

    first: int
    last: int


def is_hcl(text: str) -> bool:
    return "{" in text and "```" not in text[:2000] and _BLOCK.search(text) is not None


def scripts_of(text: str, start: int, state: ScriptState) -> Iterator[Word]:
    """What its heredocs hold, with the defaults of its variables filled in. `text` begins at the offset `start`."""
    defaults = dict(_defaults(text))
    for match in islice(_HEREDOC.finditer(text), _MOST):
        state.budget.work(len(text) // 10, "its heredocs")
        closing = re.compile(rf"^[ \t]*{match[1]}[ \t)]*$", re.MULTILINE).search(text, match.end())
        if closing is not None:
            yield _with_values(text[match.end() : closing.start()], start + match.end(), defaults)


def _defaults(text: str) -> Iterator[tuple[str, str]]:
    for match in _VARIABLE.finditer(text):
        given = _DEFAULT.search(match["body"])
        if given is not None and given["number"] not in ("null", "true", "false"):
            yield f"var.{match['name']}", given["text"] if given["text"] is not None else given["number"]


def _with_values(text: str, start: int, defaults: Mapping[str, str]) -> Word:
    """What has no value is a variable that is not known; `$${NAME}` is one of the script's own."""
    parts, pieces, at, length = list[str](), list[Piece](), 0, 0

    def add(part: str, first: int, last: int) -> None:
        nonlocal length
        if part:
            pieces.append(Piece(length, length + len(part), start + first, start + last))
            parts.append(part)
            length += len(part)

    for match in _FILLED.finditer(text):
        add(text[at : match.start()], at, match.start())
        unknown = f"${{{re.sub(r'[^A-Za-z0-9]+', '_', match['name']).strip('_')}}}"
        add(defaults.get(match["name"], unknown), match.start(), match.end())
        at = match.end()
    add(text[at:], at, len(text))
    return Word("".join(parts), pieces=tuple(pieces))


def read_containers(text: str, start: int, state: ScriptState) -> bool:
    """Adds the commands of containers that name an image beside their arguments. False where there are none."""
    before = len(state.commands)
    spans = _spans(text)
    for match in islice(_IMAGE.finditer(text), _MOST):
        around = [span for span in spans if span.first < match.start() < span.last]
        around.sort(key=lambda span: -span.first)
        state.budget.work(40 + len(spans), "its containers")
        if not around:
            continue
        block = text[around[0].first : around[0].last]
        place = start + around[0].first
        words = {name: list(_words(name, block, place, state)) for name in ("entrypoint", "command", "args")}
        if not words["command"] and not words["args"]:
            continue
        outer = around[1] if len(around) > 1 else around[0]
        image = _word(match["image"], start + match.start("image"), state)
        of_nomad = bool(re.search(r'\bdriver[ \t]*=[ \t]*"', text[outer.first : outer.last]))
        options = [Word(word) for word in _options(text[outer.first : outer.last], block)]
        entrypoint = words["entrypoint"] if of_nomad else words["command"]
        arguments = [*words["command"], *words["args"]] if of_nomad else words["args"]
        container = Container(image, image, entrypoint, arguments, {}, options)
        read_container(container, Source.block(state.text, start, text), state)
    return len(state.commands) > before


def _spans(text: str) -> list[_Span]:
    """Strings hold no braces that count."""
    open_at, spans = list[int](), list[_Span]()
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*|//[^\n]*|[{}]', text):
        if match.group() == "{":
            open_at.append(match.end())
        elif match.group() == "}" and open_at:
            spans.append(_Span(open_at.pop(), match.start()))
    return spans


def _words(name: str, block: str, start: int, state: ScriptState) -> Iterator[Word]:
    listed = re.search(rf"^[ \t]*{name}{_LIST}", block, re.MULTILINE)
    if listed is not None:
        for item in _STRING.finditer(listed["items"]):
            yield _word(item[1], start + listed.start("items") + item.start(1), state)
    elif (text := re.search(rf"^[ \t]*{name}{_TEXT}", block, re.MULTILINE)) is not None:
        yield _word(text["text"], start + text.start("text"), state)


def _word(text: str, at: int, state: ScriptState) -> Word:
    plain = re.sub(r'\\(["\\])', r"\1", text)
    word = state.text.word(plain, at, at + len(text), (Piece(0, len(plain), at, at + len(text)),))
    return replace(word, unresolved=(plain,)) if "${" in plain else word


def _options(task: str, block: str) -> Iterator[str]:
    """Devices and shared memory, as `docker run` is given them."""
    device, limit = _DEVICE.search(task), _LIMIT.search(task)
    if device is not None:
        count = _COUNT.search(device["body"] or "")
        yield from ("--gpus", count[1] if count is not None else "1")
    elif limit is not None:
        yield from ("--gpus", limit[1])
    if (size := _SHM.search(block)) is not None:
        yield from ("--shm-size", size[1])
    if (mode := _IPC.search(block)) is not None:
        yield from ("--ipc", mode[1])
