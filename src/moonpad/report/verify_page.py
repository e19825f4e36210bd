"""The verdict as a page to send around."""

from __future__ import annotations

from moonpad.report.html_page import page
from moonpad.report.verify_table import NAMES, judged_in_words
from moonpad.verify.remediation import issue_url
from moonpad.verify.runner import Report


def verify_page(report: Report, gate: tuple[str, ...] | None = None) -> str:
    """`gate`: why the thresholds of the spec are not passed; None without --gate."""
    return page(
        "verify.html",
        report=report,
        counts=report.as_json(),
        failed=report.failed,
        judged=judged_in_words(report),
        gate=gate,
        seconds=sum(result.seconds for result in report.results),
        engine=next((result.engine for result in report.results), ""),
        names=NAMES,
        urls={issue: issue_url(issue) for result in report.failed for issue in result.known_issues},
    )
