"""Files that stand in a document without a fence: what begins with `#!/bin/bash`, what a command hands to a shell in
quotes over several lines, `srun bash -c '…'`, and manifests. Such a text is read whole, so the parts of it are no
commands of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.engines.foreign_names import SPEAKING

_SHEBANG: Final = re.compile(r"(?P<indent>[ \t]*)#![ ]?/(?:\S*/)?(?:env[ ]+(?:-S[ ]+)?)?(?:ba|z|k|da)?sh\b[^\n]*")
_FENCE: Final = re.compile(r"[ \t\0>]*(?:`{3,}|~{3,})")
_HEADING: Final = re.compile(r"[ \t]{0,3}#{2,6}[ \t]+\S|</?(?:details|summary)>|-{3,}[ \t]*$")
_HEREDOC: Final = re.compile(r"(?<!<)<<-?[ ]?(?P<quote>[\"']?)(?P<end>[A-Za-z_]\w{0,40})(?P=quote)(?![\w<])")
_PROSE: Final = re.compile(
    r"[ \t]{0,8}[A-Z][a-z'’]{0,20},?(?:[ ][\w\"'’(`*~/@.:,&+-]{1,80}){2}"
    r"|[ \t]{0,8}(?:i|we|it|this|the|but|and|after|with)[ ][a-z'’]+[ ]\S"
)
_OF_SHELL: Final = re.compile(r"\$[({\w]|&&|\|\||[ ]--?[a-zA-Z]|\\[ \t]*$|[\"'(){}][ \t]*$")
_HANDED: Final = re.compile(
    r"[ \t\0]*(?:\$ )?(?:[A-Z][A-Z0-9_]*=\S+[ ]+)*"
    r"(?:srun|mpirun|mpiexec|docker|podman|nerdctl|kubectl|ssh|sudo|nohup|setsid|timeout|apptainer|singularity|enroot"
    r"|numactl|taskset|(?:/\S*/)?(?:ba|z)?sh)\b[^`'\"\n]*?"
    r"(?<!\S)(?:/\S*/)?(?:(?:ba|z)?sh[ ]+(?:-[a-z]+[ ]+)*)?-[a-z]*c[ ]+(?P<quote>['\"])(?P<rest>[^`\n]*)"
)
_MANIFEST: Final = re.compile(r"(?:apiVersion:[ ]+[\w./-]+|services:)[ \t]*(?:#.*)?")
_KINDS: Final = re.compile(r"^(?:kind:[ ]+\w|[ ]+(?:image|build):)", re.MULTILINE)
_OF_MANIFEST: Final = re.compile(r"[ \t]|(?:- )?[A-Za-z_][\w.-]*:(?:[ ]|[ \t]*$)|#|---[ \t]*$|\Z")
_TITLE: Final = re.compile(
    r"#{1,6}[ ]*[-=]{2,}[ ]*\S|#{2,6}[ ][A-Z]|[-=]{2,}>?[ ]+\S+[ ]+<?[-=]{2,}[ \t]*$|\*\*|[A-Z]\w*:[ ]+[a-z]+[ ][a-z]"
)
"""Above another file, or of a text."""
_MOST: Final = 400
"""Lines of one script."""
_MOST_OF_MANIFEST: Final = 1_000
_MOST_HANDED: Final = 60
_LONGEST: Final = 2_000


def begins_script(line: str, *, below_blank: bool) -> bool:
    """Whether a script or a text that a shell gets in quotes may begin in the line. One that is indented stands
    `below_blank`, an empty line: else it is a value of a file that goes on above it."""
    shebang = "#!" in line and (below_blank or line[:1] == "#") and _SHEBANG.fullmatch(line[:_LONGEST]) is not None
    return shebang or ("c " in line and _HANDED.fullmatch(line[:_LONGEST]) is not None)


def length_of_bare_script(lines: Sequence[str]) -> int:
    """How many of the lines it has, which begin with it; 0 where no engine is started in it, or where it has no end."""
    if not lines:
        return 0
    shebang = _SHEBANG.fullmatch(lines[0][:_LONGEST])
    length = _of_script(lines, shebang["indent"]) if shebang else _handed(lines)
    return length if length and SPEAKING.search("\n".join(lines[:length])) else 0


def begins_manifest(line: str) -> bool:
    """Whether a manifest of Kubernetes, or the services of Compose, may begin in the line."""
    return line[:1] in ("a", "s") and _MANIFEST.fullmatch(line[:_LONGEST].rstrip("\0")) is not None


def length_of_bare_manifest(lines: Sequence[str]) -> int:
    """How many of the lines it has, which begin with it, without the comments behind it; 0 where they are none."""
    length = 0
    for at, line in enumerate(lines[:_MOST_OF_MANIFEST]):
        begun = line[:_LONGEST]
        if (
            (_FENCE.match(begun) and begun[:1] not in (" ", "\t"))
            or _TITLE.match(begun)
            or not _OF_MANIFEST.match(begun)
        ):
            break
        if begun.strip(" \t\0") and not begun.startswith("#"):
            length = at + 1
    return length if _KINDS.search("\n".join(lines[:length])) else 0


def _of_script(lines: Sequence[str], indent: str) -> int:
    """Up to the next script, a fence, a heading between two empty lines, or a paragraph of a language."""
    heredoc, length = "", 1
    for at, line in enumerate(lines[1:_MOST], 1):
        written, line = line.strip(" \t\0"), line[:_LONGEST]
        if heredoc:
            heredoc = "" if written == heredoc else heredoc
        elif _FENCE.match(line) or _SHEBANG.fullmatch(line):
            break
        elif written:
            above, below = lines[at - 1].strip(" \t\0"), lines[at + 1].strip(" \t\0") if at + 1 < len(lines) else ""
            if not above and ((_HEADING.match(line) and not below) or _is_prose(line)):
                break
            if not line.startswith(indent):
                break
            opened = _HEREDOC.search(line)
            heredoc = opened["end"] if opened else ""
        length = at + 1 if written else length
    return 0 if heredoc else length


def _is_prose(line: str) -> bool:
    return _PROSE.match(line) is not None and _OF_SHELL.search(line) is None


def _handed(lines: Sequence[str]) -> int:
    """Up to the quote that ends it, where it has more than one line."""
    opens = _HANDED.fullmatch(lines[0][:_LONGEST])
    if opens is None:
        return 0
    quote = opens["quote"]
    if _quotes(opens["rest"], quote) % 2:
        return 0  # closed on its line
    for at, line in enumerate(lines[1:_MOST_HANDED], 1):
        if not line.strip(" \t\0") or _FENCE.match(line):
            return 0
        if _quotes(line, quote) % 2:
            return at + 1
    return 0


def _quotes(line: str, quote: str) -> int:
    return line.count(quote) - (line.count(f"\\{quote}") if quote == '"' else 0)
