"""What is said of an option that is misspelt beyond doubt, and is read as it is meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moonpad.engines.argv_reader import Occurrence
from moonpad.explain.change_edits import respelled
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.meant_options import with_one_dash
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity


def misspelt_remarks(words: Sequence[str], option: Occurrence, book: Rulebook) -> Iterator[Remark]:
    """Nothing of one with a single dash: `stray_words` says what the parser makes of it."""
    written, right = option.written, option.matches[0]
    if with_one_dash(written, book):
        return
    message, remedy, severity = f"{book.label} has no {written}", f"did you mean {right}?", Severity.ERROR
    if written.replace("_", "-") == right.replace("_", "-"):
        kind, other = ("dashes", "underscores") if "_" in right else ("underscores", "dashes")
        message, remedy = f"{message}: its parser does not take {kind} for {other}", f"write {right}"
        if not book.options.exact:
            message = f"{written} is {right} in the nearest version recorded ({book.label})"
            severity = Severity.WARNING
    edits = [respelled(words, option, right)]
    yield make_remark(severity, Code.UNKNOWN_FLAG, written, message, remedy, at=option.index, edits=edits)
