"""What a probe is, and what comes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from moonpad.values.finding import Code, Finding, Severity
from moonpad.verify.api import Api
from moonpad.verify.mend import Mend


class Status(StrEnum):
    PASS = "pass"  # noqa: S105 - a status, no password
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Outcome:
    """`because` is the evidence of a pass, the fault of a failure, the reason of a skip: never empty.

    `model_may_be_why`: this failure is the server's only where the model is able. On a model that is too small to
    judge, the runner turns it into a skip.
    """

    status: Status
    because: str
    findings: tuple[Finding, ...] = ()
    model_may_be_why: bool = False


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to an endpoint and what its answer must be.

    `known`: issues that its failure looks like, as `vllm#27565`; mend.py has their pages.
    `needs_able_model`: only an able model can pass it, so on a small one it is skipped unasked.
    """

    id: str
    proves: str
    matters: str
    mend: Mend
    run: Callable[[Api], Awaitable[Outcome]]
    known: tuple[str, ...] = ()
    needs_able_model: bool = False


def passed(because: str, *findings: Finding) -> Outcome:
    return Outcome(Status.PASS, because, findings)


def skipped(because: str) -> Outcome:
    return Outcome(Status.SKIP, because)


def failed(code: Code, where: str, message: str, remedy: str) -> Outcome:
    """A failure by one finding: `where` is the flag or the path to look at."""
    return Outcome(Status.FAIL, message, (Finding(Severity.ERROR, code, where, message, remedy),))


def failed_if_able(code: Code, where: str, message: str, remedy: str) -> Outcome:
    """A failure that a small model may have caused all by itself."""
    return replace(failed(code, where, message, remedy), model_may_be_why=True)
