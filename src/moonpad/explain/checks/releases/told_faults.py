"""Whether a short text complains of what a known fault is: by the rare words that both have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import log
from typing import Final

from moonpad.catalog.kept_rows import table
from moonpad.catalog.known_reports import report_files, reports_of
from moonpad.catalog.mended_faults import mended_faults, mended_files
from moonpad.engines import ENGINES
from moonpad.explain.checks.releases.printed_messages import printed_messages
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.explained_choices import explained_choices
from moonpad.explain.documents.told_generally import CHAPTER, HEADING
from moonpad.explain.documents.told_mends import mends_told

_WORD: Final = re.compile(r"[a-z_]\w{3,}")
_COMMON: Final = re.compile(
    r"that|this|with|which|from|where|when|have|been|they|than|into|more|were|other|only|after|before|models?|kernels?"
    r"|values?|starts?|release|image|commands?|kimi\w*|moonshotai|" + "|".join(sorted(ENGINES))
)
_ENDINGS: Final = ("ing", "ed", "es", "s")
_SHORTEST: Final = 4
_STEM: Final = 8
_MOST: Final = 1_200
"""Characters of prose: a longer text speaks of much, and shares words with any fault."""
_WEIGHT: Final = 13.0
_WEIGHT_OF_MEND: Final = 9.0
_WORDS: Final = 3
"""So much has to be shared: measured with complaints whose fault was known, and with others."""
_COMPLAINS: Final = re.compile(
    r"\b(?:fail\w*|errors?|crash\w*|wrong\w*|garbage|gibberish|broken?|breaks|hangs?|stuck|dies|died|killed|lost|loses"
    r"|empty|missing|drop(?:s|ped)|ignored|instead|refus\w+|reject\w+|no longer|stops?|stopped|slow\w*|bug|but|never"
    r"|repetitions?|degenerat\w*|rubbish|babbl\w*"
    r"|nothing|leaks?|shows?|appears?|contains?|comes? back|in place of|without)\b"
    r"|\bnot (?:work|start|run|load|support|compatible)\w*|\bbreaking\b|n't\b|, not\b|!!"
    r"|\b(?:does|do|is|are|did|can) ?not\b|报错|失败|无法|不足|崩溃|卡住|卡死|乱码|异常|爆(?:显存|内存)",
    re.IGNORECASE,
)
"""A text without such a word tells how to start something, and complains of nothing."""
_KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    kind: re.compile(words, re.IGNORECASE)
    for kind, words in {
        "illegal instruction": r"illegal ?instruction",
        "illegal access": r"illegal (?:memory )?access|illegal memory|IllegalAddress",
        "garbage": r"garbage|gibberish|nonsense|garbled|corrupted answers|wrong answers|degenerate"
        r"|accuracy (?:is|was|drops?|falls?|of \d)|los(?:t|es?) accuracy|low(?:er)? accuracy|\bNaN\b"
        r"|summed (?:twice|more than)",
        "crash": r"\bcrash(?:es|ed|ing)?\b|\bsegfault|segmentation fault|core dumped|engine (?:died|dies)",
        "no start": r"(?:do|does|did|will|would) not (?:start|load|launch|come up)"
        r"|\b(?:start(?:up)?|launch(?:ing)?|load(?:ing)?) (?:\w+ )?(?:fails?|failed|failure|error|crash\w*)\b"
        r"|\bfail\w* (?:to|on|at|during) (?:the )?(?:start|launch|load|boot)"
        r"|\bfail\w* to (?:[\w.-]+ ){1,6}(?:on|at|during|upon) (?:the )?(?:start|launch|load|boot)"
        r"|\b(?:cannot|can not|unable to|can't) (?:be )?(?:start|launch|load|deploy)"
        r"|起不来|启动(?:失败|报错)|无法启动|加载失败",
        "hang": r"\bhangs?\b|\bhung\b|\bstuck\b|\bdeadlock|\bfreez",
    }.items()
}
"""What can go wrong, as a text says it and as a fault does."""
_OF_PICTURES: Final = re.compile(
    r"\b(?:pictures?|photos?|image_url|images? (?:input|request)s?|vision|visual|multi-?modal|mm|videos?|audio)\b",
    re.IGNORECASE,
)
_OF_MEMORY: Final = re.compile(
    r"\bOOM\b|\bout[ -]of[ -]memory\b|(?:显存|内存)(?:不足|不够|溢出)|爆(?:显存|内存)", re.IGNORECASE
)
"""What many faults end in, and more starts that have none: it counts of a release that is named."""
_FAILS: Final = re.compile(
    r"\b(?:fail\w*|errors?|crash\w*|raises?|refus\w+|asserts?|cannot|can not|unable|broken)\b"
    r"|\b(?:can|does|do|wo|is)n't\b"
    r"|\bnot (?:be )?(?:work|start|run|load|support|set)\w*|报错|失败|无法|崩溃|不支持",
    re.IGNORECASE,
)
"""A start or a request that came to nothing: no slow one, and no wrong answer."""
_LOGGED: Final = re.compile(r"\b(?:ERROR|WARNING|INFO)[ ]+(?:\d{4}-)?\d\d-\d\d |\bFile \"|\w(?:Error|Exception)\b")
_OF_STATE: Final = re.compile(
    r"\bAvg prompt throughput: |\b(?:Decode|Prefill) batch[.,] |\bSpecDecoding metrics: |\bNCCL INFO "
)
"""Lines that engines and NCCL print while all is well: their words are no complaint."""
_OF_PYTHON: Final = frozenset({"unexpect", "keyword", "argument", "position", "object", "attribut", "module", "import"})
"""Stems of what the interpreter says of any name."""
_LEAST_OF_SENTENCE: Final = 4
_LINE: Final = 2_000
_FENCE: Final = re.compile(r"[ \t>]*(?:`{3}|~{3})")
_SUPPOSED: Final = re.compile(
    r"\b(?:when(?:ever)?|if|in case|should)(?:[ ](?!(?:it|this|that)\b)[\w-]{1,20}){1,3}?[ ]"
    r"(?:fails?|errors?|crash(?:es)?|breaks?|hangs?|dies|(?:is|are) (?:lost|missing|broken|empty|slow))\b"
    r"(?=[ ]?(?:[.;:)]|$))",
    re.IGNORECASE,
)
"""`when external services fail`, and nothing behind it: what may happen, not what did."""
_PROPERTY: Final = re.compile(
    r"[ \t>]*[-*+•][ ]+(?:\S{1,4}[ ])?(?:\*{2}|__)[^*_:]{1,40}(?::(?:\*{2}|__)|(?:\*{2}|__)[ ]?:)[ ]"
)
"""`- **Memory**: 20 GB`: an item of a description."""


def told_words(script: Script) -> frozenset[str]:
    """Stems of what the text says beside its commands and blocks of code; none where it says much."""
    prose = _prose(script)
    return _stems(prose) if _COMPLAINS.search(prose) else frozenset()


def told_kinds(script: Script) -> frozenset[str]:
    """What a text of the same length says that went wrong, by its kind."""
    return kinds_of(_prose(script))


def tells_of_failure(script: Script) -> bool:
    """Whether a sentence of such a text says that something fails."""
    return any(_FAILS.search(line) and not _LOGGED.search(line) for line in _prose_lines(script))


def tells_of_memory(script: Script, fault: str) -> bool:
    """Whether both the text and the fault say that memory runs out."""
    return _OF_MEMORY.search(fault) is not None and _OF_MEMORY.search(_prose(script)) is not None


@lru_cache(maxsize=8192)
def kinds_of(text: str) -> frozenset[str]:
    return frozenset(kind for kind, words in _KINDS.items() if words.search(text))


def is_of_pictures_alone(script: Script, fault: str) -> bool:
    """Whether the fault is about pictures, videos or sound, of which the text says nothing: that it crashes is no
    complaint of them."""
    return _OF_PICTURES.search(fault) is not None and _OF_PICTURES.search(_prose(script)) is None


def complains_of(script: Script, pattern: str) -> bool:
    """Whether a line of such a text has the pattern and a complaint."""
    return complains_in(_prose_lines(script), pattern)


def complains_in(lines: Sequence[str], pattern: str) -> bool:
    sign = re.compile(pattern, re.IGNORECASE)
    return any(sign.search(line) and _COMPLAINS.search(line) for line in lines)


def _prose(script: Script) -> str:
    return " ".join(_prose_lines(script))


def _prose_lines(script: Script) -> Sequence[str]:
    """What it says beside its commands and blocks of code; nothing where that is much."""
    script.budget.once("what it complains of", len(script.lines), "what later releases mended")
    return _lines_of(script)


@lru_cache(maxsize=1)  # asked for each fault of each command
def _lines_of(script: Script) -> Sequence[str]:
    taken = {
        line
        for command in script.commands
        if not _is_sentence(command)
        for word in command.words
        for line in range(word.line, min(word.end_line, word.line + _MOST) + 1)
    }
    taken |= printed_messages(tuple(script.lines)) | explained_choices(script)
    prose_lines: list[str] = []
    length, fenced, chapter = 0, False, 0
    """`chapter`: the level of a heading whose parts tell of what may happen; 0: none is."""
    for number, line in enumerate(script.lines, 1):
        if script.markdown and _FENCE.match(line):
            fenced = not fenced
            continue
        if script.markdown and not fenced and (heading := HEADING.match(line[:_LINE])):
            level = len(heading[1] or "") or 1
            chapter = chapter if chapter and level > chapter else level if CHAPTER.search(line[:_LINE]) else 0
        if not fenced and not chapter and number not in taken and not _OF_STATE.search(line[:_LINE]):
            said = _SUPPOSED.sub("", line[:_LINE])
            prose_lines.append("" if _PROPERTY.match(said) and not _COMPLAINS.search(said) else said)
            length += len(line)
            if length > _MOST:
                return ()
    return prose_lines


def _is_sentence(command: Command) -> bool:
    """`On 8xB300 the answers are garbage`, which a file without marks of a document holds between its commands."""
    words = [word.text for word in command.words]
    plain = command.program == "other" and len(words) >= _LEAST_OF_SENTENCE and "=" not in words[0]
    return plain and not any(word.startswith(("-", "/", "./", "$")) for word in words)


def is_told(fault: str, engine: str, words: frozenset[str]) -> bool:
    """Whether a text with these words complains of the fault."""
    if not words:
        return False
    shared = words & _stems(fault)
    weights = _weights(engine)
    return (
        len(shared) >= _WORDS and not shared <= _OF_PYTHON and sum(weights.get(word, 0.0) for word in shared) >= _WEIGHT
    )


def tells_of_mend(fault: str, engine: str, script: Script) -> bool:
    """Whether a sentence says that a mend is there of what the fault is about."""
    weights, stems = _weights(engine), _stems(fault)
    shared = [stems & _stems(text) for text in mends_told(script.lines)]
    return any(
        len(each) >= _WORDS and sum(weights.get(word, 0.0) for word in each) >= _WEIGHT_OF_MEND for each in shared
    )


@cache
def _weights(engine: str) -> Mapping[str, float]:
    """How rare a stem is among the engine's known faults."""

    def built() -> Mapping[str, float]:
        faults = [row.fault for row in mended_faults(engine)] + [row.message for row in reports_of(engine)]
        counts = Counter(stem for fault in faults for stem in _stems(fault))
        return {stem: log(len(faults) / count) for stem, count in counts.items()}

    files = (*report_files(engine), *mended_files(engine))
    return table(files, dict[str, float], built, name=f"fault_words_{engine}")


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.casefold()) if not _COMMON.fullmatch(word))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending)[:_STEM]
    return word[:_STEM]
