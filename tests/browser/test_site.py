"""The documentation as `make site` builds it, in a browser: quiet, of one host, readable in both schemes."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.test_report_page import COLOURS, THEMES, WCAG_AA, Seen, luminance
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

SITE = ROOT / "build" / "site"
PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
READ = ("index.html", "first-hour.html", "predict.html", "seeds.html", "reference/commands.html", "reference/spec.html")

# What reaches beyond the right edge of the window, and is in nothing that scrolls or is moved out of sight.
BEYOND = """() => [...document.querySelectorAll('.md-content *, .md-header *, .md-footer *')].filter(element => {
  const box = element.getBoundingClientRect();
  return box.width && box.right > innerWidth + 0.5 && !element.closest('.wide, pre, .md-search, svg, img');
}).map(element => element.outerHTML.slice(0, 120))"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not PAGES:
        pytest.skip("build/site is not here: make site")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(params=THEMES)
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def over(colour: str, ground: str) -> str:
    """What is seen of a colour that lets the ground shine through, as `rgb(…)` of whole numbers."""
    whole = colour + (" 1" if colour.startswith("rgb(") else "")
    *parts, alpha = (float(part) for part in re.findall(r"[\d.]+", whole))
    below = [float(part) for part in re.findall(r"[\d.]+", ground)[:3]]
    mixed = [round(alpha * part + (1 - alpha) * under) for part, under in zip(parts, below, strict=True)]
    return f"rgb({mixed[0]}, {mixed[1]}, {mixed[2]})"


def faint(page: Page) -> list[Any]:
    found = []
    body = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for text, colour, ground in page.evaluate(COLOURS):
        ground = over(ground, body)
        darker, lighter = sorted((luminance(over(colour, ground)), luminance(ground)))
        if (lighter + 0.05) / (darker + 0.05) < WCAG_AA and text.strip("¶"):
            found.append([text, colour, ground])
    return found


def test_no_page_has_an_error_or_asks_another_host(page: Page, address: str) -> None:
    seen = Seen(page)
    for name in PAGES:
        page.goto(f"{address}/{name}")
        page.wait_for_timeout(100)  # what a script asks for once it is there
    assert seen.errors == []
    assert [url for url in seen.requests if not url.startswith((address, "data:", "blob:"))] == []
    # What is still on its way when the next page is opened is no fault of the site's.
    assert [each for each in seen.refused if each[1] != "net::ERR_ABORTED"] == []


@pytest.mark.parametrize("name", READ)
def test_text_can_be_read_and_nothing_is_cut(page: Page, address: str, name: str) -> None:
    page.goto(f"{address}/{name}")
    assert page.locator("h1").inner_text()
    assert faint(page) == []
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(BEYOND) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_reader_chooses_the_scheme(page: Page, address: str) -> None:
    page.goto(f"{address}/index.html")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("label[for^=__palette]:visible").click()
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (luminance(before) > 0.5) != (luminance(after) > 0.5)


@pytest.mark.parametrize("where", ["server", "folder"])
def test_search_finds_a_page(browser: Browser, address: str, where: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    seen = Seen(page)
    page.goto(f"{address}/plan.html" if where == "server" else (SITE / "plan.html").as_uri())
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").press_sequentially("latent attention")
    found = page.locator(".md-search-result__link")
    found.first.wait_for()
    assert [link for link in found.evaluate_all("all => all.map(one => one.href)") if "arithmetic.html" in link]
    page.close()
    assert seen.errors == []


def test_a_wide_table_is_reached_by_keyboard(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(f"{address}/seeds.html")
    table = page.locator(".wide").first
    table.focus()
    assert page.evaluate("document.activeElement.matches('.wide')")
    assert page.locator(".wide").evaluate_all("all => all.some(one => one.scrollWidth > one.clientWidth)")


def test_the_pictures_are_small_and_need_nothing() -> None:
    pictures = sorted((ROOT / "docs" / "pictures").iterdir())
    assert [path.name for path in pictures] == ["report.png", "watch.svg"]
    for path in pictures:
        assert path.stat().st_size < 150_000
    drawn = Path(pictures[1]).read_text()
    assert not re.search(r"(?:href|src|url\()\W*https?:", drawn)
