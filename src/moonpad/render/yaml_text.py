"""Objects as YAML, with a head of comments. Text is quoted by PyYAML alone, so nothing in it is ever interpreted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def yaml_text(documents: Sequence[Any], notes: Iterable[str] = ()) -> str:
    """The same bytes each time: keys in the order of the objects, one line a value, no anchors."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True  # an object that stands twice is written twice: people read these files

    head = "".join(f"# {note}\n" for note in notes)
    body = yaml.dump_all(
        documents, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1_000_000, default_flow_style=False
    )
    return head + str(body)
