"""Which of the devices that a text names a command is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final

from moonpad.explain.commands import Wrapper
from moonpad.explain.documents.device_mentions import Mention, platform_of
from moonpad.values.cluster import Cluster

_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_CLOSE: Final = 6
"""Lines above a command in which a kind is surely its own."""
_OFTEN: Final = 2
"""So many times as often as any other kind is the one that is meant named."""
_FEW: Final = 2
"""Kinds of two makers may be here and elsewhere; more are a list."""
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+(.*)")
_TITLE: Final = re.compile(r"(?![#\s$>*|/-])(?:[^\n#]{2,150}[^\s#=:;,(])[#¶]\s*")
"""`Prepare the image#`, a title as it is copied from a page of Sphinx: its depth is lost."""
_OF_DEVICES: Final = re.compile(r"\b(?:[GD]?[GBH]?[ABHL][1-9]\d{1,2}|MI[23]\d\d[AXP]?|Ascend|A[235] (?:node|pod)s?)\b")


_AS_ABOVE: Final = re.compile(
    r"\b(?:numbers|results|figures|measurements|benchmarks?|setup|configuration|throughput)[ ](?:\w+[ ]){0,2}above\b"
    r"|\babove[ ](?:numbers|results|figures|measurements|benchmarks?)\b|上述(?:结果|数据|性能)",
    re.IGNORECASE,
)
_TELLS: Final = re.compile(
    r"[ \t>*+-]*(?:GPUs?|NPUs?|devices?|hardware|accelerators?|graphics? cards?|显卡|硬件)(?:[ ](?:type|model|name)s?)?"
    r"[*_` ]*[:：]",
    re.IGNORECASE,
)
"""`- GPU: AMD MI300X`, of a form that asks for it: what the writer has."""


@lru_cache(maxsize=1)
def sections(lines: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Of each line of a document, the lines of the headings that it stands under, the outermost first; a heading stands
    under itself."""
    chains: list[tuple[int, ...]] = []
    open_titles: tuple[tuple[int, int], ...] = ()
    fenced = False
    for number, text in enumerate(lines, 1):
        if text.lstrip(" >").startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and (level := _level(text[:_LONGEST], first=not open_titles)):
            open_titles = (*(title for title in open_titles if title[0] < level), (level, number))
        chains.append(tuple(line for _, line in open_titles))
    return tuple(chains)


def _level(text: str, *, first: bool) -> int:
    """Of a heading, 0 where it is none. Of titles without a depth, those that name devices stand above the others."""
    if match := _HEADING.match(text):
        return len(match[1])
    if not _TITLE.fullmatch(text):
        return 0
    return 1 if first else 2 if _OF_DEVICES.search(text) else 3


def has_titles(lines: tuple[str, ...]) -> bool:
    """Whether it was copied from a page whose titles end in `#`."""
    return sum(_TITLE.fullmatch(text[:_LONGEST]) is not None for text in lines) > _FEW


@lru_cache(maxsize=1)
def in_templates(lines: tuple[str, ...]) -> frozenset[int]:
    """Lines of documents that a document shows, as a template: their devices are not those of the text."""
    inside: list[int] = []
    depth = 0
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST].strip()
        if depth:
            inside.append(number)
            if text.startswith("```"):
                depth += 1 if text.strip("`") else -1
        elif text in ("```markdown", "```md"):
            depth = 1
    return frozenset(inside)


_LAYOUT: Final = re.compile(r"(?<![A-Za-z])(tp|pp)(?:[ _-]?size)?[ =:]{0,2}([0-9]{1,3})(?![0-9])")


_OWNED: Final = re.compile(
    r"\b(?:we|i) (?:have|own|run|use)\b|\b(?:our|my) (?:\w+ )?(?:cluster|machines?|servers?|nodes?|box|cards?|gpus?)\b"
    r"|我们有|我有|现有",
    re.IGNORECASE,
)
_OF_ORIGIN: Final = re.compile(
    r"\b(?:parity|unlike|(?:match|slower than|faster than|same as|compared (?:to|with))(?: on)?"
    r"|same (?:silicon|chip|die|core|processor) as|(?:cut[ -]down|binned|disabled|locked)(?: version of)?"
    r"|(?:ported|adapted|copied|borrowed) from)[ ](?:with |the |an? )*[(\[]?[ ]?(?:NVIDIA )?"
    r"(?:[0-9]{1,2}[ ]?[x×][ ]?)?\Z",
    re.IGNORECASE,
)
_REUSES: Final = re.compile(
    r"\b(?:re-?us(?:e|es|ed|ing)|borrow(?:s|ed|ing)|copie[sd]|adapt(?:s|ed)|based[ ]on)\b", re.IGNORECASE
)
_RECIPE: Final = re.compile(r"[ ](?:[\w.-]+[ ]){0,2}(?:recipe|script|benchmark|configuration|config)\b", re.IGNORECASE)
"""`reuses the Kimi-K2.5 FP4 B200 vLLM recipe`: the machine that a recipe was written for."""
_OFFICIAL: Final = re.compile(
    r"(?:\b(?:official|upstream|vendor|published)|官方)[ ]?(?:\w+[ ]){0,2}"
    r"(?:recipes?|guides?|docs?|examples?|cookbook|配方|示例|文档|教程|指南)"
    r"[ ]?(?:[(（/:：，,]|for|on|is|was|uses|targets|assumes|are|的|用|是|针对|基于)[ ]?"
    r"(?:(?:for|on|the|an?)[ ])?(?:NVIDIA[ ])?(?:[0-9]{1,2}[ ]?[x×*][ ]?)?\Z",
    re.IGNORECASE,
)
"""`aligned with the official recipe (H200 / FP8)`, of a text that counts devices of its own."""
_ORIGIN: Final = 60
"""Characters in front of a device that say so."""
_WANTED: Final = re.compile(
    r"\b(?:at least|minimum|min\.|requires?|required|requirements?|recommended)\b|最低|至少|要求|推荐", re.IGNORECASE
)


def owned(named: Sequence[Mention], lines: tuple[str, ...]) -> Sequence[Mention]:
    """Without those that a model is said to want, where the text says which there are: `at least 8x H200 (we have 16x
    H100)`."""
    said = {each: said_of(each, lines[each.line - 1][:_LONGEST]) for each in named}
    return [each for each in named if said[each] != "wanted"] if "owned" in said.values() else named


def without_origins(named: Sequence[Mention], lines: tuple[str, ...]) -> list[Mention]:
    """Without those of whose machine something was only taken over: `recipe parity (GB200 decode)`; and without those
    of an official recipe, where the text counts others."""
    own = [
        each
        for each in named
        if not _OF_ORIGIN.search(_before(each, lines[each.line - 1][:_LONGEST])) and not _is_reused(each, lines)
    ]
    others = [each for each in own if not _OFFICIAL.search(_before(each, lines[each.line - 1][:_LONGEST]))]
    return others if len(others) < len(own) and any(each.machine and each.known for each in others) else own


def _is_reused(each: Mention, lines: tuple[str, ...]) -> bool:
    """Whether the text takes over a recipe for those devices; the sentence may begin on the line above."""
    text = lines[each.line - 1][:_LONGEST]
    at = text.upper().rfind(each.kind.upper())
    if at < 0 or _RECIPE.match(text, at + len(each.kind)) is None:
        return False
    above = lines[each.line - 2][-_ORIGIN:] if each.line > 1 else ""
    return _REUSES.search(f"{above} {text[:at]}"[-2 * _ORIGIN :]) is not None


def _before(each: Mention, text: str) -> str:
    at = text.upper().rfind(each.kind.upper())
    return text[max(0, at - _ORIGIN) : at] if at > 0 else ""


def said_of(each: Mention, text: str) -> str:
    """`owned` or `wanted` by the last words in front of it that say so; else ""."""
    at = place_of(each.kind, text)[0]
    found = [(match.start(), what) for what, pattern in (("wanted", _WANTED), ("owned", _OWNED))
             for match in pattern.finditer(text) if match.start() < at]  # fmt: skip
    return max(found)[1] if found else ""


def place_of(kind: str, text: str) -> tuple[int, int]:
    """Where a line names that kind last, `RTX PRO 6000` of `RTX-PRO-6000`; (-1, -1) where it is written otherwise."""
    spans = [match.span() for match in _writings(kind).finditer(text)]
    return spans[-1] if spans else (-1, -1)


@lru_cache(maxsize=200)
def _writings(kind: str) -> re.Pattern[str]:
    return re.compile("[ _-]?".join(re.escape(letter) for letter in kind if letter not in " _-"), re.IGNORECASE)


def of_layout(named: Sequence[Mention], lines: tuple[str, ...], sizes: Mapping[str, int]) -> Sequence[Mention]:
    """Without those on rows of a table whose layout is another than that of the command, `TP16` where it has
    8; all where none has the same."""
    same: list[Mention] = []
    other: list[Mention] = []
    for each in named:
        text = lines[each.line - 1][:_LONGEST]
        said = _LAYOUT.findall(text.lower()) if text.lstrip().startswith("|") else []
        fits = all((name, str(count)) in said for name, count in sizes.items() if any(name == key for key, _ in said))
        (other if said and not fits else same if said else []).append(each)
    return [each for each in named if each not in other] if same else named


def without_lists(named: Sequence[Mention], all_named: Sequence[Mention]) -> Sequence[Mention]:
    """Without those on lines that count devices of several makers, `B200 (8x), MI300X (8x), MI325X (8x)`: what
    something was tried on, which of them a command is for is left open."""
    kinds: dict[int, set[str]] = {}
    for each in all_named:
        if each.machine is not None and each.known:
            kinds.setdefault(each.line, set()).add(each.kind)
    lists = {line for line, on in kinds.items() if len(on) > _FEW and len({platform_of(kind) for kind in on}) > 1}
    return [each for each in named if each.line not in lists]


def is_granted(cluster: Cluster, container: Wrapper | None, lines: tuple[str, ...]) -> bool:
    """Whether it gets one device, and what is beside that says of which kind: `device_ids: ["1"]  # RTX 5090`."""
    if container is None or container.devices != 1:
        return False
    kind = cluster.name.rpartition("x")[2].casefold()
    places = {word.line for option in container.given("--gpus") for word in option.words if word.line > 0}
    beside = [text for line in places for text in lines[line - 1 : line + 2]]  # of YAML a mapping of a few lines
    said = (re.sub(r"[ _-]", "", text[:_LONGEST]).casefold() for text in beside)
    return any(kind in text for text in said)


def sure_mentions(
    named: Sequence[Mention], asked: frozenset[tuple[str, int]], lines: tuple[str, ...], before: int, line: int
) -> Iterator[tuple[Mention, ...]]:
    """Those that the program asks for with the command; those of the comment between it and the command `before`."""
    machines = [each for each in named if (each.machine, each.line) in asked]
    if len(own := [each for each in machines if each.line == line]) == 1:
        yield tuple(own)
    if len({each.kind for each in machines}) == 1:
        yield _nearest(machines, line)
    comments = [each for each in named if before < each.line < line and lines[each.line - 1].lstrip().startswith("#")]
    if before and comments and len({each.kind for each in comments}) == 1:
        yield _nearest(comments, line)


def by_nearness(
    named: Sequence[Mention], elsewhere: Sequence[Mention], lines: tuple[str, ...], line: int, *, document: bool
) -> Iterator[tuple[Mention, ...]]:
    """The mentions that a command at `line` may be about, in groups: those of its own section, of the sections around
    it one by one, last those of other sections, which say something where they agree. Each in the order of nearness:
    above the line from there upwards, then below it."""
    above = (each for each in named if 0 <= line - each.line <= _CLOSE)
    close = [each for each in above if not lines[each.line - 1].lstrip().startswith("|")]
    chains = sections(lines) if document else ()
    own = chains[min(line, len(chains)) - 1] if chains else ()
    title = max((number for number in own if _OF_DEVICES.search(lines[number - 1][:_LONGEST])), default=0)
    close = [each for each in close if each.line >= title]  # a title that names devices is of what stands below it
    if close:
        yield _nearest(close, line)
    if not document:
        yield _nearest(named, line)
        return
    rest = list(named)
    for depth in range(len(own), -1, -1):
        inside = [chains[min(each.line, len(chains)) - 1] == own[:depth] for each in rest]
        here = list(compress(rest, inside))
        rest = [each for each, is_here in zip(rest, inside, strict=True) if not is_here]
        if here:
            yield _nearest(here, line)
        if depth == len(own) and (before := _of_section_before(rest, chains, own, lines, line)):
            yield _nearest(before, line)
    others = set(elsewhere)
    rest = [each for each in rest if each in others]
    told = [each for each in rest if _TELLS.match(lines[each.line - 1][:_LONGEST])]
    if len({*{each.line: each.kind for each in reversed(told)}.values()}) == 1:
        yield _nearest(told, line)
    firsts = {each.line: each.kind for each in reversed(rest)}  # `8x H200/H20` is one of both
    if len(set(firsts.values())) == 1:
        yield _nearest(rest, line)


def counted_often(named: Sequence[Mention], line: int) -> tuple[Mention, ...]:
    """Machines that the text counts again and again, `8x H200`, all of one kind, where it speaks of others in passing
    alone: seldom, and of no number of them."""
    firsts = {each.line: each for each in reversed(named)}.values()
    counted = [each for each in firsts if each.machine is not None and each.known]
    machines = {each.machine for each in named if each.machine is not None}
    others = [each.kind for each in firsts if each.kind != counted[0].kind] if counted else []
    seldom = all(_OFTEN * others.count(kind) <= len(counted) for kind in others)
    return _nearest(counted, line) if len(counted) > 1 and len(machines) == 1 and seldom else ()


def _of_section_before(
    named: Sequence[Mention],
    chains: Sequence[tuple[int, ...]],
    own: tuple[int, ...],
    lines: tuple[str, ...],
    line: int,
) -> list[Mention]:
    """Those of the last section before the command's own, beside it under the same heading, where a sentence between
    the own heading and the command speaks of what stands above (`to reproduce the numbers above`), and they are of
    one kind."""
    if len(own) < 2 or not any(_AS_ABOVE.search(text[:_LONGEST]) for text in lines[own[-1] - 1 : line]):
        return []
    beside = [each for each in named if each.line < own[-1] and chains[each.line - 1][: len(own) - 1] == own[:-1]]
    last = max((chains[each.line - 1] for each in beside if len(chains[each.line - 1]) >= len(own)), default=())
    found = [each for each in beside if last and chains[each.line - 1] == last]
    return found if len({each.kind for each in found}) == 1 else []


def _nearest(named: Sequence[Mention], line: int) -> tuple[Mention, ...]:
    return tuple(sorted(named, key=lambda each: (each.line > line, abs(each.line - line))))
