"""The parts of a document that are commands: fenced blocks of shell, and bullets that list flags.

A block keeps the places of its characters: what is not a command (prompts, the output of a session) is blanked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile
from typing import Final

from msgspec import Struct

from moonpad.engines.foreign_names import LAUNCHERS, SPEAKING
from moonpad.explain.documents.bare_scripts import (
    begins_manifest,
    begins_script,
    length_of_bare_manifest,
    length_of_bare_script,
)
from moonpad.explain.documents.flag_bullets import bare_flags, flag_in_ticks
from moonpad.explain.documents.record_rows import commands_of_rows
from moonpad.explain.documents.wrapped_scripts import (
    length_of_script,
    opens_script,
    without_marks_of_code,
    without_wrapping,
)
from moonpad.explain.shell.changes_of_lines import is_change
from moonpad.explain.shell.terminal_session import SESSIONS, without_session

_LANGUAGES: Final = (
    frozenset({"", "bash", "sh", "shell", "zsh", "shellscript", "powershell", "ps1", "pwsh", "cmd", "bat", "batch"})
    | SESSIONS
)
_PLAIN: Final = frozenset({"text", "txt", "plain", "plaintext"})
_OTHER_LANGUAGES: Final = frozenset(
    {
        "yaml",
        "yml",
        "docker-compose",
        "compose",
        "kubernetes",
        "k8s",
        "json",
        "jsonc",
        "dockerfile",
        "docker",
        "ini",
        "systemd",
        "toml",
        "service",
        "helm",
        "conf",
        "python",
        "py",
    }
)
"""Blocks of files that may start an engine."""
_CODE: Final = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+?)\1(?!`)")
_FLAGS: Final = re.compile(
    r"[ \t*_]*(?:[A-Za-z]+ ){0,3}(?:flags|arguments|args|options|parameters)[ \t*_]*:", re.IGNORECASE
)
"""`Flags: `--a`, `--b`, `--c``."""
_LINE: Final = re.compile("^.*$", re.MULTILINE)

_SHELL_IN: Final = frozenset({"python", "py", "ini", "conf", "toml"})
"""Languages that some fences name though a shell's command is in them."""
_SETS: Final = r"[A-Z][A-Z0-9_]*=(?:\"[^\"\n]*\"|'[^'\n]*'|\$\((?:[^()\n]|\([^()\n]*\))*\)|[^\s\"'$]|\$(?!\())+"
"""`NAME=value`, and `NAME=$(hostname -i)` and `NAME="two words"`, which have blanks in them."""
_SPOKEN: Final = re.compile(
    rf"(?:[ \t\0]*(?:#.*)?\n)*[ \t\0]*(?:\$ )?(?:(?:export )?{_SETS}(?:[ \t]+|[ \t]*\\?\n[ \t]*))*"
    rf"(?:(?:sudo|nohup|docker|podman|python3?|numactl|srun)\b[^\n]*?|(?:\S*/)?)(?:{SPEAKING.pattern})"
)
"""A text whose first command starts an engine."""
_ONLY_FILE: Final = re.compile(
    r"(?:(?:step )?\d{1,2}[.):]?[ ]{1,3})?(?:(?:create|write|save|file)[ :]{1,2}(?:as |(?:[\w-]{1,20} ){1,4}\()?)?"
    r"[`\"*_]{0,3}(?P<file>[\w./-]{1,100}\.(?:ya?ml|json|sh|env|toml|service))[`\"*_]{0,3}\)?",
    re.IGNORECASE,
)
_UNFENCED: Final = re.compile(
    rf"[ \t\0]*(?:\$ )?(?:{_SETS}[ \t]+)*(?:(?:sudo|nohup|exec|time) )?(?:python3? (?:-m )?|docker run [^`\n]*|/\S*/)?"
    rf"(?:{SPEAKING.pattern})(?:(?:(?<=[-$/.])|\S*/)[^`\n]*|(?<=\\)[ \t]*$)"
    r"|[ \t\0]*(?:\$ )?(?:sudo )?(?:docker|podman) run [^`\n]*\\[ \t]*$"
    rf"|[ \t\0]*(?:\$ )?python3? (?:\S*/)?(?:{'|'.join(map(re.escape, LAUNCHERS))})[ ]+--[^`\n]*"
)
"""A command that stands in the text as it is: with an option, or a path, at once behind the program."""
_LED: Final = re.compile(
    rf"[^`\n]{{1,2000}}?[:：][ \t]+(?P<command>(?:[\w.~:/\\-]*[/\\])?(?:{SPEAKING.pattern})[^`\n]*)"
    r"(?<=[ \t][\\^])[ \t]*"
)
"""A sentence that ends with the first line of a command."""
_PROGRAM: Final = SPEAKING.pattern.removesuffix(r"\s+\S")
_OPTION: Final = r"--?[a-z][\w.-]*(?:[ =](?:'[^'\n]*'|\"[^\"\n]*\"|(?![-`'\"])[!-\[\]-~]+(?<![.,;:!?])))?"
_JOINED: Final = re.compile(
    rf"(?<![\w./-])(?:python3? (?:-m )?)?(?:{_PROGRAM})(?=[ ])[^\\`\n]{{0,200}}"
    rf"(?:[ ]\\[ \t]+{_OPTION}(?:[ ]+{_OPTION})*){{2,}}"
)
"""A command within a sentence whose lines a forum has joined, with the backslashes that ended them."""
_SET_BEFORE: Final = re.compile(rf"(?<!\S){_SETS}(?:[ ]+{_SETS})*[ ]+\Z")
_QUOTE: Final = re.compile(r"(?:>[ \t]?){1,4}")
_NESTED: Final = re.compile(r"[ \t]{0,4}>[ \t]{1,2}>[ \t>]*[^\s>]")
"""A quote within a quote: no shell takes two marks without a file between them."""
_OTHER_TEXT: Final = re.compile(
    r"\s*(?:(?:version|name):.*\n\s*)?(?:apiVersion:|services:|FROM[ ]|\[Unit\]|\[Service\])"
)
"""What such files begin with where a block has no language."""
_FIRST_KEY: Final = re.compile(r"(?:[ \t\0]*(?:#.*)?\n)*[ \t\0]*(?:- )?[A-Za-z][\w.-]*:(?:[ ]\S.*|[ ]*)(?:\n|$)")
_KEY_OF_CONTAINER: Final = re.compile(
    r"^[ \t]*(?:- )?(?:image:[ ]\S|containers:[ \t]*$|(?:command|args|entrypoint):[ \t]*(?:[\[|>].*)?$"
    r"|modelSpec:[ \t]*$|modelURL:[ ]\S)",
    re.MULTILINE,
)
"""A piece of a manifest, or of the values of a chart: lines of keys, one of which is that of a container or of what a
server of vLLM's production stack serves."""
_NESTING: Final = frozenset({"markdown", "md", "mdx"})
_FENCE: Final = re.compile(r"([ \t\0>]*)(`{3,}|~{3,})([^`]*)")
"""What stands before the fence, the fence, and what stands behind it."""
_HEADING: Final = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(\S.*)|[ \t]*<summary>(.*)</summary>")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]")
_NAMED: Final = re.compile(
    r"[ \t]*[-*+][ \t]+[*_]{0,2}(?P<label>[^`:：*\n]{2,60}?)[*_]{0,2}[ ]?[:：][*_]{0,2}[ ]+"
    r"(?:(`+)(?P<code>[^`\n]{1,400})\2|(?P<bare>[\w.-]{1,60}/[\w.-]{1,90}))[ \t.,;]*"
)
"""`- model: `org/name``, in a list that has flags too."""
_SUBSTITUTIONS: Final = re.compile(r"[ \t]*:substitutions:[ \t]*")
_DIRECTIVE_OPTION: Final = re.compile(r"[ \t]*:[A-Za-z_-]+:")
_VARIABLE_LINE: Final = re.compile(r"[ \t\0]*[A-Z][A-Z0-9_]*=[^\s;&|]+[ \t]*\\?")
_USAGE_LINE: Final = re.compile(r"[ \t]*--?[\w-]+(?:[ =][A-Z<[][\w>\]|-]*)?[ \t]{2,20}[A-Za-z]\w*,?[ ]\S")
"""`--port PORT    where it listens`, of a program that tells its options."""
_FLAG_LINE: Final = re.compile(r"[ \t\0]*--?[A-Za-z]")
_LONGEST_SCRIPT: Final = 40_000
"""Characters of one between two backticks."""
_MOST_LINES: Final = 1_000
_LONGEST_SET: Final = 300
"""Characters of variables before a command in a sentence."""
_LONGEST_QUOTE: Final = 4000
"""Characters of one argument over several lines."""


class Block(Struct, frozen=True):
    """A fenced block of shell. `text` has its place at `start` of the document."""

    start: int
    text: str
    heading: str | None
    intro: str | None
    indent: int
    substitutions: bool = False
    other: bool = False
    """It is not a shell's: YAML, a Dockerfile, a unit of systemd."""
    plain: bool = False
    """It is called a text: no shell need ever read it."""


class Inline(Struct, frozen=True):
    """Code in a sentence or in the cell of a table, which begins at `start` of the document."""

    start: int
    text: str
    heading: str | None


class Bullets(Struct, frozen=True):
    """A list of flags and variables: the offset and the text of each."""

    codes: tuple[tuple[int, str], ...]
    heading: str | None
    intro: str | None
    named: tuple[tuple[int, str, str], ...] = ()
    """What the same list has behind a label: the offset, the label, the text."""


def is_markdown(text: str) -> bool:
    """Whether a text is a document. A script begins with `#!`, or has neither fences nor bullets of flags."""
    if text.lstrip("\0\n\t ").startswith("#!"):
        return False
    return bool(bare_flags(text)) or any(
        _FENCE.fullmatch(line) or flag_in_ticks(line) or _NESTED.match(line) or _has_command(line)
        for line in text.split("\n")
    )


def _has_command(line: str) -> bool:
    """Whether code in a sentence or in a cell of a table is a command."""
    if "`" not in line or (line.lstrip().startswith("#") and "|" not in line):
        return False
    return any(SPEAKING.search(code[2]) and len(code[2]) < len(line.strip()) for code in _CODE.finditer(line))


def is_other_language(language: str) -> bool:
    """Whether a block in it is a file that may start an engine."""
    return language in _OTHER_LANGUAGES


def only_flags(text: str) -> bool:
    """Whether every line begins with a flag, as where a guide lists them without the command."""
    whole = re.sub(r"\\[ \t\0]*\n", "  ", text)
    lines = [line for line in whole.split("\n") if line.strip(" \t\0") and not line.strip(" \t\0").startswith("#")]
    flags = list(dropwhile(_VARIABLE_LINE.fullmatch, lines))
    if 2 * sum(_USAGE_LINE.match(line) is not None for line in flags) > len(flags):
        return False
    return bool(flags) and all(_FLAG_LINE.match(line) for line in flags)


def whole_script(text: str, start: int) -> tuple[Block]:
    """A text that is no document, as one block."""
    return (Block(start, without_wrapping(text), None, None, 0),)


def parts_of(text: str, start: int = 0) -> Iterator[Block | Bullets | Inline]:
    """In the order of the document, which begins at the offset `start` of the whole text."""
    heading: str | None = None
    intro: str | None = None
    above: str | None = None
    codes: list[tuple[int, str]] = []
    named: list[tuple[int, str, str]] = []
    begun: list[tuple[int, str]] = []
    bare = bare_flags(text)
    lines = ((start + line.start(), line.group()) for line in _LINE.finditer(text))
    for offset, line in lines:
        opened, begun = begun, [*begun, (offset, line)] if line.endswith("\\") else []
        fence = _FENCE.fullmatch(line)
        item = _ITEM.match(line)
        title = None if fence else _HEADING.fullmatch(line)
        if (codes or named) and (fence or title or (line.strip() and not item and not line.startswith((" ", "\t")))):
            if codes:
                yield Bullets(tuple(codes), heading, above, tuple(named))
            codes, named = [], []
        if item and (pair := _NAMED.fullmatch(line)):
            which = "code" if pair["code"] else "bare"
            named.append((offset + pair.start(which), pair["label"].strip(), pair[which]))
        if fence:
            yield from _block(offset + len(line) + 1, lines, fence, heading, intro)
            intro = None
        elif " \\ " in line and (joined := _joined(line[:_LONGEST_QUOTE])):
            yield Block(offset + joined[0], joined[1], heading, intro, 0)
        elif title:
            heading = next(group for group in title.groups() if group is not None).strip("# \t:*\0")[:200] or heading
            intro = None
        elif "`" in line and opens_script(line) and (more := length_of_script(_lines_from(text, offset - start))):
            taken = [line, *(next(lines)[1] for _ in range(more - 1))]
            yield Block(offset, without_marks_of_code(taken), heading, intro, 0)
            intro, begun = None, []
            continue
        elif begins_script(line, below_blank=text.endswith("\n\n", 0, offset - start)) and (
            more := length_of_bare_script(_lines_from(text, offset - start, _MOST_LINES))
        ):
            taken = [line, *(next(lines)[1] for _ in range(more - 1))]
            yield Block(offset, "\n".join(taken), heading, intro, 0)
            intro, begun = None, []
            continue
        elif begins_manifest(line) and (
            more := length_of_bare_manifest(_lines_from(text, offset - start, _MOST_LINES))
        ):
            taken = [line, *(next(lines)[1] for _ in range(more - 1))]
            yield Block(offset, "\n".join(taken), heading, intro, 0, other=True)
            intro, begun = None, []
            continue
        elif (led := _led(line)) or (_UNFENCED.match(plain := _unquoted(line)) and not _ends_code(line)):
            begins = led.start("command") if led else 0
            taken, at = [line[begins:] if led else plain], offset + begins
            if not led and _opens_quote(opened):
                taken, at = [*(each for _, each in opened), line], opened[0][0]
            while (
                taken[-1].rstrip(" \t\0").endswith(("\\", "^") if led else "\\")
                and (goes_on := next(lines, None)) is not None
            ):
                taken.append(_unquoted(goes_on[1]) if line[:1] == ">" else goes_on[1])
                behind = goes_on[0] - start + len(goes_on[1])
                for _ in range(_lines_of_quote(taken[-1], text, behind)):
                    taken.append(next(lines)[1])
            yield Block(at, "\n".join(taken), heading, intro, 0)
            intro, begun = None, []
            continue
        elif flag := flag_in_ticks(line) or bare.get(offset - start):
            above = above if codes else intro
            codes.append((offset + flag[0], flag[1]))
        elif "`" in line:
            if _FLAGS.match(line) and len(flags := [code for code in _CODE.finditer(line) if code[2][:2] == "--"]) > 2:
                yield Bullets(tuple((offset + code.start(2), code[2]) for code in flags), heading, intro)
            for code in _CODE.finditer(line):
                if SPEAKING.search(code[2]):
                    yield Inline(offset + code.start(2), code[2], heading)
        if not fence and not title and (written := line.strip(" \t\0*_")):
            intro = written[:-1].strip(" \t\0*_") if written.endswith((":", "：")) and len(written) <= 200 else None
            intro = only["file"] if (only := _ONLY_FILE.fullmatch(written)) else intro
    if codes:
        yield Bullets(tuple(codes), heading, above, tuple(named))


def _unquoted(line: str) -> str:
    """With blanks for the marks of a comment that another one quotes."""
    quote = _QUOTE.match(line)
    return " " * quote.end() + line[quote.end() :] if quote else line


def _lines_from(text: str, at: int, most: int = -1) -> list[str]:
    return text[at : at + _LONGEST_SCRIPT].split("\n", most)


def _ends_code(line: str) -> bool:
    """Whether code that a line above has begun ends in it: `(`mpirun -n 16` and on the next line `vllm serve m`)`."""
    return line.count("`") % 2 == 1


def _opens_quote(lines: list[tuple[int, str]]) -> bool:
    """Whether lines that go on below leave a quote open: `docker exec box bash -c "export A=1; \\`."""
    return sum(line.count('"') - line.count('\\"') for _, line in lines) % 2 == 1


def _led(line: str) -> re.Match[str] | None:
    """Of a sentence that ends with the first line of a command."""
    return _LED.fullmatch(line) if line.rstrip(" \t\0")[-1:] in ("\\", "^") else None


def _joined(line: str) -> tuple[int, str] | None:
    """Where a command in a sentence begins whose lines were joined, and the command, without the backslashes that its
    author had at the ends of lines."""
    match = _JOINED.search(line)
    if match is None:
        return None
    first = max(0, match.start() - _LONGEST_SET)
    before = _SET_BEFORE.search(line[first : match.start()])
    begin = first + before.start() if before else match.start()
    return begin, line[begin : match.end()].replace(" \\ ", "   ")


def _lines_of_quote(line: str, text: str, behind: int) -> int:
    """How many more lines the quote has that a line of a command opens, as JSON over several lines; 0 without one."""
    if line.count("'") % 2 == 0 or "#" in line:
        return 0
    end = text.find("'", behind, behind + _LONGEST_QUOTE)
    inside = text[behind : max(end, behind)]
    return 0 if end < 0 or "\n\n" in inside else inside.count("\n")


def _is_manifest(text: str) -> bool:
    """Whether a block that names no language is such a file, or a piece of one."""
    return bool(_OTHER_TEXT.match(text) or (_FIRST_KEY.match(text) and _KEY_OF_CONTAINER.search(text)))


def _block(
    start: int, lines: Iterator[tuple[int, str]], fence: re.Match[str], heading: str | None, intro: str | None
) -> Iterator[Block]:
    """Takes the block's lines, which begin at `start`; nothing where its language is not a shell's. Behind one that was
    never closed, the next one's. A fence at the end of the last command's line closes the block too."""
    opened: tuple[int, re.Match[str]] | None = (start, fence)
    while opened is not None:
        (begin, first), opened = opened, None
        lead, mark, info = first.groups()
        taken: list[str] = []
        for at, line in lines:
            inner = line.lstrip(" \t\0>")
            if inner.startswith(mark) and not inner.strip(mark[0]).strip():
                break
            named = inner[len(mark) :].strip().lower() if inner.startswith(mark) else ""
            if named in _LANGUAGES and inner.startswith(mark) and info.strip() not in _NESTING:
                opened = (at + len(line) + 1, match) if (match := _FENCE.fullmatch(line)) else None
                break
            quoted = line.lstrip(" \t>") if ">" in lead else line
            glued = quoted.rstrip(" \t\0").endswith(mark) and quoted.count(mark[0]) == len(mark)
            taken.append(" " * (len(line) - len(quoted)) + (quoted.replace(mark[0], " ") if glued else quoted))
            if glued:
                break
        yield from _of_lines(begin, taken, first, heading, intro)
        intro = None


def _of_lines(
    start: int, taken: list[str], fence: re.Match[str], heading: str | None, intro: str | None
) -> Iterator[Block]:
    lead, _, info = fence.groups()
    # `bash`, `{code-block} bash`, `{.bash}`, `bash title="x"`; a directive of another kind is itself.
    words = info.replace("{code-block}", " ").replace("{code}", " ").replace("{.", " ").replace("}", " ").split()
    language = words[0].lower() if words else ""
    if rows := commands_of_rows(taken) if language in _LANGUAGES | _PLAIN else []:
        yield from (Block(start + at, row, heading, intro, len(lead)) for at, row in rows)
        return
    spoken = _SPOKEN.match("\n".join(taken))
    if (
        language in _OTHER_LANGUAGES - _SHELL_IN
        or (language in _SHELL_IN and not spoken)
        or (not language and not spoken and _is_manifest("\n".join(taken)))
    ):
        yield Block(start, "\n".join(taken), heading, intro, len(lead), other=True)
        return
    changes = language == "diff" and is_change("\n".join(taken))
    if language not in _LANGUAGES and not changes and not spoken and not only_flags("\n".join(taken)):
        return
    substitutions = False
    if "{" in info:
        for number, line in enumerate(taken):
            if line.strip() and not _DIRECTIVE_OPTION.match(line):
                break
            substitutions |= bool(_SUBSTITUTIONS.fullmatch(line))
            taken[number] = " " * len(line)
    text = "\n".join(without_session(taken, language))
    yield Block(start, text, heading, intro, len(lead), substitutions, plain=language in _PLAIN)
