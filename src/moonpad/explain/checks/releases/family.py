"""The checks of what a release has, refuses, has reported or mended."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.check_case import Check
from moonpad.explain.checks.releases.aiter_checks import AITER_CHECKS
from moonpad.explain.checks.releases.branch_options import branch_options
from moonpad.explain.checks.releases.connector_keys import nearly_a_connector_key
from moonpad.explain.checks.releases.expert_backends import EXPERT_CHECKS
from moonpad.explain.checks.releases.known_reports import reported
from moonpad.explain.checks.releases.mended_later import mended_later
from moonpad.explain.checks.releases.minimum_release import minimum_release
from moonpad.explain.checks.releases.model_features import feature_of_class
from moonpad.explain.checks.releases.moved_imports import absent_module, moved_import
from moonpad.explain.checks.releases.paired_packages import PACKAGE_CHECKS
from moonpad.explain.checks.releases.parser_releases import PARSER_CHECKS
from moonpad.explain.checks.releases.plugin_keys import plugin_key
from moonpad.explain.checks.releases.plugin_names import connector_keys, connector_name
from moonpad.explain.checks.releases.quoted_errors import quoted_error
from moonpad.explain.checks.releases.registered_names import registered_name
from moonpad.explain.checks.releases.slow_lines import slow_line
from moonpad.explain.checks.releases.start_refusals import refused
from moonpad.explain.checks.releases.transformers_checks import transformers_of_text

FAMILY: Final[tuple[Check, ...]] = (
    *PARSER_CHECKS,
    *EXPERT_CHECKS,
    transformers_of_text,
    *AITER_CHECKS,
    minimum_release,
    nearly_a_connector_key,
    moved_import,
    absent_module,
    connector_name,
    connector_keys,
    plugin_key,
    *PACKAGE_CHECKS,
    registered_name,
    quoted_error,
    refused,
    feature_of_class,
    reported,
    mended_later,
    branch_options,
    slow_line,
)
