"""Where the spec's model is."""

from __future__ import annotations

from pathlib import Path

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.spec.loader import LoadedSpec


def checkpoint_folder(loaded: LoadedSpec) -> Path:
    """The folder of a checkpoint that moonpad ships, else the path of the spec, relative to the spec's own folder."""
    return embedded_checkpoint(loaded.spec.model) or loaded.resolve(loaded.spec.model)
