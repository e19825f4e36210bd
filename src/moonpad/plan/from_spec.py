"""A spec as the planner's request, and what it says of a plan besides. Pure."""

from __future__ import annotations

import json
from typing import Any

from moonpad.catalog.drafts import known_draft
from moonpad.engines import ENGINES
from moonpad.engines.base import Engine, installed_runtime, settled_version
from moonpad.plan.effective_settings import unasked_settings
from moonpad.plan.parsers import TOOLS, parser_for, reasoning_parser_for
from moonpad.plan.request import DRAFT_TOKENS, Request
from moonpad.plan.start_timeout import start_budget_s
from moonpad.spec.schema import Spec
from moonpad.values.cluster import Cluster
from moonpad.values.deployment import Image, Runtime
from moonpad.values.errors import UsageError
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Layout, Plan, Serving, Settings
from moonpad.values.records import as_dict, replace


def request_of(spec: Spec, despite: frozenset[Code] = frozenset()) -> Request:
    """What the spec fixes: the engine, every size of a layout that it names, every setting. The rest is chosen."""
    settings = settings_of(spec)
    context = settings.pop("max_model_len", None)
    return Request(
        goal=spec.goal or "latency",
        engine=spec.engine.name,
        engine_version=spec.engine.version or "",
        context=context,
        layout=as_dict(layout_of(spec)) if spec.layout.model_fields_set else {},
        settings=settings,
        despite=despite,
    )


def layout_of(spec: Spec) -> Layout:
    """What the spec leaves out is 1."""
    sizes = spec.layout
    ep = sizes.ep or (sizes.tp * sizes.dp if sizes.expert_parallel else 1)
    return Layout(tp=sizes.tp, pp=sizes.pp, dp=sizes.dp, ep=ep, dcp=sizes.dcp)


def settings_of(spec: Spec) -> dict[str, Any]:
    """The settings that the spec names, and those that its engine is never left to choose itself."""
    named = {
        name: value
        for name, value in spec.settings.model_dump(
            exclude={"extra_args", "option_file", "draft", "draft_tokens"}
        ).items()
        if name in spec.settings.model_fields_set and value is not None
    }
    if spec.settings.draft:
        named |= {"draft_tokens": spec.settings.draft_tokens or DRAFT_TOKENS}
        if known := known_draft(spec.settings.draft):
            named["draft"] = known
    return unasked_settings(engine_of(spec).facts, spec.layout.pp) | named


def finished(spec: Spec, plan: Plan) -> Plan:
    """The plan with what the spec says of it besides layout and settings.

    Raises:
        PreflightRefused: it could not start in the time that the spec gives it.
    """
    serving = replace(
        plan.serving,
        served_name=spec.served_name,
        port=spec.endpoint.port,
        reach="public" if spec.endpoint.expose else "loopback",
        keyed=spec.endpoint.keyed,
        trust_remote_code=spec.trust_remote_code,
    )
    disk_gb_per_s, start_timeout_s = spec.hardware.disk_gb_per_s, spec.launch.start_timeout_s
    return replace(
        plan,
        name=spec.name,
        serving=serving,
        extra_args=spec.settings.extra_args,
        option_file=json.dumps(spec.settings.option_file, default=str) if spec.settings.option_file else "",
        start_budget_s=start_budget_s(plan.weights_bytes, disk_gb_per_s, start_timeout_s),
        stop_grace_s=spec.launch.stop_grace_s,
        drain_s=spec.launch.drain_s or None,
        nodes=len(spec.hosts) or plan.nodes,
        rdma=spec.hardware.rdma,
    )


def unjudged_plan(spec: Spec, cluster: Cluster, weights_bytes: int = 0, scheme: str = "bf16") -> Plan:
    """What the spec says, and nothing else, for a checkpoint that is not known here.

    Raises:
        PreflightRefused: see `finished`.
    """
    layout, platform, version = layout_of(spec), cluster.device.platform, spec.engine.version or ""
    plan = Plan(
        name=spec.name,
        engine=spec.engine.name,
        platform=platform,
        layout=layout,
        settings=Settings(**settings_of(spec)),
        serving=Serving(
            spec.served_name,
            tool_parser=parser_for(engine_of(spec), version, TOOLS, spec.model),
            reasoning_parser=reasoning_parser_for(engine_of(spec), version, spec.model, spec.model),
        ),
        weights_bytes=weights_bytes,
        engine_version=version,
        nodes=cluster.filled_by(layout),
        devices_per_node=cluster.per_node if cluster.device.driver_bytes else 0,
        scheme=scheme,
    )
    return finished(spec, plan)


def in_words_of_the_spec(finding: Finding, spec: Spec) -> Finding:
    """The schema says `expert_parallel`, and not over how many ranks."""
    if finding.where == "ep" and spec.layout.expert_parallel:
        return replace(finding, where="expert_parallel", remedy="set expert_parallel = false")
    return finding


def exposure_findings(spec: Spec) -> tuple[Finding, ...]:
    """What an endpoint that is open to the network gives away (fault 61)."""
    if not spec.endpoint.expose:
        return ()
    if not spec.endpoint.keyed:
        message = f"port {spec.endpoint.port} answers everyone who reaches it: there is no key"
        remedy = "set api_key_env, or api_key_file, in [endpoint]"
    elif spec.engine.image:
        message = "the key guards /v1 alone: /metrics, /version, /load and /tokenize answer without it"
        remedy = "moonpad render --to docker writes a proxy that passes the API on and nothing else; up starts none"
    else:
        return ()
    return (Finding(Severity.WARNING, Code.INSECURE, "expose", message, remedy),)


def engine_of(spec: Spec) -> Engine:
    """The engine that the spec names; the schema has refused every unknown name."""
    return ENGINES[spec.engine.name]


def runtime_of(spec: Spec) -> Runtime:
    """Where the engine's command comes from: an image, or the environment that is bound to the path `engine`."""
    if spec.engine.image:
        # Named, since images differ in what they start by themselves: `vllm serve` in some, a shell in others.
        return Image(spec.engine.image, (engine_of(spec).command,))
    return installed_runtime(engine_of(spec).command)


def container_of(spec: Spec, plan: Plan) -> Image:
    """The image of the spec, or the one that the engine's makers publish for such devices. Several nodes reach one
    another's ports by number, so there the container has the network of its host.

    Raises:
        UsageError: the spec names none and none is known.
    """
    engine, reference = engine_of(spec), spec.engine.image
    if reference is None:
        from moonpad.catalog.clusters import parse_cluster
        from moonpad.catalog.images import image_of
        from moonpad.catalog.options import newest_stable

        capability = parse_cluster(spec.hardware.cluster).device.capability if spec.hardware.cluster else ""
        version = plan.engine_version or settled_version(engine) or newest_stable(engine.program)
        reference = image_of(engine.name, plan.platform, capability, version)
    if reference is None:
        raise UsageError(
            f"no image of {engine.name} for {spec.hardware.cluster or plan.platform} is known",
            remedy='name one: [engine] image = "NAME@sha256:..."',
        )
    return Image(reference, (engine.command,), own_network=plan.nodes == 1)
