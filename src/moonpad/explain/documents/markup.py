"""A thread or a page that was copied as HTML: its tags are no words of a shell, and `<br>` ends no command.

The text keeps its length, so that places hold. Fenced code is left as it is.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.source_text import IGNORED

_BREAK: Final = re.compile(r"<br[ ]?/?>(?=[ \t]*$)", re.IGNORECASE)
_OPTION: Final = re.compile(r"[ \t]*--?[A-Za-z]")
_BLOCKS: Final = re.compile(r"</?(?:p|li|ul|ol|h[1-6]|div|pre|td|tr|table|blockquote)(?:[ ][^<>\n]{0,200})?>", re.I)
_TAG: Final = re.compile(
    r"</?(?:p|li|ul|ol|h[1-6]|div|td|th|tr|tbody|thead|table|blockquote|strong|b|em|i|a|span|br|hr|img|details|section"
    r"|article|svg|path|button)(?:[ ][^<>\n]{0,400})?/?>",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"<code(?:[ ][^<>\n]{0,200})?>(?=[^<>\n`]{1,2000}</code>)|(?<=[^\s`])</code>", re.IGNORECASE)
_BLOCK_BEGINS: Final = re.compile(r"<pre(?:[ ][^<>\n]{0,200})?>(?:[ \t]*<code(?:[ ][^<>\n]{0,200})?>)?", re.IGNORECASE)
_BLOCK_ENDS: Final = re.compile(r"(?:</code>[ \t]*)?</pre>", re.IGNORECASE)
_TITLE: Final = re.compile(r"^[ \t]*<h([1-3])(?:[ ][^<>\n]{0,200})?>", re.IGNORECASE)
_ENTITIES: Final = {"&quot;": '"', "&#39;": "'", "&#x27;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&", "&nbsp;": " "}
_ENTITY: Final = re.compile("|".join(_ENTITIES))
_FENCE: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_FEW: Final = 2
_DATA: Final = ("{", "[", "#!", "<?xml")


def without_markup(text: str) -> str:
    """As it is where it has no such tags."""
    if "<" not in text or text.lstrip("\0\n\t ").startswith(_DATA):
        return text
    lines = text.split("\n")
    outside = _outside_of_fences(lines)
    for at in outside:
        if (end := _BREAK.search(lines[at])) is not None:
            goes_on = at + 1 < len(lines) and _OPTION.match(lines[at + 1])
            length = end.end() - end.start()
            lines[at] = (
                lines[at][: end.start()]
                + ("\\".rjust(length) if goes_on else " " * length)
                + " " * (len(lines[at]) - end.end())
            )
    if sum(_BLOCKS.search(lines[at]) is not None for at in outside) > _FEW:
        for at in outside:
            lines[at] = _plain(lines[at]) if "<" in lines[at] or "&" in lines[at] else lines[at]
    return "\n".join(lines)


def _outside_of_fences(lines: list[str]) -> list[int]:
    outside, fenced = [], False
    for at, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            outside.append(at)
    return outside


def _plain(line: str) -> str:
    line = _BLOCK_BEGINS.sub(lambda tag: "\n```\n".ljust(len(tag[0])), line)
    line = _BLOCK_ENDS.sub(lambda tag: "\n```\n".ljust(len(tag[0])), line)
    line = _CODE.sub(lambda tag: "`".ljust(len(tag[0])) if tag[0].startswith("</") else "`".rjust(len(tag[0])), line)
    line = _TITLE.sub(lambda tag: ("#" * int(tag[1])).ljust(max(len(tag[0]), int(tag[1]) + 1)), line)
    line = _TAG.sub(lambda tag: " " * len(tag[0]), line)
    return _ENTITY.sub(lambda entity: _ENTITIES[entity[0]].ljust(len(entity[0]), IGNORED), line)
