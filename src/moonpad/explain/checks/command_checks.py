"""What a command line says against itself, its model or its release. The evidence is in command_checks.toml.

What concerns a layout or settings is a rule of plan/rules: plan, up and render judge by those too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from moonpad.explain.builds import of_own_variables
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clients.request_checks import REQUEST_CHECKS
from moonpad.explain.checks.dynamo.transceiver_files import transceiver_of_pool
from moonpad.explain.checks.installs.arch_of_name import arch_of_name
from moonpad.explain.checks.machine_checks import MACHINE_CHECKS
from moonpad.explain.checks.memory.any_devices import any_devices
from moonpad.explain.checks.memory.device_formats import FORMAT_CHECKS
from moonpad.explain.checks.memory.host_expert_checks import HOST_EXPERT_CHECKS
from moonpad.explain.checks.memory.offered_machines import offered_machine
from moonpad.explain.checks.memory.offload_checks import cpu_offload
from moonpad.explain.checks.memory.room_of_others import cache_of_others, weights_of_others, whole_before_conversion
from moonpad.explain.checks.memory.serving_checks import (
    cache_of_workers,
    no_such_module,
    plain_server,
    prefill_context,
    step_budget,
)
from moonpad.explain.checks.memory.shared_memory import SHARED_MEMORY_CHECKS, image_without_ray
from moonpad.explain.checks.memory.told_blocks import told_blocks
from moonpad.explain.checks.memory.unified_memory import unified_memory
from moonpad.explain.checks.memory.whole_command import WHOLE_COMMAND_CHECKS
from moonpad.explain.checks.memory.whole_machine import best_layout, other_release
from moonpad.explain.checks.models.draft_checks import draft_family, draft_of_vocabulary, tokens_of_tree
from moonpad.explain.checks.models.draft_targets import draft_of_other_model, vocabulary_of_draft
from moonpad.explain.checks.models.family_checks import MODEL_CHECKS
from moonpad.explain.checks.models.gguf_checks import GGUF_CHECKS
from moonpad.explain.checks.models.gguf_parts import parts_of_set
from moonpad.explain.checks.models.gguf_sizes import SIZE_CHECKS
from moonpad.explain.checks.models.layout_checks import heads_of_others
from moonpad.explain.checks.models.local_checks import chat_template, expert_method
from moonpad.explain.checks.models.model_overrides import types_of_overrides
from moonpad.explain.checks.models.other_tokenizers import OTHER_TOKENIZERS
from moonpad.explain.checks.models.own_code import OWN_CODE_CHECKS
from moonpad.explain.checks.models.parser_families import parser_family
from moonpad.explain.checks.models.quantization_checks import (
    method_of_plain_weights,
    quantization_mismatch,
    weights_for_ascend,
)
from moonpad.explain.checks.models.quantization_flags import quantization_flag, redundant_quantization
from moonpad.explain.checks.models.ranks_of_others import RANKS_OF_OTHERS
from moonpad.explain.checks.models.refused_sizes import copies_of_experts, experts_on_all_ranks, pages_of_chunk
from moonpad.explain.checks.models.repository_names import (
    owner_left_out,
    remark_in_name,
    repository,
    repository_of_draft,
    repository_owner,
)
from moonpad.explain.checks.models.shared_columns import SHARED_CHECKS
from moonpad.explain.checks.models.signs_in_text import TEXT_SIGNS
from moonpad.explain.checks.models.size_checks import pool_of_log, prediction_layer, static_fraction
from moonpad.explain.checks.models.sizes_of_others import CHECKS_OF_OTHERS
from moonpad.explain.checks.models.slices_of_others import SLICE_CHECKS
from moonpad.explain.checks.models.start_checks import colon_in_name, dense_size, ranks_of_nodes
from moonpad.explain.checks.models.weights_file import WEIGHTS_CHECKS
from moonpad.explain.checks.nodes.data_parallel import data_parallel
from moonpad.explain.checks.nodes.head_address import HEAD_CHECKS
from moonpad.explain.checks.nodes.reach_checks import loopback_in_container, quantization_name, unreachable
from moonpad.explain.checks.options.file_options import FILE_OPTIONS
from moonpad.explain.checks.options.glued_options import GLUED_CHECKS
from moonpad.explain.checks.options.option_file_keys import OPTION_FILE_KEY_CHECKS
from moonpad.explain.checks.options.option_file_kinds import OPTION_FILE_KIND_CHECKS
from moonpad.explain.checks.options.option_file_values import OPTION_FILE_CHECKS
from moonpad.explain.checks.options.option_forms import FORM_CHECKS
from moonpad.explain.checks.options.preset_sections import PRESET_CHECKS
from moonpad.explain.checks.pools.lmcache_settings import LMCACHE_CHECKS
from moonpad.explain.checks.releases.aiter_checks import AITER_CHECKS
from moonpad.explain.checks.releases.branch_options import branch_options
from moonpad.explain.checks.releases.expert_backends import EXPERT_CHECKS
from moonpad.explain.checks.releases.known_reports import reported
from moonpad.explain.checks.releases.mended_later import mended_later
from moonpad.explain.checks.releases.model_features import feature_of_class
from moonpad.explain.checks.releases.parser_releases import PARSER_CHECKS
from moonpad.explain.checks.releases.registered_names import registered_name
from moonpad.explain.checks.releases.start_refusals import refused
from moonpad.explain.checks.releases.transformers_checks import transformers_of_text
from moonpad.explain.checks.text_checks import TEXT_CHECKS
from moonpad.explain.counted_memory import counted_devices, spoken_memory, spoken_precision, stated_devices
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace


def check_id(check: Callable[..., object]) -> str:
    """`served_name` → `served-name`, its row of evidence."""
    return check.__name__.replace("_", "-")


def command_checks(case: Case) -> Iterator[Remark]:
    """What all checks find."""
    own = sum(len(command.argv) for command in case.commands)
    case.script.budget.work(6 * len(CHECKS) + own + 8 * len(case.script.commands), "its engine commands")
    for check in CHECKS:
        for remark in check(case):
            yield replace(remark, finding=of_own_variables(remark.finding, case.commands[remark.command or 0]))


def no_layout(remarks: Iterable[Remark]) -> str:
    """Why nothing can be laid out on the devices; "" where it can."""
    findings = (remark.finding for remark in remarks)
    wrong = (finding for finding in findings if finding.severity is Severity.ERROR)
    return next((finding.message for finding in wrong if finding.code is Code.ILLEGAL_LAYOUT), "")


CHECKS: Final[tuple[Callable[[Case], Iterator[Remark]], ...]] = (
    *MODEL_CHECKS,
    *PARSER_CHECKS,
    parser_family,
    repository,
    repository_of_draft,
    repository_owner,
    owner_left_out,
    remark_in_name,
    quantization_mismatch,
    quantization_flag,
    redundant_quantization,
    weights_for_ascend,
    method_of_plain_weights,
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
    any_devices,
    heads_of_others,
    *CHECKS_OF_OTHERS,
    *SHARED_CHECKS,
    *RANKS_OF_OTHERS,
    *OTHER_TOKENIZERS,
    *OWN_CODE_CHECKS,
    *SLICE_CHECKS,
    *FORMAT_CHECKS,
    *EXPERT_CHECKS,
    *TEXT_SIGNS,
    transformers_of_text,
    weights_of_others,
    cache_of_others,
    whole_before_conversion,
    static_fraction,
    pool_of_log,
    prediction_layer,
    counted_devices,
    spoken_memory,
    stated_devices,
    spoken_precision,
    best_layout,
    other_release,
    offered_machine,
    unified_memory,
    told_blocks,
    no_such_module,
    plain_server,
    step_budget,
    draft_family,
    draft_of_vocabulary,
    draft_of_other_model,
    vocabulary_of_draft,
    types_of_overrides,
    tokens_of_tree,
    prefill_context,
    cache_of_workers,
    *AITER_CHECKS,
    *WHOLE_COMMAND_CHECKS,
    *TEXT_CHECKS,
    *REQUEST_CHECKS,
    *GGUF_CHECKS,
    parts_of_set,
    *SIZE_CHECKS,
    *OPTION_FILE_CHECKS,
    *FILE_OPTIONS,
    transceiver_of_pool,
    *LMCACHE_CHECKS,
    *OPTION_FILE_KEY_CHECKS,
    *OPTION_FILE_KIND_CHECKS,
    *PRESET_CHECKS,
    *FORM_CHECKS,
    *GLUED_CHECKS,
    *WEIGHTS_CHECKS,
    *HEAD_CHECKS,
    *HOST_EXPERT_CHECKS,
    *MACHINE_CHECKS,
    unreachable,
    loopback_in_container,
    quantization_name,
    registered_name,
    refused,
    feature_of_class,
    *SHARED_MEMORY_CHECKS,
    image_without_ray,
    reported,
    mended_later,
    branch_options,
    arch_of_name,
)
ELSEWHERE: Final = ("underscores", "json-quotes", "file-of-pools", "router-addresses")
"""Ids of what is found where words are read, and has its evidence with these."""
