"""A branch of an engine's source that is called after the release which it was made from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LONGEST: Final = 2000
_NAME: Final = (
    r"(?P<{0}>[A-Za-z][\w.-]{{0,60}}?(?:/[\w.-]{{1,60}}?){{0,3}}[-_/](?:releases?|rel)[-_/]"
    r"v?(?P<{0}_version>[0-9]{{1,2}}\.[0-9]{{1,2}}\.[0-9]{{1,2}}(?:\.?(?:rc|post)[0-9]{{1,3}})?))(?![\w/-]|\.\w)"
)
_BRANCH: Final = re.compile(
    rf"`{_NAME.format('quoted')}`"
    rf"|\bgit[ ](?:-C[ ]\S{{1,200}}[ ])?(?:checkout|switch)[ ](?:-[bBcC][ ]\S{{1,60}}[ ]|-\S{{1,20}}[ ]){{0,2}}"
    rf"(?:origin/)?{_NAME.format('taken')}"
    rf"|[ ](?:-b|--branch)[ =]{_NAME.format('cloned')}"
    rf"|\bbranch[ :]{{1,2}}{_NAME.format('behind')}|(?<![\w./:-]){_NAME.format('before')}[ ](?:branch\b|分支)",
    re.IGNORECASE,
)
"""`feature/kimi-k3-release-v0.23.0`, in backticks or where it is taken; `releases/v0.23.0` is the release's own."""


def feature_branch(lines: Sequence[str], recorded: Sequence[str]) -> tuple[str, str]:
    """The only such branch of a text, and the release: one that the engine has. Else ("", "")."""
    near = (line[:_LONGEST] for line in lines if "rel" in line[:_LONGEST].casefold())
    found: dict[str, str] = {}
    for line in near:
        for match in _BRANCH.finditer(line):
            kind = next(key for key, value in match.groupdict().items() if value and not key.endswith("_version"))
            found[match[kind].removeprefix("origin/")] = match[f"{kind}_version"]
    name, version = next(iter(found.items())) if len(found) == 1 else ("", "")
    return (name, version) if version in recorded else ("", "")
