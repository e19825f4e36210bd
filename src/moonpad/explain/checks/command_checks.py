"""What a command line says against itself, its model or its release. The evidence is in command_checks.toml.

What concerns a layout or settings is a rule of plan/rules: plan, up and render judge by those too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.engines import foreign_names as names
from moonpad.engines.argument_values import MOST
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Engine
from moonpad.engines.value_checks import unresolved
from moonpad.engines.vllm_ascend_rules import ascend_draft_dcp
from moonpad.explain.checks.aiter_checks import AITER_CHECKS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.data_parallel import data_parallel
from moonpad.explain.checks.device_formats import FORMAT_CHECKS
from moonpad.explain.checks.draft_checks import draft_family, draft_of_vocabulary, tokens_of_tree
from moonpad.explain.checks.expert_backends import EXPERT_CHECKS
from moonpad.explain.checks.gguf_checks import GGUF_CHECKS
from moonpad.explain.checks.gguf_sizes import SIZE_CHECKS
from moonpad.explain.checks.head_address import HEAD_CHECKS
from moonpad.explain.checks.host_expert_checks import HOST_EXPERT_CHECKS
from moonpad.explain.checks.known_reports import reported
from moonpad.explain.checks.layout_checks import heads_of_others, model_slices
from moonpad.explain.checks.local_checks import chat_template, expert_method
from moonpad.explain.checks.machine_checks import MACHINE_CHECKS
from moonpad.explain.checks.offload_checks import cpu_offload
from moonpad.explain.checks.option_file_keys import OPTION_FILE_KEY_CHECKS
from moonpad.explain.checks.option_file_values import OPTION_FILE_CHECKS
from moonpad.explain.checks.option_forms import FORM_CHECKS
from moonpad.explain.checks.other_families import in_full, is_other
from moonpad.explain.checks.own_code import OWN_CODE_CHECKS
from moonpad.explain.checks.parser_families import parser_family
from moonpad.explain.checks.parser_releases import PARSER_CHECKS
from moonpad.explain.checks.placeholders import stand_in_remarks
from moonpad.explain.checks.preset_sections import PRESET_CHECKS
from moonpad.explain.checks.quantization_checks import quantization_mismatch, weights_for_ascend
from moonpad.explain.checks.quantization_flags import quantization_flag
from moonpad.explain.checks.ranks_of_others import RANKS_OF_OTHERS
from moonpad.explain.checks.reach_checks import quantization_name, unreachable
from moonpad.explain.checks.refused_sizes import copies_of_experts, experts_on_all_ranks, pages_of_chunk
from moonpad.explain.checks.registered_names import registered_name
from moonpad.explain.checks.repository_names import (
    REPOSITORY,
    owner_left_out,
    remark_in_name,
    repository,
    repository_owner,
)
from moonpad.explain.checks.serving_checks import (
    cache_of_workers,
    no_such_module,
    plain_server,
    prefill_context,
    step_budget,
)
from moonpad.explain.checks.serving_flags import of_family, thinks
from moonpad.explain.checks.shared_columns import SHARED_CHECKS
from moonpad.explain.checks.shared_memory import SHARED_MEMORY_CHECKS, image_without_ray
from moonpad.explain.checks.signs_in_text import TEXT_SIGNS
from moonpad.explain.checks.size_checks import pool_of_log, prediction_layer, static_fraction, weights_of_others
from moonpad.explain.checks.sizes_of_others import CHECKS_OF_OTHERS
from moonpad.explain.checks.slices_of_others import SLICE_CHECKS
from moonpad.explain.checks.start_checks import colon_in_name, dense_size, ranks_of_nodes
from moonpad.explain.checks.start_refusals import refused
from moonpad.explain.checks.text_checks import TEXT_CHECKS
from moonpad.explain.checks.transformers_checks import transformers_of_text
from moonpad.explain.checks.weights_file import WEIGHTS_CHECKS
from moonpad.explain.checks.whole_machine import best_layout, other_release
from moonpad.explain.counted_memory import counted_devices, spoken_memory, spoken_precision, stated_devices
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.shell.stand_in import stand_in
from moonpad.plan.rules.formats import model_version
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB
from moonpad.values.versions import since

INT4_OVER_DEEPEP: Final = "0.12.0"
"""The first vLLM whose INT4 experts (compressed-tensors) take tokens from DeepEP."""
_FAMILY: Final = re.compile(r"kimi[-_ ]?k?(\d(?:\.\d)?)(?![\d.])", re.IGNORECASE)
_WITHOUT_THOUGHTS: Final = re.compile(r"deepseek-v3(?:-0324)?(?:-base)?$", re.IGNORECASE)
_HERE: Final = ("127.0.0.1", "localhost", "0.0.0.0")  # noqa: S104 - what is written, not what is bound
_LAUNCHERS: Final = frozenset({"srun", "mpirun", "ssh", "pdsh", "clush"})
_OTHER_RANKS: Final = re.compile(r"node[-_ ]?rank[ =:]{0,3}(?:[1-9]|\$|<|\{)|\brank[ =]?[1-9]\b", re.IGNORECASE)


def check_id(check: Callable[..., object]) -> str:
    """`served_name` → `served-name`, its row of evidence."""
    return check.__name__.replace("_", "-")


def command_checks(case: Case) -> Iterator[Remark]:
    """What all checks find."""
    case.script.budget.work(
        6 * len(CHECKS) + sum(len(command.argv) for command in case.commands), "its engine commands"
    )
    for check in CHECKS:
        yield from check(case)


def no_layout(remarks: Iterable[Remark]) -> str:
    """Why nothing can be laid out on the devices; "" where it can."""
    findings = (remark.finding for remark in remarks)
    wrong = (finding for finding in findings if finding.severity is Severity.ERROR)
    return next((finding.message for finding in wrong if finding.code is Code.ILLEGAL_LAYOUT), "")


# --- the model ---


def model_release(case: Case) -> Iterator[Remark]:
    """Where the devices are known, the rule of this name says it."""
    if case.version and (configuration := stand_in(case)) is not None:
        for finding in model_version(configuration):
            yield Remark(replace(finding, severity=Severity.WARNING), None)


def draft_dcp(case: Case) -> Iterator[Remark]:
    """The same of a rule of its engine alone, where the command is certain about its layout."""
    if case.engine.name == names.CHECKS_DRAFTS and case.laid_out and (configuration := stand_in(case)) is not None:
        for finding in ascend_draft_dcp(configuration):
            flag = case.engine.command_line.options["dcp"]
            place = case.option(flag)
            yield Remark(replace(finding, where=flag), at=place.index if place else None)


def served_name(case: Case) -> Iterator[Remark]:
    """Clients ask for another model than the one that answers."""
    served, checkpoint = case.first.served_name, case.checkpoint
    if checkpoint is None or not served or case.option("--served-model-name", "--alias") is None:
        return
    asked, is_it = _FAMILY.search(served), _FAMILY.search(checkpoint.name)
    if asked and is_it and asked[1] != is_it[1] and not is_it[1].startswith(asked[1]):
        place = case.option("--served-model-name", "--alias")
        message = f"clients will ask for {shortened(served)}, and {checkpoint.name} answers"
        remedy = "serve the model of that name, or rename it"
        at = place.index if place else None
        yield make_remark(Severity.WARNING, Code.MODEL_NAME, "--served-model-name", message, remedy, at=at)


def no_thoughts(case: Case) -> Iterator[Remark]:
    """A parser of reasoning for a model that has none."""
    name = (case.checkpoint.name if case.checkpoint else case.first.model).rstrip("/").rpartition("/")[2]
    flag = case.engine.command_line.reasoning_parser
    place = case.option(flag) if flag else None
    if place is None or thinks(name) or not _WITHOUT_THOUGHTS.match(name):
        return
    message = (
        f"{shortened(name)} does not think: the parser waits for the end of thoughts that never come, so answers may "
        "arrive as reasoning, and some releases refuse the start"
    )
    edit = Edit(place.index, place.length, ())
    code = Code.CONFLICT
    yield make_remark(Severity.WARNING, code, flag, message, "leave it out", at=place.index, edits=[edit])


def remote_code(case: Case) -> Iterator[Remark]:
    """Checkpoints of the family bring Python code of their own: the tokenizer, of some the configuration too.

    With releases that know none of it the start fails; later ones load a part of the family by classes of their own.
    """
    option = names.TRUST_OPTION.get(case.base)
    name = case.checkpoint.name if case.checkpoint else case.first.model
    if option is None or case.first.serving.trust_remote_code or case.open_ended or "tiny" in name:
        return
    if not case.laid_out and not all(word.text for word in case.commands[0].argv):
        return  # a script that is told more when it is called
    if case.checkpoint is None and not (REPOSITORY.fullmatch(name) and of_family(name)):
        return
    if is_other(case.checkpoint):
        return
    title, name = case.engine.facts.title, shortened(name)
    first = names.KNOWS_FAMILY.get(case.engine.name, "")
    written = case.first.model or (name if is_fragment(case.commands[0]) else "")
    named = _FAMILY.search(written) or "kimi-linear" in written.casefold()
    own = case.option("--tokenizer", "--tokenizer-path", "--skip-tokenizer-init", "--tokenizer-mode")
    known = case.checkpoint is not None and case.version and first
    if known and not since(case.version, first) and named and own is None:
        message = f"{name} brings a tokenizer in Python, and {title} {case.version} ends at its start without it"
        for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
            if not reading.serving.trust_remote_code:
                edits = [Edit(len(command.argv), 0, (option,))]
                severity = Severity.NOTE if is_fragment(command) else Severity.ERROR  # a list need not be whole
                if severity is Severity.ERROR and not _serves(case):
                    severity = Severity.WARNING  # a build of its own, whatever it calls itself
                remark = make_remark(severity, Code.MISSING_FLAG, option, message, f"add {option}", edits=edits)
                yield replace(remark, command=number)
        return
    message = f"{name} brings a tokenizer in Python, which some releases load only with it"
    if not is_fragment(case.commands[0]):
        yield make_remark(Severity.NOTE, Code.MISSING_FLAG, option, message, f"add {option}")


def _serves(case: Case) -> bool:
    """Whether the release of that number knows the model at all."""
    model_type = case.checkpoint.architecture.model_type if case.checkpoint else ""
    first = case.engine.facts.first_versions.get(model_type, "")
    return not first or since(case.version, first)


def int4_deepep(case: Case) -> Iterator[Remark]:
    checkpoint = case.checkpoint
    quantization = checkpoint.quantization if checkpoint else None
    if checkpoint is None or quantization is None or quantization.scheme != "int4":
        return
    if quantization.method not in ("compressed-tensors", ""):
        return
    why = f"{checkpoint.name} has INT4 experts (compressed-tensors, Marlin)"
    if case.base == names.EXPERTS_BY_OPTION and (place := case.option("--moe-a2a-backend")) and place.value == "deepep":
        message = f"{why}, which do not take DeepEP's tokens: reports end in an illegal memory access"
        edit = Edit(place.index, place.length, ())
        remedy = "leave it out, or serve FP8 or NVFP4 weights"
        where = "--moe-a2a-backend"
        yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy, at=place.index, edits=[edit])
    elif case.base == names.EXPERTS_BY_VARIABLE and case.version and not since(case.version, INT4_OVER_DEEPEP):
        place, variable = case.option("--all2all-backend"), names.EXPERTS_VARIABLE
        by_option = case.text("--all2all-backend").startswith("deepep")
        if not by_option and not case.variable(variable).startswith("deepep"):
            return
        where = "--all2all-backend" if by_option else variable
        message = f"{why}, which take DeepEP's tokens from {names.EXPERTS_TITLE} {INT4_OVER_DEEPEP} on"
        remedy = f"take {INT4_OVER_DEEPEP} or later, or the default all-to-all"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy)
        yield replace(remark, at=place.index) if by_option and place else replace(remark, variable=variable)


# --- layout and nodes ---


def one_device(case: Case) -> Iterator[Remark]:
    """Too few devices for the weights, whatever their kind."""
    reading, checkpoint, facts = case.first, case.checkpoint, case.engine.facts
    ranks = reading.layout.world_size
    settings = reading.settings
    helped = facts.host_experts or reading.left_to_engine or settings.device_layers is not None
    if checkpoint is None or case.cluster is not None or not case.whole or reading.takes_all_devices or helped:
        return
    if is_fragment(case.commands[0]):
        return
    flag = case.engine.command_line.options.get("tp")
    largest = max(
        row.device.usable_bytes for row in hardware().values() if row.device and row.device.platform in facts.platforms
    )
    largest += round(min(settings.cpu_offload_gib or 0, MOST) * GIB)
    share = checkpoint.total_bytes / ranks
    if flag is None or share <= largest:
        return
    given, container = case.option(flag), case.commands[0].container
    granted = container.devices if container is not None else None
    each = "one device gets all" if ranks == 1 else f"each of {ranks} devices gets at least"
    known = granted is not None and granted * case.commands[0].pods <= ranks
    why = "none is given, so " if given is None and ranks == 1 and not known else ""
    message = f"{why}{each} {share / GIB:,.0f} GiB of weights; the largest device known holds {largest / GIB:,.0f} GiB"
    devices = " and give the container as many" if known else ", for as many devices"
    remedy = f"{'write' if given else 'add'} {flag} {max(8, 2 * ranks)} or more{devices}"
    # A wrapper or an image may supply what is missing here, so that alone is not an error.
    sure = (given or known) and (not is_other(checkpoint) or in_full(checkpoint.name, reading.model))
    severity = Severity.ERROR if sure else Severity.WARNING
    yield make_remark(severity, Code.DOES_NOT_FIT, flag, message, remedy, at=given.index if given else None)


def other_nodes(case: Case) -> Iterator[Remark]:
    """Rank 0 of several, the commands of the others missing, or the address where they meet."""
    node, command = case.first.node, case.commands[0]
    if (
        node.nodes is None
        or node.nodes < 2
        or command.pods > 1
        or any(wrapper.kind in _LAUNCHERS for wrapper in command.wrappers)
    ):
        return
    rank = case.option("--node-rank", "-r")
    is_variable = rank is not None and isinstance(rank.value, str) and unresolved(rank.value)
    at = rank.index if rank else None
    if len(case.readings) == 1 and not is_variable and node.node_rank in (None, 0):
        texts = [text[:500] for text in case.script.lines]
        case.script.budget.work(len(texts), "its engine commands")
        if not any(_OTHER_RANKS.search(text) for text in texts):
            message = f"--nnodes {node.nodes}, and the only command is that of rank 0: it waits for the others"
            remedy = f"start the same with --node-rank 1 to {node.nodes - 1} on the other machines"
            if case.engine.command_line.nodes is not None:
                remedy += f", and {case.engine.command_line.nodes.headless}"
            yield make_remark(Severity.WARNING, Code.MISSING_FLAG, "--node-rank", message, remedy, at=at)
    if case.base == names.EXPERTS_BY_VARIABLE and case.option("--data-parallel-address") is None:
        place = case.option("--master-addr")
        given = case.text("--master-addr")
        if place is None or given in _HERE:
            message = f"{given or 'its default 127.0.0.1'} is this machine: rank 1 on another one does not reach it"
            at = place.index if place else None
            remedy = "add --master-addr and the address of node 0, on each node"
            yield make_remark(Severity.WARNING, Code.MISSING_FLAG, "--master-addr", message, remedy, at=at)


# --- the words themselves ---


def twice(case: Case) -> Iterator[Remark]:
    """An option that is given twice: the last one counts."""
    for number, reading in enumerate(case.readings):
        seen: dict[str, Occurrence] = {}
        for place in reading.parsed.occurrences:
            if place.flag is None or "." in place.written or isinstance(place.value, tuple):
                continue
            before = seen.get(place.flag)
            seen[place.flag] = place
            if before is None or not _single(case.engine, place):
                continue
            same = before.value == place.value
            message = "given twice" if same else f"given twice, {before.value} and {place.value}: the last one counts"
            edit = Edit(before.index, before.length, ())
            severity = Severity.NOTE if same else Severity.WARNING
            remark = make_remark(
                severity, Code.REDUNDANT_FLAG, place.written, message, "leave one out", at=before.index, edits=[edit]
            )
            yield replace(remark, command=number)


def _single(engine: Engine, place: Occurrence) -> bool:
    """Whether each further one replaces the one before. llama.cpp gathers several of some."""
    return engine.facts.name in names.CHECKED


def stand_ins(case: Case) -> Iterator[Remark]:
    """Words that a person has to replace before the deployment can start."""
    yield from stand_in_remarks(case.commands, case.script, [reading.model for reading in case.readings])


CHECKS: Final[tuple[Callable[[Case], Iterator[Remark]], ...]] = (
    model_release,
    draft_dcp,
    *PARSER_CHECKS,
    parser_family,
    repository,
    repository_owner,
    owner_left_out,
    remark_in_name,
    served_name,
    no_thoughts,
    remote_code,
    int4_deepep,
    quantization_mismatch,
    quantization_flag,
    weights_for_ascend,
    expert_method,
    chat_template,
    data_parallel,
    dense_size,
    colon_in_name,
    ranks_of_nodes,
    pages_of_chunk,
    experts_on_all_ranks,
    copies_of_experts,
    cpu_offload,
    one_device,
    model_slices,
    heads_of_others,
    *CHECKS_OF_OTHERS,
    *SHARED_CHECKS,
    *RANKS_OF_OTHERS,
    *OWN_CODE_CHECKS,
    *SLICE_CHECKS,
    *FORMAT_CHECKS,
    *EXPERT_CHECKS,
    *TEXT_SIGNS,
    transformers_of_text,
    weights_of_others,
    static_fraction,
    pool_of_log,
    prediction_layer,
    counted_devices,
    spoken_memory,
    stated_devices,
    spoken_precision,
    best_layout,
    other_release,
    no_such_module,
    plain_server,
    step_budget,
    draft_family,
    draft_of_vocabulary,
    tokens_of_tree,
    prefill_context,
    cache_of_workers,
    other_nodes,
    *AITER_CHECKS,
    twice,
    stand_ins,
    *TEXT_CHECKS,
    *GGUF_CHECKS,
    *SIZE_CHECKS,
    *OPTION_FILE_CHECKS,
    *OPTION_FILE_KEY_CHECKS,
    *PRESET_CHECKS,
    *FORM_CHECKS,
    *WEIGHTS_CHECKS,
    *HEAD_CHECKS,
    *HOST_EXPERT_CHECKS,
    *MACHINE_CHECKS,
    unreachable,
    quantization_name,
    registered_name,
    refused,
    *SHARED_MEMORY_CHECKS,
    image_without_ray,
    reported,
)
ELSEWHERE: Final = ("underscores", "json-quotes")
"""Ids of what is found where words are read, and has its evidence with these."""
