"""Links between the pages, and from them to files, as GitHub shows them: the file is there, and so is the heading."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
LINK = re.compile(r"\]\((?!https?://)(?P<path>[^)\s#]*)(?:#(?P<anchor>[^)\s]+))?\)")
CODE = re.compile(r"(?ms)^```.*?^```$|`[^`\n]*`|^    .*?$")


@cache
def anchors(page: Path) -> frozenset[str]:
    """As GitHub names headings: small letters, no punctuation, a hyphen for each blank."""
    headings = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```$", "", page.read_text()))
    plain = (re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "]", heading)).lower() for heading in headings)
    return frozenset(words.strip().replace(" ", "-") for words in plain)


def faults(page: Path, text: str) -> list[str]:
    found = []
    for match in LINK.finditer(CODE.sub("", text)):
        target = (page.parent / match["path"]).resolve() if match["path"] else page
        if not target.is_file() or not target.is_relative_to(ROOT):
            found.append(f"{match[0]}: there is no such file")
        elif match["anchor"] and match["anchor"] not in anchors(target):
            found.append(f"{match[0]}: there is no such heading")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert faults(page, page.read_text()) == []


def test_it_finds_what_leads_nowhere() -> None:
    page = ROOT / "docs" / "plan.md"
    assert len(faults(page, "[a](no.md) [b](memory.md#no) [c](memory.md) [d](#how-fast) `[e](no.md)`")) == 2
