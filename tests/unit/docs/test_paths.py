"""Every file that the documents name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
NAMED = re.compile(r"`((?:\w+/)+[\w-]+\.(?:py|toml|json|txt|md))(?:::[^`]*)?`")
FOLDERS = ("", "src/moonpad", "tests")
"""Below which a path is looked for: the pages name modules and tests by their last folders."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page: Path) -> None:
    named = set(NAMED.findall(page.read_text()))
    assert {path for path in named if not any((ROOT / folder / path).is_file() for folder in FOLDERS)} == set()


def test_paths_are_found_in_the_pages() -> None:
    assert "plan/memory.py" in NAMED.findall((ROOT / "docs" / "architecture.md").read_text())
    assert not any((ROOT / folder / "plan/no_such.py").is_file() for folder in FOLDERS)
