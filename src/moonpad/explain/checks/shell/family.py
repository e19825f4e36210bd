"""The checks of what the shell makes of the lines."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.shell.bash_words import BASH_WORDS
from moonpad.explain.checks.shell.block_lines import lost_in_block
from moonpad.explain.checks.shell.dead_settings import DEAD_SETTINGS
from moonpad.explain.checks.shell.disabling_switches import disabling_switch
from moonpad.explain.checks.shell.dollar_slips import filled_in_by_compose, half_escaped
from moonpad.explain.checks.shell.emptied_variables import emptied_by_envsubst
from moonpad.explain.checks.shell.exported_lines import exported_lines
from moonpad.explain.checks.shell.file_slips import backslash_at_end, escaped_substitution, tag_without_v
from moonpad.explain.checks.shell.foreground_servers import server_before_server, server_in_loop
from moonpad.explain.checks.shell.handed_environment import blanks_in_export, hyphen_in_name, left_by_ssh, left_by_sudo
from moonpad.explain.checks.shell.here_arguments import arguments_filled_early
from moonpad.explain.checks.shell.json_slips import json_slips
from moonpad.explain.checks.shell.kept_dollars import kept_dollar
from moonpad.explain.checks.shell.kept_quotes import KEPT_SIGNS
from moonpad.explain.checks.shell.line_slips import slips_of_lines
from moonpad.explain.checks.shell.lone_quotes import lone_quote
from moonpad.explain.checks.shell.misspelt_devices import misspelt_file, misspelt_vendor
from moonpad.explain.checks.shell.misspelt_variables import misspelt_variable, words_in_another_order
from moonpad.explain.checks.shell.options_left_unused import left_unused
from moonpad.explain.checks.shell.outer_variables import filled_in_outside
from moonpad.explain.checks.shell.overridden_devices import built_for_another_device, overridden_device
from moonpad.explain.checks.shell.plain_slips import PLAIN_SLIPS
from moonpad.explain.checks.shell.prefix_assignments import set_on_its_line
from moonpad.explain.checks.shell.remote_lines import REMOTE_LINES
from moonpad.explain.checks.shell.script_slips import (
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
from moonpad.explain.checks.shell.set_again import set_again
from moonpad.explain.checks.shell.shell_arrays import array_as_scalar
from moonpad.explain.checks.shell.shell_lists import options_behind_text, words_behind_one
from moonpad.explain.checks.shell.size_tests import size_of_one
from moonpad.explain.checks.shell.start_patience import start_patience
from moonpad.explain.checks.shell.told_elsewhere import told_elsewhere
from moonpad.explain.checks.shell.unit_programs import unit_program, unit_type
from moonpad.explain.checks.shell.unlike_neighbours import unlike_neighbours
from moonpad.explain.checks.shell.unset_names import unset_names
from moonpad.explain.checks.shell.variable_prefixes import variable_prefix
from moonpad.explain.checks.shell.variable_slips import (
    env_file_comment,
    interface_caret,
    not_exported,
    not_handed_on,
    slurm_header,
)
from moonpad.explain.checks.shell.variable_values import variable_value
from moonpad.explain.checks.shell.windows_programs import caret_at_end, json_in_powershell, path_of_wsl
from moonpad.explain.checks.shell.written_files import written_under_another_name
from moonpad.explain.shell.shell_slips import (
    broken_line,
    broken_value,
    ended_by_comment,
    lost_behind_install,
    lost_options,
    redirected_install,
)

FAMILY: Final[tuple[Check, ...]] = (
    misspelt_variable,
    words_in_another_order,
    lost_in_block,
    not_exported,
    env_file_comment,
    exported_lines,
    unit_program,
    unit_type,
    not_handed_on,
    slurm_header,
    interface_caret,
    used_before,
    set_on_its_line,
    call_sets_another,
    option_as_argument,
    export_alone,
    export_swallows,
    spaced_sign,
    only_in_comment,
    brace_in_default,
    conflict_markers,
    filled_in_by_compose,
    half_escaped,
    emptied_by_envsubst,
    written_under_another_name,
    words_behind_one,
    options_behind_text,
    array_as_scalar,
    json_slips,
    *KEPT_SIGNS,
    *PLAIN_SLIPS,
    tag_without_v,
    escaped_substitution,
    backslash_at_end,
    kept_dollar,
    lone_quote,
    misspelt_vendor,
    misspelt_file,
    overridden_device,
    built_for_another_device,
    size_of_one,
    set_again,
    *DEAD_SETTINGS,
    slips_of_lines,
    filled_in_outside,
    unlike_neighbours,
    told_elsewhere,
    blanks_in_export,
    hyphen_in_name,
    left_by_sudo,
    left_by_ssh,
    caret_at_end,
    path_of_wsl,
    json_in_powershell,
    disabling_switch,
    variable_value,
    variable_prefix,
    redirected_install,
    broken_line,
    broken_value,
    lost_options,
    lost_behind_install,
    ended_by_comment,
    server_in_loop,
    start_patience,
    server_before_server,
    arguments_filled_early,
    left_unused,
    unset_names,
    *BASH_WORDS,
    *REMOTE_LINES,
)
