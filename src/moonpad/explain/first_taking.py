"""From which release on an engine takes other settings, where no release is named and they are judged by the newest."""

from __future__ import annotations

from moonpad.catalog.options import versions
from moonpad.engines import ENGINES
from moonpad.engines.attention_backends import takes_draft
from moonpad.plan.rules import is_legal
from moonpad.values.configuration import Configuration
from moonpad.values.records import replace
from moonpad.values.versions import is_final


def first_taking(changed: Configuration, as_written: Configuration) -> str:
    """The first release from which on all take what is changed, where one before it takes the command as it is written;
    "" where none does."""
    if changed.version:
        return ""
    first = ""
    for release in reversed([each for each in versions(ENGINES[changed.engine.name].program) if is_final(each)]):
        candidate = replace(changed, version=release)
        if not (is_legal(candidate) and takes_draft(candidate)):
            return first if is_legal(replace(as_written, version=release)) else ""
        first = release
    return ""
