"""How texts name devices and count them, as patterns for the names that a text holds.

A pattern for all names of the catalogue takes ten milliseconds to compile. So a line is searched for counted devices
with a mark in the place of each name: then the patterns are the same for every text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import accumulate
from typing import Final

from msgspec import Struct

WORDS: Final = {
    **{word: number for number, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight"], 1)},
    **{"a": 1, "single": 1, "sixteen": 16, "twenty-four": 24, "thirty-two": 32, "sixty-four": 64, "dual": 2, "quad": 4},
    **{"pair": 2, "couple": 2, "both": 2},
    **{"单": 1, "一": 1, "两": 2, "二": 2, "双": 2, "三": 3, "四": 4, "八": 8, "十六": 16, "三十二": 32},
}
_OTHERWISE: Final = ("a", "single", "pair", "couple", "both")
"""Numbers only beside certain words."""
_SPELLED: Final = "|".join(sorted((word for word in WORDS if word not in _OTHERWISE), key=len, reverse=True))
_START: Final = r"(?<![^\W\u3000-\u9fff])(?<![.\-第一二三四五六七八九十百])"
"""Of a number or a name: behind a word of Chinese there is no blank."""
_NUMBER: Final = rf"(?:[0-9]{{1,4}}|{_START}(?:{_SPELLED}))"
_PAIRED: Final = r"(?:pair|couple)(?=[ ]of[ ])"
_MAKER: Final = (
    r"(?:NPUs?[ ]|GPUs?[ ]|(?:spot|rented|dedicated|new|used)[ ]|NVIDIA|AMD|Instinct|Huawei|Ascend|GeForce|Tesla|Atlas"
    r"|华为|昇腾|英伟达|[ ]){0,4}"
)
_NODE: Final = r"(?:nodes?|machines?|servers?|hosts?|boxes|(?:compute[ ])?trays?|台|机|节点)"
_EDITION: Final = (
    r"(?:[ ](?:GPU|Blackwell|Hopper|Ampere|Ada|SXM[2-6]?|PCIe|NVL|HGX|Ultra|Server|Workstation|Max-Q|Edition)){0,4}"
)
"""Words of a name behind its number, `RTX PRO 6000 Blackwell Server Edition node`."""
_SEVERAL: Final = (
    r"(?:nodes|machines|servers|hosts|boxes|(?:compute[ ])?trays|systems|instances|VMs|台|机器|机|服务器|节点)"
)
_WHOLE: Final = (
    r"(?:nodes|machines|servers|hosts|boxes|(?:compute[ ])?trays|systems|台|机器|服务器|节点)(?![A-Za-z0-9_])"
)
"""Machines as they are sold: an instance of a cloud has any number of devices."""
_TIMES: Final = r"[ ]?[x×*][ ]?"
_OUR: Final = r"(?:[ ]?个|[ ]of)?(?:[ ](?:the|our|my|their|these|those|such|identical|more|other)){0,2}"
"""Between a number and what is counted: `two of our`."""
_AHEAD: Final = (
    r"(?:^|(?<=[(（,，:：])|\b(?:on|across|over|with|using|have|has|between|in|of|these|our|the"
    r"|exactly|requires|needs)(?=[ ]))[ ]{0,2}"
)
"""Before a number in digits that counts machines: in `tp 16 8xH200 nodes` 16 does not."""
OF_GENERATION: Final = re.compile(
    r"\b(?:Blackwell|Hopper)(?:[ -]Ultra)?[*_`]{0,3}(?:-class)?(?:[ ](?:GPUs?|devices|cards|machines|nodes|systems))?"
    r"[*_`]{0,3}[ ]?\Z",
    re.IGNORECASE,
)
"""`Blackwell-class GPUs (for example GB200)`: the one of a generation that is meant."""


def _any_of(names: tuple[str, ...]) -> str:
    """A pattern for the names, the longest first; one that never matches for none."""
    spelled = (r"[ \-_]?".join(re.split(r"[ \-_]", name)) for name in names)
    spelled = (re.sub(r"^RTX(?=[0-9])", r"RTX[ \\-]?", name) for name in spelled)
    return f"(?:{'|'.join(sorted(spelled, key=len, reverse=True)) or '(?!)'})"


_MARK: Final = "\ue000"
"""Of the private use area: in the place of a name."""


class Marked(Struct, frozen=True):
    """A text with a mark for each name. `starts`: where each of its characters was, and where the text ended."""

    text: str
    starts: tuple[int, ...]
    names: Mapping[int, str]
    """By the places of their marks."""


def marked(text: str, names: tuple[str, ...]) -> Marked:
    pieces, written, end = [], {}, 0
    lengths: list[int] = []
    for match in _named(names).finditer(text):
        before = text[end : match.start()].replace(_MARK, " ")
        pieces += [before, _MARK]
        lengths += [1] * len(before)
        written[len(lengths)] = match.group()
        lengths.append(len(match.group()))
        end = match.end()
    pieces.append(text[end:].replace(_MARK, " "))
    lengths += [1] * len(pieces[-1])
    return Marked("".join(pieces), tuple(accumulate(lengths, initial=0)), written)


@lru_cache(maxsize=256)
def _named(names: tuple[str, ...]) -> re.Pattern[str]:
    # `H100-80GB` is an `H100` with its size, and no `H100-80G`, `B300 SXM6` no `B300-SXM`; `H100s` are several.
    return re.compile(rf"{_any_of(names)}(?![0-9a-rt-wyz])", re.IGNORECASE)


@cache
def counted() -> tuple[re.Pattern[str], ...]:
    """So many of a kind, on so many machines, in a marked line: the more certain forms first."""
    device, size = (
        f"(?P<device>{_MARK})",
        r"(?:(?:[ \-(（]{0,2}|[ ]with[ ])(?P<size>[0-9]{2,3})[ ]?G(?:i?B)?\b[)）]?)?",
    )
    also = rf"(?:(?:/|[ ]or[ ]|[ ]and[ ]|、|或)(?P<also>{_MARK})(?![\w]))?"
    end = r"s?(?![^\W\u3000-\u9fff])(?!-[0-9a-z])"  # `8xH200机器`: no blank ends a word there
    count = rf"{_START}(?<!Atlas[ ])(?:(?P<nodes>{_NUMBER}){_TIMES})?(?P<count>{_NUMBER})"
    of_nodes = (
        rf"(?P<nodes>{_NUMBER})[ ]?{_NODE}[ ]?(?:of|with|each|[x×*,(:，])?[ ]?(?P<count>{_NUMBER})[ ]?(?:[x×*]|卡|张)?"
        rf"[ ]?{_MAKER}{device}{size}{end}"
    )
    several = (
        rf"(?:{_START}(?P<nodes>{_SPELLED}|both|{_PAIRED}){_OUR}|{_AHEAD}(?P<nodes_too>[0-9]{{1,2}})(?![0-9]){_OUR}"
        rf"|{_START}(?P<nodes_times>{_NUMBER}){_TIMES})[ ]?[*(（\[]{{0,2}}"
    )
    of_each = rf"(?P<count>{_NUMBER})(?:{_TIMES}|[ ]?-?(?:GPUs?|NPUs?|cards?|way|卡|张)[ ]?(?:的)?)"
    alone_count = rf"{_START}(?P<count>{_NUMBER})"
    cards, nodes = r"(?:卡|张|块|GPUs?|NPUs?|cards?)", rf"(?P<nodes>{_NUMBER})[ ]?{_NODE}"
    each = r"(?:每台|每机|每节点|每个节点|单机|each(?:[ ]with)?)"
    # A card of two dies counts as two devices: `8卡16芯`.
    of_dies = rf"(?:{_NUMBER}[ ]?{cards}[ ]?[,，(（/]?[ ]?(?={_NUMBER}[ ]?(?:芯|dies?\b)))?"
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"{_START}{device}(?:[ ](?:GPUs?|NPUs?|cards?))?[ ]?[(（](?P<size>[0-9]{{2,3}})[ ]?G(?:i?B)?"
            rf"[ ]?[x×*][ ]?(?P<count>{_NUMBER})[ ]?[)）]",
            rf"{nodes}[ ]?{_MAKER}{device}{size}[ ]?[,，;(（]?[ ]?{each}[ ]?{of_dies}(?P<count>{_NUMBER})[ ]?{cards}?",
            rf"{nodes}(?:服务器|机器)?[ ]?[,，:：]?[ ]?{each}[ ]?(?P<count>{_NUMBER})[ ]?(?:[x×*]|{cards})?(?:的)?"
            rf"[ ]?{_MAKER}{device}{size}{end}",
            rf"{alone_count}(?:{_TIMES}|[ ]?{cards}[ ]?(?:的)?){_MAKER}{device}{size}(?:[ ](?:per|each|a)[ ]node)?"
            rf"[ ]?[,，]?[ ]?(?:[x×*][ ]?)?{nodes}(?!\w)",
            rf"{_START}{device}{size}{_TIMES}(?P<count>[0-9]{{1,3}})"
            rf"(?:{_TIMES}(?P<nodes>[0-9]{{1,2}})(?![\w.:%-])|[ ]?[,，(（]?[ ]?(?P<nodes_too>{_NUMBER})[ ]?{_NODE})",
            rf"{_START}(?P<nodes>{_NUMBER})(?:[ ]|{_TIMES}){_MAKER}{device}{size}[ ]?{_NODE}[ ]?[,(（]?[ ]?"
            rf"(?:with|each with|of|having)[ ](?P<count>{_NUMBER})[ ]?{cards}(?!\w)",
            rf"{_START}(?P<nodes>{_NUMBER})(?:[ ]|{_TIMES}){_MAKER}{device}{size}[ ]?{_NODE}[ ]?[,(（]?[ ]?"
            rf"(?P<count>{_NUMBER})[ ]?{cards}[ ](?:each|per)\b",
            rf"{_START}(?P<nodes>{_NUMBER})(?:[ ]|{_TIMES}){_NODE}[ ](?:of|with)[ ]{_MAKER}{device}{size}s?[ ]?"
            rf"[,;(（][ ]?(?:with[ ])?(?P<count>{_NUMBER})[ ]?{cards}[ ](?:in[ ])?(?:each|per)\b",
            of_nodes,
            rf"{_START}(?P<nodes>{_NUMBER}){_TIMES}[(（\[][ ]?(?P<count>{_NUMBER}){_TIMES}{_MAKER}{device}{also}{size}",
            rf"{several}{of_each}{_MAKER}{device}{size}s?[*)）\]]{{0,2}}[ ]?-?{_SEVERAL}(?![A-Za-z0-9_])",
            rf"{several}{of_each}[*]{{0,2}}{_SEVERAL}[ ]?(?:of|with|each with|[,:(（，])[ ]?"
            rf"{_MAKER}{device}{size}{end}",
            rf"{_START}(?P<servers_times>{_NUMBER}){_TIMES}{_MAKER}(?:[DH]GX[ -])?{device}{size}s?(?:[ ]GPUs?)?"
            rf"[ ]?-?{_WHOLE}",
            rf"{_START}{device}{size}{_TIMES}(?P<servers_times>{_NUMBER})[ ]?{_WHOLE}",
            rf"{_START}(?P<servers>{_NUMBER})[ ]?(?:台|(?:个[ ]?)?(?:节点|机器))[ ]?(?:的[ ]?)?{_MAKER}{device}"
            rf"{size}(?![A-Za-z0-9_-])(?![ ]?[,，(（]?[ ]?(?:每|单|[x×*]|{_NUMBER}[ ]?(?:{cards}|[x×*])))",
            rf"{_START}(?P<count>{_PAIRED})[ ]of[ ]{_MAKER}{device}{size}{end}(?![ -]?{_NODE})",
            rf"{count}(?:{_TIMES}|[ ]?(?:卡|张|块)[ ]?(?:的)?){_MAKER}{device}{size}{end}{also}",
            rf"{count}(?:[ ]|-){_MAKER}{device}{size}{end}{also}(?!{_EDITION}[ ]?{_NODE})",
            rf"(?<![A-Za-z0-9_.-]){device}{size}(?:{_TIMES}|:)(?P<count>[0-9]{{1,4}})(?!(?![卡张块])[\w.%-]|:\S)",
            rf"{_START}{device}{size}[ ]?[(（](?P<count>{_NUMBER})(?:[ ]?(?:GPUs?|cards?|NPUs?|卡|张))?[)）,，]",
            rf"{_START}{device}{size}[ ](?P<count>{_NUMBER})[ ]?(?:卡|张|块|GPUs|cards)",
            rf"{_START}{device}{size}(?:[ ](?:node|machine|server|host|box|[GN]PUs?))?[ ](?:with|having)[ ]"
            rf"(?P<count>{_NUMBER})[ ](?:GPUs|NPUs|cards)"
            rf"(?![\w/]|[ ](?:per|on|in|for|a|each)[ ](?:each[ ]|every[ ])?{_NODE}|[ ]each)",
            rf"{_START}{device}{size}(?:[ ](?:GPUs?|NPUs?|cards?))?[ ]?[(（](?:[x×*][ ]?)?(?P<count>{_NUMBER})"
            r"[ ]?[x×*]?[)）]",
            rf"{alone_count}(?:{_TIMES}|[ ]?(?:卡|张|块)[ ]?)(?P<size>[0-9]{{2,3}})[ ]?GB?[ ]?(?:的[ ]?)?"
            rf"{_MAKER}{device}{end}",
            rf"{count}[ ]?(?:identical[ ])?(?:GPUs?|NPUs?|cards)[ ]?[:(（][ ]?{_MAKER}{device}{size}{end}"
            rf"(?![ ]?(?:and|und|[,+&、和])[ ]?{_MAKER}"
            rf"(?:{_MARK}|(?:RTX[ ]?)?(?:[A-Z]{{1,2}}[0-9]{{2,3}}|[2-5]0[5-9]0)\b))",
            rf"{_START}(?P<count>{_NUMBER})[ -](?:GPU|NPU|card)[ ]{_MAKER}{device}{size}[ ]?{_NODE}\b",
            rf"{_START}(?P<servers>{_NUMBER}|a|single)[ ]?[x×]?[ ]{_NODE}[ ](?:of|with)[ ]{_MAKER}{device}{size}"
            rf"{end}",
            rf"{_START}(?P<servers>{_NUMBER}|a|single|{_PAIRED}|both){_OUR}(?:[ ]|-){_MAKER}{device}{size}"
            rf"{_EDITION}[ ]?{_NODE}(?![A-Za-z0-9_])",
            rf"{_START}(?:(?P<servers>{_SPELLED}|{_PAIRED}|both){_OUR}[ ]"
            rf"|(?P<servers_times>[0-9]{{1,2}})(?:{_TIMES}|[ ]))(?:NVIDIA[ ])?[DH]GX[ -]{device}{size}{end}"
            r"(?![ ]GPUs?)",
        )
    )


@lru_cache(maxsize=256)
def pairs(names: tuple[str, ...]) -> re.Pattern[str]:
    """`MI300X/MI325X` are two kinds, and `MI300x/MI325x` are."""
    named = rf"(?:{_any_of(names)}|(?i:mi3[0-9]{{2}}x?))"
    return re.compile(rf"(?<![\w./-])({named})/(?={named}(?![\w/]))")


_OF_MACHINE: Final = r"(?<=[dDhH][gG][xX] )(?i:gb[23]00|b[23]00|h[128]00|a[18]00)"
"""`dgx h200`: behind the name of a machine it is no other word in any case."""


@lru_cache(maxsize=256)
def alone(names: tuple[str, ...]) -> re.Pattern[str]:
    """A kind by itself: as it is written, for `a3` or `b200` in a name are something else; nothing else is `mi300`."""
    named = _any_of(names)
    return re.compile(
        rf"(?<![\w./-])(?P<device>{named}|{_OF_MACHINE}|(?i:mi3[0-9]{{2}}x?|rtx[ _-]?pro[ _-]?[0-9]{{4}}"
        r"|rtx[ _-]?[345]0[5-9]0|rtx[ _-]?6000[ _-]?(?:(?:workstation[ _-]?)?pro(?:[ _-]?blackwell)?|blackwell)"
        r"|blackwell[ _-](?:rtx[ _-])?(?:6000[ _-]pro|pro[ _-]6000)|(?:6000[ _-]pro|pro[ _-]6000)[ _-]blackwell))"
        r"(?:(?:[ ]GPUs?)?[ \-(（]{0,2}(?P<size>[0-9]{2,3})[ ]?G(?:i?B)?\b)?"
        r"(?![\w/]|\.\w|-[0-9a-z])",
        re.ASCII,
    )


_BETWEEN: Final = r"(?:[ ]?/[ ]?|[ ]?,[ ](?:or[ ])?|[ ]or[ ]|[ ]?、[ ]?|[ ]?或[ ]?|(?<=\w)\|(?=\w))"


@lru_cache(maxsize=256)
def listed(names: tuple[str, ...]) -> re.Pattern[str]:
    """Kinds of which any will do: `H100/H200/B200`, `H200 or 8x B200`."""
    named = _any_of(names)
    return re.compile(
        rf"(?:(?<![\w./-])|(?<=[0-9][x×*])){named}(?:{_BETWEEN}(?:[0-9]{{1,3}}{_TIMES})?{named}){{1,7}}(?![\w/-])",
        re.IGNORECASE,
    )


def parts_of(written: str) -> list[str]:
    """The kinds of such a list, without their counts."""
    return [re.sub(rf"^[0-9]{{1,3}}{_TIMES}", "", part) for part in re.split(_BETWEEN, written, flags=re.IGNORECASE)]


SIZED: Final = re.compile(
    r"(?<![\w./-])(?<![2-9][x×*])(?<![2-9][x×*] )(?P<device>(?:RTX[ \-]?)?4090|H20)(?:[ ]GPUs?)?[ \-(（]{1,2}"
    r"(?P<size>[0-9]{2,3})[ ]?G(?:i?B)?\b(?!.{0,60}\b(?:total|combined|altogether))",
    re.ASCII,
)
"""Kinds that come in two sizes under one name, with their size; behind a number it may be that of all of them."""
_SERIES: Final = re.compile(r"[ -]?(?:series|系列)", re.IGNORECASE)


def without_series(places: list[re.Match[str]], text: str) -> list[re.Match[str]]:
    """`MI350 Series and MI300 Series` are several generations, of which no device is meant alone."""
    series = [match for match in places if _SERIES.match(text, match.end())]
    return [match for match in places if match not in series] if len(series) > 1 else places
