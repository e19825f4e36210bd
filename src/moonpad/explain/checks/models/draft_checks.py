"""A draft whose name says another kind than the method that is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines import draft_names as drafts
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.gguf_sizes import vocabulary_of
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.shell.cut_commands import DRAFT_TOLD
from moonpad.values.finding import Code, Severity

_CONFIG: Final = "--speculative-config"
_LONGEST: Final = 300
_ALONE: Final = "STANDALONE"
"""The algorithm whose draft is a whole model."""
_PADDING: Final = 1024
"""Vocabularies of one family differ by less, for the sake of their layout."""
_TREE: Final = ("--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens")


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


def tokens_of_tree(case: Case) -> Iterator[Remark]:
    """More tokens to verify than the tree of that many steps and branches has: the best of them are chosen."""
    steps, branches, wanted = (case.option(flag) for flag in _TREE)
    if steps is None or branches is None or wanted is None:
        return
    sizes = [place.value if isinstance(place.value, str) else "" for place in (steps, branches, wanted)]
    if not all(re.fullmatch(r"[1-9]\d{0,4}", size) for size in sizes):
        return
    depth, breadth, tokens = map(int, sizes)
    most = 1 + breadth + (depth - 1) * breadth**2
    if breadth == 1 or tokens <= most:
        return  # of one branch the engine sets the number itself
    message = f"{tokens} tokens to verify, and {depth} steps of {breadth} branches have {most}"
    remedy = f"write {_TREE[2]} {most} or less, or more steps"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _TREE[2], message, remedy, at=wanted.index)


def draft_of_vocabulary(case: Case) -> Iterator[Remark]:
    """A model of its own as draft, whose tokens are not the target's."""
    place, draft = case.option(names.DRAFT_PATH), case.text(names.DRAFT_PATH).strip("'\"")
    if place is None or unresolved(draft) or case.text(names.ALGORITHM).strip("'\"").upper() != _ALONE:
        return
    target_size, draft_size = vocabulary_of(case.first.model), vocabulary_of(draft)
    if not target_size or not draft_size or abs(target_size - draft_size) <= _PADDING:
        return
    last = draft.rstrip("/").rpartition("/")[2]
    message = (
        f"{shortened(last, 50)} has {draft_size:,} tokens and the target {target_size:,}: its tokens are taken by "
        "their numbers, so hardly a guess is right"
    )
    remedy = "take a small model of the target's own family as draft"
    yield make_remark(Severity.WARNING, Code.CONFLICT, names.DRAFT_PATH, message, remedy, at=place.index)


def draft_only_named(case: Case) -> Iterator[Remark]:
    """A list of flags that names a draft model and none of its options."""
    if any(command.more == DRAFT_TOLD for command in case.commands):
        message = "the text names a draft model and none of its options: how many tokens it guesses is not known, and "
        message += "what it takes of the memory is not counted"
        yield make_remark(Severity.NOTE, Code.MISSING_FLAG, "draft model", message, "give its options too")


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
