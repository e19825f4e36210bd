"""A verdict as JUnit XML, which every continuous-integration system reads."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from moonpad.report.plain_text import shown
from moonpad.report.verify_table import judged_in_words
from moonpad.verify.probe import Status
from moonpad.verify.remediation import issue_url
from moonpad.verify.runner import REASONING, TOOL_CALLS, Report, Result


def junit(report: Report) -> str:
    """One test case a probe; a failure has its finding, and the last requests and answers."""
    seconds = sum(result.seconds for result in report.results)
    suite = ET.Element(
        "testsuite",
        name="moonpad verify",
        tests=str(len(report.results)),
        failures=str(len(report.failed)),
        skipped=str(report.count(Status.SKIP)),
        errors="0",
        time=f"{seconds:.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("endpoint", report.endpoint),
        ("judged", judged_in_words(report)),
        ("judged_tool_call", str(report.judges(*TOOL_CALLS)).lower()),
        ("judged_reasoning", str(report.judges(*REASONING)).lower()),
    ):
        ET.SubElement(properties, "property", name=name, value=shown(value))
    for result in report.results:
        _case(suite, result, report.model)
    ET.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suite, encoding="unicode")}\n'


def _case(suite: ET.Element, result: Result, model: str) -> None:
    case = ET.SubElement(
        suite, "testcase", classname=shown(model) or "endpoint", name=result.probe.id, time=f"{result.seconds:.3f}"
    )
    because = shown(result.outcome.because)
    if result.outcome.status is Status.FAIL:
        code = str(result.outcome.findings[0].code) if result.outcome.findings else "failed"
        failure = ET.SubElement(case, "failure", message=because, type=code)
        lines = [f"{finding.where}: {finding.remedy}" for finding in result.outcome.findings]
        lines += [f"{name}: {text}" for name, text in result.remedies.items()]
        lines += [f"looks like {issue_url(issue)}" for issue in result.known_issues]
        for exchange in result.exchanges:
            lines += [f"asked: {exchange.request}", f"got: {exchange.status} {exchange.answer}"]
        failure.text = shown("\n".join(lines))
    elif result.outcome.status is Status.SKIP:
        ET.SubElement(case, "skipped", message=because)
    else:
        ET.SubElement(case, "system-out").text = because
