"""Options that the release which is judged does not have: what says the same today (catalog/former_options.py), and
whether the next release has them."""

from __future__ import annotations

from collections.abc import Sequence

from moonpad.catalog.former_options import former_option
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import fits
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity


def said_today(words: Sequence[str], option: Occurrence, book: Rulebook) -> Remark | None:
    """What the parser of that version refuses, with what it takes instead; None where no row is about it, or where the
    release knows neither the option nor what says the same."""
    slip = option.problem == "unknown" and option.matches
    if option.problem not in ("unknown", "ambiguous", "prefix") or slip or not book.options.exact:
        return None
    _, equals, value = words[option.index].partition("=")
    values = (value,) if equals else tuple(words[option.index + 1 : option.index + option.length])
    former = former_option(book.program, option.written.replace("_", "-"), values, words)
    if former is None or (former.write and book.options.named(former.write[0].partition(".")[0]) is None):
        return None
    mended, message = former.words(values), f"{book.label} has no {option.written}"
    edits = [Edit(option.index, option.length, mended)] if mended is not None else []
    code, severity = Code.UNKNOWN_FLAG, Severity.ERROR
    if option.problem == "prefix":  # of the option that came to begin like it
        code, severity = Code.PREFIX_FLAG, Severity.WARNING
        message = f"{message} any more, and takes it for {option.flag or ''.join(option.matches[:1])}"
    if option.problem == "ambiguous":
        code, message = Code.PREFIX_FLAG, f"{message}, and several options begin so"
    return make_remark(severity, code, option.written, message, former.remedy, at=option.index, edits=edits)


def said_of_older(words: Sequence[str], option: Occurrence, book: Rulebook) -> Remark | None:
    """Of a release that is not recorded: the nearest does not have the option, and older ones had it, so that it is no
    slip. None where no row is about it."""
    if option.problem != "unknown" or book.options.exact:
        return None
    _, equals, value = words[option.index].partition("=")
    values = (value,) if equals else tuple(words[option.index + 1 : option.index + option.length])
    former = former_option(book.program, option.written.replace("_", "-"), values, words)
    if former is None or former.asks:
        return None
    message = f"{option.written} is an option of older releases, and the nearest version recorded ({book.label}) has "
    message += "it no more"
    remedy = f"ask the engine's --help; in a newer release {former.remedy}"
    return make_remark(Severity.NOTE, Code.REMOVED_FLAG, option.written, message, remedy, at=option.index)


def removed_later(option: Occurrence, book: Rulebook) -> bool:
    """Whether it is an option of releases before the first recorded one, as the version in question is."""
    return option.problem == "unknown" and any(
        change.kind == "removed" and change.flag == option.written and not change.value for change in book.later
    )


def right_later(option: Occurrence, book: Rulebook) -> bool:
    """Whether the next recorded version takes it, so that one in between may, or later ones are known to have dropped
    it."""
    if removed_later(option, book):
        return True
    known = book.following.named(option.written) if book.following is not None else None
    if known is None:
        return False
    values = option.value if isinstance(option.value, tuple) else (option.value,)
    texts = [value for value in values if isinstance(value, str)]
    if option.problem != "invalid-value":
        return option.problem in ("prefix", "ambiguous", "unknown")
    now = book.options.named(option.written)
    if now is not None and all(fits(now.kind, now.choices, text) for text in texts):
        return False  # a number that no release can use: 92 as a part of the memory
    return all(fits(known.kind, known.choices, text) for text in texts)
