"""The checks of what starts a server on a machine."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.starters.first_boot import (
    cloud_config_header,
    filled_in_by_terraform,
    source_in_first_boot,
)
from moonpad.explain.checks.starters.interpreters import interpreter_of_pm2
from moonpad.explain.checks.starters.recipe_lines import lost_between_lines, name_without_brackets
from moonpad.explain.checks.starters.supervised import comma_in_environment, supervised_without_shell
from moonpad.explain.checks.starters.task_steps import (
    command_without_shell,
    export_of_other_step,
    killed_with_build,
    server_holds_step,
)
from moonpad.explain.checks.starters.windows_lines import backslash_of_unix, comma_of_powershell, quotes_of_unix

FAMILY: Final[tuple[Check, ...]] = (
    name_without_brackets,
    lost_between_lines,
    command_without_shell,
    server_holds_step,
    export_of_other_step,
    killed_with_build,
    supervised_without_shell,
    comma_in_environment,
    cloud_config_header,
    source_in_first_boot,
    filled_in_by_terraform,
    backslash_of_unix,
    comma_of_powershell,
    quotes_of_unix,
    interpreter_of_pm2,
)
