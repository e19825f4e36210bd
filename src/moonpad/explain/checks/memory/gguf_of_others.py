"""GGUF files of models that are not planned: by their number of weights and the bits of their type, against the devices
that all layers are to lie on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.gguf import least_bits
from moonpad.catalog.other_models import other_model
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.gguf_sizes import file_or_repository, plain_name
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.units import GIB

_ON_DEVICES: Final = "--n-gpu-layers"
_ELSEWHERE: Final = ("--n-cpu-moe", "--cpu-moe", "--override-tensor", "--rpc", "--device", "--no-kv-offload")
"""With these a part of the weights lies elsewhere."""
_ALL: Final = 99
"""So many layers are all of them, whatever the model."""
_IN_WORDS: Final = ("all", "-1")
_PUBLISHED_WHOLE: Final = ("bf16", "fp8")
"""Weights that were published in less are not stored in more."""


def gguf_of_others(case: Case) -> Iterator[Remark]:
    """`llama-server -m Model-Q8_0.gguf -ngl 99` on a card that has not as much memory as the weights take."""
    place, cluster = case.option(_ON_DEVICES), case.cluster
    if not case.engine.facts.gguf_only or case.checkpoint is not None or cluster is None or place is None:
        return
    if is_fragment(case.commands[0]) or case.commands[0].fork or case.option(*_ELSEWHERE) is not None:
        return
    asked = case.text(_ON_DEVICES).strip("'\"")
    written = file_or_repository(case)
    if unresolved(asked) or ((whole(asked) or 0) < _ALL and asked not in _IN_WORDS) or not written:
        return
    known = other_model(plain_name(written))
    bits = least_bits(written)
    if known is None or not bits or known.published not in _PUBLISHED_WHOLE or cluster.device.unified:
        return
    needed, devices = known.billions * 1e9 * bits / 8, min(case.first.layout.pp, cluster.per_node)
    holds = devices * cluster.device.usable_bytes
    if not holds or needed <= holds or case.commands[0].serves:
        return
    message = (
        f"all layers are to lie on the devices, and the weights of {known.title} take {needed / GIB:,.0f} GiB at the "
        f"least in this type: {devices} {'devices hold' if devices > 1 else 'device holds'} {holds / GIB:,.0f} GiB"
    )
    remedy = (
        "leave it out, with which the engine places what fits (--fit), or add --n-cpu-moe N for experts in host RAM"
    )
    remedy = remedy if known.experts else "leave it out, with which the engine places what fits (--fit)"
    remark = make_remark(Severity.WARNING, Code.DOES_NOT_FIT, place.written, message, remedy, at=place.index)
    yield replace(remark, stops=True)
