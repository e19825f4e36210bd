"""Switches that a text turns off by a name which the release does not have: `--disable-prefix-caching`, which is
`--no-enable-prefix-caching`. Left out, it would stay on."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.argv_reader import Occurrence
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity

_OFF: Final = re.compile(r"--(?:disable|no)[-_](?P<what>[a-z][a-z\d_-]{2,60})", re.ASCII)


def switched_off(option: Occurrence, book: Rulebook) -> Remark | None:
    """The name by which the release switches the same off; None for what is no such name, or where it has none."""
    match = _OFF.fullmatch(option.written) if option.problem == "unknown" and book.options.exact else None
    if match is None:
        return None
    switch = f"--enable-{match['what'].replace('_', '-')}"
    known, off = book.options.named(switch), f"--no-{switch.removeprefix('--')}"
    if known is None or off not in known.negations:
        return None
    message = f"{book.label} has no {option.written}: left out, the default of {switch} holds"
    edits = [Edit(option.index, option.length, (off,))]
    return make_remark(
        Severity.ERROR, Code.UNKNOWN_FLAG, option.written, message, f"write {off}", at=option.index, edits=edits
    )
