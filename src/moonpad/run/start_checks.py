"""All that is asked before one engine is started, on this machine and with what other hosts have reported."""

from __future__ import annotations

from moonpad.facts.devices import devices
from moonpad.facts.probe import Unknown
from moonpad.plan.from_spec import exposure_findings
from moonpad.run.memory_check import Expected, expect, start_findings
from moonpad.run.preflight import check, check_devices
from moonpad.run.prepare import Prepared
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Finding, errors_of
from moonpad.values.platform import Platform


def check_start(
    prepared: Prepared, findings_of_hosts: tuple[Finding, ...]
) -> tuple[Expected | Unknown, tuple[Finding, ...]]:
    """What the start is expected to take, and what speaks against it without forbidding it.

    Raises:
        PreflightRefused: something forbids it.
    """
    plan = prepared.plan
    # Asked once: a driver's tool takes a second or more.
    there = None if prepared.engine.platform is Platform.CPU else devices()
    expected = expect(prepared, there)
    findings = (
        *exposure_findings(prepared.spec),
        *check(prepared.deployment, prepared.ports, prepared.far),
        *findings_of_hosts,
        *check_devices(there, plan.layout.world_size // plan.nodes),
        *start_findings(prepared, expected),
    )
    if errors := errors_of(findings):
        raise PreflightRefused("refused before anything was started", findings=errors)
    return expected, findings
