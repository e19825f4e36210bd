"""Which recorded releases have an option, or take its value, that the one of a command does not."""

from __future__ import annotations

from collections.abc import Sequence

from moonpad.catalog.options import option_set, releases_with, values_of, versions
from moonpad.engines.argv_reader import Occurrence
from moonpad.explain.manifests.option_sources import Rulebook


def releases_taking(option: Occurrence, book: Rulebook) -> list[str]:
    """The recorded releases that have the value among those of the option."""
    taking = []
    for release in versions(book.program):
        options = option_set(book.program, release)
        known = options.named(option.flag) if options is not None and option.flag else None
        listed = values_of(book.program, release, (option.flag or "").removeprefix("--").replace("-", "_"))
        if known is not None and option.value in (known.choices or listed):
            taking.append(release)
    return taking


def later_with(option: Occurrence, book: Rulebook) -> str:
    """`vLLM 0.11.1 or later`, where these have the option; "" where none has, or not all."""
    return _from_on(releases_with(book.program, option.written), book)


def later_taking(option: Occurrence, book: Rulebook) -> str:
    """The same for those that take its value."""
    return _from_on(releases_taking(option, book), book)


def _from_on(having: Sequence[str], book: Rulebook) -> str:
    recorded = versions(book.program)
    if book.options.version not in recorded:
        return ""
    later = recorded[recorded.index(book.options.version) + 1 :]
    first = next((release for release in later if release in having), None)
    if first is None or recorded[-1] not in having:
        return ""
    return f"{book.label.removesuffix(book.options.version)}{first} or later"
