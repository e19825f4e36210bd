"""A release without the engine's name: `container: "0.5.5.post2"`, `image: v0.5.4.post3`, `v0.18.1 docker image`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from moonpad.engines import ENGINES
from moonpad.explain.documents.changed_releases import release_after_change
from moonpad.explain.documents.failing_releases import failing_release
from moonpad.values.versions import order

_NUMBER: Final = r"v?(?P<{}>\d{{1,2}}\.\d{{1,2}}\.\d{{1,2}}(?:\.?(?:rc|post)\d{{1,3}})?)(?![\w-]|\.\w|\.\d)"
_KEY: Final = r"(?:docker[ _-]?)?(?:image|container|tag)(?:[ _]?(?:version|tag))?"
_BUILT: Final = r"(?:(?:最新|当前)?的?(?:main|master|源码|源代码|自行|本地|稳定)?(?:分支|编译|安装|构建|版)?)(?<=\w)"
"""How it was come by, in front of the number: `版本: main源码编译, 0.2.1.post1`."""
_NOT_IT: Final = (
    r"(?![ ](?:has|have|had|ships?|brings?)[ ]no|[ ](?:lacks?|lacked|does not|doesn't|did not|cannot|fails|is too old)"
    r"\b)"
)
"""`the v0.5.15 tag has none`: why another is taken."""
_BARE: Final = re.compile(
    rf"^[ \t>#*-]*{_KEY}[\"'`*]*[ \t]*[:=][ \t]*[\"'`]?{_NUMBER.format('key')}"
    rf"|(?<![\w.:/-])(?=v){_NUMBER.format('word')}[`*]{{0,2}}[ ](?:docker|image|container|release|tag)\b{_NOT_IT}"
    rf"|\b(?:latest|newest|current)[ ](?:stable[ ])?(?:version|release)[ ]?[(（:][ ]?{_NUMBER.format('latest')}"
    rf"|^[ \t>#*-]*(?:version|版本号?)(?:[ \t*`]*[:=：][*`]*[ \t]*|[ \t*`]*[ \t])"
    rf"[*`]*{_NUMBER.format('alone')}[ \t*`]*$"
    rf"|^[ \t>#*-]*(?:软件|代码|安装)?版本号?[ \t*`]*[:=：][*`]*[ \t]*(?:{_BUILT}[ ]?[,，、;；(（]?[ \t]*){{1,4}}"
    rf"{_NUMBER.format('built')}"
    rf"|^[ \t>#*-]*版本号?[ \t*`]*[:=：][*`]*[ \t]*{_NUMBER.format('local')}(?=\+[a-z])"
    rf"|^[ \t>#*-]*(?:On|With|In|Under)[ ](?=v){_NUMBER.format('begun')}(?=[ \t]*(?:[,:`]|$))"
    rf"|\b(?:launch|start|serve|run|deploy)(?:ed|ing|s)?[ ](?:[a-z-]+[ ]){{0,3}}(?:on|with|in|using)[ ]{{1,3}}(?=v)"
    rf"{_NUMBER.format('started')}(?=[ \t]*(?:[,:`]|$))",
    re.IGNORECASE,
)
_TITLE: Final = re.compile(
    r"#{1,2}[ ](?:[\[【][^\]】]{1,40}[\]】][ :：]{0,3})*(?:(?:on|in|with|using)[ ])?v(?P<title>0\.\d{1,2}(?:\.\d{1,2})?"
    r"(?:\.?(?:rc|post)\d{1,3})?)(?=[ ,:：])(?!.*(?:[ ]v?0\.\d|\b(?:upgrad\w*|since|until|before|from|to v)\b))",
    re.IGNORECASE,
)
"""`# [Misc]: v0.23 GLM5.1 CP + 1p1d OOM`: what the report is about stands first in its title."""
_REPORT: Final = re.compile(r"#{1,2}[ ](?P<text>[^\n]{4,300})")
_IN_TITLE: Final = re.compile(
    r"(?<![\w./:+=-])(?P<word>[A-Za-z][\w-]{2,40}[ ]?)?v?(?P<titled>0\.\d{1,2}\.\d{1,2}(?:\.?(?:rc|post)\d{1,3})?)"
    r"(?![\w-]|\.\w|[ ]?(?:%|GiB|GB|tok|ms|s\b|x\b))",
    re.ASCII | re.IGNORECASE,
)
_OF_CHANGES: Final = re.compile(
    r"\b(?:upgrad\w*|bump\w*|works?|worked|fine|vs|release\w*|regression)\b"
    r"|\b(?:since|until|before|after|from|to|than)[ ](?:version[ ]|the[ ])?v?\d"
    r"|\b(?:support|add|remov)\w*\b.{1,80}\b(?:in|for)[ ]v?\d"
    r"|升级|回退|之前|以前|之后|以后|对比|正常",
    re.IGNORECASE,
)
"""Titles of several releases, or of one that is not the one that runs."""
_OF_A_REPORT: Final = re.compile(
    r"[\[【].{1,40}[\]】]|\b(?:errors?|fail\w*|crash\w*|hangs?|bugs?|oom|start\w*|launch\w*|deploy\w*|serv(?:e|ing)|run\w*)\b"
    r"|报错|失败|启动|部署|异常|卡",
    re.IGNORECASE,
)
"""What the title of a report has, and no comment at the beginning of a script."""
_HEADERS: Final = 4
_BRANCH: Final = re.compile(
    r"(?<![\w./:-])releases?/v?(?P<branch>\d{1,2}\.\d{1,2}\.\d{1,2}(?:\.?(?:rc|post)\d{0,3})?)(?![\w/-]|\.\w|\.\d)",
    re.IGNORECASE,
)
"""A branch that a release is made of, `releases/v0.26.0rc`; of candidates without a number the first one."""
_OF_OTHERS: Final = re.compile(
    r"\b(?:no|not|none|never|without|unlike|instead|before|older?|earlier|later|newer|general|previous|than|until|lacks?"
    r"|misses|broken|fails?|upgrade|from)\b|n't\b",
    re.IGNORECASE,
)
"""Lines that say what another release has or lacks."""
_LONGEST: Final = 2000
_PRODUCT: Final = r"(?<![\w./-])(?P<product>[A-Z][A-Za-z]{{2,30}})[ ]v?{}(?![\w-]|\.\d)"
_NO_PRODUCT: Final = re.compile(
    r"(?:version|release|tag|image|docker|container|the|use|using|with|for|from|at|on|currently|latest|stable|server"
    r"|engine|upgrade|update|install|build)s?",
    re.IGNORECASE,
)
"""Words in front of a version that are not the name of a product."""


@lru_cache(maxsize=4)
def _named(lines: tuple[str, ...]) -> frozenset[tuple[str, bool]]:
    texts = [line[:_LONGEST] for line in lines]
    matches = (match for line in texts if not _OF_OTHERS.search(line) for match in _BARE.finditer(line))
    named = {(str(next(filter(None, match.groups()))).lower(), match["key"] is None) for match in matches}
    branches = (match["branch"].lower() for line in texts for match in _BRANCH.finditer(line))
    return frozenset(named | {(f"{each}1" if each.endswith("rc") else each, False) for each in branches})


def bare_version(lines: tuple[str, ...], recorded: Sequence[str]) -> str:
    """The only such number of a text, where the engine has releases of that series, or in words where it is older than
    all that are recorded; "" where there is none."""
    found = _named(lines)
    version, in_words = next(iter(found)) if len(found) == 1 else ("", False)
    if not found:
        version = failing_release(lines)
    if not (found or version) and (version := release_after_change(lines)):
        return _if_of_a_series(version, ".".join(version.split(".")[:2]), recorded)
    first = next((line for line in lines if line.strip()), "")[:_LONGEST]
    if not (found or version) and (title := _TITLE.match(first)):
        version = title["title"].lower()
        return _if_of_a_series(version, ".".join(version.split(".")[:2]), recorded)
    if not (found or version) and (version := _of_report(lines)):
        return _if_of_a_series(version, version.rpartition(".")[0], recorded)
    if version and _is_of_a_product(lines, version):
        return ""
    oldest = next(iter(recorded), "")
    if version and in_words and oldest and order(version) < order(oldest):
        return version
    series = version.rpartition(".post")[0] or version
    return _if_of_a_series(version, series.rpartition(".")[0], recorded)


def _if_of_a_series(version: str, series: str, recorded: Sequence[str]) -> str:
    """The version where releases of that series are recorded, else ""."""
    return version if any(release.startswith(f"{series}.") for release in recorded) else ""


def _of_report(lines: Sequence[str]) -> str:
    """The one whole release in the title of a report, `# [Bug]: 0.17.0rc1使用tp8部署报错`, `# use v0.11.0rc0 start …`,
    where no name of something else is in front of it."""
    head = [line for line in lines[: 2 * _HEADERS] if line.strip()][:_HEADERS]
    title = next((match["text"] for line in head if (match := _REPORT.match(line))), "")
    numbers = [*_IN_TITLE.finditer(title)]
    if len(numbers) != 1 or _OF_CHANGES.search(title) or not _OF_A_REPORT.search(title):
        return ""
    word = (numbers[0]["word"] or "").strip()
    return numbers[0]["titled"].lower() if not word or _NO_PRODUCT.fullmatch(word) else ""


@cache
def _in_path(engine: str) -> re.Pattern[str]:
    """A folder that is called after the release, `SGLANG_DG_CACHE_DIR=/cache/v0.5.10-team/sm90`, or a folder or a
    program after both, `/cache/sglang_v0.5.10/sm90`, `/bin/vllm_v0.10.0`; no link to the source of a release,
    `…/sglang/blob/v0.4.8/python/…`."""
    number = r"v(?P<{}>0\.\d{{1,2}}\.\d{{1,2}}(?:\.?(?:rc|post)\d{{1,3}})?)"
    return re.compile(
        rf"(?<![A-Za-z])(?:{engine}|{engine.upper()})[\w-]*(?:=/?|/)(?:[\w.-]+/){{0,8}}?"
        rf"(?<!/blob/)(?<!/tree/)(?<!/raw/)(?<!/blame/){number.format('path')}(?:-[A-Za-z]\w{{0,20}})?(?=/)"
        rf"|(?<=/){engine}[_-]{number.format('both')}(?=[/\s\"'`]|$)"
    )


def version_in_path(engine: str, lines: tuple[str, ...], recorded: Sequence[str]) -> str:
    """The only release after which a folder of the engine is called; "" where there is none."""
    matches = (match for line in lines if "v0." in line for match in _in_path(engine).finditer(line[:_LONGEST]))
    found = {match["path"] or match["both"] for match in matches}
    version = found.pop() if len(found) == 1 else ""
    return _if_of_a_series(version, version.rpartition(".")[0], recorded)


def _is_of_a_product(lines: tuple[str, ...], version: str) -> bool:
    """Whether the text puts the number behind the name of something else: `Speculators v0.3.0`."""
    named = re.compile(_PRODUCT.format(re.escape(version)))
    engines = {name.casefold() for engine in ENGINES.values() for name in engine.command_line.names}
    products = (match["product"] for line in lines for match in named.finditer(line[:_LONGEST]))
    return any(each.casefold() not in engines and not _NO_PRODUCT.fullmatch(each) for each in products)
