"""Engines of GGUF files: sizes that one option gives and another one cuts, and a draft with other words than its
target's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.catalog.other_models import other_model
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.wanted_contexts import wants_whole
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

BATCH: Final = "--batch-size"
PHYSICAL: Final = "--ubatch-size"
CONTEXT: Final = "--ctx-size"
SLOTS: Final = "--parallel"
UNIFIED: Final = "--kv-unified"
_DENIED: Final = ("--no-", "-no-")
_STRETCHES: Final = ("--rope-scaling", "--rope-scale", "--rope-freq-base", "--rope-freq-scale", "--override-kv")
DRAFT: Final = ("--model-draft", "--spec-draft-model")
_EMBEDS: Final = ("--embedding", "--embeddings", "--rerank", "--reranking")
_BATCH_BY_ITSELF: Final = 2048
_PHYSICAL_BY_ITSELF: Final = 512
_TWO_BATCHES: Final = "b2300"
"""A build behind the change that parted the physical batch from the logical one (March 2024)."""
_ONE_CACHE: Final = "b7000"
"""A build behind the change by which a server's slots share one cache (ggml-org/llama.cpp#16736, November 2025); the
option alone is older and did not lift the share of a slot."""
_SHORT: Final = 1024
"""Tokens of a slot in which hardly a chat has room."""
_ENCODERS: Final = re.compile(
    r"bge-(?!.*(?:gemma|icl))|nomic-embed|(?<![a-z0-9])e5-(?!mistral)|gte-(?!qwen)|mxbai-embed|snowflake-arctic-embed|"
    r"all-minilm|jina-(?:embeddings|reranker)-v[12]|embeddinggemma|embedding-?gemma",
    re.IGNORECASE,
)
"""Models that read a text as a whole, in both directions: it has to fit into one physical batch."""
_VOCABULARIES_DIFFER: Final = 128
"""SPEC_VOCAB_MAX_SIZE_DIFFERENCE: vocabularies that differ by more are not taken for the same."""
_OF_FILE: Final = re.compile(
    r"(?:-\d{5}-of-\d{5})?\.gguf\Z|[-.](?:ud[-.])?(?:i?q\d|iq\d|tq\d|mxfp4|bf16|f16|f32|fp16)[\w-]*\Z", re.IGNORECASE
)
_LONGEST: Final = 300


def physical_batch(case: Case) -> Iterator[Remark]:
    """A physical batch is cut to the logical one without a word."""
    place = case.option(PHYSICAL)
    if not _judged(case) or place is None or (case.version and not since(case.version, _TWO_BATCHES)):
        return
    size, batch = _size(case, PHYSICAL), _size(case, BATCH)
    given = case.option(BATCH) is not None
    if given and not batch:
        return
    most = batch or _BATCH_BY_ITSELF
    if size <= most or (not given and case.open_ended):
        return
    of_batch = f"{BATCH} {batch}" if given else f"{BATCH}, which is {most} by itself"
    message = f"{size}: a physical batch is cut to {of_batch}, so {most} are read at once"
    other = case.option(BATCH)
    edit = Edit(other.index, other.length, (other.written, str(size))) if other else None
    edits = [edit or Edit(len(case.commands[0].argv), 0, (BATCH, str(size)))]
    remedy = f"{'write' if given else 'add'} {BATCH} {size}"
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, place.written, message, remedy, at=place.index, edits=edits)


def embedded_texts(case: Case) -> Iterator[Remark]:
    """A text that is embedded as a whole fits into a physical batch, or is refused."""
    context = _size(case, CONTEXT)
    embeds = any(case.option(flag) is not None for flag in _EMBEDS)
    if not _judged(case) or not embeds or not context or not _ENCODERS.search(file_or_repository(case)):
        return
    place, given = case.option(PHYSICAL), _size(case, PHYSICAL)
    if place is not None and not given:
        return
    size = min(given or _PHYSICAL_BY_ITSELF, _size(case, BATCH) or _BATCH_BY_ITSELF)
    if context <= size or (place is None and case.open_ended):
        return
    sizes = f"{PHYSICAL} {given}" if given else f"{PHYSICAL}, which is {_PHYSICAL_BY_ITSELF} by itself"
    message = (
        f"texts of more than {size} tokens are refused whatever {CONTEXT} says ({context}): this model reads a text in "
        f"one physical batch ({sizes}; input is too large to process, increase the physical batch size)"
    )
    remedy = f"write {BATCH} {context} {PHYSICAL} {context}"
    where = place.written if place is not None else PHYSICAL
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, where, message, remedy, at=at)


def context_of_slots(case: Case) -> Iterator[Remark]:
    """The slots share the context out, unless they have one cache together."""
    place, context, slots = case.option(SLOTS), _size(case, CONTEXT), _size(case, SLOTS)
    if not _judged(case) or place is None or slots < 2 or _is_unified(case):
        return
    whole = case.option(CONTEXT)
    positions = _positions(case) if whole is not None and whole.value == "0" else 0
    if positions:
        share = f"a request has {positions // slots:,} tokens, prompt and answer"
        message = f"{CONTEXT} 0 is the model's {positions:,}, shared out over {slots} slots: {share}"
        remedy = f"write {CONTEXT} for all slots together, or fewer slots"
        yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, place.written, message, remedy, at=place.index)
    if not context:
        return
    each = context // slots
    if case.open_ended or any(case.option(flag) is not None for flag in _EMBEDS):
        return
    case.script.budget.once("contexts of requests", len(case.script.lines), "the text around its engine commands")
    because = wants_whole(context, each, case.script.lines)
    if each >= _SHORT and not because:
        return
    message = f"{CONTEXT} {context} is shared out over {slots} slots: a request has {each} tokens, prompt and answer"
    message += f" ({because})" if because else ""
    remedy = f"write {CONTEXT} {context * slots} for {context} tokens each, or fewer slots"
    named = case.script.versions.get(case.engine.name, "") or case.version
    if because and (not named or since(named, _ONE_CACHE)):
        remedy += f", or add {UNIFIED}, with which all share one cache and one may have all of it"
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, place.written, message, remedy, at=place.index)


def _is_unified(case: Case) -> bool:
    """Whether all slots have one cache; --no-kv-unified says that they have not."""
    place = case.option(UNIFIED)
    return place is not None and place.value is not False and not place.written.startswith(_DENIED)


def context_of_training(case: Case) -> Iterator[Remark]:
    """A slot with more tokens than the model has positions, and nothing that stretches them."""
    place, context = case.option(CONTEXT), _size(case, CONTEXT)
    slots = case.option(SLOTS)
    if not _judged(case) or place is None or not context or any(case.option(flag) is not None for flag in _STRETCHES):
        return
    known, positions = other_model(plain_name(file_or_repository(case))), _positions(case)
    shared = 1 if slots is None or _is_unified(case) else _size(case, SLOTS)
    if not positions or not shared or context // shared <= positions:
        return
    title = known.title if known is not None else "the model"
    message = (
        f"{context // shared:,} tokens of a slot, and {title} has {positions:,} positions: builds of late "
        "2025 and after cut a slot to these, earlier ones answer nonsense behind them"
    )
    remedy = f"write {CONTEXT} {positions * shared}, or add --rope-scaling yarn as the model's page has it"
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, place.written, message, remedy, at=place.index)


def draft_vocabulary(case: Case) -> Iterator[Remark]:
    """A draft of another family: its tokens are not the target's."""
    place = case.option(*DRAFT)
    if not _judged(case) or place is None or not isinstance(place.value, str) or unresolved(place.value):
        return
    target, draft = vocabulary_of(file_or_repository(case)), vocabulary_of(place.value.strip("'\""))
    if not target or not draft or abs(target - draft) <= _VOCABULARIES_DIFFER:
        return
    message = (
        f"{shortened(_last(place.value), 50)} has {draft:,} tokens and the target {target:,}: their vocabularies are "
        "not the same, so builds refuse the draft, or turn each guess into text and back, which is slow"
    )
    remedy = "take a small model of the target's own family as draft"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


def _judged(case: Case) -> bool:
    return case.engine.facts.gguf_only and not is_fragment(case.commands[0])


def _size(case: Case, flag: str) -> int:
    text = case.text(flag)
    return 0 if unresolved(text) else whole(text) or 0


def _positions(case: Case) -> int:
    """Of the model, 0 where it is not known."""
    if case.checkpoint is not None:
        return case.checkpoint.architecture.max_context
    known = other_model(plain_name(file_or_repository(case)))
    return known.positions if known is not None else 0


def file_or_repository(case: Case) -> str:
    """The file, or the repository that it is taken from."""
    for flag in ("--model", "--hf-repo", "--hf-file"):
        if (text := case.text(flag).strip("'\"")) and not unresolved(text):
            return text[-_LONGEST:]
    return ""


def _last(written: str) -> str:
    return written.strip("'\"").rstrip("/")[-_LONGEST:].rpartition("/")[2]


def vocabulary_of(written: str) -> int:
    """Of the model that a file or a repository is called after; 0 where it is not known."""
    name = plain_name(written)
    known = other_model(name)
    if known is not None and known.vocabulary:
        return known.vocabulary
    model = find_model(name)
    return model.architecture.vocabulary if model is not None and model.architecture is not None else 0


def plain_name(written: str) -> str:
    """The name of a model, of the file or the repository of its GGUF."""
    name = re.sub(r"-gguf(?::\S*)?\Z", "", _last(written), flags=re.IGNORECASE)
    shorter = _OF_FILE.sub("", name)
    while shorter != name:
        name, shorter = shorter, _OF_FILE.sub("", shorter)
    return name


SIZE_CHECKS: Final = (physical_batch, embedded_texts, context_of_slots, context_of_training, draft_vocabulary)
