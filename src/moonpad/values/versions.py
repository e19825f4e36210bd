"""The order of engine versions, defined once: releases, candidates, nightlies, rebuilds and forks.

PEP 440 orders what it can read. A local part says who built it and orders nothing (`0.11.0+kimi`, `0.32.0+cpu`), nor
does the platform behind the dash of an image's tag (`0.5.5-cu129-amd64`). Every other text (`nightly`, `main`,
"") is newer than every release. Only `checked_version` raises.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from packaging.version import InvalidVersion, Version

from moonpad.values.errors import UsageError

CHANNELS: Final = ("latest", "nightly", "main")
"""What engines call a build that has no number."""
LONGEST: Final = 100

_BUILD: Final = re.compile(r"b([0-9]{1,9})")
"""Engines without releases number their builds: `b11434`."""

Order = tuple[bool, Version]


@lru_cache(maxsize=1024)
def parse(text: str) -> Version | None:
    """The version without its local part; None for a text that is not a version number."""
    if len(text) > LONGEST or not text.isascii():
        return None
    if build_number := _BUILD.fullmatch(text):
        return Version(build_number[1])
    number, dash, build = text.partition("-")
    for candidate in (text, f"{number}+{build}") if dash else (text,):
        try:
            return Version(Version(candidate).public)
        except InvalidVersion:
            continue
    return None


def order(text: str) -> Order:
    """A sort key: `0.11.1rc6.dev211` < `0.11.1rc6` < `0.11.1` = `0.11.1+cpu` < `0.11.1.post1` < `nightly`."""
    version = parse(text)
    return (version is None, version or Version("0"))


@lru_cache(maxsize=4096)
def since(version: str, first: str) -> bool:
    """Whether `version` is `first` or newer; an empty `first` is older than everything."""
    return not first or order(version) >= order(first)


def series(text: str) -> tuple[int, int] | None:
    """`(0, 11)` of `0.11.1rc6`; None for a text that is not a version number."""
    version = parse(text)
    return (version.major, version.minor) if version else None


def release_of(text: str) -> str:
    """The release that a candidate, a rebuild or a nightly belongs to: `0.20.2` of `0.20.2rc1`; "" for other texts."""
    version = parse(text)
    return version.base_version if version else ""


def may_hold(version: str, first: str) -> bool:
    """Whether a development build may have what came with the release `first`: `0.26.1rc1.dev229` is a state of the
    main branch on its way to 0.27.0."""
    build, release = parse(version), parse(first)
    if build is None or release is None or not build.is_devrelease:
        return False
    return build.major == release.major and release.minor - build.minor in (0, 1)


MANY_COMMITS: Final = 250
"""Between two minor releases of vLLM there are 250 to 500."""
_MOST_BEHIND: Final = 3
_OWN_BRANCH: Final = 2
"""From this candidate on they are of the release's own branch."""


def reached(text: str) -> str:
    """The release that a build of the main branch has all of, though its number is of a candidate: `0.10.2` of
    `0.10.2rc3.dev371`, which is so many commits behind the second candidate. Any other text itself."""
    version = parse(text)
    if version is None or (version.dev or 0) < MANY_COMMITS or (version.pre or ("", 0))[1] < 2:
        return text
    return version.base_version


def is_final(text: str) -> bool:
    """Whether it is a release, and not a candidate or a development build."""
    version = parse(text)
    return version is not None and not version.is_prerelease


def next_releases(text: str, releases: Sequence[str]) -> tuple[str, ...]:
    """Of releases, oldest first, the one that a build of the main branch comes before: `0.27.0` of
    `0.26.1rc1.dev229`. Empty where the text is no such build, or the releases end before it.

    A micro version is counted up behind a release that has a branch of its own: main goes on to the next minor one,
    where there are several. A build of many commits may be of a day when the next release had its branch already, and
    so hold what came with those after it: vLLM's 0.22.1rc1.dev490 has parsers that 0.23.0 lacks.
    """
    version = parse(text)
    if version is None or not (version.is_devrelease or (version.pre or ("", 1))[1] == 0):
        return ()
    later = [
        (release, other)
        for release in releases
        if (other := parse(release)) is not None and not other.is_prerelease and other.base_version != release_of(text)
        if other > version
    ]
    new = [release for release, other in later if other.minor != version.minor or other.major != version.major]
    behind = new or [release for release, other in later if not other.is_postrelease]
    return tuple(behind[: 1 + min((version.dev or 0) // MANY_COMMITS, _MOST_BEHIND)])


def checked_version(text: str) -> str:
    """The text without a leading `v`, if it is a version number or one of `CHANNELS`.

    Raises:
        UsageError: it is neither.
    """
    if text not in CHANNELS and parse(text) is None:
        raise UsageError(
            f'"{text[:40]}" is not an engine version',
            remedy=f"write a number like 0.32.0 or 0.11.1rc6, or one of {', '.join(CHANNELS)}",
        )
    return text.strip().removeprefix("v")


def cut_for(text: str) -> str:
    """The release that a second or later candidate was cut for: `0.14.0` of `0.14.0rc2`, and of what is built from that
    very candidate. "" for other texts: a first candidate may be of the main branch, weeks before."""
    version = parse(text)
    if version is None or version.is_devrelease or version.is_postrelease or (version.pre or ("", 0))[1] < _OWN_BRANCH:
        return ""
    return version.base_version


class NearestRelease(Struct, frozen=True):
    """The release at index `at` stands in for a version. `why` says how the two differ; "" where they are the same."""

    at: int
    release: str
    why: str = ""

    @property
    def exact(self) -> bool:
        return not self.why


def nearest_release(releases: Sequence[str], version: str | None) -> NearestRelease:
    """Which of the releases, given oldest first, speaks for a version: the nearest that is not newer, else the oldest.

    The newest speaks for None and for a text that is not a version number, and a release for its late candidates, where
    none of them is given.
    """
    newest = len(releases) - 1
    if version is None:
        return NearestRelease(newest, releases[newest])
    if parse(version) is None:
        return NearestRelease(newest, releases[newest], "not a version number")
    key = order(reached(version))
    at = max((at for at, release in enumerate(releases) if order(release) <= key), default=0)
    if order(releases[at]) == order(version):
        return NearestRelease(at, releases[at])
    final = cut_for(version)
    if final and at < newest and releases[at + 1] == final and release_of(releases[at]) != final:
        return NearestRelease(at + 1, final, "not a release that moonpad knows")
    if key < order(releases[at]):
        why = "older than every release that moonpad knows"
    elif at == newest:
        why = "newer than every release that moonpad knows"
    else:
        why = "not a release that moonpad knows"
    return NearestRelease(at, releases[at], why)
