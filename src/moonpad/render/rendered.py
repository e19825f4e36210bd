"""What every renderer gives back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text of one file and its mode. Its path is relative to the folder that the user names."""

    text: str
    mode: int = 0o644
