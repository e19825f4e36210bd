"""The screen by textual's pilot: 80 columns by 24 lines, the keyboard alone, and an endpoint that hangs."""

from __future__ import annotations

import asyncio
import threading

import pytest

from moonpad.values.records import replace

textual = pytest.importorskip("textual", reason="the extra `watch` is not installed")

from textual.containers import VerticalScroll  # noqa: E402
from textual.widgets import DataTable, Static  # noqa: E402

from moonpad.facts.probe import Unknown  # noqa: E402
from moonpad.values.endpoint import Endpoint  # noqa: E402
from moonpad.watch.asking import Target, Watch  # noqa: E402
from moonpad.watch.look import Health, Look  # noqa: E402
from moonpad.watch.screen import WatchScreen  # noqa: E402
from tests.unit.watch.looks import sound  # noqa: E402

ENDPOINTS = tuple(Target(Endpoint(f"http://192.0.2.{number}:8000/v1", "k")) for number in (1, 2))


def ask(target: Target, at_s: float) -> Look:
    """The second one does not answer."""
    look = replace(sound(0), name=target.name, url=target.endpoint.root_url)
    gone = replace(look, run=None, health=Health(None, "Connection refused"), load=Unknown("Connection refused"))
    return look if target is ENDPOINTS[0] else gone


def text_of(app: WatchScreen) -> str:
    return str(app.query_one("#details", Static).render())


async def shown(app: WatchScreen, what: str, pause: object) -> None:
    for _ in range(500):
        await pause(0.01)  # type: ignore[operator]
        if what in text_of(app):
            return
    raise AssertionError(text_of(app))


def test_by_keyboard_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def use() -> None:
        app = WatchScreen(Watch(ENDPOINTS, limit_s=5.0, ask_target=ask), every_s=60.0)
        async with app.run_test(size=(80, 24)) as pilot:
            await shown(app, "http://192.0.2.1:8000", pilot.pause)
            table = app.query_one(DataTable)
            assert table.virtual_size.width <= 80
            assert [str(cell) for cell in table.get_row_at(0)][1:6] == ["ready", "1", "4", "1", "97%"]
            await pilot.press("down")
            await shown(app, "error: /health does not answer: Connection refused", pilot.pause)
            assert str(table.get_row_at(1)[-1]) == "1"
            await pilot.press("tab")
            assert app.query_one("#about", VerticalScroll).has_focus
            await pilot.press("tab", "up")
            await shown(app, "http://192.0.2.1:8000", pilot.pause)
            await pilot.press("q")
        assert not app.is_running

    asyncio.run(use())


@pytest.mark.slow
def test_a_hang_leaves_the_keyboard_free() -> None:
    gate = threading.Event()

    def hang(target: Target, at_s: float) -> Look:
        gate.wait(60)
        return ask(target, at_s)

    async def use() -> None:
        app = WatchScreen(Watch(ENDPOINTS, limit_s=30.0, ask_target=hang), every_s=60.0)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press("down")
            assert app.query_one(DataTable).cursor_row == 1
            gate.set()
            await pilot.press("q")

    asyncio.run(use())
