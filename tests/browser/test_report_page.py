"""The pages of `moonpad report` in a browser: quiet, readable in both themes, usable by keyboard, whole on paper."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
WCAG_AA = 4.5

# Each element with text of its own: the text, its colour, and the first ground behind it that is not transparent.
COLOURS = """() => {
  const colours = [];
  const seen = element => element.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true});
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    if (!own || !seen(element) || ['title', 'desc'].includes(element.tagName)) continue;
    let behind = element;
    while (behind && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
    const style = getComputedStyle(element);
    colours.push([element.textContent.trim().slice(0, 40), element.tagName === 'text' ? style.fill : style.color,
                behind ? getComputedStyle(behind).backgroundColor : 'rgb(255, 255, 255)']);
  }
  return colours;
}"""

# What reaches beyond the right edge of the window, and is in no region that scrolls.
BEYOND = """() => [...document.body.querySelectorAll('*')].filter(element =>
  element.getBoundingClientRect().right > innerWidth + 0.5 && !element.closest('.scroll'))
  .concat([...document.querySelectorAll('.scroll')].filter(box => box.getBoundingClientRect().right > innerWidth + 0.5))
  .map(element => element.outerHTML.slice(0, 120))"""

# Texts of one drawing that lie on each other, or are cut off at its edge.
CLASHES = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
  const edge = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll('text')].map(label => [label.textContent, label.getBoundingClientRect()]);
  const cut = boxes.filter(([, box]) => box.left < edge.left - 1 || box.right > edge.right + 1
    || box.top < edge.top - 1 || box.bottom > edge.bottom + 1).map(([words]) => [svg.id, words, 'cut']);
  const on = boxes.flatMap(([words, a], at) => boxes.slice(at + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
    .map(([other]) => [svg.id, words, other]));
  return cut.concat(on);
})"""


class Seen:
    """What the page did besides being shown."""

    def __init__(self, page: Page) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.refused: list[tuple[str, str | None]] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("requestfailed", lambda request: self.refused.append((request.url, request.failure)))


@contextmanager
def shown(browser: Browser, file: Path, theme: Theme = "light", width: int = 1200) -> Iterator[tuple[Page, Seen]]:
    page = browser.new_page(color_scheme=theme, viewport={"width": width, "height": 900})
    seen = Seen(page)
    try:
        page.goto(file.as_uri())
        yield page, seen
    finally:
        page.close()


def luminance(colour: str) -> float:
    """WCAG 2.2's relative luminance of `rgb(1, 2, 3)`."""
    assert colour.startswith("rgb("), colour
    parts = [int(part) / 255 for part in colour[4:-1].split(",")]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def faint(page: Page) -> list[Any]:
    colours = page.evaluate(COLOURS)
    assert len(colours) > 50
    return [row for row in colours if contrast(row[1], row[2]) < WCAG_AA]


def test_the_measure_of_contrast_is_wcags() -> None:
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(119, 119, 119)", "rgb(255, 255, 255)") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
def test_nothing_is_fetched_or_run_and_nothing_is_wrong(browser: Browser, page_file: Path, theme: Theme) -> None:
    with shown(browser, page_file, theme) as (page, seen):
        assert page.evaluate("window.ran") is None
        assert page.locator("img, script").count() == 0
        assert "<script>window.ran = 1</script>" in page.locator("h1").inner_text()
        assert "{{ 7*7 }}" in page.locator("h1").inner_text()
        text = page.evaluate("document.documentElement.textContent")
        assert not {"\x00", "\u202e"} & set(text)
        assert seen.errors == []
        assert seen.requests == [page_file.as_uri()]


def test_what_would_get_into_the_page_is_not_run_either(browser: Browser, page_file: Path, tmp_path: Path) -> None:
    evil = "<script>window.ran = 1</script><img src='http://127.0.0.1:9/x' onerror='window.ran = 2'></body>"
    (tmp_path / "evil.html").write_text(page_file.read_text().replace("</body>", evil))
    with shown(browser, tmp_path / "evil.html") as (page, seen):
        assert page.locator("img, script").count() == 2
        assert page.evaluate("window.ran") is None
        assert any("Content Security Policy" in error for error in seen.errors)
        assert seen.refused == [("http://127.0.0.1:9/x", "csp")]


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read(browser: Browser, page_file: Path, theme: Theme) -> None:
    with shown(browser, page_file, theme) as (page, _):
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (luminance(ground) > 0.5) == (theme == "light")
        page.locator("details").evaluate_all("all => all.forEach(element => element.open = true)")
        assert faint(page) == []


@pytest.mark.parametrize("width", [1200, 700, 360])
def test_no_label_is_cut_or_lies_on_another(browser: Browser, page_file: Path, width: int) -> None:
    with shown(browser, page_file, width=width) as (page, _):
        assert page.locator("svg text").count() > 20
        assert page.evaluate(CLASHES) == []


@pytest.mark.parametrize("width", [360, 700])
def test_a_narrow_window_scrolls_nothing_but_its_regions(browser: Browser, page_file: Path, width: int) -> None:
    with shown(browser, page_file, width=width) as (page, _):
        page.locator("details").evaluate_all("all => all.forEach(element => element.open = true)")
        assert page.evaluate(BEYOND) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        scrolled = page.locator(".scroll").evaluate_all(
            "all => all.some(element => element.scrollWidth > element.clientWidth)"
        )
        assert scrolled or width > 360  # or there would be no need for regions


def test_a_keyboard_reaches_and_opens_everything(browser: Browser, page_file: Path) -> None:
    with shown(browser, page_file, width=360) as (page, _):
        page.evaluate("""() => [...document.querySelectorAll('summary, [tabindex], a[href]')]
            .filter(element => element.checkVisibility({contentVisibilityAuto: true}))
            .forEach((element, at) => { element.dataset.order = at })""")
        count = page.locator("[data-order]").count()
        assert count > 3
        for place in range(count):
            page.keyboard.press("Tab")
            focused = page.locator(":focus")
            assert focused.get_attribute("data-order") == str(place)
            style = focused.evaluate(
                "element => [getComputedStyle(element).outlineStyle, getComputedStyle(element).outlineWidth]"
            )
            assert style == ["solid", "3px"]
        summary = page.locator("summary").last
        details = page.locator("details").last
        summary.focus()
        for wanted in (True, False):
            page.keyboard.press("Enter")
            assert details.evaluate("element => element.open") is wanted


def test_each_region_and_picture_has_a_name(browser: Browser, page_file: Path) -> None:
    with shown(browser, page_file) as (page, _):
        page.locator("details").evaluate_all("all => all.forEach(element => element.open = true)")
        regions, pictures = page.locator("[tabindex='0']").all(), page.locator("svg").all()
        assert regions
        assert pictures
        for element in regions:
            assert element.get_attribute("role") == "region"
            assert element.get_attribute("aria-label")
        for element in pictures:
            assert element.get_attribute("role") == "img"
            for id_ in (element.get_attribute("aria-labelledby") or "-").split():
                assert page.locator(f"#{id_}").evaluate("element => element.textContent").strip()


@pytest.mark.parametrize("theme", THEMES)
def test_on_paper_it_is_whole_and_dark_on_white(browser: Browser, page_file: Path, theme: Theme) -> None:
    with shown(browser, page_file, theme, width=720) as (page, _):
        assert (
            page.locator("details dl").last.evaluate(
                "element => element.checkVisibility({contentVisibilityAuto: true})"
            )
            is False
        )
        page.emulate_media(media="print", color_scheme=theme)
        assert page.locator("details dl").last.bounding_box()
        assert page.locator("details dl").last.evaluate(
            "element => element.checkVisibility({contentVisibilityAuto: true})"
        )
        assert faint(page) == []
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("document.documentElement.scrollWidth") <= 720  # paper does not scroll
        assert page.pdf(format="A4").startswith(b"%PDF")
