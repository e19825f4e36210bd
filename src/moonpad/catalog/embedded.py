"""Checkpoints that come with moonpad itself, as package data."""

from __future__ import annotations

from pathlib import Path
from typing import Final

EMBEDDED: Final = ("kimi-k2-tiny",)


def embedded_checkpoint(name: str) -> Path | None:
    """The folder of a checkpoint that moonpad ships, None for every other name."""
    return Path(__file__).parent / name if name in EMBEDDED else None
