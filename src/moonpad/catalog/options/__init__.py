"""The options of the engines' command lines, by release, as their own parsers gave them.

    option_set("vllm serve", "0.11.0").resolve("--max_num_seqs")
    changes("vllm serve", "0.32.0")
    values_of("vllm serve", None, "tool_call_parser")

`scripts/record_options` makes the data; nothing here asks an engine.
"""

from moonpad.catalog.options.change import Change, ChangeKind, changes
from moonpad.catalog.options.names import EnvironmentVariable, environment, known_environment, values_of
from moonpad.catalog.options.option import Match, Option, OptionSet
from moonpad.catalog.options.sets import newest, newest_stable, option_set, releases_with, versions
from moonpad.catalog.options.tables import PROGRAMS
from moonpad.catalog.options.version import version_key

__all__ = [
    "PROGRAMS",
    "Change",
    "ChangeKind",
    "EnvironmentVariable",
    "Match",
    "Option",
    "OptionSet",
    "changes",
    "environment",
    "known_environment",
    "newest",
    "newest_stable",
    "option_set",
    "releases_with",
    "values_of",
    "version_key",
    "versions",
]
