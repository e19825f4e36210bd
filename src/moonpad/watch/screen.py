"""The watch as a screen of the terminal: a table of endpoints, and below it what there is to say of one. 80 columns by
24 lines are enough, and the keyboard alone. Textual leaves colours out where NO_COLOR is set."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import DataTable, Footer, Static

from moonpad.watch.asking import Watch
from moonpad.watch.table import HEADS, NAME_CHARACTERS, NUMBERS_FROM, cells, details, safe
from moonpad.watch.view import View, make_view

TONES: Final = {"error": "bold red", "warning": "yellow", "head": "bold", "quiet": "dim", "": ""}


class Looked(Message):
    """A look is over, in its thread."""

    def __init__(self, views: list[View]) -> None:
        super().__init__()
        self.views = views


class WatchScreen(App[None]):
    """Looks are made in a thread, so that an endpoint that hangs leaves the keyboard free."""

    CSS = """
    Screen { layout: vertical; }
    DataTable { height: auto; max-height: 40%; }
    #head { height: auto; }
    #about { height: 1fr; border-top: solid $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("up,k", "move(-1)", "Up", show=False, priority=True),
        Binding("down,j", "move(1)", "Choose", key_display="↑↓", priority=True),
        Binding("tab", "focus_next", "Scroll", priority=True),
        Binding("r", "look", "Look now"),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, watching: Watch, every_s: float) -> None:
        super().__init__()
        self._watching, self._every_s = watching, every_s
        self._views: list[View] = []

    def compose(self) -> ComposeResult:
        yield DataTable(cursor_type="row", zebra_stripes=False, cell_padding=1)
        with VerticalScroll(id="about"):
            yield Static("looking…", id="details", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.title = "moonpad watch"
        table = self._table()
        for head in HEADS:
            table.add_column(head, key=head)
        for at, target in enumerate(self._watching.targets):
            name = safe(target.name)[:NAME_CHARACTERS]
            table.add_row(name, "…", *("-",) * (len(HEADS) - 2), key=str(at))
        table.focus()
        self.action_look()
        self.set_interval(self._every_s, self.action_look)

    def action_look(self) -> None:
        """Skipped where the look before it is not over."""
        if not any(worker.is_running for worker in self.workers):
            self.run_worker(self._look, thread=True)

    def action_move(self, by: int) -> None:
        """In the table to the next endpoint, in the details a line."""
        if self._table().has_focus:
            (self._table().action_cursor_down if by > 0 else self._table().action_cursor_up)()
        else:
            self.query_one("#about", VerticalScroll).scroll_relative(y=by, animate=False)

    def on_data_table_row_highlighted(self) -> None:
        self._show_details()

    def _table(self) -> DataTable[Text | str]:
        return self.query_one(DataTable)

    def _look(self) -> None:
        self._watching.look()
        views = [make_view(tuple(looks)) for looks in self._watching.looks]
        self.post_message(Looked(views))  # also where the screen has just ended, when nobody takes it

    def on_looked(self, looked: Looked) -> None:
        self._views = views = looked.views
        table = self._table()
        for at, view in enumerate(views):
            tone = str(view.alerts[0].severity) if view.alerts else ""
            for column, (head, cell) in enumerate(zip(HEADS, cells(view, NAME_CHARACTERS), strict=True)):
                style = TONES[tone] if column in (1, len(HEADS) - 1) else ""
                text = Text(cell, style=style, justify="right" if column >= NUMBERS_FROM else "left")
                if table.get_cell(str(at), head) != text:
                    table.update_cell(str(at), head, text, update_width=True)
        self._show_details()

    def _show_details(self) -> None:
        row = self._table().cursor_row
        if not 0 <= row < len(self._views):
            return
        view = self._views[row]
        lines = [Text(line.text, style=TONES[line.tone]) for line in details(view)]
        about = Text("\n").join([Text(f"{safe(view.url)}  {view.engine}  {time.strftime('%H:%M:%S')}"), *lines])
        self.query_one("#details", Static).update(about)
