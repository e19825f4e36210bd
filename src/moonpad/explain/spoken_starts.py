"""Starts of which a text has no command: a log tells of them, sentences, or an image that starts its server."""

from __future__ import annotations

from collections.abc import Sequence

from moonpad.explain.bare_starts import bare_starts
from moonpad.explain.commands import Command
from moonpad.explain.documents.logged_loads import logged_loads
from moonpad.explain.documents.spoken_layouts import spoken_layouts
from moonpad.explain.image_servers import image_servers
from moonpad.explain.python.signs import is_python
from moonpad.explain.shell.interpreter import ScriptState


def spoken_starts(state: ScriptState, texts: list[tuple[int, str]]) -> Sequence[Command]:
    """By the first way that finds one."""
    ways = (
        logged_loads(state),
        spoken_layouts(state, texts),
        image_servers(state),
        bare_starts(state, [each for each in texts if not is_python(each[1])]),
    )
    return next((found for way in ways if (found := list(way))), [])
