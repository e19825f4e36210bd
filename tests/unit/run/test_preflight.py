"""What is missing is said before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.plan.from_spec import runtime_of
from moonpad.render.targets import deployment_of
from moonpad.run import preflight
from moonpad.spec.loader import parse_spec
from moonpad.values.finding import Code, Severity
from tests.configurations import make_plan


@pytest.mark.parametrize(("expose", "there", "count"), [(True, False, 1), (True, True, 0), (False, False, 0)])
def test_an_endpoint_is_opened_behind_nginx_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, expose: bool, there: bool, count: int
) -> None:
    """Fault 61."""
    program = tmp_path / "nginx"
    if there:
        program.touch(0o755)
    monkeypatch.setattr(preflight, "PROGRAM", str(program))
    text = f'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n[endpoint]\nport = 18743\nexpose = {str(expose).lower()}\n'
    spec = parse_spec(text, name="opened")
    deployment = deployment_of(spec, make_plan(spec, 0), runtime_of(spec))
    findings = [
        finding for finding in preflight.check(deployment, {}, ("node-0",)) if finding.code is Code.TOOL_MISSING
    ]
    assert [(finding.severity, finding.where) for finding in findings] == [(Severity.ERROR, "endpoint.expose")] * count
