"""Short forms of the findings that the checks make."""

from __future__ import annotations

from moonpad.facts.probe import Unknown
from moonpad.values.finding import Code, Finding, Severity


def error(code: Code, where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.ERROR, code, where, message, remedy)


def warning(code: Code, where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.WARNING, code, where, message, remedy)


def note(code: Code, where: str, message: str, remedy: str = "") -> Finding:
    return Finding(Severity.NOTE, code, where, message, remedy)


def unknown(where: str, what: str, why: Unknown | str) -> Finding:
    """What could not be read is said, and nothing is concluded from it."""
    reason = why.reason if isinstance(why, Unknown) else why
    return note(Code.FACT_UNKNOWN, where, f"{what} is unknown: {reason}")
