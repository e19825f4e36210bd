"""What is said of a command by one row of start_refusals*.toml."""

from moonpad.catalog.start_refusals import start_refusals
from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask


def told(key: str, text: str, version: str = "", on: str = "") -> list[Finding]:
    """The findings that have the longest of the row's words between its figures."""
    part = max(start_refusals()[key].message.replace("{right}", "{left}").split("{left}"), key=len)
    return [finding for judged in ask(text, on, version) for finding in judged.findings if part in finding.message]
