"""What is mended in the command of the first machine is mended in those of the others, where they have the same words:
ranks of one engine that differ in an option do not go together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.grouping import Group
from moonpad.explain.results import Edit, Judged, Remark
from moonpad.values.records import replace

_OF_EACH: Final = re.compile(r"port|rank|addr|host|headless|-r\Z|-dpr\Z|-dpn\Z|served|log|device-ids?\Z|visible")
"""Options that each machine has for itself."""


def mended_alike(judged: Judged, meant: Group) -> Judged:
    """With the edits of the first command in the others too."""
    if len(meant.commands) < 2 or not any(remark.edits for remark in judged.remarks):
        return judged
    first = [word.text for word in meant.commands[0].argv]
    taken = [(each.command, edit.at) for each in judged.remarks for edit in each.edits]
    taken += [(number, edit.at) for each in judged.remarks for number, edits in each.others for edit in edits]

    def with_others(remark: Remark) -> Remark:
        if remark.command != 0 or not remark.edits or not all(_is_of_all(edit, first) for edit in remark.edits):
            return remark
        given = {number for number, _ in remark.others}
        more = []
        for number, command in enumerate(meant.commands):
            edits = tuple(_moved(remark.edits, first, command.argv))
            free = all((number, edit.at) not in taken for edit in edits)
            if number and number not in given and len(edits) == len(remark.edits) and free:
                more.append((number, edits))
        return replace(remark, others=(*remark.others, *more)) if more else remark

    return replace(judged, remarks=tuple(map(with_others, judged.remarks)))


def _is_of_all(edit: Edit, argv: Sequence[str]) -> bool:
    if edit.length < 1 or edit.at >= len(argv) or not argv[edit.at].startswith("-"):
        return False
    return _OF_EACH.search(argv[edit.at].partition("=")[0]) is None


def _moved(edits: Sequence[Edit], first: Sequence[str], argv: Sequence[Word]) -> Iterator[Edit]:
    """The same edits where the other command has the same words, once."""
    texts = [word.text for word in argv]
    for edit in edits:
        words = [*first[edit.at : edit.at + edit.length]]
        places = [at for at in range(len(texts)) if texts[at : at + len(words)] == words]
        if len(places) == 1:
            yield replace(edit, at=places[0])
