"""The page of `moonpad watch --web` in a real browser: what it shows, and that hostile text stays text."""

from __future__ import annotations

from playwright.sync_api import Browser

from moonpad.values.records import replace
from moonpad.watch.view import make_view
from moonpad.watch.web import Looks, showing
from tests.browser.conftest import EVIL
from tests.unit.watch.looks import loaded, looks


def test_what_the_page_shows(browser: Browser) -> None:
    full = looks(
        5, lambda look, at: replace(loaded(look, kv_usage=0.99, waiting=3.0), name=EVIL, log=(EVIL, "last line"))
    )
    document = {"at": "now", "endpoints": [make_view(full).as_json()]}
    shown, errors = Looks(), []
    shown.add(document)
    shown.add(document)
    with showing(shown) as url:
        page = browser.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(url)
        page.wait_for_selector("section")
        shown.add({**document, "at": "later"})
        page.wait_for_function("document.getElementById('status').textContent === 'later'")
        text = page.inner_text("main")
        points = page.eval_on_selector("polyline", "line => line.getAttribute('points').split(' ').length")
        ran = page.evaluate("window.ran")
        page.close()
    assert "warning: the KV cache is 99% full, and 3 requests wait" in text
    assert "last line" in text
    assert "ready, generation 1" in text
    assert points == 3, "one of the history and two looks"
    assert ran is None
    assert not [error for error in errors if "favicon" not in error and "404" not in error], errors
