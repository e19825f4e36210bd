"""What a probe is, and what comes of it."""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Any, Final

import msgspec

from moonpad.engines.api_facts import Topic
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace
from moonpad.verify.api import Api


class Status(StrEnum):
    PASS = "pass"  # noqa: S105 - a status, no password
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Outcome:
    """`because` is the evidence of a pass, the fault of a failure, the reason of a skip: never empty.

    `model_may_be_why`: the server is at fault only if the model is able: its own text decides (own_text/verdict.py).
    `by_own_text`: a pass that holds only if the answers were compared with the model's own text.
    `unparsed`: a pass that reasoning within the text leaves as it is; another probe asks for the parser.
    """

    status: Status
    because: str
    findings: tuple[Finding, ...] = ()
    model_may_be_why: bool = False
    by_own_text: bool = False
    unparsed: bool = False


class ProbeEnded(Exception):
    """Raised by helpers of a probe: its outcome is known, and there is nothing more to ask."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.because)
        self.outcome = outcome


MOST_CHARACTERS: Final = 2000
Run = Callable[[Api], Awaitable[Outcome]]
"""Asks and judges; may raise ProbeEnded and ContactLost."""


@dataclass(frozen=True, slots=True)
class ApiProbe:
    """One question to an endpoint and what its answer must be; `probes.toml` says what the fields are."""

    id: str
    run: Run
    proves: str
    matters: str
    topic: Topic | None = None
    remedy: str = ""
    gateway: str = ""
    issues: tuple[str, ...] = ()
    needs_able_model: bool = False
    long: bool = False


ROWS: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    (files("moonpad.verify") / "probes.toml").read_text("utf-8")
)


def probe(id: str) -> Callable[[Run], ApiProbe]:
    """Makes a probe of the function that asks and of the row with this id."""
    return lambda run: msgspec.convert({"id": id, "run": run, **ROWS[id]}, ApiProbe)


def passed(because: str, *findings: Finding) -> Outcome:
    return Outcome(Status.PASS, _short(because), findings)


def passed_if_own(because: str) -> Outcome:
    """A pass, if the model's own text says the same of each answer."""
    return Outcome(Status.PASS, _short(because), by_own_text=True)


def skipped(because: str) -> Outcome:
    return Outcome(Status.SKIP, _short(because))


def failed(code: Code, where: str, message: str, remedy: str) -> Outcome:
    """A failure with one finding: `where` is the flag or the path to look at."""
    message = _short(message)
    return Outcome(Status.FAIL, message, (Finding(Severity.ERROR, code, where, message, remedy),))


def _short(text: str) -> str:
    """A server's text in it may be megabytes."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} …"


def failed_if_able(code: Code, where: str, message: str, remedy: str) -> Outcome:
    """A failure that a small model may have caused by itself."""
    return replace(failed(code, where, message, remedy), model_may_be_why=True)
