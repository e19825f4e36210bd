"""A draft whose name says another kind than the method that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines import draft_names as drafts
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_CONFIG: Final = "--speculative-config"
_LONGEST: Final = 300


def draft_family(case: Case) -> Iterator[Remark]:
    """`EAGLE` with a draft called …-eagle3: it gets one hidden state where it wants those of three layers."""
    for place, asked, draft in (*_by_options(case), *_by_object(case)):
        method = drafts.METHODS.get(asked.casefold().replace("-", "").replace("_", ""))
        name = draft.rstrip("/").rpartition("/")[2][-_LONGEST:]
        kinds = [kind for kind, pattern in drafts.KINDS.items() if pattern.search(name)]
        if method is None or len(kinds) != 1 or unresolved(draft) or method == kinds[0]:
            continue
        if (method, kinds[0]) in drafts.ALIKE:
            continue
        own, is_option = drafts.TITLES[kinds[0]], place.written != _CONFIG
        message = f"{shortened(name, 50)} is a draft for {own}, by its name, and {asked} feeds it otherwise: "
        message += (
            "it gets one hidden state where it wants those of three layers, and hardly a guess is taken"
            if (method, kinds[0]) == ("eagle", "eagle3")
            else "the start ends, or hardly a guess is taken"
        )
        written = own if is_option else own.casefold()
        edits = [Edit(place.index, place.length, (place.written, written))] if is_option else []
        remedy = f"write {place.written} {written}" if is_option else f'write "method": "{written}"'
        where = place.flag or place.written
        yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy, at=place.index, edits=edits)


def _by_options(case: Case) -> Iterator[tuple[Occurrence, str, str]]:
    place, draft = case.option(names.ALGORITHM), case.text(names.DRAFT_PATH)
    if place is not None and isinstance(place.value, str) and draft and not unresolved(place.value):
        yield place, place.value.strip("'\""), draft.strip("'\"")


def _by_object(case: Case) -> Iterator[tuple[Occurrence, str, str]]:
    place = case.option(_CONFIG)
    if place is None:
        return
    value: object = case.first.parsed.values.get("speculative_config")
    if isinstance(value, str):
        value = as_json(value.strip("'"))
    if isinstance(value, Mapping):
        method, model = value.get("method"), value.get("model")
        if isinstance(method, str) and isinstance(model, str):
            yield place, method, model
