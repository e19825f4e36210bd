"""What lines beside a command say of models that are not planned: a log that names the fallback for models without a
class of their own, a full memory, another base of the positions, AITER's experts of four bits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import OtherModel, least_bytes, other_model
from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.named_models import named_model
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.spoken_names import NAME
from moonpad.explain.documents.told_generally import mended_lines
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.units import GIB
from moonpad.values.versions import order, since

_LONGEST: Final = 2000
_FALLBACK: Final = re.compile(
    r"\]\s*Using Transformers (?:modeling )?backend\.|falling back to Transformers implementation"
)
_FULL: Final = re.compile(r"CUDA error: out of memory|(?:CUDA|HIP) out of memory\.|OutOfMemoryError")
_MUCH: Final = 0.6
"""A share of a device's memory above which weights leave little for the rest."""
_OVERRIDES: Final = re.compile(r"hf[-_]overrides|json-model-override-args")
_BASE: Final = re.compile(r"[\"']rope_theta[\"']\s*:\s*(?P<base>[0-9][0-9_.e+]{0,14})")
_MXFP4: Final = re.compile(r"(?<![a-z0-9])mxfp4(?![a-z0-9])", re.IGNORECASE)
_TILE_OF_MXFP4: Final = 256
"""Columns of a rank that AITER's kernel for experts in MXFP4 takes a multiple of."""
_ON: Final = frozenset({"1", "true", "True"})


def fallback_backend(case: Case) -> Iterator[Remark]:
    """The log of a release that has no class for the model, where a later one has."""
    named = named_model(case)
    first = named.model.first.get(case.base, "") if named is not None else ""
    if named is None or not first or case.option("--model-impl") is not None:
        return
    if case.base_version and order(case.base_version) >= order(first):
        return  # another reason
    case.script.budget.work(len(case.script.lines), "its lines")
    if not is_in_lines(_FALLBACK, case.script.lines, _LONGEST):
        return
    title = case.engine.facts.title
    message = (
        f"Using Transformers backend, says the log in the text: this {title} has no class for {named.model.title}, "
        f"which came with {first}, so experts are not shared out and weights are not quantised as they would be"
    )
    remedy = f"take {title} {first} or later"
    yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, "engine", message, remedy)


def filled_memory(case: Case) -> Iterator[Remark]:
    """A log that ends for want of memory, of weights that fit and leave little."""
    named, cluster = named_model(case), case.cluster
    if named is None or not named.sure or cluster is None or not case.laid_out or case.engine.facts.host_experts:
        return
    held, layout = least_bytes(named.model, case.first.model), case.first.layout
    ranks = layout.tp * layout.pp * (layout.dp if layout.ep > 1 else 1)
    share, each = held / ranks, cluster.device.usable_bytes
    if not held or not each or case.option("--quantization") is not None or not _MUCH * each < share < each:
        return
    case.script.budget.work(len(case.script.lines), "its lines")
    if not is_in_lines(_FULL, _own_lines(case), _LONGEST):
        return
    flag = next((each for each in ("--max-model-len", "--context-length") if case.option(each) is not None), "")
    place = case.option(flag) if flag else None
    where = flag or case.engine.command_line.options.get("tp") or "memory"
    message = (
        f"the weights of {named.model.title} are at least {held / GIB:,.0f} GiB, {share / GIB:,.0f} of "
        f"{each / GIB:,.0f} GiB on each device: the log ends for want of memory, as the rest has to hold activations, "
        "graphs, an encoder's test run and the KV cache"
    )
    remedy = "take a shorter context, fewer sequences and tokens at once, more devices, or smaller weights"
    yield make_remark(Severity.WARNING, Code.TIGHT, where, message, remedy, at=place.index if place else None)


def _own_lines(case: Case) -> tuple[str, ...]:
    """From this server to the next one, of the first of a text also what stands above it, without what is told of
    errors that were mended since."""
    own = case.commands[0].line
    servers = sorted({command.line for command in case.script.commands if is_server(command.program)})
    first = 1 if not servers or own <= servers[0] else own
    last = next((line for line in servers if line > own), len(case.script.lines) + 1)
    mended = mended_lines(case.script.lines)
    return tuple(case.script.lines[number] for number in range(first - 1, last - 1) if number not in mended)


def rope_of_others(case: Case) -> Iterator[Remark]:
    """Another base of the rotary positions than config.json of the model has."""
    named = named_model(case)
    if named is None or not named.sure or not named.model.rope_theta:
        return
    case.script.budget.work(len(case.script.lines), "its lines")
    for number, line in enumerate(case.script.lines, 1):
        text = line[:_LONGEST]
        match = _BASE.search(text) if _OVERRIDES.search(text) else None
        base = _number(match["base"]) if match is not None else 0
        if match is not None and base and base != named.model.rope_theta:
            where = f"{match[0]}, {case.script.where(number)}"
            message = (
                f"config.json of {named.model.title} has rope_theta {named.model.rope_theta}: with another the "
                "positions are wrong, and so are the answers"
            )
            remedy = f"write {named.model.rope_theta}"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy)
            return


def _number(text: str) -> float:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return 0


def experts_of_aiter(case: Case) -> Iterator[Remark]:
    """A rank's columns of experts in MXFP4, against the tiles of AITER's kernel."""
    flag, layout = case.engine.command_line.options.get("tp"), case.first.layout
    place = case.option(flag) if flag else None
    of_amd = case.cluster is not None and case.cluster.device.platform is Platform.ROCM
    if not of_amd or case.engine.name != names.EXPERTS_BY_VARIABLE or place is None or layout.ep > 1:
        return
    if not case.version or since(case.version, names.AITER_COLUMNS_CHECKED) or case.variable(names.AITER_EXPERTS):
        return
    known, on = _in_mxfp4(case), _is_on(case)
    if known is None or not known.expert_columns or not on or "tp" in case.unknown:
        return
    columns, rest = divmod(known.expert_columns, layout.tp)
    if rest or not columns % _TILE_OF_MXFP4:
        return
    most = next((n for n in range(layout.tp, 1, -1) if not known.expert_columns % (n * _TILE_OF_MXFP4)), 1)
    first, title = names.AITER_COLUMNS_CHECKED, case.engine.facts.title
    message = (
        f"{names.AITER}=1: AITER's experts in MXFP4 take a multiple of {_TILE_OF_MXFP4} columns on a rank, and "
        f"{known.title} has {known.expert_columns} over {layout.tp}, {columns} each: device_gemm does not support it"
    )
    remedy = f"write {flag} {most}, set {names.AITER_EXPERTS}=0, or take {title} {first} or later"
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, place.written, message, remedy, at=place.index)


def _in_mxfp4(case: Case) -> OtherModel | None:
    """The model by its path, or where that is a variable the only one in MXFP4 that the text names."""
    name = case.first.model
    if name and not unresolved(name):
        return other_model(name) if _MXFP4.search(name) else None
    case.script.budget.work(4 * len(case.script.lines), "its lines")
    written = {match[0].casefold() for line in case.script.lines for match in NAME.finditer(line[:_LONGEST])}
    known = {row.title: row for each in written if _MXFP4.search(each) and (row := other_model(each)) is not None}
    return next(iter(known.values())) if len(known) == 1 else None


def _is_on(case: Case) -> bool:
    """By the command's environment, or by a line of the text that sets it."""
    if given := case.variable(names.AITER):
        return given in _ON
    return is_in_lines(re.compile(rf"\b{names.AITER}=(?:1|[Tt]rue)\b"), case.script.lines, _LONGEST)


TEXT_SIGNS: Final = (fallback_backend, filled_memory, rope_of_others, experts_of_aiter)
