"""An order over version texts: releases, candidates, nightlies. Hostile text is refused, never raised."""

from __future__ import annotations

import re
from typing import Final

Key = tuple[tuple[int, ...], tuple[int, int], int, tuple[int, int]]

LONGEST: Final = 100
# PEP 440 without epochs, as the engines write their versions. The local part (+cpu, +g934a9c3b7) orders nothing.
VERSION: Final = re.compile(
    r"v?(?P<release>\d{1,9}(?:\.\d{1,9}){0,7})"
    r"(?:[-_.]?(?P<pre>a|alpha|b|beta|c|rc|pre|preview)[-_.]?(?P<pre_number>\d{1,9})?)?"
    r"(?:[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_number>\d{1,9})?)?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_number>\d{1,15})?)?"
    r"(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?",
    re.IGNORECASE | re.ASCII,
)
STAGES: Final = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}


def version_key(text: str) -> Key | None:
    """What versions are compared by, None where the text is no version.

    `0.11.1rc6.dev211+g934a9c3b7` < `0.11.1rc6` < `0.11.1` = `v0.11.1.0+cpu` < `0.11.1.post1`.
    """
    match = VERSION.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if match is None:
        return None
    release = [int(part) for part in match["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    stage = (STAGES[match["pre"].lower()], int(match["pre_number"] or 0)) if match["pre"] else (3, 0)
    if not match["pre"] and not match["post"] and match["dev"]:
        stage = (-1, 0)  # a nightly of a release comes before its first candidate
    post = int(match["post_number"] or 0) if match["post"] else -1
    dev = (0, int(match["dev_number"] or 0)) if match["dev"] else (1, 0)
    return tuple(release), stage, post, dev


def release_of(text: str) -> str:
    """The release that a candidate, a rebuild or a nightly belongs to: `0.20.2rc1` → `0.20.2`. "" for no version."""
    match = VERSION.fullmatch(text.strip()) if len(text) <= LONGEST else None
    return match["release"] if match else ""
