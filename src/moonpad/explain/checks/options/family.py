"""The checks of options by their forms and values, and of option files."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.options.adapter_ranks import rank_of_adapter
from moonpad.explain.checks.options.advised_variables import advised_variables
from moonpad.explain.checks.options.asked_releases import illegal_by_asked, refused_by_asked
from moonpad.explain.checks.options.endless_chats import chat_that_waits
from moonpad.explain.checks.options.file_options import FILE_OPTIONS
from moonpad.explain.checks.options.glued_options import GLUED_CHECKS
from moonpad.explain.checks.options.hub_variables import token_of_hub, variables_of_hub
from moonpad.explain.checks.options.lone_program import no_subcommand
from moonpad.explain.checks.options.module_names import misspelt_module, package_alone
from moonpad.explain.checks.options.option_file_keys import OPTION_FILE_KEY_CHECKS
from moonpad.explain.checks.options.option_file_kinds import OPTION_FILE_KIND_CHECKS
from moonpad.explain.checks.options.option_file_values import OPTION_FILE_CHECKS
from moonpad.explain.checks.options.option_forms import FORM_CHECKS
from moonpad.explain.checks.options.preset_sections import PRESET_CHECKS
from moonpad.explain.checks.options.program_calls import PROGRAM_CALLS
from moonpad.explain.checks.options.server_files import keys_of_server_file
from moonpad.explain.checks.options.setting_slips import (
    colon_for_blank,
    file_for_folder,
    number_as_variable,
    switch_as_text,
    variable_for_option,
)
from moonpad.explain.checks.options.slow_settings import slow_setting
from moonpad.explain.checks.options.subcommand_slips import subcommand_slips
from moonpad.explain.checks.options.unread_variables import unread_variables
from moonpad.explain.checks.options.variables_for_options import variables_for_options
from moonpad.explain.checks.options.whole_prompts import whole_prompts

FAMILY: Final[tuple[Check, ...]] = (
    refused_by_asked,
    illegal_by_asked,
    no_subcommand,
    chat_that_waits,
    colon_for_blank,
    variable_for_option,
    unread_variables,
    advised_variables,
    variables_of_hub,
    token_of_hub,
    switch_as_text,
    number_as_variable,
    file_for_folder,
    keys_of_server_file,
    subcommand_slips,
    misspelt_module,
    package_alone,
    whole_prompts,
    variables_for_options,
    *OPTION_FILE_CHECKS,
    *FILE_OPTIONS,
    *OPTION_FILE_KEY_CHECKS,
    *OPTION_FILE_KIND_CHECKS,
    *PRESET_CHECKS,
    *FORM_CHECKS,
    *GLUED_CHECKS,
    *PROGRAM_CALLS,
    rank_of_adapter,
    slow_setting,
)
