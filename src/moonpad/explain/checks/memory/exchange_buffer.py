"""The buffer through which NPUs exchange the tokens of experts, against the tokens of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.catalog.other_models import other_model
from moonpad.engines import ascend_names as plugin
from moonpad.engines.value_checks import as_json, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import order

_BUFFER: Final = "HCCL_BUFFSIZE"
_MEGABYTE: Final = 1 << 20
_FIRST: Final = "0.13.0rc1"
_DEVICE: Final = "A3"
_MOST: Final = 512
"""Tokens of a rank that the plugin counts at the most."""
_OTHER_WAYS: Final = ("enable_mc2_hierarchy_comm", "enable_fused_mc2", "enable_prefill_mc2")


def exchange_buffer(case: Case) -> Iterator[Remark]:
    """Of each expert and token the kernel keeps a place of two bytes a number. Its papers say twice that, of which
    guides that run have less."""
    word, size = case.commands[0].env.get(_BUFFER), whole(case.variable(_BUFFER))
    if case.engine.name != plugin.PLUGIN or (case.version and order(case.version) < order(_FIRST)):
        return
    devices = case.cluster.name if case.cluster is not None else ""
    if word is None or not size or devices.rpartition("x")[2] != _DEVICE or _is_otherwise(case):
        return
    experts, hidden = _experts(case)
    tokens = _tokens(case)
    needed = -(-experts * tokens * _whole_up(_whole_up(2 * hidden, 32) + 64, 512) // _MEGABYTE)
    if not experts or not hidden or needed <= size:
        return
    message = f"{_BUFFER} {size}: {experts} experts with {tokens} tokens a rank take at least {needed} MB: "
    message += "when so many requests run, the exchange ends (HCCL_BUFFSIZE is too SMALL)"
    remedy = f"set {_BUFFER}={_whole_up(needed, 256)}, or write fewer --max-num-seqs"
    severity = Severity.WARNING if case.version else Severity.NOTE
    yield make_remark(severity, Code.INVALID_VALUE, _BUFFER, message, remedy, word=word)


def _is_otherwise(case: Case) -> bool:
    """Whether the experts exchange nothing, or by a kernel that counts otherwise."""
    config, role = _config(case, "--additional-config"), _config(case, plugin.TRANSFER_OPTION).get("kv_role")
    if case.option("--enable-expert-parallel", "-ep") is None or case.variable(plugin.FUSED_EXCHANGE) not in ("", "0"):
        return True
    return role == "kv_producer" or any(config.get(key) for key in _OTHER_WAYS)


def _experts(case: Case) -> tuple[int, int]:
    """How many a layer has, and the numbers of a token there; 0 where it is not known."""
    if case.checkpoint is not None:
        architecture = case.checkpoint.architecture
        return architecture.routed_experts, architecture.expert_hidden or architecture.hidden
    known = other_model(case.first.model)
    return (known.experts, known.hidden) if known is not None else (0, 0)


def _tokens(case: Case) -> int:
    """Of a rank in a step of decoding, at the most; 0 where the command does not say it."""
    drafts = _config(case, "--speculative-config").get("num_speculative_tokens", 0)
    graphs = _config(case, "--compilation-config").get("cudagraph_capture_sizes")
    tokens = (whole(case.text("--max-num-seqs")) or 0) * (1 + (drafts if isinstance(drafts, int) else 0))
    if isinstance(graphs, list) and graphs and all(isinstance(each, int) for each in graphs):
        tokens = min(tokens, max(graphs))
    return min(-(-tokens // case.size("--tensor-parallel-size", "-tp")), _MOST)


def _config(case: Case, flag: str) -> Mapping[str, object]:
    place = case.option(flag)
    value = as_json(place.value.strip("'")) if place is not None and isinstance(place.value, str) else None
    return value if isinstance(value, dict) else {}


def _whole_up(number: int, step: int) -> int:
    return -(-number // step) * step
