"""The page of `moonpad plan --report` in a browser: quiet, readable, nothing cut or on top of each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from moonpad.cli.command_line import run
from tests.browser.test_report_page import BEYOND, CLASHES, THEMES, Theme, shown

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("plan") / "front.html"
    load = ("--workload", "rag", "--slo", "ttft=3s,tpot=60ms", "--goal", "throughput", "--report", str(file))
    assert run(["plan", "--model", "moonshotai/Kimi-K2.5", "--on", "8xH200", *load]) == 0
    return file


@pytest.mark.parametrize("theme", THEMES)
def test_it_is_shown_whole(browser: Browser, plan_file: Path, theme: Theme) -> None:
    for width in (1200, 420):
        with shown(browser, plan_file, theme, width) as (page, seen):
            assert page.evaluate(CLASHES) == []
            assert page.evaluate(BEYOND) == []
            assert page.locator("[data-front=yes]").count() > 3
        assert seen.errors == []
        assert [url for url in seen.requests if not url.startswith("file:")] == []
