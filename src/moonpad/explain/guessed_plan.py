"""What a plan may be made for where a command leaves its model, or its devices, open: those that its text names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from moonpad.engines.base import Engine
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.device_mentions import mentions, platform_of
from moonpad.explain.model_detection import spoken_of


def spoken_checkpoint(commands: Sequence[Command], script: Script) -> str:
    """The only checkpoint that the text names near the commands; "" for none."""
    model = spoken_of("", commands, script) if commands else None
    return model.id if model is not None and not model.refused else ""


def spoken_kind(engine: Engine | None, script: Script) -> str:
    """The kind of devices that the text names most often, of those that the engine runs on; "" for none, or where two
    are named equally often."""
    platforms = engine.platforms if engine is not None else ()
    named = (each.kind for each in mentions(script.lines, script.placed_hints) if each.known)
    counted = Counter(kind for kind in named if platform_of(kind) in platforms).most_common(2)
    alone = len(counted) == 1 or (len(counted) > 1 and counted[0][1] > counted[1][1])
    return counted[0][0] if alone else ""
