"""The options of the engines' command lines, by release, as their own parsers gave them.

    option_set("vllm serve", "0.11.0").named("--max-num-seqs")
    changes("vllm serve", "0.32.0")
    values_of("vllm serve", None, "tool_call_parser")

`scripts/record_options` makes the data; nothing here asks an engine.
"""

from moonpad.catalog.options.change import Change, ChangeKind, changes, releases_accepting
from moonpad.catalog.options.option import Option, OptionSet
from moonpad.catalog.options.sets import (
    always_takes_a_value,
    ever_known_environment,
    known_environment,
    newest,
    newest_stable,
    option_set,
    releases_with,
    spans_of,
    unknown_version,
    values_of,
    versions,
)
from moonpad.catalog.options.tables import programs

__all__ = [
    "Change",
    "ChangeKind",
    "Option",
    "OptionSet",
    "always_takes_a_value",
    "changes",
    "ever_known_environment",
    "known_environment",
    "newest",
    "newest_stable",
    "option_set",
    "programs",
    "releases_accepting",
    "releases_with",
    "spans_of",
    "unknown_version",
    "values_of",
    "versions",
]
