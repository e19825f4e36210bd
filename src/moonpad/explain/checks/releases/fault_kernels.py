"""Whether a command runs the kernels, and has the weights, that a fault is in: the attention backend, AMD's AITER, and
the tool that wrote the checkpoint."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from moonpad.catalog.mended_faults import MendedFault
from moonpad.catalog.other_models import other_model
from moonpad.catalog.quantization_flags import methods_of_name
from moonpad.engines import foreign_names as names
from moonpad.engines.aiter import SGLANG
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import are_devices, option_text, with_other_names
from moonpad.explain.checks.set_elsewhere import may_be_set
from moonpad.explain.documents.device_mentions import cluster_named, mentions
from moonpad.values.cluster import Cluster
from moonpad.values.records import replace

_ATTENTION: Final = ("--attention-backend", "--decode-attention-backend", "--prefill-attention-backend")
_MOST_KINDS: Final = 6
_FORMAT: Final = re.compile(r"fp4|fp8|int[48]|awq|gptq|gguf|bf16|w[48]a|bnb", re.ASCII)
"""A name that has one of its own is not of the weights as they were published."""
_IN_JSON: Final = "--attention-config"
_JSON_BACKEND: Final = re.compile(r"""["']backend["']\s*:\s*["'](\w+)""")
_EXPERTS: Final = ("--moe-backend", "--all2all-backend")
_CHOSEN_LATER: Final = frozenset({"", "auto", "default", "none"})
_OFF: Final = frozenset({"0", "false"})
_TOOLS: Final = ("quark", "compressed-tensors", "modelopt")
_PUBLISHERS: Final = {
    "amd/": "quark",
    "nvidia/": "modelopt",
    "redhatai/": "compressed-tensors",
    "neuralmagic/": "compressed-tensors",
}
"""What they write their quantised weights with."""


def runs_attention(parts: Collection[str], case: Case) -> bool:
    """Whether one of these backends may run: the command names one, or none at all."""
    chosen = [text for text in _chosen_attention(case) if text not in _CHOSEN_LATER]
    return not parts or not chosen or any(unresolved(text) or any(part in text for part in parts) for text in chosen)


def _chosen_attention(case: Case) -> Iterator[str]:
    for flag in with_other_names(_ATTENTION, case):
        if (placed := option_text(flag, case)) is not None:
            yield _plain(placed[1])
    if (placed := option_text(_IN_JSON, case)) is not None:
        yield from map(_plain, _JSON_BACKEND.findall(placed[1]))
    yield _plain(case.variable(names.ATTENTION_BY_VARIABLE))


def runs_aiter(case: Case) -> bool:
    """Whether AITER may run. vLLM asks to be told; published images of SGLang for AMD set its variable."""
    if case.engine.name != names.EXPERTS_BY_VARIABLE:
        return _plain(case.variable(SGLANG)) not in _OFF
    switch = _plain(case.variable(names.AITER))
    if switch:
        return unresolved(switch) or switch not in _OFF
    named = (*_chosen_attention(case), *(case.text(flag).casefold() for flag in _EXPERTS))
    return any("aiter" in text for text in named) or may_be_set(case, (names.AITER,))


def is_of_tool(methods: Collection[str], called: Iterable[str], case: Case) -> bool:
    """Whether the weights may have been written so, by config.json where it is known, else by their names."""
    if not methods:
        return True
    quantization = case.checkpoint.quantization if case.checkpoint is not None else None
    if case.checkpoint is not None:
        return quantization is not None and quantization.method.replace("_", "-") in methods
    if in_blocks(case):
        return "fp8" in methods
    for name in called:
        tools = [tool for tool in _TOOLS if tool in name]
        tools = tools or [tool for publisher, tool in _PUBLISHERS.items() if name.startswith(publisher)]
        possible = tools or methods_of_name(name)
        if possible:
            return not {*methods}.isdisjoint(possible)
    return True


def in_blocks(case: Case) -> bool:
    """Whether the weights are a publisher's own in FP8 with a scale for each block, which no tool of others wrote."""
    other = other_model(case.model_named) if case.checkpoint is None else None
    if other is None or not other.block or other.published != "fp8":
        return False
    return _FORMAT.search(case.model_named.casefold()) is None and not case.text("--quantization")


def devices_apart(row: MendedFault, kinds: Collection[Cluster], case: Case) -> bool:
    """Whether a fault of some devices is of none of the kinds that the text names, one of which it means."""
    if case.cluster is not None or not kinds or not row.devices:
        return False
    return not any(are_devices(row.devices, row.other_devices, replace(case, cluster=kind), "") for kind in kinds)


def kinds_named(case: Case) -> tuple[Cluster, ...]:
    """One device of each, where no devices are known and the catalogue has all that the text names."""
    if case.cluster is not None:
        return ()
    case.script.budget.once("kinds of devices", case.script.steps_to_scan, "the text around its engine commands")
    named = mentions(case.script.lines, case.script.placed_hints)
    kinds = dict.fromkeys(each.kind for each in named)
    if not all(each.known for each in named) or len(kinds) > _MOST_KINDS:
        return ()
    clusters = (cluster_named(f"1x{kind}") for kind in kinds)
    return tuple(cluster for cluster in clusters if cluster is not None)


def _plain(text: str) -> str:
    return text.strip("'\" ").casefold()
