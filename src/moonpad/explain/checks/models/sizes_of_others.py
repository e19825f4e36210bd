"""What models that are not planned cannot have: slices of experts, contexts, drafts of their own, early releases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.catalog.options import versions
from moonpad.catalog.other_models import (
    OtherModel,
    fp8_block,
    group_of_four_bits,
    least_group_of_four_bits,
    other_model,
    shared_evenly,
)
from moonpad.engines import draft_names as drafts
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.image_names import OF_ENGINE
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.other_families import in_full
from moonpad.explain.checks.releases.told_faults import tells_of_failure
from moonpad.explain.documents.built_forks import built_fork
from moonpad.explain.documents.text_hints import version_of_image
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.longer_contexts import is_stretched, may_be_longer
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.versions import order, since

_CANDIDATE: Final = re.compile(r"rc\d{1,3}\Z")
_HALVED_SINCE: Final = "0.9.2"
"""In vLLM 0.9.1 the kernel of such halves ends with the first request: size_k must divisible by BLOCK_SIZE_K
(https://github.com/vllm-project/vllm/issues/17604)."""
_REFINED_SINCE: Final = "0.29.0"
"""The first release of that engine that splits a block of scales where a rank has a part of it."""
_LEAST_REFINED: Final = 32
"""The columns of the finest block that it splits them into (fused_moe/oracle/fp8.py)."""
_PADDED_SINCE: Final = "0.25.0"
"""The first release that pads what --quantization fp8_per_block makes of a part
(https://github.com/vllm-project/vllm/pull/44763)."""
_FOLDER: Final = re.compile(r"[\"']?(?:[/.~$]|[A-Za-z]:)")
_K_BLOCK: Final = 256
_DRAFT: Final = "--speculative-draft"
_CONTEXTS: Final = ("--max-model-len", "--context-length")
_SPREADS: Final = ("--enable-expert-parallel", "--enable-ep-moe", "--enable-deepep-moe", "--moe-a2a-backend")


def experts_of_others(case: Case) -> Iterator[Remark]:
    """An expert's columns over the ranks that share it out, against the columns that have one scale."""
    known, flag = _known(case), case.engine.command_line.options.get("tp")
    place = case.option(flag) if flag else None
    if known is None or not known.expert_columns or flag is None or not case.laid_out:
        return
    layout, place_ep = case.first.layout, case.option("--ep-size")
    by_option = case.base == names.EXPERTS_BY_OPTION
    in_ram = bool(case.engine.facts.host_experts)  # those that are not are sliced, whatever --ep-size says
    if case.option(*_SPREADS) is not None or (layout.ep > 1 and not by_option):
        return
    group = case.size("--tp-size") if by_option else layout.tp
    if by_option and place_ep is not None and group % layout.ep:
        message = (
            f"{layout.ep}: the ranks that share the experts are a part of the {group} of {flag}, and do not divide it"
        )
        yield make_remark(
            Severity.ERROR, Code.ILLEGAL_LAYOUT, "--ep-size", message, f"write --ep-size {group}", at=place_ep.index
        )
        return
    ranks = group // (1 if in_ram else max(layout.ep, 1)) if by_option else layout.tp * layout.dp
    if ranks < 2 or place is None:
        return
    columns, online = known.expert_columns, _in_blocks(case)
    block = fp8_block(known, case.model_named) or (128 if online else 0)
    if block and _turns_fp8_into_bf16(case):
        return
    halved = not case.version or by_option or since(case.version, _HALVED_SINCE)
    of_four_bits = least_group_of_four_bits if halved else group_of_four_bits
    group_of_scales = block or of_four_bits(case.model_named)
    if not group_of_scales or (columns % ranks == 0 and columns // ranks % group_of_scales == 0):
        return
    if not block and columns % group_of_scales:
        return  # whole experts have no such groups either: theirs are smaller
    most = next((each for each in range(ranks - 1, 0, -1) if _fits(known, each, group_of_scales)), 1)
    of_scales = "FP8 blocks" if block else "groups"
    whole = columns % ranks == 0
    left = f"{columns // ranks} each, which" if whole else "no whole number, and"
    message = (
        f"an expert of {known.title} has {columns} columns, and over {ranks} ranks that is {left} {of_scales} of "
        f"{group_of_scales} do not divide"
    )
    mended, is_legal = _PADDED_SINCE if online else _REFINED_SINCE, False
    refined = not by_option and (not case.version or since(case.version, mended))
    if refined and online:
        message += f" (releases before {_PADDED_SINCE} end at the first run)"
    elif refined and block and whole and columns // ranks % _LEAST_REFINED:
        message += f", nor those of {_LEAST_REFINED} into which releases from {_REFINED_SINCE} on split them"
    elif refined:
        message += f" (releases before {_REFINED_SINCE} end at the start)"
        is_legal = True
    sure = bool(block) and not refined and not online and not in_ram and not is_fragment(case.commands[0])
    spread = "--ep-size" if by_option else "--enable-expert-parallel"
    spread += f" {group}" if by_option else ""
    fewer = f"write {flag} {most}"
    kept = f"keep the experts whole: {spread}"  # where one rank alone is left, a machine of several is meant
    remedy = fewer if in_ram else kept if most == 1 and ranks > 2 else f"{fewer}, or {kept}"
    severity = Severity.ERROR if sure else Severity.WARNING
    whole_experts = [Edit(len(case.commands[0].argv), 0, (spread,))] if sure and not by_option else []
    remark = make_remark(severity, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=place.index, edits=whole_experts)
    told = refined and tells_of_failure(case.script)
    if is_legal and case.version and not told:
        return
    yield replace(remark, as_told=told, of_former=is_legal and not told)


def _turns_fp8_into_bf16(case: Case) -> bool:
    """Whether it is for NPUs, which load published FP8 weights as BF16 or refuse them: no block is divided
    (https://github.com/vllm-project/vllm-ascend/pull/7105)."""
    return case.engine.platforms == (Platform.ASCEND,) or case.platform == str(Platform.ASCEND)


def _fits(known: OtherModel, ranks: int, group: int) -> bool:
    """Where its heads are not known, a power of two alone."""
    columns, rest = divmod(known.expert_columns, ranks)
    return (
        not rest
        and not columns % group
        and shared_evenly(known, ranks)
        and (known.heads > 0 or ranks & (ranks - 1) == 0)
    )


def _in_blocks(case: Case) -> bool:
    return case.text("--quantization").strip("'\"") == "fp8_per_block"


def context_of_others(case: Case) -> Iterator[Remark]:
    """More tokens than the model's config.json has positions, and nothing that stretches them."""
    known, place = _known(case), case.option(*_CONTEXTS)
    if known is None or not known.positions or place is None:
        return
    asked = case.first.settings.max_model_len or 0
    if asked <= known.positions or is_stretched(case.commands) or may_be_longer(case.commands):
        return
    message = f"{asked}: config.json of {known.title} has {known.positions} positions, and the start refuses more"
    remedy = f"write {place.written} {known.positions}, or add the YaRN scaling that the model's page gives"
    edit = Edit(place.index, place.length, (place.written, str(known.positions)))
    # Of a folder people change config.json, as the page says.
    unsure = case.open_ended or is_fragment(case.commands[0]) or _FOLDER.match(case.model_named or "")
    severity = Severity.WARNING if unsure else Severity.ERROR
    yield make_remark(severity, Code.INVALID_VALUE, place.written, message, remedy, at=place.index, edits=[edit])


def drafts_of_others(case: Case) -> Iterator[Remark]:
    """Multi-token prediction by the checkpoint's own layer, of a model that has none."""
    known, checkpoint = _known(case), case.checkpoint
    found = _own_draft(case)
    if found is None:
        return
    place, method = found
    title, severity = known.title if known is not None and known.own_drafts == "none" else "", Severity.ERROR
    if checkpoint is not None and checkpoint.architecture.model_type in drafts.NO_OWN_LAYER:
        title = checkpoint.name
        sure = in_full(title, case.model_named) and case.engine.name == names.EXPERTS_BY_VARIABLE
        severity = Severity.ERROR if sure and not is_fragment(case.commands[0]) else Severity.WARNING
    if not title:
        return
    message = f"{method} needs a layer for multi-token prediction in the checkpoint, and {title} has none"
    remedy = "leave it out, or name a draft that was made for this model"
    yield make_remark(severity, Code.CONFLICT, place.written, message, remedy, at=place.index)


def _own_draft(case: Case) -> tuple[Occurrence, str] | None:
    place = case.option("--speculative-config")
    if place is not None:
        value: object = case.first.parsed.values.get("speculative_config")
        value = as_json(value.strip("'")) if isinstance(value, str) else value
        if isinstance(value, Mapping) and "model" not in value and "mtp" in str(value.get("method")).casefold():
            return place, str(value["method"])
        return None
    place = case.option(names.ALGORITHM)
    if place is None or place.value not in ("NEXTN", "EAGLE") or case.open_ended:
        return None
    if any(word.text.replace("_", "-").startswith(_DRAFT) for word in case.commands[0].argv):
        return None  # by whichever beginning of its name
    return place, str(place.value)


def host_blocks_of_others(case: Case) -> Iterator[Remark]:
    """Experts on the processor in blocks of 256 weights, as GGUF's K formats have them."""
    known, place = _known(case), case.option(names.EXPERT_METHOD)
    if known is None or place is None or not known.expert_columns % _K_BLOCK or known.expert_columns == 0:
        return
    if case.text(names.EXPERT_METHOD) != names.HOST_GGUF:
        return
    message = (
        f"{names.HOST_GGUF}: an expert of {known.title} has {known.expert_columns} columns, which the {_K_BLOCK} "
        "weights of a block of GGUF's K formats do not divide: the start refuses it"
    )
    remedy = f"write {names.EXPERT_METHOD} FP8, BF16, AMXINT8 or AMXINT4, as the weights are"
    remark = make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, place.written, message, remedy, at=place.index)
    yield replace(remark, stops=True)


def release_of_others(case: Case) -> Iterator[Remark]:
    """A release of the engine that is older than the class of this model, or that has it no more."""
    known = _known(case)
    first = known.first.get(case.base, "") if known is not None else ""
    gone = known.gone.get(case.base, "") if known is not None else ""
    release = _built_upon(case)
    if known is not None and known.early.get(case.engine.name) == case.version:
        return
    if known is None or not release or not versions(case.engine.program) or _is_development(release):
        return
    if _is_own_build(case):
        return
    title = case.engine.facts.title
    if first and order(release) < order(first):
        upon = f" is built upon {case.base} {release}, which" if release != case.version else ""
        message = f"{title} {case.version}{upon} has no class for {known.title}, which came with {first}"
        yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, "engine", message, f"take {first} or later")
    elif gone and order(release) >= order(gone):
        message = f"{title} {case.version} has no class for {known.title} any more: it went with {gone}"
        remedy = f"take a release before {gone}"
        yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, "engine", message, remedy)


def _is_own_build(case: Case) -> bool:
    """Whether an image of the model's own makers runs, or a fork that the text builds: it may have the class before any
    release of the engine."""
    command = case.commands[0]
    image = command.container.image if command.container is not None else None
    if image is not None and "/" in image.text and not any(pattern.match(image.text) for pattern, _ in OF_ENGINE):
        return version_of_image(image.text) is None
    return bool(built_fork(case.engine.name, case.script.lines))


def _built_upon(case: Case) -> str:
    """The release of the engine itself: of a plugin with the same numbers that which its candidates are built upon."""
    plugin = case.base != case.engine.name
    return _CANDIDATE.sub("", case.base_version) if plugin else case.base_version


def _is_development(version: str) -> bool:
    return "dev" in version or "+" in version or "rc" in version


def _known(case: Case) -> OtherModel | None:
    written = case.model_named
    if case.checkpoint is not None or not written or unresolved(written) or case.engine.name not in names.CHECKED:
        return None
    return other_model(written)


CHECKS_OF_OTHERS: Final = (
    experts_of_others,
    context_of_others,
    drafts_of_others,
    release_of_others,
    host_blocks_of_others,
)
