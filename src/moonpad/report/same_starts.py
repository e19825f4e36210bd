"""Starts of one text of which nothing new is to be said, told in one row; and corrections that leave out again what was
left out above."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.results import Judged, Remark
from moonpad.report.explain_sentences import is_told

_SAID: Final = "As said of an earlier command: "
_SHOWN: Final = 8


class SameStarts:
    """The starts that were told, by their first line and what they are: those of them that came again, with lines."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._first: dict[str, int] = {}
        self._again: dict[str, list[int]] = {}
        self._said: dict[str, str] = {}

    def is_told(self, judged: Judged, head: str, rest: str) -> bool:
        """Whether nothing stands below its head but what was told of another with the same head; then it is counted
        with that one."""
        at = min((source.line for source in judged.sources if source.line), default=0)
        rest = rest.strip()
        first = self._first.setdefault(head, at)
        bare = rest.startswith(_SAID) and "\n" not in rest.replace("\n  ", " ")
        if not (bare and at and first and first != at) or judged.alternatives:
            return False
        self._again.setdefault(head, []).append(at)
        self._said.setdefault(head, " ".join(rest.removeprefix(_SAID).split()))
        return True

    def sentences(self) -> Iterator[str]:
        for head, lines in self._again.items():
            *places, last = [self._script.where(line) for line in lines]
            told = f"at {self._script.where(self._first[head])}: {self._said[head]}"
            if not places:
                yield f"The start at {last} is as the one {told}"
                continue
            more = f" and {len(places) + 1 - _SHOWN} more" if len(places) >= _SHOWN else f" and {last}"
            yield f"The starts at {', '.join(places[:_SHOWN])}{more} are as the one {told}"


def left_out_again(judged: Judged, before: frozenset[str]) -> str:
    """The options that are all that the correction leaves out, where each of them was told of an earlier command; ""
    where it does more."""
    changing = [remark for remark in judged.remarks if remark.changes]
    if judged.corrected_with or judged.corrected_files or not changing:
        return ""
    if not all(is_told(remark.finding, before) and _only_leaves_out(remark) for remark in changing):
        return ""
    return ", ".join(dict.fromkeys(remark.finding.where for remark in changing))


def _only_leaves_out(remark: Remark) -> bool:
    edits = [*remark.edits, *(edit for _, others in remark.others for edit in others)]
    more = remark.sets or remark.unsets or remark.program or remark.file_edit or remark.around or remark.drop_variable
    return bool(edits) and not more and not any(edit.words for edit in edits)
