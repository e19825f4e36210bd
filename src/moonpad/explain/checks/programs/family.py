"""The checks of what a program in Python does around the engine that it makes or starts."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.programs.engine_arguments import (
    argument_of_other_library,
    copies_in_one_process,
    few_tokens,
    messages_for_prompts,
    sampling_of_other_library,
)
from moonpad.explain.checks.programs.given_devices import (
    devices_of_docker_call,
    devices_of_service,
    model_without_source,
)
from moonpad.explain.checks.programs.notebook_lines import export_in_cell, server_holds_cell
from moonpad.explain.checks.programs.program_order import engine_per_worker, unguarded_start, variable_too_late
from moonpad.explain.checks.programs.started_processes import (
    dictionary_as_text,
    environment_replaced,
    list_with_shell,
    pipe_not_read,
    setting_of_lost_shell,
)

FAMILY: Final[tuple[Check, ...]] = (
    argument_of_other_library,
    sampling_of_other_library,
    few_tokens,
    copies_in_one_process,
    messages_for_prompts,
    variable_too_late,
    unguarded_start,
    engine_per_worker,
    list_with_shell,
    dictionary_as_text,
    environment_replaced,
    pipe_not_read,
    setting_of_lost_shell,
    devices_of_service,
    devices_of_docker_call,
    model_without_source,
    export_in_cell,
    server_holds_cell,
)
