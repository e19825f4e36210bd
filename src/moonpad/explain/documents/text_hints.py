"""What a text says beside its commands: versions of engines, and which node a comment is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final

from moonpad.catalog.image_releases import REFERENCE, HeldRelease, held_release
from moonpad.catalog.options import newest
from moonpad.catalog.release_days import release_days
from moonpad.engines import ENGINES
from moonpad.engines.build_names import (
    BUILD_LINES,
    BUILDS_OF_OTHERS,
    LOGGED_BUILD,
    SPOKEN_BUILDS_OF_OTHERS,
    builds_in_words,
)
from moonpad.engines.image_names import FILE, OF_A_COMMIT, OF_MAKERS
from moonpad.explain.documents.mentioned_releases import Named, VersionMention, without_others
from moonpad.explain.documents.printed_versions import printed
from moonpad.explain.documents.source_checkouts import checked_out
from moonpad.explain.documents.tags_of_products import release_in_tag, releases_in_tags

_NUMBER: Final = (
    r"v?(?!20[23][0-9]\.[0-9]{1,2}\.)(?P<version>[0-9]{1,4}\.[0-9]{1,4}(?:\.[0-9]{1,6}){0,2}"
    r"(?:(?:-?rc|[ab]|\.?post|\.?dev)[0-9]{1,6}){0,3}(?:\+(?!(?:text|image|video|audio|multi))[0-9a-z]{1,40})?)"
)
"""`0.12.0+text` is a label with another behind it, as a page of recipes is copied; no build is called so. And
`2025.04.12` is a day."""
_FULL: Final = (
    r"v?(?P<version>0\.[0-9]{1,2}\.[0-9]{1,2}(?:\.?(?:rc|post|dev|[ab])[0-9]{1,6}){0,3}(?:\+[0-9a-z.]{1,40})?)"
    r"(?![\w-]|\.\w)"
)
"""A whole release, where less than that might be a measurement."""
_PLAIN: Final = r"0\.[0-9]{1,2}\.[0-9]{1,2}"
_ALONE: Final = r"(?![ ]?(?:and|or|&|,|/|、|和)[ ]?v?[0-9]|[ ]?(?:req|tok|GB|GiB|s\b|ms\b|%|x\b|->|→))"
"""Behind a number that is not one of several, nor a measurement."""
_LATEST: Final = r"(?:latest|newest|current|most recent)(?:[ ]stable)?[ ](?:version|release|build)"
_BUILT_FOR: Final = r"(?:[ ]\(?(?:rocm|cuda|xpu|cpu)\)?(?=[ ]v?0\.[0-9]{1,2}\.[0-9]))?"
"""`vLLM ROCm v0.21.0`; the number of the platform itself is no such one."""
_LATER: Final = (
    r"(?P<least>\+(?!(?!text|image|video|audio|multi)[a-z])"
    r"|[`*]{0,3}[ ](?:or[ ](?:later|newer|above|higher)|and[ ](?:later|newer|above))\b"
    r"|[ ]?(?:以降|(?:及|或)?以上|[及或]更[高新]|及以后|及之后))?"
)

_OR_LATER: Final = re.compile(r"\+|[ ]?(?:\(?or|and|及|或)[ ]?(?:later|newer|above|higher|以上|以后)", re.IGNORECASE)
_IMAGE_OR_LATER: Final = re.compile(rf"[\w.+-]{{0,60}}[`*\"']{{1,3}}(?:{_OR_LATER.pattern})", re.IGNORECASE)
_LONGEST: Final = 2000
_OF_CANDIDATES: Final = re.compile(r"rc(?![0-9])", re.IGNORECASE)
"""Behind a number in the tag of an image that is built from a branch, `releases-v0.26.0rc`: the first candidate."""
_NO_RELEASE: Final = re.compile(r"v?0\.[01](?:\.|$)")
"""What a build calls itself that finds no tag (`0.1.dev19253`), or the number of a chart: no engine had these when the
first of the family came."""
_UNTAGGED: Final = re.compile(r"v?0\.[01](?:\.\d+)?\.?dev|v?0\.0\.0$")
"""The same in a pin or in the tag of an image: of which state of the main branch it is, the number does not say.
`pip install vllm==0.0.0` is a way to be told which releases there are."""
_UNDOTTED: Final = re.compile(r"0\.(?P<figures>\d{2,3})(?P<behind>(?:\.?post\d)?)")
"""A release of three parts in which a dot was left out, `0.24post1` of a program that never had twenty of them."""
_IN_NAME_ONLY: Final = re.compile(r"0\.")
"""A release of a program that counts its builds."""
_MONTH: Final = re.compile(r"2[4-9]\.(?:0[1-9]|1[0-2])(?:\.|$)")
"""The tag of a copy of an image that is numbered by months, `26.05`."""
_SINCE: Final = re.compile(
    r"(?:\b(?:supported|available|introduced|added|merged|included)[ ](?:in|since|from|with|by|after)"
    r"|\b(?:since|starting (?:from|with|in|at)|requires?|at least|minimum(?: version)?(?: is|:)?|(?:later|newer) than"
    r"|as of|(?:upgrad|migrat|switch|updat)\w{0,4} from)"
    r"|从|自|需要|至少)[ `*\"'(]{0,4}$",
    re.IGNORECASE,
)
"""What stands before the first version that has something: a later one may be in use."""
_LINE_FOR: Final = re.compile(
    r"[ \t]*#[ \t]*(?!.*\b(?:recipe|config\w*|script|command|tested|written|works?|guide|setup|requir\w+|needs?)\b)"
    r"[^#\n]{2,100}\b(?:for|on|with|in|of)[ ]",
    re.IGNORECASE,
)
"""A comment on what the next line is for, `# visibility for vLLM 0.14+`, in front of the engine's name: that release
and later ones read it, and none is asked for."""
_BEFORE: Final = 60
_EXAMPLE: Final = re.compile(
    r"(?:\be\.g\.|\bfor example|\bfor instance|例如|比如)[ ,:]{0,2}[`\"'*(]{0,3}(?:[\w.-]+/){0,4}$", re.IGNORECASE
)
"""In front of an image that might be taken."""
_TO_DO: Final = re.compile(r"[ \t]*[-*][ ]\[ \][ ]")
"""`- [ ] Use a tag of its own: …`, which is still to be."""
_UTILISED: Final = re.compile(r"util\w{0,10}[ \t:=|`*]{1,6}(0\.[0-9]{1,2})(?![0-9.])", re.IGNORECASE)
"""Memory fractions, which texts call runs by: `local vLLM 0.9`."""


@lru_cache(maxsize=4)
def _patterns(engines: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Names with a version: in a pin, as the tag of an image, in prose, in a wheel's name, in the table that `pip list`
    prints, behind it (`0.5.3 SGLang`, `version 0.11.0 of vLLM`), and as the lowest (`vLLM version: >= 0.19.1`). The
    names of an engine are a group, `e` and its number."""
    lines = [ENGINES[name].command_line for name in engines]
    names, images = _either([line.names for line in lines]), _either([line.images for line in lines])
    told = "|".join(name for line in lines for name in line.names)
    titles = "|".join(re.escape(ENGINES[name].facts.title) for name in engines)
    patterns = (
        rf"(?<![\w-]){names}(?:\[[\w,.-]{{0,60}}\])?[ ]?(?:==|(?P<least>>=|≥))[ ]?{_NUMBER}",
        rf"(?<![\w-]){images}(?::(?:nightly[_-])?(?:releases?[_-])?|\+(?=v?[0-9])|{FILE}"
        rf"|:[\w.-]{{1,80}}[_-](?:{told})[_-]|:(?:latest|stable)[`*\"]{{0,2}}[ ]?[(=](?=v?[0-9])){_NUMBER}",
        rf"(?:(?<![\w/-])|(?<=[0-9][ ]ctx)){names}{_BUILT_FOR}"
        rf"(?:[ ](?:nightly|version(?:/commit)?|release|image)){{0,2}}"
        rf"(?:[ ]\(|[ ]|-(?=v)|[ ]{{0,40}}[*`]{{0,2}}[:：][*`]{{0,2}}(?:[ ]|(?=v)))"
        rf"{_NUMBER}{_LATER}",
        rf"(?<![\w-]){names}-{_NUMBER}[\w.+]{{0,60}}-(?:cp|py)[0-9]",
        rf"(?<![\w/-]){names}"
        rf"(?:[`*_]{{0,2}}(?:[ ](?:API[ ]server|engine))?[ ]?(?:version(?:[ ]used)?|版本号?)[`*_]{{0,2}}[ ]{{0,3}}"
        rf"(?:[:：=|]|is(?:[ ]the[ ]latest)?|为|是)?"
        rf"|(?:[ ](?:baseline|base|build|tag|used|tested))?[`*_]{{0,2}}[ ]{{0,3}}[:：=|]|-|[ ](?=[`*(（]))"
        rf"[ ]{{0,3}}[`*(（]{{0,3}}{_FULL}{_LATER}",
        rf"(?m:^)[ \t>|#*`]{{0,8}}{names}[ ]{{2,60}}{_NUMBER}"
        rf"(?=[ \t]{{2}}|[*`]{{0,3}}[ \t]{{0,8}}(?:/[^\n]{{0,200}})?(?:\n|$))",
        # the badge of a page: `262,144 ctxvLLM 0.19.1+text`
        rf"(?-i:(?<=[a-z\d])(?={titles})){names}[ ]v?(?P<version>{_PLAIN})(?P<least>\+)"
        r"(?=[a-zA-Z]|\s|$)",
        rf"(?:(?m:^)[ \t>#*-]{{0,8}}|[(,;:][ ]?|\b(?:on|with|using|running)[ ])[`*]{{0,2}}{_FULL}[`*]{{0,2}}[ ]"
        rf"[`*]{{0,2}}{names}(?![\w/.-]|[`*]{{0,2}}[ ](?:v?[0-9]|serve\b))",
        rf"(?<![\w.-]){_FULL}(?:[ ](?:(?:release|version)[ ])?of[ ](?:the[ ])?|[ ]?(?:版本)?的[ ]?)[`*]{{0,2}}{names}"
        r"(?![\w/.-]|[ ](?:fork|plugin|bench|router))",
        rf"(?<![\w/-]){names}(?:[ ]version)?[*_`:：]{{0,4}}[ ]{{0,3}}[(（|]?[ ]?(?P<least>>=|≥)[ ]?{_NUMBER}",
        rf"(?<![\w/-]){names}[`*]{{0,2}},?[ ](?:(?:the|its|in|at)[ ]){{0,2}}{_LATEST}[ ]?(?:is[ ])?[(（,:=]{{0,2}}[ ]?"
        rf"{_FULL}",
        rf"\b{_LATEST}[ ]of[ ](?:the[ ])?[`*]{{0,2}}{names}[`*]{{0,2}}[ ]?(?:is|[,(（:=])[ ]?[(（]?{_FULL}",
        rf"(?<![\w/.-]){names}[ ]?{_NUMBER}[ ]?(?=版)",
        rf"(?<![\w/-]){names}[*_`]{{0,3}}(?:,?[ ][-–—@][ ]{{0,2}}|[ ]?@[ ]?|,?[ ]|[ ]?[(（])[*_`]{{0,2}}"
        rf"(?:(?:version|release|ver|v)(?:\.[ ]?|[ ]?[:：=]?[ ]|[ ][-–—][ ])|(?<=[(（] )|(?<=[(（]))[*_`]{{0,2}}"
        rf"{_FULL}{_LATER}",
        rf"(?<![\w/-]){names}[*_`]{{0,3}}(?:[ ][-–—@][ ]|[ ]?@[ ]?|,[ ](?=v)){_FULL}{_ALONE}",
        rf"[(（]{names},[ ]{_FULL}[)）]",
        rf"(?<![\w/-]){names}[ ]?的?[ ]?版本号?[ ]?(?:[:：=]|是|为|已?(?:升级?|更新|换)(?:到|至|成|为))[ ]?"
        rf"{_FULL}{_LATER}",
        rf"\bversion of (?:the )?{names}[*_`]{{0,3}}[ ](?:is|was|I use is|used is)[ ]{_FULL}{_LATER}",
        rf"\bversion[*_`]{{0,3}}[ ]?[:：=][*_`]{{0,3}}[ ]?{_FULL}[ ]?[(（]{names}[)）]",
        # `vllm0.15.0`, and without the zero that all releases begin with: `vllm15.0`
        rf"(?<![\w/.-]){names}(?:(?:[ ]?version|[ ]?版本)?[ ]?v|(?:[ ]?version[ ]|[ ]?版本)?)"
        rf"(?P<version>{_PLAIN}(?:\.?(?:rc|post)\d)?|(?P<short>[1-9]\d?\.\d{{1,2}}(?:\.post\d)?)|(?<=版本)0\.\d\d)"
        r"(?![\w-]|[.,]\d|[ ]?(?:tok|req|GB|GiB|s\b|ms\b|%|x\b|->|→))"
        rf"(?P<brought>[ ]?(?:已经?|开始)?支持)?{_LATER}",
        rf"(?<![a-z])(?P<least>min(?:imum)?[_-]){names}[_-]version[\"']?[ ]?[:=][ ]?[\"']?{_NUMBER}",
    )
    return tuple(re.compile(pattern, re.IGNORECASE | re.ASCII) for pattern in patterns)


def _either(of_engines: Sequence[Sequence[str]]) -> str:
    groups = (f"(?P<e{number}>{'|'.join(names)})" for number, names in enumerate(of_engines) if names)
    return f"(?:{'|'.join(groups)})"


@lru_cache(maxsize=1)
def _linked() -> re.Pattern[str]:
    """An engine's name with a link behind it: `[vLLM](https://github.com/vllm-project/vllm) >= 0.20.0`."""
    told = "|".join(name for engine in ENGINES.values() for name in engine.command_line.names)
    return re.compile(rf"\[[*`]{{0,3}}({told})[*`]{{0,3}}\]\(https?://[^\s()]{{1,200}}\)", re.IGNORECASE | re.ASCII)


def _without_links(text: str) -> str:
    return _linked().sub(r"\1", text) if "](" in text else text


_OF_ANOTHER: Final = re.compile(
    r"[`*]{0,3}[ ](?:rejected|refused|lacked|failed|crashed|broke|had|could not|did not|does not (?:have|know|support)"
    r"|has no|lacks|rejects|refuses)\b",
    re.IGNORECASE,
)
"""Behind a release in prose: what it did or has not, which is why another one is taken."""
_BROUGHT: Final = re.compile(
    r"[`*]{0,3}[ ](?:extended|introduced|brought|began|switched|replaced|redesigned|reworked)\b", re.IGNORECASE
)
"""The same of the release that brought something, of which a text tells how it came about."""
_OF_A_POST: Final = re.compile(r"[^\[\]()]{0,60}\]\(https?://[^)\s]{0,100}(?:blog|news|announc)")
"""Behind the text of a link: what was written when that release came."""


_OF_A_COMMIT: Final = re.compile(r"(?<=1\.0\.0)\.dev-cp")
"""vLLM's wheels of single commits were all called 1.0.0.dev (https://wheels.vllm.ai)."""


@lru_cache(maxsize=4)
def version_mentions(lines: tuple[str, ...]) -> tuple[VersionMention, ...]:
    """Each version that a line names: a pin (`vllm==0.11.0`) or an image's tag goes before prose (`vLLM nightly
    (v0.11.1rc6)`), the first of a kind before the others."""
    pin, image, prose, wheel, spoken, listed, badge, *others = _patterns(tuple(ENGINES))
    in_prose = (prose, spoken, *others)
    named: list[Named] = []
    fractions = {match[1] for line in lines for match in _UTILISED.finditer(line[:_LONGEST])}
    for number, line in enumerate(lines, 1):
        text = _without_links(line[:_LONGEST])
        if not any(char.isdigit() for char in text) or _TO_DO.match(text):
            continue
        published = _published_images(text)
        for match, held in published:
            if held.version:
                least = _is_first(text, match) or bool(_IMAGE_OR_LATER.match(text, match.end()))
                mention = VersionMention(number, held.engine, held.version, True, match[0], least)
                named.append((False, number, match.start(), mention))
        for pattern in (pin, image, wheel, listed, badge, *in_prose):
            for match in pattern.finditer(text):
                if pattern in in_prose and (
                    _NO_RELEASE.match(match["version"]) or match["version"] in fractions or _is_measured(match)
                ):
                    continue
                if _UNTAGGED.match(match["version"]) or _OF_A_COMMIT.match(text, match.end("version")):
                    continue
                if pattern is image and _is_of_a_publisher(match, published):
                    continue
                if pattern is image and _EXAMPLE.search(text[max(0, match.start() - _BEFORE) : match.start()]):
                    continue
                behind = (_OF_A_POST.match(text, match.end()), _OF_ANOTHER.match(text, match.end()))
                if pattern in in_prose and any(behind):
                    continue
                if match.groupdict().get("least") and _is_of_next_line(
                    text[: match.start()], lines[number : number + 1]
                ):
                    continue
                least = bool(match.groupdict().get("least")) or _is_first(text, match)
                least = least or bool(match.groupdict().get("brought") or _BROUGHT.match(text, match.end()))
                least = least or (pattern is image and bool(_IMAGE_OR_LATER.match(text, match.end())))
                tag = match[0] if pattern is image else ""
                mention = VersionMention(number, *_engine_and_version(match), pattern not in in_prose, tag, least)
                named.append((pattern in in_prose, number, match.start(), mention))
    named = without_others(named, lines)
    names = _names()
    for number, line in enumerate(lines, 1):
        for start, name, version, image_of in releases_in_tags(line[:_LONGEST], names):
            named.append((False, number, start, VersionMention(number, name, version, True, image_of, least=False)))
    for number, start, name, version in (*checked_out(lines, names), *printed(lines, names)):
        named.append((False, number, start, VersionMention(number, name, version, exact=True, image="", least=False)))
    return tuple(mention for *_, mention in sorted(named, key=itemgetter(0, 1, 2)))


def _is_of_next_line(before: str, following: Sequence[str]) -> bool:
    """Whether it is a comment on the line below: a heading has an empty line there, the head of a script a comment."""
    code = bool(following) and following[0].strip() != "" and not following[0].lstrip().startswith("#")
    return code and _LINE_FOR.fullmatch(before) is not None


def _published_images(text: str) -> list[tuple[re.Match[str], HeldRelease]]:
    """Images of publishers who number them by themselves: what looks like a version in their tags is none."""
    if "/" not in text or ":" not in text:
        return []
    return [(match, held) for match in REFERENCE.finditer(text) if (held := held_release(match[0])) is not None]


def _is_of_a_publisher(match: re.Match[str], published: Sequence[tuple[re.Match[str], HeldRelease]]) -> bool:
    within = any(image.start() <= match.start() < image.end() for image, _ in published)
    return within or _MONTH.match(match["version"]) is not None


def versions_of(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Engine → the version that is named, and engine → the lowest that is required, each the first."""
    named: dict[str, str] = {}
    least: dict[str, str] = {}
    for mention in version_mentions(tuple(text.split("\n"))):
        (least if mention.least else named).setdefault(mention.engine, mention.version)
    if not BUILDS_OF_OTHERS.search(text):
        for engine, line in BUILD_LINES.items():
            numbers = _own_builds(line, text) or _spoken_builds(engine, text)
            if len(numbers) == 1 and _IN_NAME_ONLY.match(named.get(engine, "0.")):
                named[engine] = f"b{numbers.pop()}"  # `0.3.0-dev (build 10621, commit …)`
    return named, least


def build_of_fork(engine: str, text: str) -> str:
    """The build that a text on a fork names, where the fork counts by itself: `b4151`. "" where it names none."""
    if engine not in BUILD_LINES or not BUILDS_OF_OTHERS.search(text):
        return ""
    numbers = _own_builds(BUILD_LINES[engine], text)
    numbers |= {match[1] for match in LOGGED_BUILD.finditer(text)}
    numbers = numbers or {match[1] for match in SPOKEN_BUILDS_OF_OTHERS.finditer(text)}
    return f"b{numbers.pop()}" if len(numbers) == 1 else ""


def _own_builds(line: re.Pattern[str], text: str) -> set[str]:
    """Numbers that a program gives itself, `version: 7713 (4150da9a9)`, else those that people give it: `tag b7668`
    beside the first is another one, that of a change for example."""
    named = [match.groups() for match in line.finditer(text)]
    return {own for own, _ in named if own} or {spoken for _, spoken in named if spoken}


def _spoken_builds(engine: str, text: str) -> set[str]:
    """Numbers of builds that are named without being the first that has something, `b6097 or later`."""
    return builds_in_words(
        engine, text, lambda match: not _is_first(text, match) and not _OR_LATER.match(text, match.end())
    )


def _is_measured(match: re.Match[str]) -> bool:
    """`vLLM 48.2 > llama.cpp 43.0 tok/s`: no release has such a number, so it is that of something else."""
    engine, version = _engine_and_version(match)
    if match.groupdict().get("short") == version:
        return True
    last = newest(ENGINES[engine].program)
    major = last.partition(".")[0] if last else ""
    return major.isdigit() and int(version.removeprefix("v").partition(".")[0]) > int(major) + 1


def _is_first(text: str, match: re.Match[str]) -> bool:
    """Whether it is spoken of as the first version that has something."""
    return _SINCE.search(text[max(0, match.start() - _BEFORE) : match.start()]) is not None


def version_of_image(image: str) -> tuple[str, str] | None:
    """`vllm/vllm-openai:v0.11.0` → ("vllm", "0.11.0")."""
    if (held := held_release(image)) is not None:
        return (held.engine, held.version) if held.version else None
    match = _patterns(tuple(ENGINES))[1].search(image)
    if match is not None:
        return None if _is_of_a_publisher(match, ()) else _engine_and_version(match)
    return release_in_tag(image, _names()) or _release_of_branch(image)


def _release_of_branch(image: str) -> tuple[str, str] | None:
    """`vllm/vllm-openai:vllm-x86_64-cu13-0.25.1-7a33ba9` → ("vllm", "0.25.1"): what the branch was made from."""
    maker, built = OF_MAKERS.search(image), OF_A_COMMIT.search(image)
    if maker is None or built is None or not built["version"]:
        return None
    names = image.rpartition(":")[0]
    for engine, row in ENGINES.items():
        if any(re.search(rf"/{name}$", names) for name in row.command_line.images):
            return (engine, built["version"]) if _is_released(engine, built["version"]) else None
    return None


def _names() -> dict[str, Sequence[str]]:
    return {name: engine.command_line.names for name, engine in ENGINES.items()}


def _engine_and_version(match: re.Match[str]) -> tuple[str, str]:
    """With `1.0.0-rc2` as `1.0.0rc2`."""
    engine = next(name for number, name in enumerate(ENGINES) if match.groupdict().get(f"e{number}"))
    local = "+" if match.re is _patterns(tuple(ENGINES))[3] else "\n"  # of a wheel, what it was compiled for
    version = match["version"].lower().replace("-", "").partition(local)[0]
    if match.groupdict().get("short") and _is_released(engine, f"0.{version}"):
        version = f"0.{version}"  # `vllm15.0`
    version = _with_its_dot(engine, version)
    return engine, f"{version}rc1" if _OF_CANDIDATES.match(match.string, match.end("version")) else version


def _with_its_dot(engine: str, version: str) -> str:
    """`0.2.0` of `kt版本0.20`, `0.2.4.post1` of `0.24post1`; as it is where it is a release, or where no other one, or
    several, have the same figures."""
    match = _UNDOTTED.fullmatch(version)
    if match is None or _is_released(engine, f"0.{match['figures']}.0"):
        return version
    figures, behind = match["figures"], match["behind"]
    ends = dict.fromkeys((behind, f".{behind.lstrip('.')}" if behind else ""))
    dotted = (f"0.{figures[:at]}.{figures[at:]}{end}" for at in range(1, len(figures)) for end in ends)
    released = [each for each in dotted if _is_released(engine, each)]
    return released[0] if len(released) == 1 else version


def _is_released(engine: str, version: str) -> bool:
    recorded = release_days().get(engine)
    return recorded is not None and version in recorded.releases
