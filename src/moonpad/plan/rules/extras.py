"""Rules of what is served beside the model itself."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.plan.draft import draft_share
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity


def draft_known(case: Configuration) -> Iterator[Finding]:
    if because := draft_share(case, 16).because:
        yield Finding(Severity.NOTE, Code.TIGHT, "draft", because, "name one that moonpad knows: --set draft=NAME")
