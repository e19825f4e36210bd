"""Options of Dynamo's frontend, from a reading of every add_argument of twelve releases, 0.5.0 to 1.6.1 (PyPI
ai-dynamo: dynamo/frontend, dynamo/common/configuration/groups)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from moonpad.values.versions import since

_CHANGES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "0.5.0",
        "busy-threshold http-host http-port interactive kserve-grpc-server kv-cache-block-size "
        "kv-overlap-score-weight metrics-prefix model-name model-path namespace no-kv-events router-mode "
        "router-replica-sync router-reset-states router-snapshot-threshold router-temperature static-endpoint "
        "tls-cert-path tls-key-path version",
        "",
    ),
    (
        "0.6.1",
        "custom-backend-metrics-endpoint custom-backend-metrics-polling-interval no-track-active-blocks",
        "",
    ),
    (
        "0.7.1",
        "enforce-disagg store-kv",
        "",
    ),
    (
        "0.8.1",
        "active-decode-blocks-threshold active-prefill-tokens-threshold exp-python-factory grpc-metrics-port "
        "kv-events request-plane router-max-tree-size router-prune-target-ratio router-ttl",
        "busy-threshold static-endpoint",
    ),
    (
        "0.9.1",
        "event-plane no-assume-kv-reuse track-output-blocks",
        "",
    ),
    (
        "1.0.0",
        "active-prefill-tokens-threshold-frac assume-kv-reuse decode-fallback discovery-backend "
        "dump-config-to durable-kv-events dyn-chat-processor dyn-debug-perf dyn-preprocess-workers "
        "enable-anthropic-api migration-limit namespace-prefix no-decode-fallback no-durable-kv-events "
        "no-dyn-debug-perf no-enable-anthropic-api no-kserve-grpc-server no-router-assume-kv-reuse "
        "no-router-durable-kv-events no-router-kv-events no-router-replica-sync no-router-reset-states "
        "no-router-track-active-blocks no-router-track-output-blocks no-track-output-blocks "
        "router-assume-kv-reuse router-durable-kv-events router-event-threads router-kv-events "
        "router-kv-overlap-score-weight router-queue-threshold router-track-active-blocks "
        "router-track-output-blocks router-ttl-secs track-active-blocks",
        "custom-backend-metrics-endpoint custom-backend-metrics-polling-interval enforce-disagg "
        "exp-python-factory store-kv",
    ),
    (
        "1.1.0",
        "enable-streaming-reasoning-dispatch enable-streaming-tool-dispatch enforce-disagg "
        "exclude-tools-when-tool-choice-none migration-max-seq-len no-enable-streaming-reasoning-dispatch "
        "no-enable-streaming-tool-dispatch no-enforce-disagg no-exclude-tools-when-tool-choice-none "
        "no-router-track-prefill-tokens no-serve-indexer no-strip-anthropic-preamble no-use-remote-indexer "
        "router-min-initial-workers router-prefill-load-model router-queue-policy router-track-prefill-tokens "
        "serve-indexer strip-anthropic-preamble tokenizer use-remote-indexer",
        "decode-fallback no-decode-fallback router-ttl",
    ),
    (
        "1.2.1",
        "load-aware no-load-aware no-trust-remote-code router-kv-overlap-score-credit "
        "router-prefill-load-scale shared-cache-multiplier shared-cache-type trust-remote-code",
        "router-max-tree-size router-prune-target-ratio",
    ),
    (
        "1.3.1",
        "admission-control router-disk-cache-hit-weight router-host-cache-hit-weight "
        "router-kv-overlap-score-credit-decay router-policy-config router-predicted-ttl-secs "
        "router-session-affinity-ttl-secs",
        "",
    ),
    (
        "1.4.0",
        "frontend-route-extension router-decode-active-request-weight router-tracking-hash "
        "router-tracking-key-file router-tracking-key-id",
        "durable-kv-events no-durable-kv-events no-enforce-disagg no-router-durable-kv-events "
        "no-router-reset-states router-durable-kv-events router-reset-states router-snapshot-threshold",
    ),
    (
        "1.5.1",
        "nats-tls-ca-cert-path nats-tls-client-cert-path nats-tls-client-key-path nats-tls-insecure "
        "no-nats-tls-insecure no-router-conditional-disagg no-tokenizer-fallback reasoning-field-name "
        "router-approximate-cache-policy router-conditional-disagg router-conditional-disagg-config "
        "router-decode-policy router-prefill-policy router-session-affinity-mode tcp-tls-ca-cert-path "
        "tcp-tls-cert-path tcp-tls-client-ca-cert-path tcp-tls-client-cert-path tcp-tls-client-key-path "
        "tcp-tls-key-path tokenizer-fallback",
        "",
    ),
    (
        "1.6.1",
        "ais-perf-config enable-session-prefix-index no-enable-session-prefix-index response-plane "
        "tls-client-ca-cert-path",
        "",
    ),
)
"""Releases, what came with each, and what went."""
OF_A_PARSER: Final = ("--tool-call-parser", "--reasoning-parser", "--chat-template")
"""Those that its chat processors read, where one is chosen."""
PROCESSOR: Final = "--dyn-chat-processor"
OWN_PARSERS_ALONE: Final = "sglang"
"""The processor that takes these options alone; another one takes all of its engine."""
OF_WORKERS: Final[Mapping[str, str]] = {
    "--dyn-tool-call-parser": "--tool-call-parser",
    "--dyn-reasoning-parser": "--reasoning-parser",
    "--custom-jinja-template": "--chat-template",
    "--endpoint-types": "",
    "--disaggregation-mode": "",
}
"""What a worker takes, and the name of the same with the chat processors of the frontend."""


@cache
def frontend_options(release: str) -> frozenset[str]:
    """Those of this release; of one that was not read those of its two neighbours. "" asks for those of all."""
    held: set[str] = set()
    below: set[str] = set()
    all_of_them: set[str] = set()
    for version, came, went in _CHANGES:
        held = (held | {f"--{name}" for name in came.split()}) - {f"--{name}" for name in went.split()}
        all_of_them |= held
        if release and since(release, version):
            below = set(held)
        if release and since(version, release):
            return frozenset(held | below)
    return frozenset(below if release else all_of_them)
