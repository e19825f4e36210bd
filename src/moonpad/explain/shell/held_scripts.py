"""Scripts that the text itself holds, and that another part of it runs with arguments: `bash serve.sh "$MODEL" 8`
beside a `serve.sh` that takes $1 and $2.

Such a script is one of several files, a block of a document under its name, or what `cat serve.sh` has shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from moonpad.engines.foreign_names import MENTION

_SUFFIX: Final = r"\.(?:sh|bash|zsh|slurm|sbatch)"
_NAME: Final = re.compile(rf"(?<![\w./-])(?:[\w.~-]*/)*(?P<name>[\w.-]{{1,80}}{_SUFFIX})(?![\w-])")
_PROMPT: Final = r"(?:\([\w.-]{1,40}\)[ \t]*)?(?:\[?[\w.-]{1,40}@[\w.-]{1,60}[^\n$#]{0,60})?[$#%>][ \t]+"
_SHOWN: Final = re.compile(
    rf"^[ \t]*(?P<prompt>{_PROMPT})?cat[ \t]+[\"']?(?:[^\s\"'|<>;&]*/)?(?P<name>[\w.-]{{1,80}}{_SUFFIX})[\"']?[ \t]*$"
)
_TITLED: Final = re.compile(
    rf"^[ \t]*(?:(?:==>|[-=]{{2,40}}|\#{{1,6}}|//|\*\*)[ \t]*)?(?:file(?:name)?[ ]?:[ ]*)?[`*\"]{{0,3}}(?:[\w.~-]*/)*"
    rf"(?P<name>[\w.-]{{1,80}}{_SUFFIX})[`*\"]{{0,3}}[ \t]*:?[ \t]*(?:<==|[-=]{{2,40}}|\#{{1,6}})?[ \t]*$",
    re.IGNORECASE,
)
"""`==> serve.sh <==`, `# serve.sh`, above a line that begins a script."""
_TYPED: Final = re.compile(rf"^[ \t]*{_PROMPT}\S")
_BEGINS: Final = re.compile(r"^#!.*sh\b")
_COMMENT: Final = re.compile(r"[ \t\0]*#")
_HANDLED: Final = re.compile(
    r"[ \t\0]*(?:#|(?:\$[ \t]+)?(?:sudo[ \t]+)?(?:echo|printf|chmod|chown|cat|cp|scp|rsync|mv|rm|ls|ln|sed|less|vim?"
    r"|nano|head|tail|touch|wget|curl|git|shellcheck|docker[ ]cp|usage)\b)",
    re.IGNORECASE,
)
"""A line that does something else with a script, or tells how it is called."""
_ARGUMENTS: Final = (
    r"(?P<arguments>(?:[ \t]+(?![#&|;<>()])(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[^\s;&|()`]{1,200})){0,40})"
)
_RUNNER: Final = (
    r"(?:(?<![\w./-])(?:(?:bash|z?sh|dash|ksh|source|exec)[ \t]+(?:-[\w-]+[ \t]+){0,4}|\.[ \t]+"
    r"|sbatch[ \t]+(?:[^\s;&|]+[ \t]+){0,20})[\"']?(?:[^\s\"';&|()`]*/)?"
    r"|(?:^|(?<=[\s;&|(`]))[\"']?\.{1,2}/(?:[^\s\"';&|()`]*/)?)"
)
_FILL_INS: Final = re.compile(r"<[^<>\n]{1,60}>|\[[^\[\]\n]{1,60}\]|\.\.\.|…")
_POSITIONAL: Final = re.compile(r"\$\{?(?:[1-9@*]|\#(?!\w))")
_QUOTED: Final = re.compile(r"'[^'\n]*'")
_FUNCTION: Final = re.compile(
    r"^[ \t]*(?:function[ \t]+)?[\w-]{1,60}[ \t]*(?:\([ \t]*\))?[ \t]*\{[ \t]*\n(?:(?![ \t]*\}).*\n){0,60}[ \t]*\}",
    re.MULTILINE,
)
"""`serve() {`, whose `$1` is an argument of its own."""
_PREPARES: Final = re.compile(
    r"install|setup|download|build|bench|test|client|eval|clean|stop|kill|env\b|prepare|convert|deps|requirements",
    re.IGNORECASE,
)
_LONGEST: Final = 2_000
_MOST_LINES: Final = 20_000
_MOST: Final = 40
"""Scripts, and calls of one."""


class Section(Struct, frozen=True):
    """A part of a text: a script under its name, or what is beside such ones (`name` is "")."""

    name: str
    start: int
    text: str


class Call(Struct, frozen=True):
    """Where a script is run, as offsets of the text, and whether it gets arguments that are values."""

    start: int
    end: int
    arguments: str

    @property
    def is_concrete(self) -> bool:
        return bool(self.arguments.strip()) and not _FILL_INS.search(self.arguments)


def base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def is_script(name: str, text: str) -> bool:
    """Whether a file is a script of a shell."""
    return re.search(rf"{_SUFFIX}$", name) is not None or _BEGINS.match(text) is not None


def names_scripts(text: str) -> bool:
    return any(suffix in text for suffix in (".sh", ".bash", ".zsh", ".slurm", ".sbatch"))


def takes_arguments(text: str) -> bool:
    """Whether it uses `$1`, `$@` or `$#` itself: not in a function, nor in `awk '{print $1}'`."""
    return "$" in text and _POSITIONAL.search(_FUNCTION.sub("", _QUOTED.sub("", text))) is not None


def starts_something(text: str) -> bool:
    return MENTION.search(text) is not None


def calls_of(name: str, text: str) -> Iterator[Call]:
    """Lines that run it; none that tells of it, or does something else with it."""
    if name not in text:
        return
    pattern = re.compile(rf"{_RUNNER}{re.escape(name)}[\"']?(?![\w./-]){_ARGUMENTS}")
    start = 0
    for line in islice(text.split("\n"), _MOST_LINES):
        if name in line and not _HANDLED.match(line):
            for match in islice(pattern.finditer(line[:_LONGEST]), _MOST):
                yield Call(start + match.start(), start + match.end(), match["arguments"])
        start += len(line) + 1


def names_called(text: str) -> list[str]:
    """Scripts that lines of a text run, and that may start a server."""
    names = dict.fromkeys(match["name"] for match in islice(_NAME.finditer(text), _MOST * 5))
    called = (name for name in islice(names, _MOST) if next(calls_of(name, text), None) is not None)
    return [name for name in called if not _PREPARES.search(name)]


def name_in(text: str) -> str:
    """The only script that a short text names."""
    names = {match["name"] for match in islice(_NAME.finditer(text[:400]), _MOST)}
    return names.pop() if len(names) == 1 else ""


def first_comment(text: str) -> str:
    """The first line of a script that is a comment and no `#!`."""
    lines = [line for line in text.lstrip("\0 \t\n").split("\n")[:3] if not line.startswith("#!")]
    return lines[0] if lines and _COMMENT.match(lines[0]) else ""


def sections_of(text: str, start: int) -> list[Section]:
    """A paste of several scripts, each below a line that names it; one section without a name where it is none."""
    whole = [Section("", start, text)]
    if not names_scripts(text):
        return whole
    lines = text.split("\n")
    sections: list[Section] = []
    name, begun, offset, prompt = "", 0, 0, False

    def close(end: int) -> None:
        if end > begun:
            sections.append(Section(name, start + begun, text[begun:end]))

    for number, line in enumerate(lines[:_MOST_LINES]):
        behind = min(len(text), offset + len(line) + 1)
        shown = _SHOWN.match(line[:_LONGEST])
        titled = _TITLED.match(line[:_LONGEST])
        following = next((each for each in lines[number + 1 : number + 4] if each.strip()), "")
        begins = _BEGINS.match(following) is not None
        if (shown is not None and (shown["prompt"] or begins)) or (titled is not None and begins):
            close(offset)
            match = shown or titled
            name, begun = (match["name"] if match is not None else ""), behind
            prompt = shown is not None and bool(shown["prompt"])
        elif name and prompt and _TYPED.match(line[:_LONGEST]) and not _COMMENT.match(line):
            close(offset)
            name, begun, prompt = "", offset, False
        offset = behind
    close(len(text))
    named = {section.name for section in sections if section.name}
    return sections if named and len(named) <= _MOST else whole


def called_among(parts: Sequence[tuple[str, str]], others: Iterable[str] = ()) -> dict[str, bool]:
    """Of scripts by name, those that another part of the text runs, and whether one of these calls has values."""
    texts = [*parts, *(("", text) for text in others)]
    called: dict[str, bool] = {}
    for name, _ in parts:
        calls = [call for each, text in texts if each != name for call in calls_of(name, text)]
        if name and calls:
            called[name] = any(call.is_concrete for call in calls)
    return called
