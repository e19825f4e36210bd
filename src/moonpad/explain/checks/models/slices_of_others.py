"""Dense layers and experts of models that are not planned, in FP8: what is left of them on a rank, against the
blocks of their scales and the tiles of the kernel that devices without FP8 use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import OtherModel, fp8_block, group_of_four_bits, in_fp8, shared_evenly
from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.named_models import named_model
from moonpad.explain.documents.spoken_capabilities import spoken_capability
from moonpad.explain.results import Remark, make_remark
from moonpad.values.cluster import compute_capability
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.versions import since

_FP8: Final = 89
"""The first compute capability that multiplies FP8."""
MARLIN: Final = range(75, _FP8)
_TILE: Final = (64, 16)
"""Columns of gate and up together, and rows of down, that Marlin takes at once."""
_SERVED: Final = 64
"""Rows of down without which the load goes well and no kernel is found (vllm, marlin_utils.py: marlin_padded_nk)."""
_WHOLE_LAYERS: Final = " and share the layers out by pipeline parallelism"


def dense_blocks(case: Case) -> Iterator[Remark]:
    """A rank's columns of the dense MLP, against the columns that have one scale."""
    known, flag = _sliced(case)
    place = case.option(flag) if flag else None
    block = fp8_block(known, case.model_named) if known is not None else 0
    scales = "FP8 blocks" if block else "groups"
    if known is not None and not block and not known.experts:
        block = group_of_four_bits(case.model_named)
        block = 0 if block and known.dense_columns % block else block  # theirs are smaller, or filled up
    tp = case.first.layout.tp
    if known is None or place is None or not block or not known.dense_columns or _whole(known, tp, block):
        return
    most = next((n for n in range(tp, 1, -1) if _whole(known, n, block) and shared_evenly(known, n)), 1)
    message = (
        f"the dense layers of {known.title} have {known.dense_columns} columns, and over {tp} ranks the {scales} of "
        f"{block} do not divide them: the start ends"
    )
    remedy = f"write {flag} {most}, or take the BF16 weights"
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=place.index)


def _whole(known: OtherModel, tp: int, block: int) -> bool:
    return known.dense_columns % tp == 0 and known.dense_columns // tp % block == 0


def marlin_tiles(case: Case) -> Iterator[Remark]:
    """FP8 weights on devices that do not multiply FP8."""
    known, flag = _sliced(case)
    place = case.option(flag) if flag else None
    if known is None or place is None or not in_fp8(known, case.model_named):
        return
    by_releases = case.base == names.EXPERTS_BY_VARIABLE
    if by_releases and case.version and since(case.version, names.TILES_PADDED):
        return
    device = _device(case)
    layout, spread = case.first.layout, case.first.layout.ep > 1
    widths = [("dense layers", known.dense_columns), *([] if spread else [("experts", known.expert_columns)])]
    cut = next(((name, width // layout.tp) for name, width in widths if width and not _fits(width, layout.tp)), None)
    if not device or cut is None:
        return
    most = next(
        (n for n in range(layout.tp, 1, -1) if all(_serves(w, n) for _, w in widths) and shared_evenly(known, n)), 1
    )
    message = (
        f"{device} has no FP8, so such weights go to Marlin, whose tiles do not divide what a rank has of the {cut[0]} "
        f"of {known.title}: 2 x {cut[1]} columns, and tiles of {_TILE[0]} (size_n = {2 * cut[1]} is not divisible by "
        f"tile_n_size = {_TILE[0]})"
    )
    later = f", take {case.engine.facts.title} {names.TILES_PADDED} or later" if by_releases else ""
    ranks = f"{flag} {most}{'' if most > 1 else _WHOLE_LAYERS}"
    remedy = f"write {ranks}{later}, or serve it on devices with FP8, or other weights"
    yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, flag, message, remedy, at=place.index)


def _fits(width: int, ranks: int) -> bool:
    columns, rest = divmod(width, ranks)
    return not rest and not 2 * columns % _TILE[0] and not columns % _TILE[1]


def _serves(width: int, ranks: int) -> bool:
    return _fits(width, ranks) and not width // ranks % _SERVED


def _sliced(case: Case) -> tuple[OtherModel | None, str]:
    """The model and the option of tensor parallelism, where that has more than one rank."""
    named, flag = named_model(case), case.engine.command_line.options.get("tp") or ""
    cut = case.first.layout.tp > 1 and "tp" not in case.unknown and case.engine.name in names.CHECKED
    return (named.model if named is not None and named.sure and cut else None), flag


def _device(case: Case) -> str:
    """What the devices are called whose FP8 weights go to Marlin; "" for others, or where they are not known."""
    if case.cluster is not None:
        device = case.cluster.device
        return device.product if device.platform is Platform.CUDA and device.sm in MARLIN else ""
    if Platform.CUDA not in case.engine.platforms:
        return ""
    spoken = spoken_capability(case.script)
    return f"a device of capability {spoken}" if compute_capability(spoken) in MARLIN else ""


SLICE_CHECKS: Final = (dense_blocks, marlin_tiles)
