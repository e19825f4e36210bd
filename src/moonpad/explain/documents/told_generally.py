"""Parts of a text that speak of errors in general, or of errors that were mended since: no command in it has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from moonpad.engines.program_words import STARTS_ROUGHLY

LONGEST: Final = 2_000
HEADING: Final = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(.*)|[ \t]*<summary>(.*)</summary>")
FENCE: Final = re.compile(r"[ \t>]*(?:`{3}|~{3})")
CHAPTER: Final = re.compile(
    r"troubleshoot|known (?:issues|limitations)|\bfaq\b|common \w+|typical (?:errors|problems|issues|failures)\b"
    r"|failure (?:cases|modes)\b|\blimitations\b|常见|よくある|トラブルシュー|既知の(?:問題|不具合)|자주 (?:발생|묻는)"
    r"|알려진 문제|\b(?:типов|типичн|част|известн|возможн)\w{1,4} (?:ошиб|пробл|сбо)|устранение (?:неполадок|проблем)"
    r"|\b(?:häufige|typische|mögliche|bekannte) (?:fehler|probleme)|fehlerbehebung|dépannage"
    r"|\b(?:erreurs|problèmes) (?:courant|fréquent|connu|typique)"
    r"|\b(?:errores|erros|problemas) (?:comun|frecuente|frequente|conocido|conhecido|típico)"
    r"|solu(?:ción|ção) de problemas",
    re.IGNORECASE,
)
"""A heading whose parts all speak of errors in general, in the languages of guides that were met."""
_IN_GENERAL: Final = re.compile(
    r"\b(?:if|when(?:ever)? (?:you|there)|in case|should you|may|might|can(?!['’]t)|could|would|often|sometimes|common"
    r"|typical\w*|avoid\w*"
    r"|expected(?! to be in range)"
    r"|makes? [^.\n]{1,120}?[ ](?:raise|fail|crash)"
    r"|prevent\w*|e\.g\.|for example|such as|like|means|troubleshoot\w*|faq|known issues?)\b|如果|可能|常见|若",
    re.IGNORECASE,
)
_CAUSE_TOLD: Final = re.compile(
    r"[ \t>*_-]{0,6}(?:root cause|cause|symptoms?|problem|原因|根因|现象|问题)[ \t]*[*_]{0,2}[ \t]*[:：]", re.IGNORECASE
)
_MENDED: Final = re.compile(
    r"[ \t>*_-]{0,6}(?:(?:the |our |my )?(?:(?:actual|final|real|working|only|reliable|permanent) ){0,3}"
    r"(?:fix|fixed by|solution|resolution|resolved by)"
    r"|(?:what|how (?:we|i)) (?:(?:did|finally|actually|really|eventually|ultimately) ){0,2}"
    r"(?:fix(?:ed|es)?|solv(?:ed?|es)|resolved?|work(?:ed|s)?|help(?:ed|s))"
    r"(?: (?:it|this|that|the (?:issue|problem|crash|error|failure|hang)))?"
    r"|解决(?:方案|方法|办法)?|修复)"
    r"[ \t]*[*_]{0,2}[ \t]*[:：]",
    re.IGNORECASE,
)
"""`**Fix:**` below `**Symptom:**`: the part tells what stopped an earlier start and no longer does."""
_OF_A_FORM: Final = re.compile(
    r"\bwhat (?:has )?happen(?:s|ed)\b|\bactual (?:behaviou?r|results?|output)\b|\bobserved\b", re.IGNORECASE
)
"""Headings of forms for reports: `What happened + What you expected to happen` has what came, beside what did not."""
_REPORTED: Final = re.compile(r"\b(?:I|I'm|we|my|our|me|mine|[Ii]f i(?=[ ][a-z]{3}))\b|我")
_FAILED: Final = re.compile(
    r"\bwhat (?:has )?(?:failed|went wrong|(?:did(?:n['’]t| not)|does(?:n['’]t| not)) work)\b"
    r"|\b(?:attempt|try|trial|iteration|round)s? ?#?\d|\bfailed (?:attempts?|tries|starts?|experiments?)\b"
    r"|\b(?:OOM|crash\w*|failures?|pitfalls?|dead ends?|lessons?(?: learned)?)\b|踩坑|失败",
    re.IGNORECASE,
)
"""Headings of parts that tell of starts which failed."""
_OF_ATTEMPTS: Final = re.compile(
    r"\bwhat (?:has )?(?:failed|went wrong|(?:did(?:n['’]t| not)|does(?:n['’]t| not)) work)\b"
    r"|\b(?:attempt|trial)s? ?#?\d|\b(?:failed|earlier|previous) (?:attempts?|tries|starts?|experiments?)\b"
    r"|\bwhat we tried\b|踩坑",
    re.IGNORECASE,
)
"""Those of parts that tell of earlier ones, where the text also says which works."""
_OF_ISSUES: Final = re.compile(
    r"\b(?:issue|problem|bug|error|challenge|obstacle|hurdle|gotcha|blocker)s? ?#?\d"
    r"|\b(?:issues|problems|errors|bugs|challenges) (?:we |I )?(?:hit|met|encountered|faced|solved|fixed|resolved)\b"
    r"|\b(?:问题|错误|坑) ?[一二三四五六\d]",
    re.IGNORECASE,
)
"""Those of parts that tell what came on the way to the command which works."""
_STILL: Final = re.compile(
    r"\b(?:still|unresolved|unsolved|open issue|to ?do|not (?:yet )?(?:fixed|solved|resolved)|no (?:fix|solution)"
    r"|remains?|investigating|intermittent\w*)\b|未解决|仍然|待解决",
    re.IGNORECASE,
)
"""What such a part says of something that is not mended."""
_BLOCKED: Final = re.compile(r"\bblock(?:er|ed)s?\b", re.IGNORECASE)
_RESOLVED: Final = re.compile(
    r"(?<!not )(?<!un)\bresolved\b|\bwhat (?:un(?:blocks?|blocked)|fixed|solved|resolved)\b"
    r"|\bhow (?:we|I) (?:fixed|solved|resolved)\b|\babandoned\b|(?<!未)已解决|已放弃",
    re.IGNORECASE,
)
"""Headings below which the failure of a part before it, or of that part, is told as past."""
_WORKS: Final = re.compile(
    r"\b(?:what (?:finally )?work(?:ed|s)|(?:final|working|current) (?:working )?(?:configuration|config|command|setup"
    r"|recipe|launch|flags|settings))\b|最终(?:配置|命令|方案|可用)|可用配置",
    re.IGNORECASE,
)
"""Of the command that mended them."""


_OF_THE_ERROR: Final = re.compile(
    r"\bIf reserved but unallocated memory is (?:large|>>)[^.\n`'\"]{0,200}"
    r"|\bIf reserved memory is >> allocated memory[^.\n`'\"]{0,200}"
    r"|\(e\.g\., CUDA Graphs\)"
    r"|\bCUDA kernel errors might be asynchronously reported[^.\n]{0,200}"
    r"|\b(?:HIP|CUDA) error might be asynchronous[^.\n]{0,200}"
    r"|\bThis might cause deadlock in distributed execution\b",
    re.IGNORECASE,
)
"""What PyTorch and Ray print within an error that came: their own conditions make no sentence a general one."""


@lru_cache(maxsize=1024)  # of a log many lines are alike
def is_general(text: str) -> bool:
    if not _IN_GENERAL.search(text) or _REPORTED.search(text) or _OF_A_FORM.search(text):
        return False
    return bool(_IN_GENERAL.search(_OF_THE_ERROR.sub("", text)))


def mended_lines(lines: Sequence[str]) -> set[int]:
    """Lines, from 0, of parts that name a cause, or are headed by a failure, and below it say what mended it; and of
    parts about earlier attempts in a text that says which command works."""
    mended = _of_attempts(lines) | _resolved(lines)
    begin, told, headed, fenced, starts = 0, False, False, False, False
    for number, line in enumerate(lines):
        text = line[:LONGEST]
        fenced ^= FENCE.match(text) is not None
        starts = starts or STARTS_ROUGHLY.search(text) is not None
        if fenced:
            continue
        if heading := HEADING.match(text):
            begin, told, starts = number, False, False
            headed = _FAILED.search(heading[2] or heading[3] or "") is not None
        elif (told or (headed and not starts)) and _MENDED.match(text):
            mended |= {*range(begin, number)}
            begin, told, headed = number, False, False
        else:
            told = told or _CAUSE_TOLD.match(text) is not None
    return mended


def _resolved(lines: Sequence[str]) -> set[int]:
    """Parts about a failure, without a command of their own, that say in their heading that it is resolved, or before
    such a part of the same level."""
    if not any(_RESOLVED.search(line[:LONGEST]) for line in lines if line.lstrip().startswith("#")):
        return set()
    parts = list[tuple[int, int, str, bool]]()
    """First line, level, title, and whether a command stands in it."""
    fenced = False
    for number, line in enumerate(lines):
        text = line[:LONGEST]
        fenced ^= FENCE.match(text) is not None
        if not fenced and (heading := HEADING.match(text)) and heading[1]:
            parts.append((number, len(heading[1]), heading[2] or "", False))
        elif fenced and parts and STARTS_ROUGHLY.search(text):
            parts[-1] = (*parts[-1][:3], True)
    ends = [*(part[0] for part in parts[1:]), *([len(lines)] if parts else [])]
    found: set[int] = set()
    for at, ((first, level, title, starts), end) in enumerate(zip(parts, ends, strict=True)):
        failed = _FAILED.search(title) is not None or _BLOCKED.search(title) is not None
        later = (other for _, its_level, other, _ in parts[at + 1 :] if its_level == level)
        past = _RESOLVED.search(title) is not None or any(_RESOLVED.search(other) for other in later)
        if failed and past and not starts:
            found |= {*range(first, end)}
    return found


def _of_attempts(lines: Sequence[str]) -> set[int]:
    """Parts below a heading such as `What failed` or `Attempt 2`, without a command of their own, where another part
    has the one that works."""
    works, parts = False, list[tuple[int, int, bool, bool]]()
    """First line, level, whether it is about attempts, and whether a command stands in it."""
    fenced, working, shown = False, 0, False
    """`working`: the level of the heading that says which works, as long as its part goes on; `shown`: it is there."""
    titles: list[str] = []
    for number, line in enumerate(lines):
        text = line[:LONGEST]
        fenced ^= FENCE.match(text) is not None
        if not fenced and (heading := HEADING.match(text)) and heading[1]:
            title = heading[2] or ""
            of_attempts = _OF_ATTEMPTS.search(title) is not None
            level, says = len(heading[1]), not of_attempts and _WORKS.search(title) is not None
            works = works or says
            working = working if working and level > working else level if says else 0
            parts.append((number, level, of_attempts, False))
            titles.append(title)
        elif not fenced and text.lstrip().startswith("**"):
            works = works or _WORKS.search(text[:100]) is not None
        elif fenced and parts and STARTS_ROUGHLY.search(text):
            parts[-1] = (*parts[-1][:3], True)
            shown = shown or bool(working)
    if not works:
        return set()
    found: set[int] = set()
    above = 0
    """The level of a heading about attempts, whose parts are about them too; 0: there is none."""
    ends = [*(part[0] for part in parts[1:]), *([len(lines)] if parts else [])]
    for (first, level, of_attempts, starts), title, end in zip(parts, titles, ends, strict=True):
        if shown and (not above or level <= above) and _OF_ISSUES.search(title):
            of_attempts = not any(_STILL.search(line[:LONGEST]) for line in lines[first:end])
        above = above if above and level > above else level if of_attempts else 0
        if above and not starts:
            found |= {*range(first, end)}
    return found
