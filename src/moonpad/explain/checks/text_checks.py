"""The checks that look at the lines of the text, beside the words of the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.explain.checks.block_lines import lost_in_block
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.clone_steps import beside_the_clone
from moonpad.explain.checks.compose_references import compose_references
from moonpad.explain.checks.dynamo_frontends import path_of_frontend
from moonpad.explain.checks.json_slips import json_slips
from moonpad.explain.checks.manifest_variables import variable_not_set
from moonpad.explain.checks.minimum_release import minimum_release
from moonpad.explain.checks.mounted_places import cache_not_mounted, model_not_mounted, undeclared_volume
from moonpad.explain.checks.peer_checks import headless_ranks, mode_in_comment, target_not_built, worker_on_loopback
from moonpad.explain.checks.pod_ports import probed_port, published_port, service_port, variable_of_service
from moonpad.explain.checks.probe_paths import probe_path
from moonpad.explain.checks.probe_patience import probe_patience
from moonpad.explain.checks.rank_checks import unlike_ranks
from moonpad.explain.checks.request_names import request_names
from moonpad.explain.checks.request_slips import request_port, thinking_switch
from moonpad.explain.checks.script_slips import (
    brace_in_default,
    call_sets_another,
    conflict_markers,
    export_alone,
    export_swallows,
    only_in_comment,
    option_as_argument,
    spaced_sign,
    used_before,
)
from moonpad.explain.checks.setting_slips import (
    colon_for_blank,
    file_for_folder,
    number_as_variable,
    switch_as_text,
    variable_for_option,
)
from moonpad.explain.checks.shell_lists import words_behind_one
from moonpad.explain.checks.two_caches import cache_of_download, folder_of_download
from moonpad.explain.checks.variable_slips import (
    env_file_comment,
    interface_caret,
    not_exported,
    not_handed_on,
    slurm_header,
)
from moonpad.explain.checks.written_files import written_under_another_name
from moonpad.explain.documents.spoken_devices import fewer_ranks
from moonpad.explain.results import Remark
from moonpad.explain.shell.shell_slips import (
    broken_line,
    broken_value,
    ended_by_comment,
    lost_behind_install,
    lost_options,
    redirected_install,
)

TEXT_CHECKS: Final[tuple[Callable[[Case], Iterator[Remark]], ...]] = (
    request_names,
    request_port,
    thinking_switch,
    redirected_install,
    broken_line,
    broken_value,
    lost_options,
    lost_behind_install,
    lost_in_block,
    ended_by_comment,
    not_exported,
    env_file_comment,
    not_handed_on,
    slurm_header,
    interface_caret,
    used_before,
    call_sets_another,
    option_as_argument,
    export_alone,
    export_swallows,
    spaced_sign,
    only_in_comment,
    brace_in_default,
    conflict_markers,
    written_under_another_name,
    path_of_frontend,
    words_behind_one,
    json_slips,
    beside_the_clone,
    cache_of_download,
    folder_of_download,
    colon_for_blank,
    variable_for_option,
    switch_as_text,
    number_as_variable,
    file_for_folder,
    headless_ranks,
    unlike_ranks,
    variable_not_set,
    compose_references,
    probe_path,
    minimum_release,
    model_not_mounted,
    cache_not_mounted,
    undeclared_volume,
    probe_patience,
    probed_port,
    published_port,
    service_port,
    variable_of_service,
    worker_on_loopback,
    mode_in_comment,
    target_not_built,
    fewer_ranks,
)
