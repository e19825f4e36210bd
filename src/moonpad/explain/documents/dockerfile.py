"""What an image starts by its Dockerfile: the last stage's ENTRYPOINT and CMD, with its FROM and ENV.

Source: https://docs.docker.com/reference/dockerfile/.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.explain.commands import Piece, Word
from moonpad.explain.input_limits import FAILURES
from moonpad.explain.manifests.containers import Container, read_container
from moonpad.explain.programs import names_engine_command, served_by_image
from moonpad.explain.shell.interpreter import ScriptState, Shell, words_of
from moonpad.explain.shell.one_item import apart
from moonpad.explain.shell.wrappers import assignment
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_DOCKERFILE: Final = re.compile(
    r"(?:[ \t]*(?:#.*|ARG[ \t].*)?\n)*[ \t]*FROM[ \t]+(?!\S+[ \t]+import\b)\S+.*$", re.MULTILINE | re.IGNORECASE
)
_INSTRUCTIONS: Final = re.compile(r"^[ \t]*(?:CMD|ENTRYPOINT)[ \t]+[\[\w./\"]", re.MULTILINE)
_LINE: Final = re.compile(r"^[ \t]*([A-Za-z]+)[ \t]+((?:.*\\[ \t]*\n(?:[ \t]*#.*\n)*)*+.*)$", re.MULTILINE)
_COMMENT: Final = re.compile(r"(?<=\n)[ \t]*#.*\n")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_HEREDOC: Final = re.compile(r"<<-?[ \t]*[\"']?(\w+)[\"']?")
_AS_LIST: Final = 'write ENTRYPOINT as a list, ["program", "argument"]'
_CMD_AS_LIST: Final = 'write CMD as a list, ["MODEL", "--option", "value"]'
_MODEL_FIRST: Final = re.compile(r"[\w.-]+/[\w.-]+[ \t\\]+(?:\n[ \t]*)?--[a-z]", re.ASCII)
_FLAGS: Final = re.compile(r"(?:--\S+[ \t]+)*")
_NAMES: Final = frozenset(
    [
        "ADD",
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "ONBUILD",
        "RUN",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ]
)
_STARTS: Final = re.compile(
    r"^[ \t]*(?:[$#][ \t]+)?(?:sudo[ \t]+)?(?:docker|podman|nerdctl)[ \t]+(?:container[ \t]+)?run[ \t]"
    r"|^(?:apiVersion|services):[ \t\n]",
    re.MULTILINE,
)


def is_dockerfile(text: str) -> bool:
    """Whether it begins with FROM, or is a piece of such a file with CMD or ENTRYPOINT."""
    begins = text.lstrip("\0\n\t ").split(maxsplit=1)[:1]
    return bool(_DOCKERFILE.match(text)) or (
        begins[:1] in (["CMD"], ["ENTRYPOINT"]) and bool(_INSTRUCTIONS.search(text))
    )


def end_of_dockerfile(text: str) -> int:
    """Where the instructions end and what uses the image begins, as in a post with both; the whole length where
    nothing behind them starts anything."""
    ends = max((at + len(value) for name, at, value in _instructions(text) if name in _NAMES), default=len(text))
    rest = text[ends:]
    return ends if names_engine_command(rest) or _STARTS.search(rest) else len(text)


def read_dockerfile(text: str, start: int, state: ScriptState) -> None:
    """Adds the command of the image that is built of `text`, which begins at the offset `start` of the whole."""
    image, env = state.text.word("image", start, start), dict[str, Word]()
    of_build, outer = dict[str, Word](), dict[str, Word]()
    entrypoint: list[Word] = []
    command: list[Word] = []
    at, cleared, by_shell, bash = image, False, False, False
    for name, offset, value in _instructions(text):
        state.budget.work(20 + len(value) // 20, "its instructions")
        place = start + offset
        if name == "FROM":
            outer = of_build if image.text == "image" else outer
            words = words_of(Source.block(state.text, place, value), state)
            image = next((word for word in words if not word.text.startswith("--")), image)
            env, entrypoint, command, cleared, by_shell, bash, of_build = {}, [], [], False, False, False, {}
        elif name == "ENV":
            given = _variables(words_of(Source.block(state.text, place, value), state))
            env |= {key: _by_default(word, {**of_build, **env}) for key, word in given.items()}
        elif name == "ARG":
            for word in words_of(Source.block(state.text, place, value), state):
                pair = assignment(word) or ((word.text, outer[word.text]) if word.text in outer else None)
                of_build |= dict([pair] if pair else [])
        elif name == "SHELL":
            bash = "bash" in value
        elif name == "RUN":
            source = Source.block(state.text, place, value)
            source.echo_escapes = not bash and "<<" not in value
            Shell(state, source).read()
        elif name == "ENTRYPOINT":
            entrypoint, at, command = _argv(value, place, state), state.text.word("", place, place), []
            cleared = not entrypoint
            by_shell = bool(entrypoint) and not value.strip().startswith("[")
        elif name == "CMD":
            command, at = _argv(value, place, state), state.text.word("", place, place)
            if by_shell and command:
                message = "the ENTRYPOINT above is no list, so a shell runs it, and nothing of CMD reaches it"
                state.problems.add("cmd-not-read", place, place + len(value.rstrip()), message, _AS_LIST)
                command = []
            elif not (entrypoint or cleared) and _holds_options_alone(image, command):
                message = "it is no list, so `sh -c` with this text is what the image's server gets: it refuses both"
                state.problems.add("cmd-not-read", place, place + len(value.rstrip()), message, _CMD_AS_LIST)
                command = list(words_of(Source.inside(command[-1], state.text), state))
    if entrypoint or command:
        image = replace(image, text=image.text if image.line else "image")
        source = Source.block(state.text, start, text)
        container = Container(at, image, entrypoint, command, env, clears_entrypoint=cleared)
        read_container(container, source, state)


def _holds_options_alone(image: Word, command: list[Word]) -> bool:
    """Whether a text for a shell has the model and options for the program that the image starts by itself."""
    if [word.text for word in command[:2]] != ["sh", "-c"] or not served_by_image(image.text):
        return False
    text = command[-1].text.strip()
    begins_so = text.startswith("--") or _MODEL_FIRST.match(text) is not None
    return begins_so and not names_engine_command(text)


def _instructions(text: str) -> Iterator[tuple[str, int, str]]:
    """Name, offset and value. Comments between continued lines are blanked; a heredoc belongs to its instruction."""
    position = unclosed = 0
    while match := _LINE.search(text, position):
        end = match.end()
        name, value = match[1].upper(), match[2]
        if unclosed < FAILURES and name in ("RUN", "COPY", "ADD") and (heredoc := _HEREDOC.search(value)):
            closing = re.compile(rf"^[ \t]*{re.escape(heredoc[1])}[ \t]*$", re.MULTILINE).search(text, end)
            unclosed += closing is None
            end = closing.end() if closing else end
            value = text[match.start(2) : end]
            if name != "RUN":
                # `COPY <<EOF /start.sh` writes a file as `cat > /start.sh <<EOF` does.
                name = "COPY"
        blanked = _COMMENT.sub(lambda comment: " " * (len(comment.group()) - 2) + "\\\n", value)
        yield name, match.start(2), blanked if name != "RUN" or "<<" not in value else value
        position = max(end, position + 1)


def _variables(words: list[Word]) -> dict[str, Word]:
    """`NAME=value NAME=value`, or `NAME value`."""
    if words and assignment(words[0]) is None and len(words) > 1:
        return {words[0].text: words[1]}
    return dict(pair for word in words if (pair := assignment(word)))


def _by_default(word: Word, known: Mapping[str, Word]) -> Word:
    """`$NAME` or `${NAME}` of an ARG, by its default, or of an earlier ENV."""
    name = word.unresolved[0] if len(word.unresolved) == 1 else ""
    return replace(known[name], pieces=()) if name in known and word.text in (f"${name}", f"${{{name}}}") else word


def _argv(value: str, start: int, state: ScriptState) -> list[Word]:
    """The exec form, a list in JSON; else the shell form."""
    inner = value.strip()
    if inner.startswith("[") and inner.endswith("]"):
        words: list[Word] = []
        for match in _STRING.finditer(value):
            try:
                text = str(json.loads(match.group(), strict=False))
            except ValueError:
                text = match.group()[1:-1]
            place = (start + match.start() + 1, start + match.end() - 1)
            word = state.text.word(text, start + match.start(), start + match.end(), (Piece(0, len(text), *place),))
            words += apart(word, state)
        return words
    value = value.rstrip()
    piece = Piece(0, len(value), start, start + len(value))
    word = state.text.word(value, start, start + len(value), (piece,))
    return [replace(word, text="sh", pieces=()), replace(word, text="-c", pieces=()), word]
