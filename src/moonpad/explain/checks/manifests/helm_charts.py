"""Charts that a repository of Helm does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.image_names import CHART_OF_OTHERS, CHARTS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity

_ADDED: Final = re.compile(r"\bhelm[ ]+repo[ ]+add[ ]+(?P<name>[\w.-]+)[ ]+https://(?P<place>[\w./-]+?)/?(?:[ \"']|$)")
_INSTALLED: Final = re.compile(
    r"\bhelm[ ]+(?:install|upgrade|template|pull|show[ ]+\w+)[ ](?:[^|;&#\n]*?[ ])?"
    r"(?P<repository>[a-z][\w.-]*)/(?P<chart>[a-z][\w.-]*)"
    r"(?=[ \\\"']|$)"
)


def chart_of_repository(case: Case) -> Iterator[Remark]:
    """`helm install vllm vllm/production-stack`."""
    if is_first(case.commands, case.script):
        yield from charts_of_repositories(case.script)


def charts_of_repositories(script: Script) -> Iterator[Remark]:
    """The first of a text."""
    if not any("helm" in line for line in script.lines):
        return
    added: dict[str, tuple[str, ...]] = {}
    for number, text in whole_lines(script):
        if (repository := _ADDED.search(text)) is not None:
            added[repository["name"]] = CHARTS.get(repository["place"].rstrip("/"), ())
        installed = _INSTALLED.search(text) if "helm" in text else None
        if installed is None:
            continue
        name, chart = installed["repository"], installed["chart"]
        has = added.get(name, ())
        meant = f"{name}/{has[0]}" if has and chart not in has else CHART_OF_OTHERS.get(f"{name}/{chart}", "")
        if meant:
            message = (
                f"{script.where(number)}: the repository has no chart {shortened(chart, 40)}: helm ends (not found)"
            )
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, f"{name}/{chart}", message, f"write {meant}")
            yield Remark(remark.finding, command=None)
            return
