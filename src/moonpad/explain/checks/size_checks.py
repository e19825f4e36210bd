"""Weights of models that are not planned against the memory of the devices, and sizes that a pasted log has."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.catalog.other_models import in_four_bits, least_bytes, least_bytes_by_name, other_model
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import as_json
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.stated_memory import stated_gigabytes
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.plan.tensors import nextn_bytes
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB, gib

_LOADED: Final = re.compile(
    r"Load weight end\..{0,200}?avail mem=(?P<left>\d{1,4}\.\d{1,3}) GB, mem usage=(?P<held>\d{1,4}\.\d{1,3}) GB"
)
_RESERVED: Final = 64
"""Tokens that the server keeps from the context that was asked for."""
_ENCODERS: Final = ("--ec-transfer-config", "--mm-encoder-only", "--encoder-only")
"""Instances that read images alone may leave the language model out, and need hardly any memory."""
_CUT: Final = re.compile(r"(?<![^\s'\"`])(?:\.\.\.|…)")
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+")
_LONGEST: Final = 2000
_SIZE: Final = re.compile(r"(?<![\w.])[0-9]{1,4}(?:\.[0-9])?B(?![\w])")
"""`70B` in the name of a model."""


def weights_of_others(case: Case) -> Iterator[Remark]:
    """The publisher's weights alone, less than everything, against all memory that the engine may use."""
    reading = case.first
    helped = case.engine.facts.host_experts or reading.left_to_engine or reading.settings.cpu_offload_gib
    if case.checkpoint is not None or helped or not case.whole or is_fragment(case.commands[0]):
        return
    if case.option(*_ENCODERS, "--load-format") is not None:
        return
    known = other_model(reading.model)
    held = least_bytes(known, reading.model) if known is not None else least_bytes_by_name(reading.model)
    converted = case.option("--quantization") is not None and not in_four_bits(reading.model)
    if not held or (converted and not (known is not None and known.any_format)):
        return
    flag = case.engine.command_line.options.get("tp")
    place = case.option(flag) if flag else None
    case.script.budget.once("cut commands", len(case.script.lines), "the text around its engine commands")
    is_cut = place is None and is_in_lines(_CUT, case.script.lines, _LONGEST)
    if flag is None or reading.takes_all_devices or is_cut:
        return
    shared = reading.layout.ep > 1 or case.option(names.ATTENTION_DP_SWITCH, names.ATTENTION_DP) is not None
    ranks = reading.layout.tp * reading.layout.pp * (reading.layout.dp if shared else 1)
    fraction = reading.settings.gpu_memory_utilization or 1.0
    if case.cluster is not None:
        each, kind = case.cluster.device.usable_bytes, f"of {case.cluster.device.product}"
    elif stated := stated_gigabytes(case):
        each, kind = stated * GIB, f"of {stated} GB, the most that the text speaks of,"
    else:
        devices = [row.device for row in hardware().values() if row.device]
        each = max(device.usable_bytes for device in devices if device.platform in case.engine.platforms)
        kind = "of the largest kind known"
    if not each or held <= ranks * each * fraction:
        return
    share = f"{fraction:g} of " if fraction < 1 else ""
    title = known.title if known is not None else reading.model
    message = (
        f"the weights of {title} are at least {held / GIB:,.0f} GiB, and {ranks} "
        f"{'device' if ranks == 1 else 'devices'} {kind} {'has' if ranks == 1 else 'have'} "
        f"{share}{ranks * each / GIB:,.0f} GiB"
    )
    needed = 2 ** math.ceil(math.log2(held / (each * min(fraction, 0.9))))
    named = known is not None and _REPOSITORY.fullmatch(reading.model) is not None
    sure = named and place is not None and case.cluster is not None and not _is_of_other_models(case)
    severity = Severity.ERROR if sure else Severity.WARNING
    remedy = f"take {needed} or more devices, or smaller weights"
    yield make_remark(severity, Code.DOES_NOT_FIT, flag, message, remedy, at=place.index if place else None)


def _is_of_other_models(case: Case) -> bool:
    """Whether each line of the text with this kind of device tells of a model of another size: `Qwen2.5-7B on RTX
    5090` says nothing of the 70B beside it."""
    product = re.search(r"[A-Z]{0,3}[0-9]{2,4}", case.cluster.device.product) if case.cluster is not None else None
    own = {*_SIZE.findall(case.first.model)}
    if product is None or not own:
        return False
    case.script.budget.once("devices of other models", len(case.script.lines), "the text around its engine commands")
    lines = [line[:_LONGEST] for line in case.script.lines if product[0] in line[:_LONGEST]]
    sizes = [{*_SIZE.findall(line)} for line in lines]
    return bool(sizes) and all(of_line and not of_line & own for of_line in sizes)


def static_fraction(case: Case) -> Iterator[Remark]:
    """The share for weights and KV cache, against what the log in the text has of the weights."""
    fraction, place = case.first.settings.gpu_memory_utilization, case.option("--mem-fraction-static")
    if case.base != names.EXPERTS_BY_OPTION or fraction is None or place is None:
        return
    case.script.budget.once("weights in logs", len(case.script.lines), "the text around its engine commands")
    if not is_in_lines(_LOADED, case.script.lines, _LONGEST):
        return
    loaded = [found for line in case.script.lines if (found := _LOADED.search(line[:_LONGEST]))]
    if not loaded:
        return
    held = max(float(found["held"]) for found in loaded)
    there = held + float(next(found["left"] for found in loaded if float(found["held"]) == held))
    if there <= 0 or fraction * there >= held:
        return
    least = math.ceil(10000 * held / there) / 10000
    message = (
        f"{fraction:g} of {there:.1f} GB is {fraction * there:.1f} GB, and by the log in the text the weights take "
        f"{held:g} GB of it: nothing is left for the KV cache"
    )
    remedy = f"write {place.written} above {least:g}, or spread the weights over more devices"
    yield make_remark(Severity.ERROR, Code.DOES_NOT_FIT, place.written, message, remedy, at=place.index)


def pool_of_log(case: Case) -> Iterator[Remark]:
    """A context above the tokens that the KV cache holds by what the text quotes."""
    place, context = case.option(names.CONTEXT_OF_POOL), case.first.settings.max_model_len
    if case.base != names.EXPERTS_BY_OPTION or place is None or not context:
        return
    if any(command.program == case.engine.program for command in case.script.commands if command not in case.commands):
        return  # whose it is cannot be told
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    pools = {int(found[1] or found[2]) for line in case.script.lines if (found := names.POOL.search(line[:_LONGEST]))}
    if len(pools) != 1 or (pool := pools.pop()) >= context - _RESERVED:
        return
    message = (
        f"{context:,}: by the text the server takes at most {pool:,} tokens, which is what its KV cache holds beside "
        "the weights. The option does not make that larger"
    )
    remedy = f"write {place.written} {pool}, or take more devices, an FP8 KV cache or a larger --mem-fraction-static"
    yield make_remark(Severity.WARNING, Code.TIGHT, place.written, message, remedy, at=place.index)


def prediction_layer(case: Case) -> Iterator[Remark]:
    """The checkpoint's own layer that proposes tokens, which no figure of the memory counts."""
    checkpoint, layout = case.checkpoint, case.first.layout
    held = nextn_bytes(checkpoint) if checkpoint is not None else 0
    place = _own_draft(case)
    if not held or place is None or not case.laid_out:
        return
    ranks = layout.tp * (layout.dp if layout.ep > 1 else 1)
    message = (
        f"the layer for multi-token prediction takes about {gib(held / ranks)} more on each device of the last stage, "
        "with a cache of its own, and is not counted in what fits"
    )
    remedy = "leave as much free, by a shorter context or a smaller share of the memory"
    yield make_remark(Severity.NOTE, Code.TIGHT, place.written, message, remedy, at=place.index)


def _own_draft(case: Case) -> Occurrence | None:
    if case.base == names.EXPERTS_BY_VARIABLE:
        place = case.option("--speculative-config")
        config = as_json(place.value.strip("'")) if place is not None and isinstance(place.value, str) else None
        if not isinstance(config, dict) or "model" in config:
            return None
        return place if "mtp" in str(config.get("method")) else None
    place, draft = case.option(names.ALGORITHM), case.text(names.DRAFT_PATH).casefold().rstrip("/")
    own = case.base == names.EXPERTS_BY_OPTION and place is not None and place.value in names.OWN_DRAFTS
    return (
        place if own and (not draft or "nextn" in draft or draft == case.first.model.casefold().rstrip("/")) else None
    )
