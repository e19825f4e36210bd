"""A candidate as a spec: the user's text with the changed keys. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moonpad.plan.request import parse_layout
from moonpad.spec.edit import edited
from moonpad.spec.key_names import LAYOUT_KEYS
from moonpad.tune.candidate import LAYOUT, Candidate, Change


def changed_text(text: str, extra_args: Sequence[str], candidate: Candidate, note: str = "") -> str:
    """`text` of the spec whose own arguments are `extra_args`, with the candidate's changes and a note at its head.

    Raises:
        ValueError: the text is not TOML.
    """
    settings: dict[str, Any] = {change.key: change.value for change in candidate.changes if change.key}
    changes: dict[str, Mapping[str, Any]] = {"settings": settings}
    removed: list[tuple[str, str]] = []
    if (layout := candidate.change_of(LAYOUT)) is not None:
        sizes = layout_sizes(str(layout.value))
        changes["layout"] = sizes
        removed = [("layout", key) for key in (*LAYOUT_KEYS, "expert_parallel") if key not in sizes]
    flags = [change for change in candidate.changes if change.flag]
    return edited(text, changes, arguments=with_flags(extra_args, flags) if flags else None, removed=removed, note=note)


def layout_sizes(words: str) -> dict[str, int]:
    """The keys of [layout] of `TP4 DP2 EP8`; what is 1 is left out, tp is not."""
    layout = parse_layout(words)
    sizes = {key: int(getattr(layout, key)) for key in LAYOUT_KEYS}
    return {key: size for key, size in sizes.items() if size > 1 or key == "tp"}


def with_flags(extra_args: Sequence[str], changes: Sequence[Change]) -> tuple[str, ...]:
    """The arguments with each change in place of what they said of it before."""
    kept = list(extra_args)
    for change in changes:
        place = 0
        while place < len(kept):
            name = kept[place].partition("=")[0]
            if name not in (change.flag, change.negated) or not name:
                place += 1
                continue
            has_value = name == change.flag and not isinstance(change.value, bool) and "=" not in kept[place]
            del kept[place : place + 1 + has_value]
    return (*kept, *(word for change in changes for word in change.argv))
