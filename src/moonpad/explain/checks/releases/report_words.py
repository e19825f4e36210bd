"""What is said of a report: which releases it is of, and its thread."""

from __future__ import annotations

import re
from collections.abc import Mapping

from moonpad.catalog.known_reports import KnownReport
from moonpad.engines import ENGINES


def told(row: KnownReport, title: str, known: Mapping[str, str], *, forked: bool = False) -> str:
    """The message with the releases that it was reported for, of the engine that is called `title`, and its thread."""
    shared = f"{ENGINES[row.engines[0]].facts.title}, whose source {title} brings with it" if forked else ""
    message = row.message.format_map(known)
    return f"reported for {shared or _releases(row, title)}: {message}{threads_of(row.provenance.source)}"


def _releases(row: KnownReport, title: str) -> str:
    concluded = row.provenance.standing == "estimated"
    if row.last:
        first = {"": "" if concluded else "up to ", row.last: ""}.get(row.since, f"{row.since} to ")
        return f"{title}{', of the time of' if concluded else ''} {first}{row.last}"
    if row.until:
        first = f" from {row.since} on, mended in {row.until}" if row.since else f" before {row.until}"
        return f"{title}{first}{', by the dates' if concluded else ''}"
    return f"{title} from {row.since} on" if row.since else title


def threads_of(source: str) -> str:
    """` (#12345)`, so that the thread can be found; the address is in the table."""
    repositories = re.findall(r"github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)", source)
    return f" ({repositories[0][0]}#{repositories[0][1]})" if repositories else ""
