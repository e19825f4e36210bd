"""Switches that a text turns off in a way which the release does not have: by a name, `--disable-prefix-caching`, which
is `--no-enable-prefix-caching`, or by a value, `--enable-prefix-caching=false`. Left out, it would stay on."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.argv_reader import Occurrence
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity

ON: Final = frozenset({"true", "1", "yes", "on"})
OFF: Final = frozenset({"false", "0", "no", "off"})
_NAME_OFF: Final = re.compile(r"--(?:disable|no)[-_](?P<what>[a-z][a-z\d_-]{2,60})", re.ASCII)


def switched_off(option: Occurrence, book: Rulebook) -> Remark | None:
    """The name by which the release switches the same off; None for what is no such name, or where it has none."""
    match = _NAME_OFF.fullmatch(option.written) if option.problem == "unknown" and book.options.exact else None
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


def without_value(flag: str, value: str, book: Rulebook, at: int, length: int) -> tuple[str, list[Edit]]:
    """What is to be done about a value of a switch, which stands in so many words, and the edits that do it: with the
    value alone left out, `--enable-prefix-caching=false` would turn on what the text turns off."""
    told = value.strip().casefold()
    if told not in OFF:
        return "leave the value out", [Edit(at, length, (flag,))] if told in ON else []
    known = book.options.named(flag)
    opposites = [name for name in (known.negations if known is not None else ()) if name.startswith("--no-")]
    if not opposites:  # off where it is not given
        return "leave the switch out with its value", [Edit(at, length, ())]
    return f"write {opposites[0]}", [Edit(at, length, (opposites[0],))]
