"""What is refused before a checkpoint is read, and what an open endpoint gives away."""

from __future__ import annotations

from dataclasses import dataclass, replace

from moonpad.plan.rules.cpu import ON_PROCESSORS
from moonpad.spec.schema import Spec
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Layout, Platform, Settings


@dataclass(frozen=True, slots=True)
class _Asked:
    engine: str
    layout: Layout
    settings: Settings


def layout_findings(engine: str, platform: Platform, layout: Layout, settings: Settings) -> tuple[Finding, ...]:
    """Everything that this engine refuses or fails at, whatever the checkpoint; empty where it can run.

    `where` is the key of the spec, which says `expert_parallel` and not over how many ranks.
    """
    if platform is not Platform.CPU:
        return ()
    asked = _Asked(engine, layout, settings)
    found = (finding for rule in ON_PROCESSORS for finding in rule(asked))
    return tuple(
        replace(one, where="expert_parallel", remedy="set expert_parallel = false") if one.where == "ep" else one
        for one in found
    )


def exposure_findings(spec: Spec) -> tuple[Finding, ...]:
    """What an endpoint that is open to the network gives away (fault 61)."""
    if not spec.endpoint.expose:
        return ()
    if not spec.endpoint.keyed:
        message = f"port {spec.endpoint.port} answers everyone who reaches it: there is no key"
        remedy = "set api_key_env, or api_key_file, in [endpoint]"
    elif spec.engine.image:
        message = "the key guards /v1 alone: /metrics, /version, /load and /tokenize answer without it"
        remedy = "moonpad render --to docker writes a front that passes the API on and nothing else; up starts none"
    else:
        return ()
    return (Finding(Severity.WARNING, Code.INSECURE, "expose", message, remedy),)
