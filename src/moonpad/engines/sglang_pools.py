"""What SGLang is told of prefill/decode disaggregation. Facts: the wheel 0.5.23, srt/arg_groups/fields/disagg.py,
srt/environ.py, srt/disaggregation and srt/layers/moe/token_dispatcher/deepep.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.base import API
from moonpad.engines.sglang_facts import POOLS
from moonpad.values.deployment import PortSpec
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Plan
from moonpad.values.pools import BOOTSTRAP, BOOTSTRAP_PORT
from moonpad.values.references import Arg, PortRef

DISPATCH: Final = "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK"
DISPATCH_DEFAULT: Final = 128
DISPATCH_MOST: Final = 1024
"""The dispatcher of DeepEP asserts it: the kernels between machines count with a mark of 1024."""


def argv(plan: Plan) -> Iterator[Arg]:
    """Nothing for a plan that is not one of two pools."""
    if (transfer := plan.transfer) is None:
        return
    yield from ("--disaggregation-mode", transfer.role)
    yield from (POOLS.option, POOLS.connectors[transfer.connector])
    if transfer.role == "prefill":
        yield from ("--disaggregation-bootstrap-port", PortRef(API.process, BOOTSTRAP))
    if transfer.devices:
        yield from ("--disaggregation-ib-device", transfer.devices)


def ports(plan: Plan) -> tuple[PortSpec, ...]:
    """The bootstrap server runs beside the first rank of prefill."""
    prefill = plan.transfer is not None and plan.transfer.role == "prefill"
    return (PortSpec(BOOTSTRAP, BOOTSTRAP_PORT, "cluster"),) if prefill else ()


def env(plan: Plan) -> Iterator[tuple[str, Arg]]:
    """
    Raises:
        PreflightRefused: more sequences a rank than DeepEP's low-latency kernels dispatch.
    """
    if (transfer := plan.transfer) is None:
        return
    if transfer.report_speed:
        yield "MC_TE_METRIC", "true"
    seconds = (
        ("SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT", transfer.bootstrap_timeout_s),
        ("SGLANG_DISAGGREGATION_WAITING_TIMEOUT", transfer.waiting_timeout_s),
        ("SGLANG_DISAGGREGATION_HEARTBEAT_INTERVAL", transfer.heartbeat_s),
    )
    for name, value in seconds:
        if value is not None:
            yield name, f"{value:.0f}"  # the first two are read as whole numbers
    if (tokens := _dispatched(plan)) > DISPATCH_DEFAULT:
        yield DISPATCH, str(tokens)


def _dispatched(plan: Plan) -> int:
    """Tokens that a rank sends in one step of decoding by DeepEP: one a sequence. 0: it does not use those kernels."""
    words, sequences = plan.extra_args, plan.settings.max_num_seqs
    low_latency = _value(words, "--moe-a2a-backend") == "deepep" and _value(words, "--deepep-mode") != "normal"
    if plan.transfer is None or plan.transfer.role != "decode" or not low_latency or not sequences:
        return 0
    tokens = -(-sequences // plan.layout.dp) * (1 + plan.settings.draft_tokens)
    if tokens > DISPATCH_MOST:
        message = f"{tokens:,} tokens of a rank in one step; DeepEP's low-latency kernels take {DISPATCH_MOST:,}"
        most = DISPATCH_MOST // (1 + plan.settings.draft_tokens) * plan.layout.dp
        finding = Finding(Severity.ERROR, Code.CONFLICT, "max_num_seqs", message, f"set max_num_seqs = {most}")
        raise PreflightRefused("sglang cannot run this decode pool", findings=(finding,))
    return tokens


def _value(words: Sequence[str], flag: str) -> str:
    """Of the last of these flags, `--flag value` or `--flag=value`; "" where there is none."""
    for at, word in reversed(tuple(enumerate(words))):
        name, equals, value = word.partition("=")
        if name == flag:
            return value if equals else next(iter(words[at + 1 : at + 2]), "")
    return ""
