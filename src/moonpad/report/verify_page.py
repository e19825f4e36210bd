"""The verdict as a page, for whoever was not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moonpad.report.page import page
from moonpad.report.verify_table import NAMES
from moonpad.verify.mend import issue_url

if TYPE_CHECKING:
    from moonpad.verify.runner import Report


def verify_page(report: Report, gate: tuple[str, ...] | None = None) -> str:
    """`gate`: why the thresholds of the spec are not passed; None where nobody asked for them."""
    failed = [result for result in report.results if result.outcome.status == "fail"]
    return page(
        "verify.html",
        report=report,
        counts=report.as_json(),
        failed=failed,
        gate=gate,
        seconds=sum(result.seconds for result in report.results),
        engine=next((result.engine for result in report.results), ""),
        names=NAMES,
        urls={one: issue_url(one) for result in failed for one in result.known_issues},
    )
