"""What every renderer gives back, and objects as YAML. PyYAML quotes all text, so none of it is interpreted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text of one file and its mode. Its path is relative to the folder that the user names."""

    text: str
    mode: int = 0o644


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True  # an object that occurs twice is written twice: people read these files


def yaml_text(documents: Sequence[Any], notes: Iterable[str] = ()) -> str:
    """The same bytes each time: keys in the objects' order, one line a value, no anchors. `notes` are comments."""
    head = "".join(f"# {note}\n" for note in notes)
    body = yaml.dump_all(
        documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000, default_flow_style=False
    )
    return head + str(body)
