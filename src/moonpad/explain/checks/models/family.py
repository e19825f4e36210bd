"""The checks of the model: its name, weights, sizes, parsers, drafts."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.models.bare_names import bare_name
from moonpad.explain.checks.models.draft_checks import (
    draft_family,
    draft_of_vocabulary,
    draft_only_named,
    tokens_of_tree,
)
from moonpad.explain.checks.models.draft_names import draft_as_model, draft_at_address, draft_is_method
from moonpad.explain.checks.models.draft_targets import (
    draft_not_counted,
    draft_of_other_model,
    vocabulary_of_draft,
)
from moonpad.explain.checks.models.failing_tools import calls_that_fail
from moonpad.explain.checks.models.family_checks import MODEL_CHECKS
from moonpad.explain.checks.models.foreign_templates import foreign_template
from moonpad.explain.checks.models.gguf_checks import GGUF_CHECKS
from moonpad.explain.checks.models.gguf_machines import MACHINE_CHECKS
from moonpad.explain.checks.models.gguf_parts import digits_of_part, parts_of_set
from moonpad.explain.checks.models.gguf_sizes import SIZE_CHECKS
from moonpad.explain.checks.models.guarded_files import guarded_file
from moonpad.explain.checks.models.heading_models import kind_of_heading, model_of_heading
from moonpad.explain.checks.models.hybrid_parsers import parser_of_hybrid
from moonpad.explain.checks.models.layout_checks import heads_of_others
from moonpad.explain.checks.models.local_checks import chat_template, expert_method
from moonpad.explain.checks.models.model_addresses import page_as_model, path_of_host
from moonpad.explain.checks.models.model_overrides import needless_stretching, types_of_overrides
from moonpad.explain.checks.models.other_hub import hub_of_repository
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
    owner_doubled,
    owner_left_out,
    remark_in_name,
    repository,
    repository_of_draft,
    repository_owner,
)
from moonpad.explain.checks.models.shared_columns import SHARED_CHECKS
from moonpad.explain.checks.models.signs_in_text import TEXT_SIGNS
from moonpad.explain.checks.models.single_files import file_as_model, range_of_devices
from moonpad.explain.checks.models.size_checks import pool_of_log, prediction_layer, static_fraction
from moonpad.explain.checks.models.sizes_of_others import CHECKS_OF_OTHERS
from moonpad.explain.checks.models.slices_of_others import SLICE_CHECKS
from moonpad.explain.checks.models.start_checks import colon_in_name, dense_size, model_in_file, ranks_of_nodes
from moonpad.explain.checks.models.weights_file import WEIGHTS_CHECKS

FAMILY: Final[tuple[Check, ...]] = (
    *MODEL_CHECKS,
    parser_family,
    parser_of_hybrid,
    calls_that_fail,
    repository,
    hub_of_repository,
    repository_of_draft,
    owner_doubled,
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
    foreign_template,
    dense_size,
    colon_in_name,
    ranks_of_nodes,
    pages_of_chunk,
    experts_on_all_ranks,
    copies_of_experts,
    heads_of_others,
    *CHECKS_OF_OTHERS,
    *SHARED_CHECKS,
    *RANKS_OF_OTHERS,
    *OTHER_TOKENIZERS,
    *OWN_CODE_CHECKS,
    *SLICE_CHECKS,
    *TEXT_SIGNS,
    static_fraction,
    pool_of_log,
    prediction_layer,
    draft_family,
    draft_only_named,
    draft_of_vocabulary,
    draft_of_other_model,
    draft_not_counted,
    vocabulary_of_draft,
    types_of_overrides,
    needless_stretching,
    tokens_of_tree,
    page_as_model,
    path_of_host,
    bare_name,
    model_of_heading,
    kind_of_heading,
    file_as_model,
    range_of_devices,
    *GGUF_CHECKS,
    *MACHINE_CHECKS,
    digits_of_part,
    parts_of_set,
    guarded_file,
    *SIZE_CHECKS,
    *WEIGHTS_CHECKS,
    model_in_file,
    draft_is_method,
    draft_at_address,
    draft_as_model,
)
