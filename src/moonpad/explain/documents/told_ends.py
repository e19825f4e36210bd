"""Where the author of a text tells that a start failed: what was printed then, and sentences that say so.

A block below a command that no program reads is what was printed, where one of its lines begins as an error does, or
where the sentence above it says that the start failed. Sentences count beside a command alone, and none that speaks
of errors in general, of a request, or of what no longer happens.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from moonpad.engines import program_words
from moonpad.explain.documents.told_generally import FENCE, HEADING, LONGEST, is_general

TOLD: Final = "the text says that it failed: "
_OPENED: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*(?P<language>[\w-]*)")
_OF_OUTPUT: Final = frozenset({"", "text", "txt", "log", "logs", "plaintext", "plain", "output", "traceback", "error"})
_HEAD: Final = 12
"""Lines at the beginning in which a text says what it is about."""
_MOST_PRINTED: Final = 400
"""Lines of a block."""
_COMMAND: Final = re.compile(
    r"[ \t>]*(?:[$#%][ ])?(?:[A-Za-z_]\w{0,60}=\S|export |docker |podman |kubectl |helm |srun |sudo |pip3? |uv |cd "
    rf"|echo |git |curl |python3? -|(?:ba)?sh |{program_words.BEGUN}|ray "
    r"|torchrun |--)"
    r"|.*\\[ \t]*$"
)
_ERROR: Final = re.compile(
    r"[ \t]*(?:\[?\w{0,12}[ ]?\d{0,4}\]?:?[ ]|:0:\w{1,40}\.cpp[ ]{0,20}:[^\n]{0,200}?[ ](?=HSA_STATUS))?"
    r"(?:"
    r"(?:\w{1,60}\.){0,8}\w{0,60}(?:Error|Exception|Failure|OutOfResources)\b(?::|[ ]*$|\()"
    r"|(?:CUDA|HIP|NPU) (?:error|out of memory)\b|(?:[Ff]ailed|Cannot|Could not|Unable) to \w|Out of memory\b"
    r"|Memory access fault by GPU\b|HSA_STATUS_ERROR\w*"
    r"|[Ff]atal(?: error)?: |FATAL\b|Segmentation fault|Aborted\b|Not enough memory\b)"
)
"""How a line begins that is an error."""
LABEL: Final = re.compile(
    r"[ \t>*_-]{0,6}(?:symptoms?|problem|observed|result|error(?: message)?|log|output|traceback|现象|问题|症状|报错"
    r"|结果|日志)"
    r"[ \t]*(?:\([^)\n]{1,40}\))?[ \t]*[*_]{0,2}[ \t]*[:：][*_]{0,2}",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(
    r"\b(?:(?:died|dies|crash(?:es|ed)|hung|hangs|abort(?:s|ed)|OOM(?:s|ed|['’]d)"
    r"|(?:ran|runs|went) (?:out of memory|OOM)"
    r"|(?:was|got|gets|were) (?:OOM-?)?killed|exit(?:s|ed) with"
    r"|fail(?:s|ed) (?:at|during|in|on|with|while|after|before)"
    r"|stall(?:s|ed) (?:at|during|in|on|after)|deadlock(?:s|ed))\b"
    r"|(?:does(?:n['’]t| not)|did(?:n['’]t| not)|won['’]t|will not) "
    r"(?:start|come up|boot|get ready|become ready|launch)\b"
    r"|never (?:started|starts|came up|comes up|became ready|becomes ready|got ready|gets ready)\b)",
    re.IGNORECASE,
)
_OF_START: Final = re.compile(
    r"\b(?:start(?:s|ed|ing|-?up)?|boot\w*|launch\w*|init(?:iali[sz]\w+)?|load(?:s|ed|ing)?|warm-?up|mid-warmup|profil\w+"
    r"|captur\w+|compil\w+|engine|server|workers?|ranks?|cells?|points?|replicas?|pods?|process(?:es)?"
    rf"|{program_words.SHORT_NAMES}"
    r"|come up|came up|ready)\b",
    re.IGNORECASE,
)
OF_MEMORY: Final = re.compile(r"\bOOM\w*|\bout of memory\b|显存不足|爆显存", re.IGNORECASE)
_IN_CHINESE: Final = re.compile(
    r"启动(?:即|就|时|后)?(?:崩|挂|失败|报错|卡死|卡住|退出|OOM)"
    r"|(?:启动|加载|初始化|预热|捕获)[^，。；\n]{0,16}(?:OOM|崩溃|报错|失败|卡死|卡住|挂死|显存不足|爆显存)"
)
_NO_LONGER: Final = re.compile(
    r"\b(?:no longer|used to|previous(?:ly)?|earlier|instead|so we|because|fix(?:es|ed)?|solv(?:es|ed)|resolv(?:es|ed)"
    r"|works? (?:now|fine)|now works?|without|otherwise|unless|until|never (?:crash|fail|hang|OOM)|mended|patched"
    r"|not (?:crash|fail|hang|die|OOM)|requests?|clients?|prompts?|benchmark|evals?|tests?|CI|upstream|older|releases?"
    r"|versions?|before v?\d|since|except|only (?:if|when|with)|anymore|was (?:not|never)|turned out"
    r"|than before|came from|(?:it )?passes)\b"
    r"|修复|解决|不再|之前|否则|避免|改为|版本",
    re.IGNORECASE,
)
"""Sentences about what happened otherwise, or to something else."""
_GOES_WELL: Final = re.compile(
    r"[ \t>*_-]{0,6}(?:the )?(?:fix(?:ed)?|mitigation|workaround|solution|resolution|takeaway|lesson|解决\w*|修复)\b"
    r"|[ \t>*_-]{0,6}(?:try|use|run|change)\b"
    r"|.{0,400}?\b(?:fix(?:ed)? (?:it|this|that|was|is)|(?:solved|resolved) (?:it|this|by)"
    r"|now (?:it )?(?:works|starts|runs)"
    r"|works (?:now|again|after))\b|.{0,400}?(?:解决|修复)",
    re.IGNORECASE,
)
"""What a part says that goes on with what mended it."""


def printed_lines(lines: Sequence[str], logged: Collection[int]) -> set[int]:
    """Lines, from 0, of blocks that hold what was printed by a start that failed."""
    found: set[int] = set()
    lead = ""
    for first, last, language in _blocks(lines):
        lead = _lead(lines, first)
        inner = [number for number in range(first + 1, last) if lines[number].strip()]
        own = [number for number in inner if number not in logged]
        if language.casefold() not in _OF_OUTPUT or not own or len(inner) > _MOST_PRINTED or is_general(lead):
            continue
        if any(_COMMAND.match(lines[number][:LONGEST]) for number in inner):
            continue
        reported = lead.rstrip(" *_").endswith((":", "：")) and (LABEL.match(lead) is not None or _tells(lead))
        if reported or any(_ERROR.match(lines[number][:LONGEST]) for number in own):
            found |= {*own}
    return found


def telling_lines(lines: Sequence[str], logged: Collection[int], mended: Collection[int]) -> set[int]:
    """Lines, from 0, of sentences beside a command that say that its start failed."""
    blocks = list(_blocks(lines))
    if not blocks:
        return set()
    fenced = {number for first, last, _ in blocks for number in range(first, last + 1)}
    headings = [number for number, line in enumerate(lines) if number not in fenced and HEADING.match(line[:LONGEST])]
    found: set[int] = set()
    for begin, end in zip([0, *headings], [*headings, len(lines)], strict=True):
        beside = [first for first, _, _ in blocks if begin <= first < end]
        if not beside and not (begin <= _HEAD and begin < blocks[0][0]):
            continue
        own = [number for number in range(begin, end) if number not in fenced and number not in logged]
        if any(_GOES_WELL.match(lines[number][:LONGEST]) for number in own):
            continue
        found |= {number for number in own if number not in mended and _tells(lines[number][:LONGEST])}
    return found


def begins_an_error(text: str) -> bool:
    return _ERROR.match(text) is not None


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """First and last line of each fence, from 0, and its language."""
    first, language = -1, ""
    for number, line in enumerate(lines):
        if FENCE.match(line[:LONGEST]) is None:
            continue
        if first < 0:
            opened = _OPENED.match(line[:LONGEST])
            first, language = number, opened["language"] if opened else ""
        else:
            yield first, number, language
            first = -1


def _lead(lines: Sequence[str], first: int) -> str:
    """The sentence above a block."""
    for line in reversed(lines[max(0, first - 2) : first]):
        if line.strip():
            return "" if HEADING.match(line[:LONGEST]) else line[:LONGEST].rstrip()
    return ""


def _tells(text: str) -> bool:
    if text.lstrip(" \t").startswith("|") or _NO_LONGER.search(text) or is_general(text):
        return False
    match = _ENDS.search(text)
    return _IN_CHINESE.search(text) is not None or (match is not None and _OF_START.search(text) is not None)
