"""What stands in an option file against itself: words that a key does not take, sizes of graphs that differ, a draft
without its weights. The data are catalog/option_file_values.py."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Final

from moonpad.catalog.option_file_values import option_file_values
from moonpad.engines import file_names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.option_file import option_file
from moonpad.engines.value_checks import number, unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.config_files import files_of
from moonpad.explain.nearest_names import alike_first
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_GRAPHS: Final = "cuda_graph_config"
_SIZES: Final = re.compile(r"\[(\d{1,6}(?:, ?\d{1,6}){0,500})\]")
_DRAFTS: Final = "speculative_config"
_WITH_WEIGHTS: Final = frozenset({"Eagle", "Eagle3"})
_OWN_LAYERS: Final = "MTP"
_ALIKE: Final = 0.75
_LENGTH_SINCE: Final = "1.2.0rc0"
"""The releases from which on a draft's length has to be given: 1.1.0 does not ask for it, and 1.2.1 does."""
_WEIGHTS: Final = ("speculative_model", "speculative_model_dir", "pytorch_eagle_weights_path", "pytorch_weights_path")
_ALSO_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "tensor_parallel_size": ("--tp_size", "--tensor-parallel-size"),
    "pipeline_parallel_size": ("--pp_size", "--pipeline-parallel-size"),
    "moe_expert_parallel_size": ("--ep_size", "--expert-parallel-size"),
    "max_batch_size": ("--max_batch_size", "--max-batch-size"),
    "max_num_tokens": ("--max_num_tokens", "--max-num-tokens"),
    "max_seq_len": ("--max_seq_len", "--max-seq-len"),
    "kv_cache_config.free_gpu_memory_fraction": ("--kv_cache_free_gpu_memory_fraction", "--free-gpu-memory-fraction"),
}
"""Keys of the file that are options too."""
_warning = partial(make_remark, Severity.WARNING)


def words_of_keys(case: Case) -> Iterator[Remark]:
    """A word that the key does not take; in another case it surely is refused."""
    options, at = of_the_file(case)
    for row in option_file_values().values():
        value = options.get(row.key, "")
        if case.engine.name not in row.engines or not value or unresolved(value) or value in (*row.takes, "null"):
            continue
        near = next((word for word in row.takes if word.casefold() == value.casefold()), "")
        severity = Severity.ERROR if near else Severity.WARNING
        message = f"{shortened(value)} is not a value of {row.key}, and the start ends in a ValidationError"
        remedy = f"write {near}" if near else f"write one of {', '.join(alike_first(value, row.takes, 7))}"
        message += ": capitals count" if near else ""
        yield make_remark(severity, Code.INVALID_VALUE, row.key, message, remedy, at=at)


def sizes_of_graphs(case: Case) -> Iterator[Remark]:
    """A list of batches and a largest one that is not in it."""
    options, at = of_the_file(case)
    sizes = _SIZES.fullmatch(options.get(f"{_GRAPHS}.batch_sizes", ""))
    largest = whole(options.get(f"{_GRAPHS}.max_batch_size", "")) or 0
    if sizes is None or not largest:
        return
    most = max(int(size) for size in sizes[1].split(","))
    if most == largest:
        return
    message = f"batch_sizes go to {most} and max_batch_size is {largest}: both together are refused where they differ"
    remedy = "leave max_batch_size out of cuda_graph_config"
    yield make_remark(Severity.ERROR, Code.CONFLICT, _GRAPHS, message, remedy, at=at)


def draft_of_file(case: Case) -> Iterator[Remark]:
    """Eagle has weights of its own and a length that must be given."""
    options, at = of_the_file(case)
    kind = options.get(f"{_DRAFTS}.decoding_type", "")
    if kind not in _WITH_WEIGHTS:
        return
    if not any(f"{_DRAFTS}.{key}" in options for key in _WEIGHTS):
        message = f"{kind} has a draft of its own, and none is named: the start ends (Draft model must be provided)"
        yield _warning(
            Code.MISSING_FLAG, _DRAFTS, message, "add speculative_model with the weights of the draft", at=at
        )
    if f"{_DRAFTS}.max_draft_len" not in options and (not case.version or since(case.version, _LENGTH_SINCE)):
        message = f"{kind} without max_draft_len is refused by releases from 1.2 on"
        yield _warning(Code.MISSING_FLAG, _DRAFTS, message, "add max_draft_len: 3", at=at)


def passed_over_names(case: Case) -> Iterator[Remark]:
    """A name that no release has and that none refuses: the engine takes its default for it."""
    options, at = of_the_file(case)
    for key, (takes, default) in file_names.PASSED_OVER.items():
        value = options.get(key, "")
        if not value or unresolved(value) or value.upper() in takes:
            continue
        near = next(iter(get_close_matches(value.upper(), takes, 1, _ALIKE)), "")
        if near:
            message = (
                f"{shortened(value)} is not a name of {key}, which passes over what it does not know, or ends the "
            )
            message += f"start: by default it is {default}"
            yield _warning(Code.INVALID_VALUE, key, message, f"write {near}", at=at)


def layers_of_draft(case: Case) -> Iterator[Remark]:
    """A draft by the model's own layers, which it does not have."""
    options, at = of_the_file(case)
    known = case.checkpoint
    if known is None or options.get(f"{_DRAFTS}.decoding_type") != _OWN_LAYERS or known.architecture.nextn_layers:
        return
    if any(f"{_DRAFTS}.{key}" in options for key in _WEIGHTS):
        return
    message = f"{known.name} has no layers for multi-token prediction, which {_OWN_LAYERS} drafts with"
    remedy = "leave speculative_config out, or name an Eagle3 draft of the model"
    yield _warning(Code.CONFLICT, _DRAFTS, message, remedy, at=at)


def file_wins(case: Case) -> Iterator[Remark]:
    """A size that the command line gives and the file gives otherwise: the file is read last."""
    options, _ = of_the_file(case)
    for key, flags in _ALSO_OPTIONS.items():
        place, inside = _written(case, flags), options.get(key, "")
        if place is None or not isinstance(place.value, str) or not inside:
            continue
        given, own = number(place.value), number(inside)
        if given is not None and own is not None and given != own:
            message = f"{place.value}, and {key} in the file is {inside}: the file wins, without a word"
            remedy = f"write {key}: {place.value} in the file, or leave {place.written} out"
            yield _warning(Code.CONFLICT, place.written, message, remedy, at=place.index)


def of_the_file(case: Case) -> tuple[Mapping[str, str], int | None]:
    """What the file says, of engines that read it themselves, and where the command names it."""
    flags = case.engine.command_line.option_files
    place = _written(case, flags)
    if place is None or not isinstance(place.value, str) or case.engine.name not in _engines():
        return {}, None
    case.script.budget.work(len(case.script.files), "its files")
    files = {path: file.text for path, file in files_of(case.commands[0], case.script.files).items()}
    return option_file(place.value, files), place.index


def _written(case: Case, flags: Sequence[str]) -> Occurrence | None:
    """As it is written, too: workers of a framework around the engine have its options under names of their own."""
    spelled = (place for place in case.first.parsed.occurrences if place.written in flags)
    return case.option(*flags) or next(spelled, None)


def _engines() -> frozenset[str]:
    return frozenset(name for row in option_file_values().values() for name in row.engines)


OPTION_FILE_CHECKS: Final = (
    words_of_keys,
    sizes_of_graphs,
    draft_of_file,
    passed_over_names,
    layers_of_draft,
    file_wins,
)
