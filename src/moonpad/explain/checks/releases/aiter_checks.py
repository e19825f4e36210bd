"""AITER's kernels of a release against the number of heads, the block and the experts that a command line asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import known_environment, versions
from moonpad.engines import foreign_names as names
from moonpad.engines.vllm_rules import GLUON_BY_DEVICE, GLUON_HEADS, aiter_heads
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.device_mentions import cluster_named, mentions
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.versions import since

BACKEND: Final = "ROCM_AITER_MLA"
ANY_BLOCK: Final = "0.12.0"
"""Before, AITER's MLA took blocks of one token alone."""
CHOSEN_BY_BLOCK: Final = "0.18.0"
"""Before, blocks of one token chose AITER's MLA, whatever its variables were."""
OF_TWO_SIZES: Final = "0.11.2"
"""A release of the time when there were kernels for 16 and for 128 heads alone."""
_LONGEST: Final = 2000
_REPEATS: Final = re.compile(r"fp8.{0,120}(?:repe(?:at|tit)|garb(?:age|led)|nonsense|wrong)", re.IGNORECASE)
_ON: Final = frozenset({"1", "true", "True"})
_OFF: Final = frozenset({"0", "false", "False"})
_UNITS: Final = {"gfx942": 304, "gfx950": 256}
"""Compute units of MI300X and MI325X, MI350X and MI355X."""
_TOKENS_OF_A_UNIT: Final = 212
"""More tokens than that for each unit went to a kernel that wants a power of two of experts."""


def _version(case: Case) -> str:
    """Of an engine with AITER on AMD devices; "" where it is none, or its release is not named."""
    cluster = case.cluster
    of_amd = cluster is not None and cluster.device.platform is Platform.ROCM and case.checkpoint is not None
    return case.version if of_amd and case.engine.name in names.AITER_ANY_EXPERTS else ""


def _by_variable(case: Case) -> bool:
    on, mla = case.variable(names.AITER) in _ON, case.variable(names.AITER_MLA)
    return on and mla not in _OFF


def _by_block(case: Case) -> bool:
    return case.first.settings.block_size == 1 and not since(case.version, CHOSEN_BY_BLOCK)


def _configuration(case: Case, backend: str) -> Configuration | None:
    if case.checkpoint is None or case.cluster is None:
        return None
    settings = replace(case.first.settings, attention_backend=backend)
    return Configuration(case.checkpoint, case.cluster, case.engine.facts, case.version, case.first.layout, settings)


def _other_ways(case: Case, configuration: Configuration, later: str) -> str:
    """What else than AITER's MLA, or the release: fewer ranks, where the weights fit them; and before Triton's MLA had
    an FP8 cache, one that is not."""
    checkpoint, layout = configuration.checkpoint, configuration.layout
    room = configuration.device.usable_bytes * max(1, layout.pp)
    sizes = [n for n in (1, 2, 4, 8) if checkpoint.architecture.heads // n in (16, 128)]
    fitting = [n for n in sizes if checkpoint.total_bytes / n < room and n <= layout.tp]
    fp8 = case.option("--kv-cache-dtype") is not None and configuration.stored_kv.startswith("fp8")
    ways = [f"set {names.AITER_MLA}=0"]
    if fp8 and not since(configuration.version or OF_TWO_SIZES, CHOSEN_BY_BLOCK):
        ways[0] += " with --kv-cache-dtype auto, since Triton's MLA has no FP8 cache there"
    if case.engine.name == names.EXPERTS_BY_VARIABLE and _by_block(case):
        ways[0] += " without --block-size"
    ways += [f"tensor parallel {fitting[-1]}"] if fitting else []
    return ", or ".join((*ways, later))


def _on_named_devices(case: Case) -> Case:
    """Where the layout is not whole and no machine is judged, on the one kind of devices that the text names."""
    if case.cluster is not None or case.laid_out or "tp" in case.unknown:
        return case
    case.script.budget.work(len(case.script.lines), "the devices that it names")
    kinds = {each.kind for each in mentions(case.script.lines, case.script.placed_hints)}
    return replace(case, cluster=cluster_named(f"{case.first.layout.tp}x{kinds.pop()}")) if len(kinds) == 1 else case


def aiter_unasked(case: Case) -> Iterator[Remark]:
    """AITER is switched on by a variable or by the block, and its MLA of this release lacks the number of heads."""
    case = _on_named_devices(case)
    if case.engine.name != names.EXPERTS_BY_VARIABLE or not _version(case) or "tp" in case.unknown:
        return
    by_variable = _by_variable(case)
    configuration = _configuration(case, BACKEND)
    if configuration is None or case.first.settings.attention_backend is not None:
        return
    if not by_variable and not _by_block(case):
        return
    for finding in aiter_heads(configuration):
        block = case.option("--block-size")
        if by_variable:
            message = f"{names.AITER}=1 chooses AITER's MLA: {finding.message}"
            remedy = _other_ways(case, configuration, "take a later release")
            # Words that are not known may choose another backend.
            severity = Severity.ERROR if case.laid_out else Severity.WARNING
            remark = make_remark(severity, Code.CONFLICT, names.AITER, message, remedy)
            yield replace(remark, variable=names.AITER, stops=not case.laid_out)
        elif block is not None and case.laid_out:
            message = f"blocks of one token choose AITER's MLA: {finding.message}"
            edit, where = Edit(block.index, block.length, ()), "--block-size"
            code = Code.CONFLICT
            yield make_remark(Severity.ERROR, code, where, message, "leave it out", at=block.index, edits=[edit])


def aiter_block(case: Case) -> Iterator[Remark]:
    """AITER's MLA wanted blocks of one token, and Triton's refuses them."""
    version, block = _version(case), case.first.settings.block_size
    if case.engine.name != names.EXPERTS_BY_VARIABLE or not version or not case.laid_out:
        return
    backend, place = case.first.settings.attention_backend, case.option("--block-size")
    chosen = backend == BACKEND or (backend is None and _by_variable(case))
    code, where, title = Code.CONFLICT, "--block-size", case.engine.facts.title
    if chosen and block != 1 and since(version, "0.10.0") and not since(version, ANY_BLOCK):
        message = f"AITER's MLA of {title} {version} takes blocks of one token alone, and {block or 16} is asked for"
        first, length = (place.index, place.length) if place else (len(case.commands[0].argv), 0)
        edit = Edit(first, length, (where, "1"))
        severity = Severity.ERROR if version == "0.11.0" else Severity.WARNING
        remedy = f"add {where} 1, or take {ANY_BLOCK} or later"
        yield make_remark(severity, code, where, message, remedy, at=place.index if place else None, edits=[edit])
    elif backend == "TRITON_MLA" and block == 1 and place is not None and not since(version, CHOSEN_BY_BLOCK):
        message = f"Triton's MLA of {title} {version} refuses blocks of one token"
        edit = Edit(place.index, place.length, ())
        severity = Severity.ERROR if since(version, "0.11.0") else Severity.WARNING
        yield make_remark(severity, code, where, message, "leave it out", at=place.index, edits=[edit])


def aiter_experts(case: Case) -> Iterator[Remark]:
    """A prefill of many tokens for a number of experts that is not a power of two."""
    version, settings = _version(case), case.first.settings
    if (
        not version
        or case.checkpoint is None
        or case.cluster is None
        or since(version, names.AITER_ANY_EXPERTS[case.engine.name])
    ):
        return
    experts, units = case.checkpoint.architecture.routed_experts, _UNITS.get(case.cluster.device.capability or "")
    if not experts or units is None or not experts & (experts - 1):
        return
    of_sglang, most = case.engine.name == names.EXPERTS_BY_OPTION, units * _TOKENS_OF_A_UNIT
    if not of_sglang and case.variable(names.AITER) not in _ON:
        return
    flag = "--chunked-prefill-size" if of_sglang else "--max-num-batched-tokens"
    place, tokens = case.option(flag), settings.max_num_batched_tokens or 0
    if place is not None and place.value == "-1":
        tokens = settings.max_model_len or case.checkpoint.architecture.max_context
    tokens //= case.first.layout.dp if of_sglang else 1
    if place is None or tokens <= most:
        return
    message = f"{experts} experts, no power of two: with more than {most:,} tokens at once AITER of that time ends"
    severity, code = Severity.WARNING, Code.CONFLICT
    edit, remedy = Edit(place.index, place.length, (flag, "16384")), f"write {flag} 16384, or take a later release"
    yield make_remark(severity, code, flag, message, remedy, at=place.index, edits=[edit])


def aiter_of_old(case: Case) -> Iterator[Remark]:
    """A release that is not named, but surely older than AITER's kernels for 8 heads: by a variable that later ones do
    not read, or by the error in the text."""
    settings, place = case.first.settings, case.option("--kv-cache-dtype")
    if case.engine.name != names.EXPERTS_BY_VARIABLE or case.version or not case.laid_out:
        return
    configuration = _configuration(replace(case, version=OF_TWO_SIZES), BACKEND)
    of_amd = configuration is not None and configuration.platform is Platform.ROCM
    if configuration is None or not of_amd or settings.attention_backend is not None or not _is_old(case):
        return
    heads = configuration.architecture.heads // max(1, case.first.layout.tp)
    if _by_variable(case) and heads not in (16, 128):
        message = f"{heads} heads a rank: AITER's MLA of that time, before {CHOSEN_BY_BLOCK}, takes 16 or 128 alone"
        remedy = _other_ways(case, configuration, f"take {CHOSEN_BY_BLOCK} or later")
        where = names.AITER_MLA if case.variable(names.AITER_MLA) else names.AITER
        remark = make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy)
        yield replace(remark, variable=where)
    elif not _by_variable(case) and place is not None and configuration.stored_kv.startswith("fp8"):
        message = f"Triton's MLA of that time, before {CHOSEN_BY_BLOCK}, has no FP8 cache, and AITER's is switched off"
        remedy = f"write --kv-cache-dtype auto, or take {CHOSEN_BY_BLOCK} or later"
        yield make_remark(Severity.WARNING, Code.CONFLICT, "--kv-cache-dtype", message, remedy, at=place.index)


def _is_old(case: Case) -> bool:
    """Whether the command or the text is of a release before `CHOSEN_BY_BLOCK`."""
    program, model_type = case.engine.program, case.checkpoint.architecture.model_type if case.checkpoint else ""
    first = case.engine.facts.first_versions.get(model_type, "")
    case.script.budget.work(20 * len(case.commands[0].env) + len(case.script.lines), "its variables")
    for name in case.commands[0].env:
        reading = [release for release in versions(program) if name in known_environment(program, release)]
        if reading and since(reading[-1], first) and not since(reading[-1], CHOSEN_BY_BLOCK):
            return True  # what no release with the model reads is only left over
    return is_in_lines(names.AITER_OF_OLD, case.script.lines, _LONGEST)


def _by_log(case: Case) -> bool:
    """Whether a line of log in the text says that it is chosen."""
    case.script.budget.work(len(case.script.lines), "its lines")
    return is_in_lines(names.AITER_CHOSEN, case.script.lines, _LONGEST)


def aiter_whole_heads(case: Case) -> Iterator[Remark]:
    """All heads on each rank of data parallelism, which no kernel for an FP8 cache was made for."""
    place, configuration = case.option("--kv-cache-dtype"), _configuration(case, BACKEND)
    if case.engine.name != names.EXPERTS_BY_VARIABLE or configuration is None or place is None or not case.laid_out:
        return
    heads, layout = configuration.architecture.heads // max(1, case.first.layout.tp), case.first.layout
    of_amd, fp8 = configuration.platform is Platform.ROCM, configuration.stored_kv.startswith("fp8")
    if not (of_amd and fp8 and layout.dp > 1) or heads not in (32, 64) or case.version:
        return
    own = case.first.settings.attention_backend
    plugin = any(name.startswith(names.OF_AITER) for name in case.commands[0].env) and not case.variable(names.AITER)
    if own not in (None, BACKEND) or not (own == BACKEND or plugin or _by_variable(case) or _by_log(case)):
        return
    message = (
        f"each of {layout.dp} ranks keeps {heads} heads: by a report of 2026-05 AITER has no kernel for them with an "
        "FP8 cache outside of its persistent ones, for 16 and 128 it has"
    )
    tp = max((n for n in (1, 2, 4, 8) if configuration.architecture.heads // n in (16, 128)), default=8)
    flag = case.engine.command_line.options["dp"]
    given = case.option(flag)
    remedy = f"take tensor parallel {max(tp, 8)} in place of {flag}, or leave --kv-cache-dtype out"
    yield make_remark(Severity.WARNING, Code.CONFLICT, flag, message, remedy, at=given.index if given else None)


def aiter_small_heads(case: Case) -> Iterator[Remark]:
    """Kernels for fewer than 16 heads that had no FP8 cache: of one series, and for numbers that do not divide 16."""
    version, settings, place = case.version, case.first.settings, case.option("--kv-cache-dtype")
    configuration = _configuration(case, BACKEND)
    if case.engine.name != names.EXPERTS_BY_VARIABLE or configuration is None or place is None or not case.laid_out:
        return
    unnamed = settings.attention_backend is None
    chosen = settings.attention_backend == BACKEND or (unnamed and (_by_variable(case) or _by_log(case)))
    of_amd, fp8 = configuration.platform is Platform.ROCM, configuration.stored_kv.startswith("fp8")
    heads = configuration.architecture.heads // max(1, case.first.layout.tp)
    if not (chosen and of_amd and fp8) or not 0 < heads < 16 or (version and not since(version, GLUON_HEADS)):
        return
    uneven = bool(16 % heads)
    if not uneven and (not version or since(version, GLUON_BY_DEVICE)):
        return
    if uneven and version and since(version, GLUON_BY_DEVICE):
        return
    what = f"{heads} heads a rank with an FP8 cache"
    message = (
        f"{what}: before {GLUON_BY_DEVICE} AITER decodes them wrongly: answers repeat"
        if uneven
        else (f"{what}: that kernel of AITER serves one sequence at once")
    )
    # Judged by the newest release, unless the text tells of what came before.
    told = version or is_in_lines(_REPEATS, case.script.lines, _LONGEST)
    severity, remedy = Severity.WARNING if told else Severity.NOTE, f"leave it out, or take {GLUON_BY_DEVICE} or later"
    edits = [Edit(place.index, place.length, ())] if told else []
    yield make_remark(severity, Code.CONFLICT, "--kv-cache-dtype", message, remedy, at=place.index, edits=edits)


AITER_CHECKS: Final = (
    aiter_unasked,
    aiter_block,
    aiter_experts,
    aiter_small_heads,
    aiter_of_old,
    aiter_whole_heads,
)
