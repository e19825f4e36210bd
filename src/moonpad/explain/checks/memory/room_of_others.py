"""What models that are not planned take at the least, weights and KV cache, against the memory of the devices."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from moonpad.catalog.device_overhead import overhead_of
from moonpad.catalog.hardware import hardware
from moonpad.catalog.other_models import (
    OtherModel,
    as_published,
    context_bytes,
    fp8_block,
    group_of_four_bits,
    in_four_bits,
    least_bytes,
    least_bytes_by_name,
    other_model,
)
from moonpad.catalog.overhead import batches_of
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.conversion_names import WHOLE_BEFORE_FP8, WIDTHS_OF_METHODS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.engine_share import counts_whole_device, room_words, share_of
from moonpad.explain.checks.memory.largest_alone import OTHER_WEIGHTS
from moonpad.explain.checks.memory.largest_of_capability import largest_of_capability
from moonpad.explain.checks.memory.stated_memory import stated_gigabytes
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.logged_caches import tells_of_answers, tells_of_cache
from moonpad.explain.documents.other_devices import also_meant
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.units import GIB
from moonpad.values.versions import since

_ENCODERS: Final = ("--ec-transfer-config", "--mm-encoder-only", "--encoder-only")
"""Instances that read images alone may leave the language model out, and need hardly any memory."""
_OTHER_CACHE: Final = (
    *("--kv-cache-memory-bytes", "--kv-cache-memory", "--num-gpu-blocks-override", "--hf-overrides", "--rope-scaling"),
    *("--decode-context-parallel-size", "--prefill-context-parallel-size"),
)
"""With these the cache has another size, or a sequence another length or other ranks."""
_BYTES: Final = {"fp8": 1.0, "bfloat16": 2.0, "float16": 2.0, "auto": 2.0}
_CUT: Final = re.compile(
    r"(?:--[\w-]+(?:[= ][^\s-]\S*)?|\bserve[ ]+\S+|\blaunch_server)[ ]+(?:\.\.\.|…)|(?<![^\s'\"`])(?:\.\.\.|…)[ ]+-"
    r"|^\s*(?:\.\.\.|…)[\s\\]*$|\[(?:\.\.\.|…)\]"
)
"""Options that are left out of a command."""
_FAILED: Final = re.compile(r"\bTraceback \(|\b[A-Z]\w{2,40}(?:Error|Exception)\b")
"""An error of a log: a start that came to another one had room for the weights."""
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+")
_LONGEST: Final = 2000
OF_LARGEST: Final = "of the largest kind known"
_DENSE_MOST: Final = 0.3
"""A larger share of dense weights tells of sizes that are not those of the experts."""
_SIZE: Final = re.compile(r"(?<![\w.])[0-9]{1,4}(?:\.[0-9])?B(?![\w])")
"""`70B` in the name of a model."""


class Room(Struct, frozen=True):
    """`held` bytes of weights on `ranks` devices of `each` bytes; `place`: the tensor parallel size, where it is
    written. `kind` says whose memory that is."""

    known: OtherModel | None
    held: int
    flag: str
    place: Occurrence | None
    ranks: int
    each: float
    kind: str
    fraction: float

    @property
    def devices(self) -> str:
        return f"{self.ranks} {'device' if self.ranks == 1 else 'devices'} {self.kind}"

    def fits(self) -> bool:
        return self.held <= self.ranks * self.each * self.fraction


def weights_of_others(case: Case) -> Iterator[Remark]:
    """The publisher's weights alone, less than everything, against all memory that the engine may use."""
    room = room_of(case)
    if room is None or room.fits():
        return
    title = room.known.title if room.known is not None else case.first.model
    message = (
        f"the weights of {title} are at least {room.held / GIB:,.0f} GiB, and {room.devices} "
        f"{'has' if room.ranks == 1 else 'have'} {room_words(room.ranks * room.each, room.fraction)}"
    )
    needed = 2 ** math.ceil(math.log2(room.held / (room.each * min(room.fraction, 0.9))))
    sure = _is_sure(case, room) or _is_sure_of_any(case, room)
    severity = Severity.ERROR if room.place is not None and sure else Severity.WARNING
    remedy = f"take {needed} or more devices, or smaller weights"
    if case.cluster is not None and case.first.layout.tp == room.ranks < needed <= case.cluster.devices:
        remedy = f"write {room.flag} {needed}, or more, or take smaller weights"
    if larger := _larger_beside(case, lambda each: replace(room, each=each).fits()):
        severity, message = Severity.WARNING, f"{message}; {larger[0].name}, {larger[1]}, holds them"
        remedy = f"take {larger[0].name}, {needed} or more of these devices, or smaller weights"
    at = room.place.index if room.place else None
    yield make_remark(severity, Code.DOES_NOT_FIT, room.flag, message, remedy, at=at)


def _larger_beside(case: Case, holds: Callable[[float], bool]) -> tuple[Cluster, str] | None:
    """Other devices that the text may mean as well and on which it holds, given the bytes of one, and why."""
    if case.cluster is None or case.devices_asked:
        return None
    meant = also_meant(case.cluster, case.script, case.commands[0].line)
    return next(((each, why) for each, why in meant if holds(each.device.usable_bytes)), None)


def whole_before_conversion(case: Case) -> Iterator[Remark]:
    """Weights that become FP8 while they are loaded, against the whole memory: first all are there as published."""
    until = WHOLE_BEFORE_FP8.get(case.base)
    if until is None or case.text("--quantization") != "fp8" or (until and since(case.base_version, until)):
        return
    room = room_of(case, as_they_are=True)
    if room is None or room.known is None or room.known.published != "bf16" or not as_published(case.first.model):
        return
    if room.held <= room.ranks * room.each:
        return
    message = (
        f"the weights of {room.known.title} are read in BF16 before they become FP8: at least {room.held / GIB:,.0f} "
        f"GiB, and {room.devices} {'has' if room.ranks == 1 else 'have'} {room.ranks * room.each / GIB:,.0f} GiB"
    )
    severity = Severity.ERROR if _is_sure(case, room) else Severity.WARNING
    place = case.option("--quantization")
    at = place.index if place is not None else None
    remedy = "take weights that are FP8 already, or more devices"
    yield make_remark(severity, Code.DOES_NOT_FIT, "--quantization", message, remedy, at=at)


def cache_of_others(case: Case) -> Iterator[Remark]:
    """One sequence of the whole context against what the weights leave: a start ends where it does not fit, since a
    request may be so long (vllm/v1/core/kv_cache_utils.py, and worker/worker.py before 0.11)."""
    settings, layout = case.first.settings, case.first.layout
    if case.base != names.EXPERTS_BY_VARIABLE or case.option(*_OTHER_CACHE) is not None or layout.dcp > 1:
        return
    if tells_of_cache(case.script.lines):
        return
    room, place = room_of(case), case.option("--max-model-len")
    if room is None or room.known is None or not room.fits() or not counts_whole_device(case):
        return  # a processor's cache is told
    if place is not None and not settings.max_model_len:
        return  # `auto` takes what fits
    tokens = settings.max_model_len or room.known.positions
    of_value = _bytes_of_value(case, room.known)
    need = context_bytes(room.known, tokens, layout.tp, layout.pp, of_value)
    left = room.each * room.fraction - room.held / room.ranks
    surely = need > left
    left -= _sampled(case, room.known)
    if need <= left:
        return
    most = int(tokens * left / need) // 1024 * 1024
    whose = f"{tokens:,} tokens" if place is not None else f"{tokens:,} tokens, which is the model's default,"
    message = (
        f"one sequence of {whose} takes at least {need / GIB:,.2f} GiB of KV cache on each device, and the weights of "
        f"{room.known.title} leave at most {left / GIB:,.2f} GiB of {room.devices}: the start "
        f"{'ends' if surely else 'hardly succeeds'}"
    )
    remedy = f"write --max-model-len {most} or less, or take more devices" if most > 0 else "take more devices"
    severity = Severity.ERROR if surely and _is_sure(case, room) else Severity.WARNING
    beside, per_rank = left - room.each * room.fraction, room.fraction
    if larger := _larger_beside(case, lambda each: need <= each * per_rank + beside):
        severity, message = Severity.WARNING, f"{message}; on {larger[0].name}, {larger[1]}, it has room"
        remedy = f"take {larger[0].name}, or {remedy}"
    at = place.index if place is not None else None
    yield make_remark(severity, Code.DOES_NOT_FIT, "--max-model-len", message, remedy, at=at)


def _sampled(case: Case, known: OtherModel) -> float:
    """Bytes of the step that samples a token for each sequence, at the least, as most starts had it."""
    if case.cluster is None:
        return 0.0
    sequences = case.first.settings.max_num_seqs
    sequences = sequences or batches_of(case.engine.name, case.version, case.cluster.device).max_num_seqs or 0
    return overhead_of(case.engine.name, case.version).sampler.low * sequences * known.vocabulary


def room_of(case: Case, *, as_they_are: bool = False, alone: bool = False) -> Room | None:
    """None where the size of the weights, or what they are spread over, is not known. `as_they_are`: of the files, even
    where an option converts them. `alone`: what other parts of the text leave out does not count."""
    reading = case.first
    helped = case.engine.facts.host_experts or reading.left_to_engine or reading.settings.cpu_offload_gib
    if case.checkpoint is not None or helped or not case.whole or is_fragment(case.commands[0]):
        return None
    if case.option(*_ENCODERS, "--load-format") is not None:
        return None
    known = other_model(reading.model)
    held = least_bytes(known, reading.model) if known is not None else least_bytes_by_name(reading.model)
    if case.option("--quantization") is not None and not _is_made_before(case) and not as_they_are:
        held = _converted(case, known, held)
    if not held:
        return None
    flag = case.engine.command_line.options.get("tp")
    place = case.option(flag) if flag else None
    case.script.budget.once("cut commands", len(case.script.lines), "the text around its engine commands")
    is_cut = place is None and not alone and is_in_lines(_CUT, case.script.lines, _LONGEST)
    if flag is None or reading.takes_all_devices or is_cut:
        return None
    shared = reading.layout.ep > 1 or case.option(names.ATTENTION_DP_SWITCH, names.ATTENTION_DP) is not None
    if case.base == names.EXPERTS_BY_VARIABLE and known is not None and known.experts:
        shared = True  # experts are sliced over the ranks of data parallelism too
    ranks = reading.layout.tp * reading.layout.pp * (reading.layout.dp if shared else 1)
    ranks *= case.size("--prefill-context-parallel-size", "-pcp")
    if shared and known is not None:
        held = int(held * (1 + _beside_experts(known) * (reading.layout.dp - 1)))
    each, kind = memory_of(case)
    return Room(known, held, flag, place, ranks, each, kind, share_of(case)) if each else None


def _converted(case: Case, known: OtherModel | None, held: int) -> int:
    """Bytes of weights that an option converts while they are loaded. 0: what it makes of them is not known."""
    width = WIDTHS_OF_METHODS.get(case.text("--quantization").strip("'\""), 0.0)
    if known is not None and known.any_format:
        return held
    if known is not None and known.billions:
        return min(held, int(width * known.billions * 1e9))
    return int(held * min(width, 1.0))


def _is_made_before(case: Case) -> bool:
    """Whether the files have what `--quantization` names: by the name's format, and a method that makes none."""
    method, model = case.text("--quantization").strip("'\""), case.first.model
    return in_four_bits(model) or (method in names.MADE_BEFORE and not as_published(model))


def _beside_experts(known: OtherModel) -> float:
    """The share of the weights that is no routed expert, which each data parallel rank has whole; 0 where it is not
    known."""
    experts = 3 * known.experts * known.expert_columns * known.hidden * known.expert_layers
    share = 1 - experts / (known.billions * 1e9) if experts and known.billions else 0.0
    return share if 0 < share < _DENSE_MOST else 0.0


def memory_of(case: Case) -> tuple[float, str]:
    """Bytes of a device, and whose they are."""
    if case.cluster is not None:
        return case.cluster.device.usable_bytes, f"of {case.cluster.device.product}"
    if stated := stated_gigabytes(case):
        return stated * GIB, f"of {stated} GB, the most that the text speaks of,"
    if largest := largest_of_capability(case):
        return largest.usable_bytes, f"of capability {largest.capability}, of which {largest.label} is the largest,"
    devices = [row.device for row in hardware().values() if row.device]
    return max(device.usable_bytes for device in devices if device.platform in case.engine.platforms), OF_LARGEST


def _bytes_of_value(case: Case, known: OtherModel) -> float:
    """Of a number in the KV cache, at the least: some ways to convert weights make the cache FP8 too."""
    written = case.first.settings.kv_cache_dtype or "auto"
    model = case.first.model
    alone = as_published(model) or group_of_four_bits(model) or fp8_block(known, model)
    plain = alone and case.option("--quantization") is None
    return _BYTES.get(written, 0.5) if written != "auto" or plain else 1.0


def _is_sure(case: Case, room: Room) -> bool:
    known = room.known
    named = known is not None and _REPOSITORY.fullmatch(case.first.model) is not None
    made = case.option("--quantization") is None or _is_made_before(case) or (known is not None and known.any_format)
    return named and made and case.cluster is not None and not _is_of_other_models(case)


def _is_sure_of_any(case: Case, room: Room) -> bool:
    """Whether the whole memory of the largest devices would not do, for the files of a repository as they are, and the
    text shows no server that came further."""
    case.script.budget.once("servers that run", 3 * len(case.script.lines), "the text around its engine commands")
    lines = case.script.lines
    if is_in_lines(_FAILED, lines, _LONGEST) or tells_of_cache(lines) or tells_of_answers(lines):
        return False
    named = room.known is not None and _REPOSITORY.fullmatch(case.first.model) is not None
    largest = room.kind == OF_LARGEST and room.held > room.ranks * room.each
    return named and largest and case.option(*OTHER_WEIGHTS) is None


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
